package bucket

import (
	"time"

	"github.com/cloudpace/cloudpace/internal/learning"
)

// State is a bucket as it stands.
type State struct {
	Rate, Ceiling, Lowest float64         // tokens a second: now, at most, at least so far
	Burst, Tokens         float64         // can be stored, are there (below 0: debt)
	PausedFor             time.Duration   // what is left of a pause
	Waiting               int             // callers in the queue
	Learned               *learning.State // nil where nothing learns
}

// Slowed tells whether throttles hold the rate down.
func (s State) Slowed() bool { return s.Rate < s.Ceiling }

// State reads the bucket. Looking changes nothing.
func (b *Bucket) State(now time.Time) State {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	b.advance(now)
	s := State{Rate: b.rate, Ceiling: b.opt.Rate, Lowest: b.law.lowest, Burst: b.burst, Tokens: b.tokens, Waiting: b.queue.n}
	if b.whole != nil {
		s.Ceiling = b.whole.Rate
	}
	if m := b.learns(); m != nil {
		l := m.State()
		s.Learned = &l
		s.Rate, s.Burst, s.Tokens = l.Rate, l.Burst, l.Level
	}
	if b.pause.on {
		s.PausedFor = b.pause.until.Sub(now)
	}
	return s
}
