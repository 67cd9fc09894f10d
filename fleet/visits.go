package fleet

import (
	"container/heap"
	"time"
)

// visits are the lanes to look at by and by, the next one first. A lane may be in it
// with a time that no longer holds; it is then looked at once for nothing.
type visits struct{ queue }

type visit struct {
	at   time.Time
	lane *lane
}

// put notes when the lane wants to be looked at.
func (v *visits) put(n *lane) {
	if !n.visit.IsZero() && !n.visit.Equal(n.put) {
		n.put = n.visit
		heap.Push(&v.queue, visit{n.visit, n})
	}
}

// next is when the next lane is due.
func (v *visits) next() (at time.Time, ok bool) {
	if len(v.queue) == 0 {
		return at, false
	}
	return v.queue[0].at, true
}

// due takes out those that are due, each once.
func (v *visits) due(now time.Time) (lanes []*lane) {
	for len(v.queue) > 0 && !v.queue[0].at.After(now) {
		e, _ := heap.Pop(&v.queue).(visit)
		n := e.lane
		if n.put.Equal(e.at) {
			n.put = time.Time{}
		}
		if n.visit.Equal(e.at) && n.dirty.CompareAndSwap(false, true) {
			lanes = append(lanes, n)
		}
	}
	return lanes
}

type queue []visit

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

func (q *queue) Push(x any) {
	if e, ok := x.(visit); ok {
		*q = append(*q, e)
	}
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = visit{}
	*q = (*q)[:last]
	return e
}
