package inventory

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Tally is how far a run is, for showing while it goes on.
type Tally struct {
	total  atomic.Int64
	done   atomic.Int64
	assets atomic.Int64

	mu      sync.Mutex
	running map[int]Running
}

// Running is a task under way.
type Running struct {
	Task, Account, Region string
	Since                 time.Time
}

// Progress is a moment of a run.
type Progress struct {
	Total, Done, Assets int
	Running             []Running // longest running first
}

// Progress tells how far the run is now.
func (t *Tally) Progress() Progress {
	p := Progress{Total: int(t.total.Load()), Done: int(t.done.Load()), Assets: int(t.assets.Load())}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.running {
		p.Running = append(p.Running, r)
	}
	slices.SortFunc(p.Running, func(a, b Running) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Region, b.Region))
	})
	return p
}

func (t *Tally) begin(i int, task Task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running == nil {
		t.running = make(map[int]Running)
	}
	t.running[i] = Running{task.Name, task.Account, task.Region, time.Now()}
}

func (t *Tally) end(i int) {
	t.done.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, i)
}
