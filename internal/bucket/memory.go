package bucket

import (
	"math"
	"time"

	"github.com/cloudpace/cloudpace/internal/learning"
)

// Memory is what a bucket would forget when its process ends. Its times are those of
// the wall clock.
type Memory struct {
	At        time.Time // when the rest was true
	Rate      float64   // in force
	Ceiling   float64   // of the rate
	Burst     float64   // in force, as the rate is
	Tokens    float64   // were there; below zero is debt
	Throttled time.Time // the last throttle; zero for none
	Paused    time.Time // until then; zero for no pause

	Learned *learning.State // of a bucket that learns
}

// Memory tells what is worth remembering, and whether anything is.
func (b *Bucket) Memory(now time.Time) (m Memory, ok bool) {
	if b.Idle(now) {
		return Memory{}, false
	}
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	b.advance(now)
	if b.whole != nil {
		return Memory{}, false // who hands the tokens out remembers; a share is nothing learned
	}
	m = Memory{
		At: now.Round(0), Rate: b.rate, Ceiling: b.opt.Rate, Burst: b.burst, Tokens: b.tokens, Throttled: b.law.throttled.Round(0),
	}
	if l := b.learns(); l != nil {
		s := l.State()
		m.Learned, m.Rate, m.Burst, m.Tokens = &s, s.Rate, s.Burst, s.Level
		if !math.IsInf(b.rate, 1) {
			m.Tokens = math.Min(m.Tokens, b.tokens) // what is promised may be less than what the server has
		}
	}
	if b.pause.on {
		m.Paused = b.pause.wall
	}
	return m, true
}

// Recall puts in force what is left of a memory by now, as if its process had gone on
// without asking anything: time has refilled the bucket, a pause that is past is over,
// and the rate has come back as far as [Bucket.Succeeded] could have brought it. It only
// ever holds back: where the bucket knows of less already, that stays.
func (b *Bucket) Recall(now time.Time, m Memory) {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	b.advance(now)
	if b.feed != nil {
		return
	}
	wall := now.Round(0)
	at := earlier(m.At, wall) // a clock that was set back makes nothing younger than now
	filling := wall.Sub(later(at, earlier(m.Paused, wall)))
	if l := b.learns(); l != nil && !l.State().Taught {
		if m.Learned != nil {
			s := *m.Learned
			s.Level = math.Min(s.Burst, m.Tokens+s.Rate*filling.Seconds())
			l.Recall(s)
		} else {
			l.Spend(m.Tokens + b.opt.Rate*filling.Seconds())
		}
	}
	if b.opt.Adaptive && m.Rate < b.rate {
		calmed := later(at, m.Throttled.Add(calm))
		raises := math.Floor(math.Max(0, wall.Sub(calmed).Seconds()) / calm.Seconds())
		b.setRate(math.Min(b.rate, math.Max(b.opt.MinRate, m.Rate)+raises*raise(b.opt.Rate)))
		if t := earlier(m.Throttled, wall); !t.IsZero() {
			b.law.throttled = now.Add(t.Sub(wall))
		}
	}
	if !math.IsInf(b.rate, 1) {
		b.tokens = math.Min(b.tokens, math.Max(m.Tokens, -b.burst)+b.rate*filling.Seconds())
	}
	b.pauseFor(now, m.Paused.Sub(wall))
	g.sweep(now)
	g.poke()
}

// Over is when nothing is left of the memory: the bucket is full again, at its ceiling.
func (m Memory) Over() time.Time {
	if m.Rate <= 0 {
		return later(m.At, m.Paused)
	}
	// At the lowest rate, which is too long rather than too short.
	full := later(m.At, m.Paused).Add(duration(math.Max(0, m.Burst*m.Ceiling/m.Rate-m.Tokens) / m.Rate))
	return later(m.Risen(), full)
}

// Risen is when the rate is back at its ceiling, if nothing more is throttled.
func (m Memory) Risen() time.Time {
	if m.Rate >= m.Ceiling {
		return m.At
	}
	raises := math.Floor((m.Ceiling-m.Rate)/raise(m.Ceiling)) + 1 // rounding may cost one
	return later(m.At, m.Throttled.Add(calm)).Add(duration(raises * calm.Seconds()))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
