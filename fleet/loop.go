package fleet

import (
	"context"
	"slices"
	"time"

	"github.com/cloudpace/cloudpace/verdict"
)

const (
	// patience is how long the store may be silent before the process goes on alone: a
	// few timeouts, so that one lost packet changes nothing.
	patience = 500 * time.Millisecond
	// repeat is the least time between a question that was not answered and the next.
	repeat = 20 * time.Millisecond
	// retries is how often a process that is alone asks whether the store is back.
	retries = time.Second
)

// loop is the state of the goroutine that talks to the store.
type loop struct {
	*Membership
	// Since when each kind of question has had no answer; zero: it has.
	silent struct{ presence, tokens, slots time.Time }
	back   time.Time // alone until then, though the store answers again; zero: it does not
	beat   time.Time // when to say next that this process is there
	wait   visits
}

// run talks to the store until the membership ends.
func (m *Membership) run() {
	defer close(m.stopped)
	l := &loop{Membership: m, beat: time.Now().Add(m.o.Lease / 3)}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-m.poked:
		case <-timer.C:
		case <-m.stop:
			l.leave()
			return
		}
		timer.Reset(time.Until(l.turn(time.Now())))
	}
}

// turn does what is due, and tells when to look again.
func (l *loop) turn(now time.Time) time.Time {
	if !now.Before(l.beat) {
		l.present(now)
	}
	if l.isAlone() {
		return l.beat
	}
	l.buckets()
	next := l.beat
	if l.slots() {
		next = sooner(next, time.Now().Add(pace))
	}
	if at, ok := l.wait.next(); ok {
		next = sooner(next, at)
	}
	if !l.silent.tokens.IsZero() || !l.silent.slots.IsZero() {
		next = sooner(next, time.Now().Add(repeat))
	}
	return next
}

func (l *loop) isAlone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Alone
}

// ask runs one question within the timeout.
func (l *loop) ask(question func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), l.o.Timeout)
	defer cancel()
	return question(ctx)
}

// askTokens asks for buckets.
func (l *loop) askTokens(asks []BucketAsk) (grants []BucketGrant, err error) {
	err = l.ask(func(ctx context.Context) (err error) {
		grants, err = l.store.Exchange(ctx, l.self.ID, asks)
		return err
	})
	return grants, err
}

// askSlots asks for pools.
func (l *loop) askSlots(asks []SlotsAsk) (grants []SlotsGrant, err error) {
	err = l.ask(func(ctx context.Context) (err error) {
		grants, err = l.store.Slots(ctx, l.self.ID, asks)
		return err
	})
	return grants, err
}

// present says that this process is there. It is also how an answer is looked for while
// there is none.
func (l *loop) present(now time.Time) {
	var members int
	err := l.ask(func(ctx context.Context) (err error) {
		members, err = l.store.Present(ctx, l.self, l.o.Lease)
		return err
	})
	if err != nil {
		l.unheard(&l.silent.presence, err)
	} else {
		l.silent.presence = time.Time{}
		l.mu.Lock()
		l.state.Members = max(1, members)
		l.mu.Unlock()
		l.heard()
	}
	switch {
	case !l.back.IsZero():
		l.beat = l.back
	case err != nil || l.isAlone():
		l.beat = now.Add(min(retries, l.o.Lease/3))
	default:
		l.beat = now.Add(l.o.Lease / 3)
	}
}

// most bounds what one question asks for, so that it is answered in time.
const most = 500

// buckets asks for all buckets that have something to ask.
func (l *loop) buckets() {
	now := time.Now()
	var asks []BucketAsk
	var lanes []*lane
	for _, n := range append(l.take(), l.wait.due(now)...) {
		n.dirty.Store(false)
		if ask, ok := n.look(now); ok {
			asks, lanes = append(asks, ask), append(lanes, n)
		} else {
			l.wait.put(n)
		}
	}
	for portion := range slices.Chunk(asks, most) {
		if l.isAlone() {
			break // what is left is told when it shares again
		}
		l.exchange(lanes[:len(portion)], portion)
		lanes = lanes[len(portion):]
	}
}

// exchange asks for some buckets.
func (l *loop) exchange(lanes []*lane, asks []BucketAsk) {
	grants, err := l.askTokens(asks)
	now := time.Now()
	if err != nil {
		for i, n := range lanes {
			n.lost(now, asks[i])
			l.wait.put(n)
		}
		l.unheard(&l.silent.tokens, err)
		return
	}
	l.silent.tokens = time.Time{}
	tokens, members := 0, l.State().Members
	for i, n := range lanes {
		if g := grants[i]; g.Err != nil {
			n.lost(now, asks[i])
			if n.trouble(now, members) {
				l.log.Warn("a bucket cannot be shared: it goes on alone", "bucket", n.Key, "error", verdict.Describe(g.Err))
			}
		} else {
			tokens += g.Tokens
			n.take(now, g.Grant)
		}
		l.wait.put(n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Exchanges++
	l.state.Tokens += int64(tokens)
}

// slots asks for all pools that have something to ask, and tells whether there is more
// to ask soon.
func (l *loop) slots() (more bool) {
	now := time.Now()
	var asks []SlotsAsk
	var pools []*pool
	l.mu.Lock()
	for _, p := range l.pools {
		if ask, ok := p.look(now, l.o.Lease); ok {
			asks, pools = append(asks, ask), append(pools, p)
		}
		more = more || p.restless()
	}
	l.mu.Unlock()
	if len(asks) == 0 {
		return more
	}
	grants, err := l.askSlots(asks)
	if err != nil {
		for _, p := range pools {
			p.lost()
		}
		l.unheard(&l.silent.slots, err)
		return true
	}
	l.silent.slots = time.Time{}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, p := range pools {
		if g := grants[i]; g.Err != nil {
			if p.trouble(now, l.state.Members) {
				l.log.Warn("slots cannot be shared: the account goes on alone", "account", p.Key, "error", verdict.Describe(g.Err))
			}
		} else {
			p.take(now, asks[i], g.SlotGrant)
		}
		more = more || p.restless()
	}
	return more
}

// leave gives everything back. The governor has its limits for itself from then on.
func (l *loop) leave() {
	now := time.Now()
	l.mu.Lock()
	var asks []BucketAsk
	for _, n := range l.lanes {
		if back := n.Bucket.Unused(now); back > 0 {
			ask := BucketAsk{Key: n.Key}
			ask.Limits, ask.Back = n.Limits, back
			asks = append(asks, ask)
		}
		n.Bucket.Free(now)
	}
	for _, p := range l.pools {
		p.Slots.Watch(nil)
		p.Slots.Resize(p.Max)
	}
	alone := l.state.Alone
	l.mu.Unlock()
	if alone {
		return
	}
	// A store that is gone by now lets all this run out by itself.
	if len(asks) > 0 {
		_, _ = l.askTokens(asks)
	}
	_ = l.ask(func(ctx context.Context) error { return l.store.Leave(ctx, l.self.ID) })
}
