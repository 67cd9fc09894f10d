package bucket

import (
	"math"
	"time"
)

// Memory is what a bucket would forget when its process ends. Its times are those of
// the wall clock.
type Memory struct {
	At        time.Time // when the rest was true
	Rate      float64   // in force
	Tokens    float64   // were there; below zero is debt
	Throttled time.Time // the last throttle; zero for none
	Paused    time.Time // until then; zero for no pause
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
	m = Memory{At: now.Round(0), Rate: b.rate, Tokens: b.tokens, Throttled: b.law.throttled.Round(0)}
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
	wall := now.Round(0)
	at := earlier(m.At, wall) // a clock that was set back makes nothing younger than now
	if b.opt.Adaptive && m.Rate < b.rate {
		calmed := later(at, m.Throttled.Add(calm))
		raises := math.Floor(math.Max(0, wall.Sub(calmed).Seconds()) / calm.Seconds())
		step := math.Max(b.opt.Rate/raiseShare, raiseAtMost)
		b.setRate(math.Min(b.rate, math.Max(b.opt.MinRate, m.Rate)+raises*step))
		if t := earlier(m.Throttled, wall); !t.IsZero() {
			b.law.throttled = now.Add(t.Sub(wall))
		}
	}
	if !math.IsInf(b.rate, 1) {
		filling := wall.Sub(later(at, earlier(m.Paused, wall)))
		b.tokens = math.Min(b.tokens, math.Max(m.Tokens, -b.burst)+b.rate*filling.Seconds())
	}
	b.pauseFor(now, m.Paused.Sub(wall))
	g.sweep(now)
	g.poke()
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
