package plan

import (
	"context"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/internal/eventloop"
)

// Options say how a run goes about its tasks.
type Options struct {
	Workers int           // tasks side by side; 0 is what a run has
	Latency time.Duration // of every call
	// Twice is a limit that is twice what it says.
	Twice *Limit
	// Progress, when set, is told every now and then how many tasks are over.
	Progress func(done int)
}

// engine is a run in virtual time. One goroutine does all of it.
type engine struct {
	loop    *eventloop.Loop
	o       Options
	tasks   []Task
	order   []int
	next    int // in order
	done    int // tasks
	levels  map[place]*level
	pools   map[place]*pool
	told    []*call // whose waiter has something to say
	limits  []*Limit
	index   map[*Limit]int
	waits   []Waits
	calls   int
	account map[place]*Account
	all     []*Account
	free    []*trail
	spares  []*call
	last    *trail // of the worker that ended last
}

// start is when all runs begin; nothing depends on it.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// checked is after how many events it is looked whether anybody still wants to know.
const checked = 1 << 14

// Run carries out the tasks. The error is that of ctx.
func Run(ctx context.Context, tasks []Task, o Options) (Result, error) {
	if o.Workers <= 0 {
		o.Workers = inventory.DefaultWorkers
	}
	e := &engine{
		loop: eventloop.New(start), o: o, tasks: tasks,
		levels: make(map[place]*level), pools: make(map[place]*pool), index: make(map[*Limit]int), account: make(map[place]*Account),
	}
	e.order = inventory.Spread(tasks, func(t Task) inventory.Place {
		return inventory.Place{Provider: t.Provider, Account: t.Account, Region: t.Region, Service: t.Service}
	})
	e.last = e.trail()
	for range min(o.Workers, len(tasks)) {
		e.work(e.trail())
	}
	for n := 1; e.loop.Step(); n++ {
		e.hear()
		if n%checked == 0 {
			if err := ctx.Err(); err != nil {
				return Result{}, err
			}
			if o.Progress != nil {
				o.Progress(e.done)
			}
		}
	}
	return e.result(), nil
}

// work lets a worker, whose way until now is tr, begin the next task.
func (e *engine) work(tr *trail) {
	for e.next < len(e.order) {
		t := &e.tasks[e.order[e.next]]
		e.next++
		if t.Work == nil {
			e.done++
			continue
		}
		r := &running{Task: t, at: e.accountOf(t)}
		e.list(r, t.Work, t.Work.Items, tr, func(tr *trail) {
			if r.pool != nil {
				e.release(r.pool)
			}
			e.done++
			e.work(tr)
		})
		return
	}
	e.drop(e.last)
	e.last = tr // nobody has ended later, so far
}

// running is a task under way.
type running struct {
	*Task
	at   *Account
	pool *pool // whose slot it keeps
	// asked counts what was asked, by kind of question, in all listings of the task.
	asked []int
}

// accountOf gives the record of the task's account.
func (e *engine) accountOf(t *Task) *Account {
	key := place{provider: t.Provider, account: t.Account}
	a := e.account[key]
	if a == nil {
		a = &Account{Provider: t.Provider, Account: t.Account, Begins: e.loop.Now().Sub(start)}
		e.account[key] = a
		e.all = append(e.all, a)
	}
	return a
}
