// Package eventloop runs code that is given the time as a parameter in a time of its own:
// a run of hours takes as long as what happens in it. One goroutine does everything, and
// the same events always happen in the same order.
package eventloop

import (
	"container/heap"
	"time"
)

// Loop is a clock and what is to happen by it. It is not safe for concurrent use.
type Loop struct {
	now    time.Time
	events events
	seq    uint64
}

// New returns a loop whose clock stands at start.
func New(start time.Time) *Loop { return &Loop{now: start} }

// Now is the time by the loop's clock. It stands still while something happens.
func (l *Loop) Now() time.Time { return l.now }

// Timer is something that is to happen.
type Timer struct {
	at   time.Time
	seq  uint64
	what func()
}

// Stop makes that it does not happen. It is of no use afterwards.
func (t *Timer) Stop() { t.what = nil }

// At has something happen at a time, or now where that is past. What is to happen at the
// same time happens in the order in which it was asked for.
func (l *Loop) At(at time.Time, what func()) *Timer {
	if at.Before(l.now) {
		at = l.now
	}
	l.seq++
	t := &Timer{at, l.seq, what}
	heap.Push(&l.events, t)
	return t
}

// After has something happen when d is over.
func (l *Loop) After(d time.Duration, what func()) *Timer { return l.At(l.now.Add(d), what) }

// Step lets the next thing happen. It is false when there is nothing left.
func (l *Loop) Step() bool {
	for len(l.events) > 0 {
		t := heap.Pop(&l.events).(*Timer)
		if what := t.what; what != nil {
			l.now, t.what = t.at, nil
			what()
			return true
		}
	}
	return false
}

type events []*Timer

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if c := e[i].at.Compare(e[j].at); c != 0 {
		return c < 0
	}
	return e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(*Timer)) }
func (e *events) Pop() any {
	old := *e
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*e = old[:len(old)-1]
	return t
}
