package paceazure

import (
	"context"
	"sync/atomic"

	"github.com/cloudpace/cloudpace"
)

// admission is leave to send one request that was asked for outside the pipeline.
// It travels in the context. A governed pipeline spends it on its first attempt
// instead of asking again, and takes the call over with it (S12.2); any other
// pipeline knows nothing of it.
type admission struct {
	governor *cloudpace.Governor
	scope    cloudpace.Scope
	call     *cloudpace.Call
	spent    atomic.Bool
	pipeline
}

type admissionKey struct{}

func (a *admission) context() context.Context {
	return context.WithValue(a.call.Context(), admissionKey{}, a)
}

// spend takes the admission, once, for a request of the same scope and governor.
func (a *admission) spend(g *cloudpace.Governor, scope cloudpace.Scope) bool {
	return a.governor == g && a.scope == scope && a.spent.CompareAndSwap(false, true)
}
