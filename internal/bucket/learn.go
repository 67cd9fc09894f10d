package bucket

import (
	"math"
	"time"

	"github.com/cloudpace/cloudpace/internal/learning"
)

// Mark tells one call from others, when its outcome is told. That of a bucket that does
// not learn is zero.
type Mark = learning.Mark

// learn makes the bucket learn. Where its limits may be exceeded they are only where it
// begins, and the bucket itself has none.
func (b *Bucket) learn(now time.Time) {
	b.epoch = now.Add(-time.Second)
	b.begin(now)
}

// begin believes in the limits, as far as nothing is known.
func (b *Bucket) begin(now time.Time) {
	b.epoch = b.epoch.Add(-time.Microsecond) // so that every mark of another model is older
	b.begun = b.since(now)
	alone := b.whole != nil // on a share that is not to be exceeded
	b.model = learning.New(learning.Limits{Rate: b.opt.Rate, Burst: b.opt.Burst, Floor: b.opt.MinRate}, !b.opt.Soft || alone, b.since(now))
	if b.rate, b.burst = b.opt.Rate, b.opt.Burst; b.opt.Soft && !alone {
		b.rate = math.Inf(1)
	}
}

// knows tells whether a mark is one that the model made, and not one before it or whoever
// leased the bucket tokens.
func (b *Bucket) knows(k Mark) bool { return b.model != nil && k != (Mark{}) && !k.Before(b.begun) }

// since and at convert to the model's time and back.
func (b *Bucket) since(t time.Time) float64 { return t.Sub(b.epoch).Seconds() }
func (b *Bucket) at(s float64) time.Time    { return b.epoch.Add(duration(s)) }

// learns gives what learns here: nil where nothing does, or where somebody else hands the
// tokens out.
func (b *Bucket) learns() *learning.Model {
	if b.feed != nil {
		return nil
	}
	return b.model
}

// advanceLearned is advance of a bucket that learns. Pauses take nothing from it: it holds
// what the user has promised, and the model what the server has.
func (b *Bucket) advanceLearned(now time.Time, m *learning.Model) {
	m.Advance(b.since(now), b.queue.n > 0)
	if b.pause.on && b.pause.over(now) {
		b.pause.on = false
		if left := b.pause.until.Sub(now); left > 0 { // the wall clock ended it before the timers did
			m.Resume(b.since(now), left.Seconds())
		}
	}
	b.fill(now)
}

// measured learns from a throttle.
func (b *Bucket) measured(now time.Time, m *learning.Model, k Mark, hint time.Duration) (rate float64, cut bool) {
	before := m.State().Rate
	if !b.knows(k) {
		k = Mark{}
	}
	m.Throttled(b.since(now), k, max(0, min(hint, b.opt.MaxPause)).Seconds())
	rate = m.State().Rate
	b.law.lowest = math.Min(b.law.lowest, rate)
	return rate, rate < before
}

// Answered records that the server took a call of this leaf in, whatever it made of it.
func (b *Bucket) Answered(now time.Time, k Mark) {
	b.told(k, func(m *learning.Model) {
		b.advance(now)
		m.Succeeded(b.since(now), k)
		b.group.dispatch(now) // who waits may go sooner for it
	}, func(o *outcomes, sent time.Time) { o.served(now, sent) })
}

// Left records that the server said how many tokens were left after a call of this leaf.
func (b *Bucket) Left(now time.Time, k Mark, left int) {
	b.told(k, func(m *learning.Model) {
		b.advance(now)
		m.Told(b.since(now), k, float64(left))
		b.group.sweep(now)
		b.group.dispatch(now)
	}, nil)
}

// Unknown records that nothing is known of what the server did with a call of this leaf.
func (b *Bucket) Unknown(k Mark) {
	b.told(k, (*learning.Model).Unknown, func(o *outcomes, _ time.Time) { o.Unknown++ })
}

// Settled records that a call that was throttled is repeated now, or never.
func (b *Bucket) Settled(now time.Time, k Mark) {
	b.told(k, func(m *learning.Model) {
		b.advance(now) // until now it was still to be repeated
		m.Settled()
	}, nil)
}

// Hold records that a call has its token and waits for something else. Go gives it another
// mark when it goes.
func (b *Bucket) Hold(k Mark) Mark {
	b.told(k, func(m *learning.Model) { k = m.Wait(k) }, nil)
	return k
}

// Go records that a call goes that was held.
func (b *Bucket) Go(now time.Time, k Mark) Mark {
	b.told(k, func(m *learning.Model) {
		b.advance(now)
		k = m.Leave(b.since(now))
	}, func(*outcomes, time.Time) { k = learning.Stamp(b.since(now)) })
	return k
}

// told lets the model hear of a call that is its own, and those who wait of the change, or
// has it told to whoever handed the token out.
func (b *Bucket) told(k Mark, of func(*learning.Model), elsewhere func(*outcomes, time.Time)) {
	if k == (Mark{}) {
		return
	}
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, leased := k.Stamped(); leased {
		b.leased(k, elsewhere)
		return
	}
	if b.knows(k) {
		of(b.model)
		g.poke()
	}
}

// leased notes what became of a call whose token was handed out elsewhere. Who waits may
// be handed more for it.
func (b *Bucket) leased(k Mark, note func(*outcomes, time.Time)) {
	if sent, ok := k.Stamped(); ok && b.feed != nil && note != nil {
		note(&b.feed.outcomes, b.at(sent))
		if b.queue.n > 0 && b.held() == 0 {
			b.feed.wake()
		}
	}
}
