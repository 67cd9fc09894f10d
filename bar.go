package cloudpace

import (
	"time"
)

// bar closes a leaf until a time that the provider has told.
type bar struct {
	until time.Time
	cause error
}

// Bar refuses calls that are charged to this call's scope until then, further ones as
// well as those that wait: they get a [*CircuitOpenError] with err inside, and nothing
// is sent. It is for a quota that is used up until a known time, as one per day, where
// neither a pause, which is bounded, nor a slower rate is of use. A later bar replaces
// an earlier one if it ends later.
func (c *Call) Bar(until time.Time, err error) {
	if c.inert {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done || !c.charge.provider.enabled {
		return
	}
	c.charge.leaf.barUntil(until, err)
}

// barUntil closes the leaf, unless it is closed for longer already.
func (l *leaf) barUntil(until time.Time, cause error) {
	for {
		was := l.bar.Load()
		if was != nil && !was.until.Before(until) || l.bar.CompareAndSwap(was, &bar{until, cause}) {
			return
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
