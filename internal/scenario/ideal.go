package scenario

import (
	"math"
	"slices"
	"time"

	"github.com/cloudpace/cloudpace/internal/eventloop"
)

// Ideal is the time that a client needs that knows everything: it sends as soon as the
// server has a token, and leaves the neighbours what they ask for on average. It has as
// many workers as the scenario says, and every call takes as long as an accepted one does
// on average.
func (s Scenario) Ideal() time.Duration {
	start := time.Time{}.AddDate(2000, 0, 0)
	o := &ideal{load: newLoad(s.alone(), eventloop.New(start)), idle: s.Workers}
	o.load.work = o.work
	o.server = NewModel(o.spec, start, 0)
	o.burst()
	for o.loop.Step() {
	}
	return o.active
}

// alone takes the neighbours' calls out of the refill.
func (s Scenario) alone() Scenario {
	if s.NeighbourRPS == 0 {
		return s
	}
	changes := slices.Clone(s.Server.Changes)
	end := s.NeighbourToS
	if end <= 0 {
		end = math.Inf(1)
	}
	at := func(t float64) (c Change) {
		c = Change{Burst: s.Server.Burst, Refill: s.Server.Refill}
		for _, other := range s.Server.Changes {
			if other.AtS <= t {
				c = other
			}
		}
		c.AtS = t
		return c
	}
	if s.NeighbourFromS > 0 {
		changes = append(changes, at(s.NeighbourFromS))
	} else {
		s.Server.Refill = math.Max(least, s.Server.Refill-s.NeighbourRPS)
	}
	if !math.IsInf(end, 1) {
		changes = append(changes, at(end))
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return int(math.Copysign(1, a.AtS-b.AtS)) })
	for i := range changes {
		if t := changes[i].AtS; t >= s.NeighbourFromS && t < end {
			changes[i].Refill = math.Max(least, changes[i].Refill-s.NeighbourRPS)
		}
	}
	s.Server.Changes, s.NeighbourRPS = changes, 0
	return s
}

// least is the slowest that anything is, in tokens or calls a second: slower, the times
// of long work are beyond what clocks hold.
const least = 1e-3

// ideal is a client that knows everything, at work.
type ideal struct {
	load
	server *Model
	idle   int
	timer  *eventloop.Timer
}

// work sends what can be sent, and looks again when there is a token.
func (o *ideal) work() {
	if o.timer != nil {
		o.timer.Stop()
	}
	for o.idle > 0 && o.left > 0 {
		now := o.loop.Now()
		if missing := 1 - o.server.Tokens(now); missing > 1e-6 {
			at := now.Add(seconds(missing/o.server.refill) + 1)
			if len(o.server.changes) > 0 {
				if c := o.server.start.Add(seconds(o.server.changes[0].AtS)); c.Before(at) {
					at = c
				}
			}
			o.timer = o.loop.At(at, o.work)
			return
		}
		o.idle--
		o.left--
		o.server.tokens--
		o.loop.After(usual(o.spec.Server.PathS, path)+usual(o.spec.Server.LatencyS, latency), o.answered)
	}
}

func (o *ideal) answered() {
	o.idle++
	o.finished()
}
