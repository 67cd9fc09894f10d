package inventory

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// Output takes what one task finds and what it could not read. Its methods may
// be called from several goroutines.
type Output struct {
	task  Task
	sink  *Sink
	tally *Tally

	mu       sync.Mutex
	record   Record
	closed   bool // the run has drawn the line under this task
	nameless bool // it ended because a host's name does not exist
	governor *cloudpace.Governor
	stats    *cloudpace.Stats  // with ledger: of the calls under the task, nil before
	ledger   *cloudpace.Ledger // it has begun

	// Assets, and among them incomplete ones, and edges, that were counted and could
	// not be written afterwards.
	lost, lostIncomplete, lostEdges atomic.Int64

	repeated int                 // in a row, of what had been emitted before
	seen     map[uint64]struct{} // hashes of the assets and edges that were emitted

	limit   int64        // of assets; 0 is none
	taken   atomic.Int64 // items that count against it
	stalled atomic.Pointer[StalledError]
	sign    atomic.Int64 // when something last came of the task, in Unix nanoseconds
}

// mostRepeated is how many assets in a row may have been listed before. A page that
// is given a second time has a thousand at most.
const mostRepeated = 10_000

// errClosed ends tasks that outlive their run.
var errClosed = errors.New("the run is over")

func newOutput(t Task, sink *Sink, tally *Tally) *Output {
	scope := cloudpace.Scope{Provider: t.Provider, Account: t.Account, Region: t.Region, Service: t.Service}
	return &Output{task: t, sink: sink, tally: tally, record: Record{
		Provider: t.Provider, Account: t.Account, Region: t.Region,
		Task: t.Name, Family: t.Family, Scope: scope.String(), Covers: t.Covers,
	}}
}

// Emit writes an asset. Provider, task and time are filled in, and account and
// region where they are empty. It waits for the disk, which is what keeps a fast
// provider from filling the memory. The error means that nothing more can be
// written; return it.
func (o *Output) Emit(a Asset) error {
	a.Provider, a.Task = o.task.Provider, o.task.Name
	if a.Account == "" {
		a.Account = o.task.Account
	}
	if a.Region == "" {
		a.Region = o.task.Region
	}
	a.Time = time.Now().UTC()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return errClosed
	}
	// Without an id nobody can tell.
	if (a.ID != "" || a.ARN != "") && o.again(a.Type, a.Region, a.ID, a.ARN) {
		return o.duplicate()
	}
	o.repeated = min(o.repeated, 0) // what a listing that began anew may repeat stays allowed
	incomplete := 0
	if len(a.Missing) > 0 {
		incomplete = 1
	}
	err := o.sink.Write(a, func() {
		o.lost.Add(1)
		o.lostIncomplete.Add(int64(incomplete))
	})
	if err != nil {
		return err
	}
	o.alive()
	o.record.Assets++
	o.record.Incomplete += incomplete
	o.tally.assets.Add(1)
	return nil
}

// EmitEdge writes an edge, as Emit writes an asset. Provider, task and time are filled
// in, and the account where it is empty.
func (o *Output) EmitEdge(e Edge) error {
	e.Provider, e.Task = o.task.Provider, o.task.Name
	if e.Account == "" {
		e.Account = o.task.Account
	}
	e.Time = time.Now().UTC()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return errClosed
	}
	if o.again(e.Kind, e.From, e.To+"\n"+e.ToType, strings.Join([]string{e.Role, e.Condition.Title, e.Condition.Description, e.Condition.Expression}, "\n")) {
		return o.duplicate()
	}
	o.repeated = min(o.repeated, 0)
	if err := o.sink.WriteEdge(e, func() { o.lostEdges.Add(1) }); err != nil {
		return err
	}
	o.alive()
	o.record.Edges++
	return nil
}

var seed = maphash.MakeSeed()

// again tells whether the task has emitted what has this key before: a provider that
// repeats a page repeats what is on it, and a list that changes while it is read moves
// its items to pages that come later. o.mu is held.
func (o *Output) again(parts ...string) bool {
	key := maphash.Comparable(seed, [...]string{parts[0], parts[1], parts[2], parts[3]})
	if _, ok := o.seen[key]; ok {
		return true
	}
	if o.seen == nil {
		o.seen = make(map[uint64]struct{})
	}
	o.seen[key] = struct{}{}
	return false
}

// duplicate counts what was emitted before. o.mu is held.
func (o *Output) duplicate() error {
	o.record.Duplicates++
	if o.repeated++; o.repeated == mostRepeated {
		return &RepeatedAssetsError{Assets: o.repeated}
	}
	return nil
}

// Again says that a listing begins anew: all that came of it so far comes once more.
func (o *Output) Again() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.repeated = -len(o.seen)
	o.taken.Store(0)
}

// AsOf notes the moment whose state the task asks for.
func (o *Output) AsOf(t time.Time) { o.count(func(r *Record) { r.ReadTime = t.UTC() }) }

// Elsewhere counts an asset that another task of the run lists.
func (o *Output) Elsewhere() { o.count(func(r *Record) { r.Elsewhere++ }) }

func (o *Output) elsewhere() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.record.Elsewhere
}

// Gap notes something that could not be read while the task goes on. It makes
// the record PARTIAL.
func (o *Output) Gap(err error) Reason {
	return o.gap(ReasonOf(o.task.Provider, err), err)
}

func (o *Output) gap(why Reason, err error) Reason {
	why, err = o.explain(why, err)
	o.count(func(r *Record) { note(r, why, err) })
	return why
}

func (o *Output) count(fn func(*Record)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.alive()
		fn(&o.record)
	}
}

// page counts a page that arrived. One with nothing on it is no sign of life.
func (o *Output) page(items int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.record.Pages++
	if items > 0 {
		o.alive()
	}
}

// take tells whether one more item may be read, and counts it.
func (o *Output) take() bool {
	return o.limit == 0 || o.taken.Add(1) <= o.limit
}

type outputKey struct{}

// Answered notes the id that the provider gave its last answer to a task whose
// context this is, for whoever has to ask the provider about it.
func Answered(ctx context.Context, requestID string) {
	o, ok := ctx.Value(outputKey{}).(*Output)
	if !ok || requestID == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed { // an answer alone, a refusal for one, is no sign of life
		o.record.RequestID = requestID
	}
}

// Arrived counts a page for the task whose context this is: for listings whose pages
// are followed elsewhere, see [Follow].
func Arrived(ctx context.Context, items int) {
	if o, ok := ctx.Value(outputKey{}).(*Output); ok {
		o.page(items)
	}
}

// note keeps the first error in full and counts the others.
func note(r *Record, why Reason, err error) {
	if r.Errors == 0 {
		blame(r, why, err)
	}
	r.Errors++
}

// blame makes err what the record tells of.
func blame(r *Record, why Reason, err error) {
	r.Reason, r.Error, r.RetryAfterSeconds = why, verdict.DescribeFor(r.Provider, err), 0
	if hint, ok := retryAfter(err); ok {
		r.RetryAfterSeconds = hint.Seconds()
	}
}

// retryAfter prefers what an open circuit says to the hint of what opened it.
func retryAfter(err error) (time.Duration, bool) {
	var open *cloudpace.CircuitOpenError
	if errors.As(err, &open) {
		return open.RetryAfter, true
	}
	var renewed *RenewedError
	if errors.As(err, &renewed) {
		return max(0, time.Until(renewed.At)), true
	}
	return verdict.RetryAfter(err)
}

// begin is the moment the task starts. It is under the context it returns that
// the calls of the task are counted; whoever draws the line has them at hand.
func (o *Output) begin(ctx context.Context, g *cloudpace.Governor) context.Context {
	ctx, ledger := cloudpace.WithLedger(ctx)
	ctx, stats := cloudpace.WithStats(context.WithValue(ctx, outputKey{}, o))
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.record.Started = time.Now().UTC()
		o.governor, o.ledger, o.stats = g, ledger, stats
	}
	return ctx
}

// begun tells whether the task has started.
func (o *Output) begun() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.record.Started.IsZero()
}

// finish draws the line: err is what the task returned. Later calls change
// nothing and get the same record.
func (o *Output) finish(err error) Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := &o.record
	if o.closed {
		return *r
	}
	o.closed, o.seen = true, nil
	r.Finished = time.Now().UTC()
	if !r.Started.IsZero() {
		r.Seconds = r.Finished.Sub(r.Started).Round(time.Millisecond).Seconds()
	}
	if o.governor != nil && o.stats != nil {
		r.Calls = o.stats.Totals().Calls
	}
	gaps := r.Errors > 0
	switch {
	case err == nil:
		r.Status = Success
	case r.Pages > 0 || r.Assets > 0 || r.Edges > 0:
		r.Status = Partial
	default:
		r.Status = Failed
	}
	if err != nil {
		r.Errors++
		o.nameless, r.eitherWay = noSuchHost(err), eitherWay(err)
		blame(r, ReasonOf(r.Provider, err), err) // it comes before what the task got over
		if r.Status == Failed && nobody(r.Reason, err) {
			r.Status = Skipped // there is nobody to ask
		}
		if r.Status == Partial {
			what := fmt.Sprintf("%d asset(s)", r.Assets)
			if r.Edges > 0 {
				what = fmt.Sprintf("%d edge(s)", r.Edges)
			}
			r.Error = fmt.Sprintf("the listing ended early, after %d page(s) with %s: %s", r.Pages, what, r.Error)
		}
	}
	if o.ledger != nil && o.ledger.Degraded() {
		r.Ledger = o.ledger.String()
		gaps = true
	}
	if gaps && r.Status == Success {
		r.Status = Partial
		if r.Reason == "" {
			r.Reason = Throttled
		}
	}
	return *r
}

// written makes a record say what is on the disk, once nothing more is written.
func (o *Output) written(r *Record) {
	lost, edges := int(o.lost.Load()), int(o.lostEdges.Load())
	r.Assets -= lost
	r.Edges -= edges
	r.Incomplete -= int(o.lostIncomplete.Load())
	tell := func(n int, what string) {
		if n == 0 {
			return
		}
		if r.Error != "" {
			r.Error += "; " // what the error says of them was true when they were read
		}
		r.Error += fmt.Sprintf("%d %s(s) that were read could not be written", n, what)
	}
	tell(lost, "asset")
	tell(edges, "edge")
}

// stop is the record of a task that the end of the run finds still running, or
// not begun.
func (o *Output) stop(cause error) Record {
	o.mu.Lock()
	begun := !o.record.Started.IsZero()
	if !begun && !o.closed {
		o.closed = true
		o.record.Finished = time.Now().UTC()
		o.record.Status, o.record.Reason = Skipped, Truncated
		o.record.Error = "not begun: " + (&StoppedError{cause}).Error()
	}
	o.mu.Unlock()
	return o.finish(&StoppedError{cause})
}
