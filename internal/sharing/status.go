package sharing

import (
	"math"
	"slices"
	"time"
)

// Status is what a bucket looks like to somebody who does not ask for tokens.
type Status struct {
	Rate, MaxRate float64
	Burst         float64 // in force
	Tokens        float64 // stored; below zero is handed out in advance
	Paused        time.Duration
	Circuit       *Circuit // nil where it is closed or may be tried
	Active        []string // members that want tokens, in order
}

// margin is how much longer than needed a state is kept.
const margin = 10 * time.Second

// Status looks, and changes nothing but the time. A bucket that nobody has asked for
// anything has none.
func (b *Bucket) Status(now time.Time) Status {
	b.follow(now)
	if b.learner != nil {
		return b.learnedStatus(now)
	}
	s := Status{
		Rate: b.rate, MaxRate: b.limits.Rate, Burst: b.burst(), Tokens: math.Min(b.stored(now), b.burst()),
		Paused: max(0, b.paused.Sub(now)), Active: []string{},
	}
	return b.withMembers(now, s)
}

// learnedStatus is Status of a bucket that learns.
func (b *Bucket) learnedStatus(now time.Time) Status {
	m := b.learner.model
	l, ahead := m.State(), m.Last()-b.learner.since(now)
	return b.withMembers(now, Status{
		Rate: l.Rate, MaxRate: b.limits.Rate, Burst: l.Burst, Tokens: math.Min(l.Burst, l.Level-l.Rate*ahead),
		Paused: max(0, duration(m.Paused()-b.learner.since(now))), Active: []string{},
	})
}

// withMembers adds the circuit, where it is open, and the members that want tokens.
func (b *Bucket) withMembers(now time.Time, s Status) Status {
	if left := b.opened.Sub(now); left > 0 {
		c := b.circuit
		c.Left = left
		s.Circuit = &c
	}
	for name, m := range b.members {
		if m.active(now) {
			s.Active = append(s.Active, name)
		}
	}
	slices.Sort(s.Active)
	return s
}

// knows is how long what was learned is kept after the last ask.
const knows = time.Hour

// Lasts is how long the state still differs from that of a new bucket: until it is full,
// has its rate back as far as time can bring it, no pause and no open circuit, and no
// member is left. It is more than zero. A store may forget the bucket then.
func (b *Bucket) Lasts(now time.Time) time.Duration {
	l := b.limits
	lasts := b.free.Sub(now) + duration(l.Burst/l.Rate)
	if b.rate < l.Rate {
		steps := math.Ceil((l.Rate - b.rate) / math.Max(l.Rate/raiseShare, raiseLeast))
		lasts = max(0, b.free.Sub(now)) + time.Duration(steps)*calm + duration(l.Burst/l.Rate)
	}
	lasts = max(lasts, b.paused.Sub(now), b.opened.Sub(now))
	if b.learner != nil {
		lasts = max(lasts, knows)
	}
	for _, m := range b.members {
		lasts = max(lasts, m.seen.Sub(now)+lingers, m.last.Sub(now)+lingers)
	}
	return max(0, lasts) + margin
}

// PoolStatus is what a pool of slots looks like.
type PoolStatus struct {
	Max   int
	Slots map[string]int // by member
}

// Status looks at a pool.
func (s *Slots) Status(now time.Time) PoolStatus {
	st := PoolStatus{Max: s.max, Slots: map[string]int{}}
	for name, h := range s.members {
		if h.until.After(now) {
			st.Slots[name] = h.slots
		}
	}
	return st
}

// Lasts is how long the pool is not empty. A store may forget it then.
func (s *Slots) Lasts(now time.Time) time.Duration {
	lasts := time.Duration(0)
	for _, h := range s.members {
		lasts = max(lasts, h.until.Sub(now))
	}
	return lasts
}
