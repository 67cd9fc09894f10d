// Package breaker is the circuit breaker of one scope. It knows no scopes or
// clocks: every method is given the time. It counts operations that are over and
// never single attempts; what an outcome means is the caller's to say.
package breaker

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxCooldown bounds the doubling of failed probes.
const maxCooldown = 600 * time.Second

// Outcome is how an operation ended, as far as the breaker is concerned.
type Outcome uint8

const (
	Neutral Outcome = iota // says nothing about the service
	Success                // the service is alive
	Failure                // the service refused or failed
)

// Phase is what the breaker does with calls.
type Phase uint8

const (
	Closed   Phase = iota // all pass
	Open                  // none pass
	HalfOpen              // one may try
)

// String gives the phase as it is written in snapshots.
func (p Phase) String() string {
	switch p {
	case Open:
		return "open"
	case HalfOpen:
		return "half-open"
	}
	return "closed"
}

// Ticket is the leave to send of one operation. The zero Ticket is out of date.
type Ticket struct {
	gen   uint64
	probe bool
}

// Breaker opens after a number of failures in a row, lets one call try after a
// cooldown, and closes when that one succeeds. It is safe for concurrent use.
type Breaker struct {
	threshold int
	base      time.Duration

	// calm is the generation while the circuit is closed without a failure, else
	// zero: the hot path then needs no lock.
	calm atomic.Uint64

	mu       sync.Mutex
	gen      uint64 // counts openings, closings and probes; older answers decide nothing
	open     bool
	failures int
	cooldown time.Duration
	until    time.Time // open: nobody may try before
	lease    time.Time // the probe under way has until then; zero: none
	cause    error
	closed   time.Time     // when a try last closed it; zero: never
	opened   chan struct{} // closed when the circuit opens; made when asked for
}

// New makes a closed breaker that opens after threshold failures in a row (at
// least 1) for cooldown.
func New(threshold int, cooldown time.Duration) *Breaker {
	b := &Breaker{threshold: max(1, threshold), base: cooldown, cooldown: cooldown, gen: 1}
	b.calm.Store(1)
	return b
}

// check tells whether a call would be let through. If not, wait is how long until
// the next call may try, and cause the failure that opened the circuit.
func (b *Breaker) check(now time.Time) (ok bool, wait time.Duration, cause error) {
	if !b.open {
		return true, 0, nil
	}
	at := b.until
	if b.lease.After(at) {
		at = b.lease
	}
	if now.Before(at) {
		return false, at.Sub(now), b.cause
	}
	return true, 0, nil
}

// Enter asks for the leave to send, now. A call that was let through before shows
// its ticket and keeps it while it is good; after the cooldown one call gets the
// lease of the probe.
func (b *Breaker) Enter(now time.Time, had Ticket) (t Ticket, ok bool, wait time.Duration, cause error) {
	if gen := b.calm.Load(); gen != 0 {
		return Ticket{gen: gen}, true, 0, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if had.gen == b.gen && (had.probe || !b.open) {
		b.renew(now, had)
		return had, true, 0, nil
	}
	if ok, wait, cause = b.check(now); !ok {
		return Ticket{}, false, wait, cause
	}
	if !b.open {
		return Ticket{gen: b.gen}, true, 0, nil
	}
	b.gen++ // whoever held the lease before has lost it
	b.lease = now.Add(b.cooldown)
	return Ticket{gen: b.gen, probe: true}, true, 0, nil
}

// Holds tells whether a call with this ticket may go on now: the circuit is
// closed, or the probe is its own. A probe's lease is renewed.
func (b *Breaker) Holds(now time.Time, t Ticket) (ok bool, wait time.Duration, cause error) {
	if b.calm.Load() != 0 {
		return true, 0, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.probe && t.gen == b.gen {
		b.renew(now, t)
		return true, 0, nil
	}
	return b.check(now)
}

// Renew keeps the probe's lease: an attempt of the call has just been heard of.
func (b *Breaker) Renew(now time.Time, t Ticket) {
	if !t.probe {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.renew(now, t)
}

func (b *Breaker) renew(now time.Time, t Ticket) {
	if t.probe && t.gen == b.gen {
		b.lease = now.Add(b.cooldown)
	}
}

// Report ends an operation. A ticket from before the circuit last changed, or of
// a probe that lost its lease, decides nothing. It tells whether this outcome
// opened the circuit (again) or closed it.
func (b *Breaker) Report(now time.Time, t Ticket, outcome Outcome, cause error) (opened, closed bool) {
	if outcome != Failure && b.Calm(t) {
		return false, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.gen != b.gen {
		return false, false
	}
	switch {
	case outcome == Neutral && t.probe:
		b.gen++
		b.lease = time.Time{} // the next call may try
	case outcome == Neutral:
	case outcome == Success && t.probe:
		b.gen++
		b.open, b.lease, b.cause = false, time.Time{}, nil
		b.cooldown, b.failures = b.base, 0
		b.closed = now
		b.calm.Store(b.gen)
		return false, true
	case outcome == Success:
		b.failures = 0
		b.calm.Store(b.gen)
	case t.probe:
		b.cooldown = max(b.cooldown, min(2*b.cooldown, maxCooldown))
		b.trip(now, cause)
		return true, false
	default:
		b.calm.Store(0)
		b.failures++
		if b.failures >= b.threshold {
			b.trip(now, cause)
			return true, false
		}
	}
	return false, false
}

func (b *Breaker) trip(now time.Time, cause error) {
	b.gen++
	b.open, b.lease, b.cause = true, time.Time{}, cause
	b.until = now.Add(b.cooldown)
	b.failures = 0
	if b.opened != nil {
		close(b.opened)
		b.opened = nil
	}
}

// Opened gives a channel that is closed when the circuit next opens, for those
// who queue.
func (b *Breaker) Opened() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened == nil {
		b.opened = make(chan struct{})
	}
	return b.opened
}

// Calm tells that the circuit is as it was when the ticket was given: closed, and
// without a failure since the last success.
func (b *Breaker) Calm(t Ticket) bool { return b.calm.Load() == t.gen }

// Idle tells that forgetting the breaker loses nothing.
func (b *Breaker) Idle() bool { return b.calm.Load() != 0 }

// State is a breaker as it stands.
type State struct {
	Phase    Phase
	Failures int           // in a row, while closed
	Wait     time.Duration // until the next call may try, while open
	Cooldown time.Duration
	Cause    error
}

// State reads the breaker. Looking takes no lease.
func (b *Breaker) State(now time.Time) State {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := State{Failures: b.failures, Cooldown: b.cooldown, Cause: b.cause}
	switch {
	case !b.open:
	case now.Before(b.until):
		s.Phase, s.Wait = Open, b.until.Sub(now)
	default:
		s.Phase = HalfOpen
		if now.Before(b.lease) {
			s.Wait = b.lease.Sub(now)
		}
	}
	return s
}
