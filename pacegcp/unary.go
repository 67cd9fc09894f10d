package pacegcp

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// unary governs one RPC with its retries. gax's own retries stand outside of it: what
// ends here for good is given a status that gax does not repeat.
func (w *wiring) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if admitted(ctx, w.governor, method) {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	scope, quotaProject := w.scopeOf(ctx, method, cc.Target(), req)
	r := repeater{scope: scope, settings: w.governor.Provider(provider)}
	r.begin(ctx, time.Now())
	call, err := w.governor.Begin(ctx, scope, cloudpace.Until(r.deadline), cloudpace.FreeTransientRetries(), charged(scope, quotaProject))
	if err != nil {
		return forCaller(err)
	}
	defer call.Drop()
	r.call = call
	if !call.Governed() {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	a := &attempt{call: call}
	a.options = append(append(a.room[:0], opts...), grpc.Header(&a.got.header), grpc.Trailer(&a.got.trailer))
	safe := reads(scope.Operation)
	for {
		r.sent = time.Now()
		err := a.send(call.Context(), safe, method, req, reply, cc, invoke)
		if err == nil {
			call.End(nil)
			return nil
		}
		if a.late.Load() {
			// There is no time for another attempt, of gax's either.
			if kind := verdict.ClassifyFor(provider, err); ctx.Err() == nil && (kind == verdict.Throttled || kind == verdict.Transient) {
				err = &cloudpace.DeadlineExceededError{Scope: scope, RetryAfter: firstBackoff, Err: err}
			}
			return forCaller(err)
		}
		if end := r.again(ctx, err, safe, nil); end != nil {
			call.End(end.end)
			return forCaller(end.give)
		}
	}
}

// attempt is what the attempts of one call share.
type attempt struct {
	got     received
	options []grpc.CallOption
	room    [6]grpc.CallOption // for most calls' options
	call    *cloudpace.Call
	cancel  context.CancelFunc
	cutting sync.WaitGroup
	late    atomic.Bool
}

// send makes one, which is cut where it hangs and only reads. The cut is no deadline of
// a context, of which the server would be told: that costs both sides more than it is
// worth, and the end of a call is told anyway.
func (a *attempt) send(ctx context.Context, cut bool, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker) error {
	a.got = received{}
	long := time.Duration(0)
	if cut {
		long = patience(ctx)
	}
	switch {
	case long == 0:
		return a.got.failure(invoke(ctx, method, req, reply, cc, a.options...))
	case long < hang:
		// Its context is about to cut it, with a timer of its own. A second one would
		// do no more, and most calls would pay for it.
		timer := time.AfterFunc(long, a.over)
		defer timer.Stop()
		return a.got.failure(invoke(ctx, method, req, reply, cc, a.options...))
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	a.cancel = cancel
	a.cutting.Add(1)
	timer := time.AfterFunc(long, a.end)
	err := invoke(within, method, req, reply, cc, a.options...)
	if timer.Stop() {
		a.cutting.Done()
		return a.got.failure(err)
	}
	a.cutting.Wait() // or it would cut the next attempt
	if status.Code(err) == codes.Canceled && ctx.Err() == nil {
		return hung()
	}
	return a.got.failure(err)
}

// over ends the call of an attempt that has hung, while that is still to be seen.
func (a *attempt) over() {
	a.late.Store(true)
	a.call.End(hung())
}

// end cuts the attempt under way.
func (a *attempt) end() {
	defer a.cutting.Done()
	a.cancel()
}

// reads tells by an RPC's name that it changes nothing, so that it may be sent twice
// and cut. Google's names follow its API guidelines (AIP-130 and following), which know
// no Query: some of those look things up, and QueryReasoningEngine runs an agent.
func reads(operation string) bool {
	switch operation {
	case "QueryAssets", "QueryTimeSeries":
		return true
	}
	for _, verb := range []string{"List", "Get", "Search", "BatchGet", "AggregatedList", "Lookup", "TestIamPermissions"} {
		if rest, ok := strings.CutPrefix(operation, verb); ok && (rest == "" || 'A' <= rest[0] && rest[0] <= 'Z') {
			return true // and not Listen
		}
	}
	return false
}
