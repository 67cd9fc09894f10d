package pacegcp

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/cloudpace/cloudpace"
)

// admission is leave to send one request that was asked for outside of the client. It
// travels in the context. A governed client spends it instead of asking again, and
// leaves the rest to whoever has made it (S13.6); any other client knows nothing of it.
type admission struct {
	governor  *cloudpace.Governor
	operation string
	spent     atomic.Bool
}

type admissionKey struct{}

func (a *admission) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, admissionKey{}, a)
}

// admitted spends the admission in ctx for a request of the same governor and method,
// once.
func admitted(ctx context.Context, g *cloudpace.Governor, method string) bool {
	a, ok := ctx.Value(admissionKey{}).(*admission)
	return ok && a.governor == g && a.operation == operationOf(method) && a.spent.CompareAndSwap(false, true)
}

// operationOf is the RPC's name in a method (/google.cloud.asset.v1.AssetService/ListAssets).
func operationOf(method string) string { return method[strings.LastIndexByte(method, '/')+1:] }
