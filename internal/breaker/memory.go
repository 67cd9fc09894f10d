package breaker

import "time"

// Memory is what an open circuit would forget when its process ends. Its times are
// those of the wall clock.
type Memory struct {
	Until    time.Time // nobody tries before
	Cooldown time.Duration
	Cause    error
}

// stale is how long after its end an opening still says something: then it is as long
// ago as the longest cooldown.
const stale = maxCooldown

// Memory tells what is worth remembering, and whether anything is: a circuit that is
// open. A closed one's failures are not, since the next run begins a new row.
func (b *Breaker) Memory() (m Memory, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return Memory{}, false
	}
	return Memory{Until: b.until.Round(0), Cooldown: b.cooldown, Cause: b.cause}, true
}

// Closed tells, by the wall clock, when a try last closed the circuit. It is zero where
// none did, or where that no longer matters to anybody who remembers it open.
func (b *Breaker) Closed(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed.IsZero() || b.open || now.Sub(b.closed) > Forgotten {
		return time.Time{}
	}
	return b.closed.Round(0)
}

// Forgotten is how long after its beginning an opening may be remembered: the longest
// cooldown, and as long again.
const Forgotten = maxCooldown + stale

// Over is when nothing is left of the memory.
func (m Memory) Over() time.Time {
	if m.Until.IsZero() {
		return m.Until
	}
	return m.Until.Add(stale)
}

// Recall opens the circuit as it was: for what is left of its time, which is never more
// than a cooldown, and half-open when that is over. What is ten minutes over is
// forgotten, and so is what a circuit that has opened by itself would be told.
func (b *Breaker) Recall(now time.Time, m Memory) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := m.Until.Sub(now.Round(0))
	if b.open || m.Until.IsZero() || left <= -stale {
		return
	}
	b.calm.Store(0)
	b.cooldown = max(b.base, min(m.Cooldown, maxCooldown))
	b.trip(now, m.Cause)
	b.until = now.Add(min(left, b.cooldown))
}
