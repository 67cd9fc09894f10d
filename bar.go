package cloudpace

import (
	"sync"
	"time"

	"github.com/cloudpace/cloudpace/verdict"
)

// bar closes a leaf until a time that the provider has told.
type bar struct {
	until time.Time
	cause error
}

// Bar refuses calls that are charged to this call's scope until then, further ones as
// well as those that wait: they get a [*CircuitOpenError] with err inside, at once, and
// nothing is sent. It is for a quota that is used up until a known time, as one per day,
// where neither a pause, which is bounded, nor a slower rate is of use. A later bar
// replaces an earlier one if it ends later. It outlasts changes of the configuration,
// since those give nobody another quota. [BreakerState] shows it.
func (c *Call) Bar(until time.Time, err error) {
	if c.inert {
		return
	}
	c.lock()
	charge := c.charge
	is := !c.done && charge.provider.enabled
	c.unlock()
	if !is || !charge.leaf.barUntil(until, err) {
		return
	}
	if charge.provider.retired.Load() {
		// The leaf that has taken its place did not see this one.
		now := c.own.lane.g.lane(charge.scope)
		now.leaf.barUntil(until, err)
		now.release()
	}
	c.own.lane.g.log.Warn("scope barred", "scope", charge.leaf.scope.String(), "until", until, "error", err)
}

// barUntil closes the leaf, unless it is closed for longer already, and wakes those
// who queue.
func (l *leaf) barUntil(until time.Time, cause error) bool {
	for {
		was := l.bar.Load()
		if was != nil && !was.until.Before(until) {
			return false
		}
		if l.bar.CompareAndSwap(was, &bar{until, cause}) {
			l.barring.ring()
			return true
		}
	}
}

// barred tells that nothing is sent now, how long that goes on, and why.
func (l *leaf) barred(now time.Time) (is bool, wait time.Duration, cause error) {
	b := l.bar.Load()
	if b == nil || !now.Before(b.until) {
		return false, 0, nil
	}
	return true, b.until.Sub(now), b.cause
}

// bell tells those who wait that something has happened.
type bell struct {
	mu sync.Mutex
	c  chan struct{} // nil where nobody listens
}

// rung gives a channel that is closed when the bell is next rung.
func (b *bell) rung() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.c == nil {
		b.c = make(chan struct{})
	}
	return b.c
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.c != nil {
		close(b.c)
		b.c = nil
	}
}

// keepBar remembers the bar of a leaf that is taken out of use. g.mu is held.
func (g *Governor) keepBar(l *leaf, now time.Time) {
	for scope, b := range g.bars {
		if !now.Before(b.until) {
			delete(g.bars, scope)
		}
	}
	if is, _, _ := l.barred(now); is {
		if g.bars == nil {
			g.bars = map[Scope]*bar{}
		}
		g.bars[l.scope] = l.bar.Load()
	}
}

// restoreBar gives a leaf the bar of the one whose place it takes: of the same scope,
// or of the service where its operations have become leaves of their own. g.mu is held.
func (g *Governor) restoreBar(l *leaf) {
	for _, scope := range []Scope{l.scope, l.scope.service()} {
		if b := g.bars[scope]; b != nil {
			l.barUntil(b.until, b.cause)
		}
	}
}

// showBar puts a leaf's bar into what is shown of its circuit.
func (l *leaf) showBar(s *BreakerState, now time.Time) {
	is, wait, cause := l.barred(now)
	if !is {
		return
	}
	s.State, s.RetryAfterSeconds, s.Cause = barredState, wait.Seconds(), ""
	if cause != nil {
		s.Cause = verdict.DescribeFor(l.scope.Provider, cause)
	}
}

const barredState = "barred"
