package plan

import (
	"time"

	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/bulkhead"
	"github.com/cloudpace/cloudpace/internal/eventloop"
)

// place is where a limit has a bucket, or a pool.
type place struct {
	limit                     *Limit
	provider, account, region string
}

// rush is the time since which a bucket or pool has had nothing to spare, and the way that
// led to its beginning. A call that waits in it has all of it to thank, and not only its
// own part: had it come earlier, it would have stood in the same line.
type rush struct {
	since time.Time
	trail *trail
}

// level is a bucket, and the one above it.
type level struct {
	rush
	bucket  *bucket.Bucket
	limit   *Limit
	parent  *level
	waiting int // calls that are held up by it
}

// pool is the slots of an account, and who waits for one, in order.
type pool struct {
	rush
	slots *bulkhead.Bulkhead
	queue []*call
}

// call is one call from its beginning to its answer.
type call struct {
	e     *engine
	r     *running
	op    *Operation
	trail *trail
	done  func()

	since  time.Time // it waits
	leaf   *level
	blamed *level
	waiter *bucket.Waiter
	timer  *eventloop.Timer
	told   bool
	slot   *bulkhead.Waiter
	pool   *pool

	listen, answer func() // hear and answered, made once
}

// call makes a call, and says when it is answered.
func (e *engine) call(r *running, op *Operation, tr *trail, done func()) {
	c := e.spare()
	c.r, c.op, c.trail, c.done, c.since = r, op, tr, done, e.loop.Now()
	c.leaf = e.leaf(r, op)
	if c.leaf == nil || c.leaf.take(c.since) {
		for l := c.leaf; l != nil; l = l.parent {
			e.calm(&l.rush)
		}
		c.enter()
		return
	}
	c.blamed = c.leaf.blame(c.since)
	c.e.rushes(&c.blamed.rush, c.trail)
	c.leaf.waiting++
	if c.blamed != c.leaf {
		c.blamed.waiting++
	}
	w, status := c.leaf.bucket.Join(c.since, bucket.Terms{Signal: c.listen})
	c.waiter = w
	if status == bucket.Granted {
		c.granted()
		return
	}
	c.hear() // who waits has to look once by itself
}

// spare gives a call that is over to be used again: a plan has millions.
func (e *engine) spare() *call {
	if n := len(e.spares); n > 0 {
		c := e.spares[n-1]
		e.spares = e.spares[:n-1]
		c.slot, c.pool = nil, nil
		return c
	}
	c := &call{e: e}
	c.listen, c.answer = c.hear, c.answered
	return c
}

// hear notes that the waiter is to be asked. It may be called in the middle of anything.
func (c *call) hear() {
	if !c.told {
		c.told = true
		c.e.told = append(c.e.told, c)
	}
}

// hear asks the waiters that have something to say.
func (e *engine) hear() {
	for i := 0; i < len(e.told); i++ { // it may grow
		c := e.told[i]
		c.told = false
		if c.waiter == nil {
			continue
		}
		status, wake := c.waiter.Poll(e.loop.Now())
		if c.timer != nil {
			c.timer.Stop()
			c.timer = nil
		}
		if status == bucket.Granted {
			c.granted()
		} else if !wake.IsZero() {
			c.timer = e.loop.At(wake, c.listen)
		}
	}
	e.told = e.told[:0]
}

// granted: the token is there.
func (c *call) granted() {
	c.waiter = nil
	c.leaf.waiting--
	if c.blamed != c.leaf {
		c.blamed.waiting--
	}
	c.waited(c.blamed.limit, &c.blamed.rush)
	c.enter()
}

// rushes notes that somebody waits, who has come the way of tr.
func (e *engine) rushes(r *rush, tr *trail) {
	if r.trail == nil {
		r.since, r.trail = e.loop.Now(), e.fork(tr)
	}
}

// calm notes that somebody did not have to wait.
func (e *engine) calm(r *rush) {
	if r.trail != nil {
		e.drop(r.trail)
		r.trail = nil
	}
}

// waited puts down what a limit has cost.
func (c *call) waited(l *Limit, r *rush) {
	now := c.e.loop.Now()
	d := now.Sub(c.since)
	c.since = now
	if d <= 0 {
		return
	}
	i := c.e.indexOf(l)
	if r.trail != nil && r.since.Before(now.Add(-d)) {
		c.trail.follow(r.trail)
		c.trail.wait(i, now.Sub(r.since))
	} else {
		c.trail.wait(i, d)
	}
	w := &c.e.waits[i]
	w.Calls++
	w.All += d
	w.Longest = max(w.Longest, d)
}

// enter takes a slot, and waits for one where there is none.
func (c *call) enter() {
	if c.op.Slots == nil || c.r.pool != nil {
		c.send()
		return
	}
	c.pool = c.e.poolOf(c.r, c.op.Slots)
	if c.pool.slots.Take() {
		c.e.calm(&c.pool.rush)
		c.send()
		return
	}
	c.e.rushes(&c.pool.rush, c.trail)
	c.slot = c.pool.slots.Join()
	c.pool.queue = append(c.pool.queue, c)
}

// send waits for the answer.
func (c *call) send() {
	if c.op.Held && c.pool != nil {
		c.r.pool, c.pool = c.pool, nil
	}
	c.e.loop.After(c.e.o.Latency, c.answer)
}

func (c *call) answered() {
	e := c.e
	if c.pool != nil {
		e.release(c.pool)
	}
	e.calls++
	c.r.at.Requests++
	c.r.at.Ends = e.loop.Now().Sub(start)
	c.trail.calls += e.o.Latency
	e.spares = append(e.spares, c)
	c.done()
}

// release gives a slot back, and lets in who has waited for it.
func (e *engine) release(p *pool) {
	p.slots.Release()
	for len(p.queue) > 0 {
		c := p.queue[0]
		select {
		case <-c.slot.Ready:
		default:
			return
		}
		p.queue = p.queue[1:]
		c.waited(c.op.Slots, &p.rush)
		c.send()
	}
}

func (l *level) take(now time.Time) bool {
	_, ok := l.bucket.Take(now)
	return ok
}

// blame gives the level that a call which begins to wait now waits for.
func (l *level) blame(now time.Time) *level {
	worst, longest := l, 0.0
	for x := l; x != nil; x = x.parent {
		s := x.bucket.State(now)
		if d := (float64(x.waiting) + 1 - s.Tokens) / s.Rate; d > longest {
			worst, longest = x, d
		}
	}
	return worst
}

// crowded is how many buckets are kept before those are let go that are as good as new.
const crowded = 1 << 16

// leaf gives the bucket of a call, nil where none holds it.
func (e *engine) leaf(r *running, op *Operation) *level {
	account := r.Account
	if r.Payer != "" {
		account = r.Payer
	}
	above := e.level(op.Provider, place{provider: r.Provider}, nil)
	above = e.level(op.Account, place{provider: r.Provider, account: account}, above)
	return e.level(op.Leaf, place{provider: r.Provider, account: account, region: r.Region}, above)
}

func (e *engine) level(l *Limit, at place, parent *level) *level {
	if l == nil {
		return parent
	}
	at.limit = l
	if known := e.levels[at]; known != nil {
		return known
	}
	e.tidy()
	rate := l.Rate
	if e.o.Twice == l {
		rate *= 2
	}
	made := &level{limit: l, parent: parent}
	var above *bucket.Bucket
	if parent != nil {
		above = parent.bucket
	}
	made.bucket = bucket.New(bucket.Options{Rate: rate, Burst: l.Burst}, above, e.loop.Now())
	e.levels[at] = made
	return made
}

// tidy lets buckets go that are full: one that is made anew is the same.
func (e *engine) tidy() {
	if len(e.levels) == 0 || len(e.levels)%crowded != 0 {
		return
	}
	now := e.loop.Now()
	for at, l := range e.levels {
		if at.region != "" && l.waiting == 0 && l.bucket.Idle(now) {
			delete(e.levels, at)
		}
	}
}

func (e *engine) poolOf(r *running, l *Limit) *pool {
	at := place{limit: l, provider: r.Provider, account: r.Account}
	p := e.pools[at]
	if p == nil {
		n := l.Slots
		if e.o.Twice == l {
			n *= 2
		}
		p = &pool{slots: bulkhead.New(n)}
		e.pools[at] = p
	}
	return p
}

func (e *engine) indexOf(l *Limit) int {
	i, ok := e.index[l]
	if !ok {
		i = len(e.limits)
		e.index[l] = i
		e.limits, e.waits = append(e.limits, l), append(e.waits, Waits{})
	}
	return i
}
