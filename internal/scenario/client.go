package scenario

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cloudpace/cloudpace/internal/backoff"
	"github.com/cloudpace/cloudpace/internal/breaker"
	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/budget"
)

// The settings of a provider that nothing is known about, of which a scenario sets only
// rate and burst.
const (
	minRPS      = 0.1
	maxPause    = 300 * time.Second
	threshold   = 5
	cooldown    = 60 * time.Second
	maxRetries  = 8
	maxBackoff  = 60 * time.Second
	deadline    = 900 * time.Second
	retryBudget = 500
	freeRetries = 2
)

// process is one client: what its governor has, and workers that call through it.
type process struct {
	*run
	bucket  *bucket.Bucket
	breaker *breaker.Breaker
	budget  *budget.Budget
	rng     *rand.Rand
	idle    int // workers that have nothing to do
	done    int
}

func (r *run) newProcess(n int, workers int) *process {
	o := bucket.Options{
		Rate: r.spec.Client.Rate, Burst: r.spec.Client.Burst, MinRate: minRPS, MaxPause: maxPause,
		Adaptive: r.o.Controller == AIMD, Learn: r.o.Controller == Learn, Soft: r.o.Soft,
	}
	p := &process{
		run: r, bucket: bucket.New(o, nil, r.loop.Now()), breaker: breaker.New(threshold, cooldown), budget: budget.New(retryBudget),
		rng: rand.New(rand.NewPCG(r.o.Seed, uint64(n)+1)), idle: workers,
	}
	if r.o.Shared {
		p.share(n, o)
	}
	return p
}

// work sets workers to what there is to do.
func (p *process) work() {
	for p.idle > 0 && p.left > 0 {
		p.idle--
		p.left--
		c := &call{process: p, began: p.loop.Now()}
		c.admit()
	}
}

// call is what Do does for one operation, as a chain of events.
type call struct {
	*process
	began    time.Time
	attempts int
	sleep    time.Duration
	ticket   breaker.Ticket
	mark     bucket.Mark

	waiter *bucket.Waiter
	timer  interface{ Stop() }
	soon   bool // a look is to happen now
}

var errThrottled = errors.New("throttled")

// admit asks the circuit and takes a token.
func (c *call) admit() {
	now := c.loop.Now()
	if ok, wait, _ := c.breaker.Holds(now, c.ticket); !ok {
		c.lose(wait)
		return
	}
	if mark, ok := c.bucket.Take(now); ok {
		c.send(mark)
		return
	}
	w, status := c.bucket.Join(now, bucket.Terms{Deadline: c.began.Add(deadline), Signal: c.signal})
	c.waiter = w
	c.queued++
	c.follow(status, time.Time{})
	if status == bucket.Waiting {
		c.look()
	}
}

// signal has a look happen soon: it is called with locks held.
func (c *call) signal() {
	if !c.soon {
		c.soon = true
		c.loop.After(0, c.look)
	}
}

func (c *call) look() {
	c.soon = false
	if c.waiter != nil {
		c.follow(c.waiter.Poll(c.loop.Now()))
	}
}

// follow does what a look found.
func (c *call) follow(status bucket.Status, wake time.Time) {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	if status == bucket.Waiting {
		if !wake.IsZero() {
			c.timer = c.loop.At(wake, c.look)
		}
		return
	}
	w := c.waiter
	c.waiter = nil
	c.queued--
	if status == bucket.Granted {
		c.send(w.Mark())
		return
	}
	c.breaker.Report(c.loop.Now(), c.ticket, breaker.Neutral, nil)
	c.lose(w.Need())
}

// send sends one attempt.
func (c *call) send(mark bucket.Mark) {
	now := c.loop.Now()
	ticket, ok, wait, _ := c.breaker.Enter(now, c.ticket)
	if !ok {
		c.bucket.Return(now, mark)
		c.lose(wait)
		return
	}
	c.ticket = ticket
	if c.attempts++; c.attempts > 1 {
		c.bucket.Settled(now, c.mark)
	}
	c.mark = mark
	c.loop.After(c.server.Path(), func() {
		a := c.server.Call(c.loop.Now())
		c.loop.After(a.After, func() { c.answered(mark, a) })
	})
}

func (c *call) answered(mark bucket.Mark, a Answer) {
	now := c.loop.Now()
	if a.OK {
		c.bucket.Succeeded(now, mark)
		c.budget.Refund()
		c.breaker.Report(now, c.ticket, breaker.Success, nil)
		c.done++
		c.idle++
		c.succeeded(now.Sub(c.began))
		return
	}
	c.bucket.Throttled(now, mark, a.RetryAfter)
	c.sleep = backoff.Drawn(backoff.Base, maxBackoff, c.sleep, c.rng.Int64N)
	wait := max(c.sleep, a.RetryAfter)
	ok, open, _ := c.breaker.Holds(now, c.ticket)
	switch {
	case !ok:
		c.lose(open)
	case c.attempts > maxRetries || now.Add(wait).Sub(c.began) > deadline:
		c.breaker.Report(now, c.ticket, breaker.Failure, errThrottled)
		c.lose(0)
	case c.attempts > freeRetries && !c.budget.Spend():
		c.breaker.Report(now, c.ticket, breaker.Neutral, nil)
		c.lose(wait)
	default:
		c.loop.After(wait, c.admit)
	}
}

// lose gives the call up. Its work is done by another, later.
func (c *call) lose(wait time.Duration) {
	c.lost++
	if c.attempts > 0 {
		c.bucket.Settled(c.loop.Now(), c.mark)
	}
	c.loop.After(wait, func() {
		c.left++
		c.idle++
		c.work()
	})
}
