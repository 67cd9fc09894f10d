package pacegcp

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/cloudpace/cloudpace"
)

// unary governs one RPC with its retries. gax's own retries stand outside of it: what
// ends here for good is given a status that gax does not repeat.
func (w *wiring) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	settings := w.governor.Provider(provider)
	if !settings.Enabled || admitted(ctx, w.governor, method) {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	scope, quotaProject := w.scopeOf(ctx, method, cc.Target(), req)
	r := repeater{scope: scope, settings: settings}
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
	safe := reads(scope.Operation)
	got := &received{}
	opts = append(slices.Clip(opts), got.options()...)
	for {
		*got = received{}
		err := send(call.Context(), safe, func(ctx context.Context) error {
			return invoke(ctx, method, req, reply, cc, opts...)
		})
		if err == nil {
			call.End(nil)
			return nil
		}
		if end := r.again(ctx, got.failure(err), safe); end != nil {
			call.End(end.end)
			return forCaller(end.give)
		}
	}
}

// send makes one attempt, which is cut where it hangs and only reads.
func send(ctx context.Context, cut bool, attempt func(context.Context) error) error {
	if d, ok := ctx.Deadline(); !cut || ok && time.Until(d) <= hang {
		return attempt(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	return attempt(ctx)
}

// reads tells by an RPC's name that it changes nothing, so that it may be sent twice
// and cut. Google's names follow its API guidelines (AIP-130 and following).
func reads(operation string) bool {
	for _, verb := range []string{"List", "Get", "Search", "Query", "BatchGet", "AggregatedList", "Lookup", "TestIamPermissions"} {
		if strings.HasPrefix(operation, verb) {
			return true
		}
	}
	return false
}
