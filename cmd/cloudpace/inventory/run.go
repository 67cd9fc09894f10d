package inventory

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// Options say how a run goes about its tasks.
type Options struct {
	Sink *Sink // required
	// Workers is how many tasks run side by side; 0 means [DefaultWorkers]. What
	// they ask is paced by the governor of their clients.
	Workers int
	// Governor, when set, is the one of the tasks' clients: records then say how
	// many calls were sent.
	Governor *cloudpace.Governor
	// MaxAssets bounds what one task reads; 0 is no bound. A task that reaches it and
	// sees that there is more is PARTIAL, capped.
	MaxAssets int
	// Stall is how long a task may go without anything coming of it before it is
	// ended as unreachable; 0 means [DefaultStall].
	Stall time.Duration
	// Tally, when set, can be watched while the run goes on.
	Tally *Tally
	// Done, when set, is called with each record as it is made, one at a time.
	Done func(Record)
}

// DefaultWorkers keeps the memory small, a page for each, and is enough for the
// limits of several services in all regions to be used at once.
const DefaultWorkers = 32

// DefaultStall is longer than the longest pause that a provider's hint can cause
// (300 s) with the retries around it, and what a Do has as its deadline.
const DefaultStall = 15 * time.Minute

// grace is how long tasks may take to end once the run is told to.
const grace = 3 * time.Second

// Run carries out the tasks and returns one record for each, in their order; one that
// failed and has another way is followed by the record of that.
// Nothing a task does ends the run: errors, panics and whatever it does not read
// are in its record. When ctx ends, the tasks are told, given three seconds, and
// recorded as they are; those not begun become SKIPPED.
//
// The error is that of the sink, because a run that cannot write is broken; the
// records are there all the same.
func Run(ctx context.Context, tasks []Task, o Options) ([]Record, error) {
	if o.Workers <= 0 {
		o.Workers = DefaultWorkers
	}
	if o.Tally == nil {
		o.Tally = new(Tally)
	}
	if o.Stall <= 0 {
		o.Stall = DefaultStall
	}
	o.Tally.total.Store(int64(len(tasks)))
	ways, other := withOthers(tasks)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	o.Sink.onFailure(cancel)

	r := &run{tasks: ways, first: len(tasks), other: other, o: o, outputs: make([]*Output, len(ways)), records: make([]Record, len(ways))}
	for i, t := range ways {
		r.outputs[i] = newOutput(t, o.Sink, o.Tally)
		r.outputs[i].limit = int64(o.MaxAssets)
	}
	for i, j := range other {
		r.outputs[j].record.InPlaceOf = tasks[i].Name
	}
	r.work(ctx)
	r.silence()
	r.sums()
	if known(r.records) {
		o.Sink.Begin()
	}
	err := o.Sink.Close()
	for i := range r.records {
		r.outputs[i].written(&r.records[i])
	}
	return r.inOrder(), err
}

// run is the state of one Run.
type run struct {
	tasks   []Task
	first   int         // so many of them are to be carried out; the rest are other ways
	other   map[int]int // to them, by the index of a task
	o       Options
	outputs []*Output

	mu      sync.Mutex // for records and Done
	records []Record
	over    bool // no other way is recorded any more
}

func (r *run) work(ctx context.Context) {
	queue := make(chan int, r.first)
	for _, i := range Spread(r.tasks[:r.first], Task.place) {
		if !r.tasks[i].Sums {
			queue <- i
		}
	}
	close(queue)
	var wg sync.WaitGroup
	for range min(r.o.Workers, r.first) {
		wg.Go(func() {
			for i := range queue {
				if j, ok := r.other[i]; r.one(ctx, i).elsewise() && ok && ctx.Err() == nil {
					r.o.Tally.total.Add(1)
					r.one(ctx, j)
				}
			}
		})
	}
	finished := make(chan struct{})
	go func() {
		wg.Wait()
		close(finished)
	}()
	select {
	case <-finished:
		return
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-finished:
		return
	case <-late.C:
	}
	// A task that does not hear is recorded with what it has; what it does from
	// now on goes nowhere.
	for i := range r.tasks {
		if r.tasks[i].Sums || i >= r.first && !r.outputs[i].begun() {
			continue
		}
		r.keep(i, r.outputs[i].stop(context.Cause(ctx)))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// withOthers puts the other ways behind the tasks, and tells which is whose.
func withOthers(tasks []Task) (all []Task, other map[int]int) {
	all, other = slices.Clone(tasks), make(map[int]int)
	for i, t := range tasks {
		if t.Otherwise != nil {
			other[i] = len(all)
			all = append(all, *t.Otherwise)
		}
	}
	return all, other
}

// inOrder gives the records, those of other ways after the task whose place they took.
// A way that was not gone has none.
func (r *run) inOrder() []Record {
	list := make([]Record, 0, r.first)
	for i := range r.first {
		list = append(list, r.records[i])
		if j, ok := r.other[i]; ok && r.records[j].Status != "" {
			list = append(list, r.records[j])
		}
	}
	return list
}

// one carries out a task, or says why not.
func (r *run) one(ctx context.Context, i int) Record {
	out := r.outputs[i]
	if ctx.Err() != nil {
		return r.keep(i, out.stop(context.Cause(ctx)))
	}
	r.o.Tally.begin(i, r.tasks[i])
	ctx, end := context.WithCancelCause(out.begin(ctx, r.o.Governor))
	defer end(nil)
	defer out.watch(r.o.Stall, end)()
	err := contain(func() error { return r.tasks[i].Read(ctx, out) })
	if cause := context.Cause(ctx); cause != nil && stoppedBy(err, cause) {
		var stalled *StalledError
		if err = cause; !errors.As(cause, &stalled) {
			err = &StoppedError{cause}
		}
	}
	return r.keep(i, out.finish(err))
}

// stoppedBy tells an error that only says that the run ends from one that the
// task met itself while it was ending.
func stoppedBy(err, cause error) bool {
	return verdict.Classify(err) == verdict.Canceled || errors.Is(err, cause) || errors.Is(err, errClosed)
}

// keep stores a task's record, the first one that is made, and gives it back; an empty one
// where there was one before.
func (r *run) keep(i int, record Record) Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over && i >= r.first || r.records[i].Status != "" {
		return Record{} // what was kept is not this goroutine's to read: the run may be over
	}
	r.records[i] = record
	r.o.Tally.end(i)
	if r.o.Done != nil {
		r.o.Done(record)
	}
	return record
}

// known tells whether anything is known about anything: then the assets of this
// run replace those of an earlier one.
func known(records []Record) bool {
	for _, r := range records {
		if r.Status == Success || r.Status == Partial {
			return true
		}
	}
	return false
}
