package scenario

import (
	"time"

	"github.com/cloudpace/cloudpace/internal/eventloop"
)

// load is the work of a scenario, burst after burst, in the time of a loop.
type load struct {
	spec Scenario
	loop *eventloop.Loop
	work func() // sees that somebody does what there is to do

	left   int // of the calls of the burst under way, that nobody does
	open   int // of them, that have not succeeded
	later  int // calls of later bursts
	began  time.Time
	active time.Duration // gaps left out
	over   bool
}

func newLoad(s Scenario, loop *eventloop.Loop) load {
	return load{spec: s, loop: loop, later: s.Calls}
}

// next is how many of the calls that are left make the next burst.
func (s Scenario) next(left int) int {
	if s.BurstCalls > 0 {
		return min(left, s.BurstCalls)
	}
	return left
}

// burst begins the next part of the work.
func (l *load) burst() {
	n := l.spec.next(l.later)
	l.later -= n
	l.left, l.open, l.began = n, n, l.loop.Now()
	l.work()
}

// finished counts a call that has succeeded, and goes on.
func (l *load) finished() {
	if l.open--; l.open > 0 {
		l.work()
		return
	}
	l.active += l.loop.Now().Sub(l.began)
	if l.over = l.later == 0; !l.over {
		l.loop.After(seconds(l.spec.GapS), l.burst)
	}
}
