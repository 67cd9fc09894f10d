package bucket

import (
	"math"
	"time"
)

// aimd is the memory of the additive-increase, multiplicative-decrease law:
// a throttle halves the rate, calm brings it back in twentieths of the ceiling.
type aimd struct {
	throttled, cut, raised time.Time // when each last happened
	lowest                 float64   // the lowest rate so far
}

const (
	cutFactor   = 0.5
	cutWindow   = time.Second     // throttles this soon after a cut belong to it
	calm        = 5 * time.Second // without a throttle before, and between, raises
	raiseShare  = 20              // a raise is the ceiling over this
	raiseAtMost = 0.01            // … or this many tokens a second, whichever is more
)

// Throttled records that the server refused a call of this leaf, with the hint it
// gave or 0. The stored burst is gone; an adaptive rate is cut; a hint pauses the
// leaf for everybody. It returns the rate now in force and whether this call cut
// it. Those who queue are moved by all of it at once.
func (b *Bucket) Throttled(now time.Time, k Mark, hint time.Duration) (rate float64, cut bool) {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	b.advance(now)
	if now.After(b.law.throttled) {
		b.law.throttled = now
	}
	rate = b.rate
	m := b.learns()
	switch {
	case m != nil:
		rate, cut = b.measured(now, m, k, hint)
	case b.feed != nil:
		b.feed.refused(now, hint)
		b.leased(k, (*outcomes).refused)
		if b.model != nil {
			b.model.Refused(k) // it was sent before they were handed out
		}
		rate, cut = b.cutElsewhere(now)
	case b.opt.Adaptive && !math.IsInf(b.rate, 1) && (b.law.cut.IsZero() || now.Sub(b.law.cut) >= cutWindow):
		b.law.cut = now
		b.setRate(math.Max(b.opt.MinRate, b.rate*cutFactor))
		rate, cut = b.rate, true
	}
	if m == nil {
		b.drop()
	}
	b.pauseFor(now, hint)
	g.sweep(now)
	g.poke()
	return rate, cut
}

// Slowed tells, without a lock, whether there is a rate to recover.
func (b *Bucket) Slowed() bool { return b.slowed.Load() || b.learning }

// Succeeded records that the server served a call of this leaf.
func (b *Bucket) Succeeded(now time.Time, k Mark) {
	if !b.Slowed() {
		return
	}
	if k != (Mark{}) {
		b.Answered(now, k)
		return
	}
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	b.advance(now)
	if b.feed != nil {
		b.feed.succeeded = true
		return
	}
	if b.model != nil {
		return
	}
	if now.Sub(b.law.throttled) < calm || now.Sub(b.law.raised) < calm {
		return
	}
	b.law.raised = now
	b.setRate(math.Min(b.opt.Rate, b.rate+raise(b.opt.Rate)))
	g.dispatch(now)
	g.poke()
}

// raise is one step of a recovery to a ceiling.
func raise(ceiling float64) float64 { return math.Max(ceiling/raiseShare, raiseAtMost) }

// setRate puts a rate in force, with the burst in proportion. A larger burst adds
// no tokens.
func (b *Bucket) setRate(rate float64) {
	b.rate = rate
	b.burst = b.opt.Burst
	if b.opt.Rate > 0 && !math.IsInf(b.opt.Rate, 1) {
		b.burst = math.Max(1, b.opt.Burst*rate/b.opt.Rate)
	}
	b.tokens = math.Min(b.tokens, b.burst)
	b.law.lowest = math.Min(b.law.lowest, rate)
	b.slowed.Store(rate < b.opt.Rate)
}
