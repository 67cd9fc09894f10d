package fleet

import (
	"slices"
	"time"

	"github.com/cloudpace/cloudpace/verdict"
)

// unheard notes that the store did not answer a question of some kind. When that has gone
// on for a while, the process goes on alone, and says so once.
func (l *loop) unheard(silent *time.Time, err error) {
	now := time.Now()
	if silent.IsZero() {
		*silent = now
	}
	l.back = time.Time{}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Cause = verdict.Describe(err)
	if l.state.Alone || now.Sub(*silent) < patience {
		return
	}
	l.state.Alone, l.since = true, now
	l.state.Outages++
	for _, n := range l.lanes {
		n.alone(now, l.state.Members)
	}
	for _, p := range l.pools {
		p.alone(l.state.Members)
	}
	l.beat = now.Add(min(retries, l.o.Lease/3))
	l.log.Warn("the shared limits are out of reach: going on alone", "share", 1/float64(max(1, l.state.Members)), "members", l.state.Members, "error", l.state.Cause)
}

// heard notes that the store answers. A process that was alone shares again, but not
// before the others have had the time to find out too: they all tell first what they
// have used meanwhile.
func (l *loop) heard() {
	now := time.Now()
	switch {
	case !l.isAlone():
	case l.back.IsZero():
		l.back = now.Add(retries + l.o.Timeout)
		l.drained(now)
	case now.Before(l.back):
	default:
		l.back = time.Time{}
		l.share(now)
	}
}

// drained tells what the buckets have used, and how many slots are taken. It is also how
// this process sees that it would be answered.
func (l *loop) drained(now time.Time) {
	var asks []BucketAsk
	var slots []SlotsAsk
	l.mu.Lock()
	for _, n := range l.lanes {
		if ask, ok := n.drained(now); ok || len(asks) == 0 {
			asks = append(asks, ask)
		}
	}
	for _, p := range l.pools {
		slots = append(slots, p.shared(l.o.Lease))
	}
	l.mu.Unlock()
	for portion := range slices.Chunk(asks, most) {
		if _, err := l.askTokens(portion); err != nil {
			l.unheard(&l.silent.tokens, err)
			return
		}
	}
	for portion := range slices.Chunk(slots, most) {
		if _, err := l.askSlots(portion); err != nil {
			l.unheard(&l.silent.slots, err)
			return
		}
	}
}

// share puts everything on leases again.
func (l *loop) share(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	alone := now.Sub(l.since)
	l.state.Alone, l.since = false, time.Time{}
	l.silent.tokens, l.silent.slots = time.Time{}, time.Time{}
	l.state.AloneSeconds += alone.Seconds()
	for _, n := range l.lanes {
		n.lease(now)
	}
	for _, p := range l.pools {
		p.lease()
	}
	l.log.Info("the shared limits are back", "alone_seconds", alone.Seconds(), "members", l.state.Members)
}
