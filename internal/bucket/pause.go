package bucket

import (
	"math"
	"time"
)

// pause is a stop of one bucket. Its end is kept on the monotonic clock and on
// the wall clock, and the first to get there ends it: the monotonic one may stand
// still while a machine sleeps, and the wall clock may be set back.
type pause struct {
	on          bool
	until, wall time.Time
}

func (p *pause) over(now time.Time) bool {
	return !now.Before(p.until) || !now.Round(0).Before(p.wall)
}

// pauseFor begins or extends the pause. What is stored is gone, so that callers
// leave at the bucket's rate afterwards; debt stays.
func (b *Bucket) pauseFor(now time.Time, d time.Duration) {
	d = min(d, b.opt.MaxPause)
	if d <= 0 {
		return
	}
	until := now.Add(d)
	if b.pause.on && !until.After(b.pause.until) {
		return
	}
	b.pause = pause{on: true, until: until, wall: until.Round(0)}
	if m := b.learns(); m != nil {
		m.Hold(b.since(until))
		return
	}
	b.drop()
}

// gathered is what the pause under way leaves behind when it ends then: what the
// rate gives in that time, at most one token. More would leave as a burst; a whole
// one for every pause would let short hints raise the rate. The bucket's last is
// the start of the pause, since nothing advances in it.
func (b *Bucket) gathered(end time.Time) float64 {
	if math.IsInf(b.rate, 1) {
		return 1
	}
	return math.Max(0, math.Min(1, b.rate*end.Sub(b.last).Seconds()))
}
