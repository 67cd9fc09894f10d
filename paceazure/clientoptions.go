package paceazure

import (
	"context"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cloudpace/cloudpace"
)

// provider is the name that limits, codes and scopes of Azure have in cloudpace.
const provider = "azure"

// ClientOptions gives options with which every client is governed, with its pagers
// and pollers: those of the arm* packages, and by its embedded ClientOptions any
// other client of azcore. base is what the options extend; it may be nil, and it
// is never changed. One value serves all clients, subscriptions and clouds. Calling
// it on its own result replaces the governor and adds nothing.
//
// The number of retries is the governor's max_retries as it is now, whatever base
// says; so are the back-off, which grows to max_backoff_seconds, and the
// deadline_seconds of an operation with its retries. What base says about which
// outcomes are repeated (Retry.StatusCodes, Retry.ShouldRetry) stays in force, and
// its Retry.TryTimeout bounds a request as it is sent, not the waits before. While
// the governor or its provider "azure" is disabled, clients retry as base says.
func ClientOptions(base *arm.ClientOptions, opts ...Option) *arm.ClientOptions {
	options := base.Clone()
	if options == nil {
		options = &arm.ClientOptions{}
	}
	w := &wiring{governor: newSettings(opts).governor, origin: options.Retry}
	// What an earlier call added goes, and what it found comes back.
	options.PerCallPolicies = slices.DeleteFunc(options.PerCallPolicies, func(p policy.Policy) bool {
		ours, ok := p.(*operationPolicy)
		if ok {
			w.origin = ours.origin
		}
		return ok
	})
	options.PerRetryPolicies = slices.DeleteFunc(options.PerRetryPolicies, func(p policy.Policy) bool {
		_, ok := p.(*attemptPolicy)
		return ok
	})
	w.alone = policy.WithRetryOptions(context.Background(), w.origin)
	p := w.governor.Provider(provider)
	w.retries = p.MaxRetries
	options.Retry = policy.RetryOptions{
		MaxRetries:    int32(min(w.retries, 1<<30)),
		RetryDelay:    retryDelay,
		MaxRetryDelay: max(p.MaxBackoff, 1),
		ShouldRetry:   w.shouldRetry,
	}
	if w.retries == 0 {
		options.Retry.MaxRetries = -1 // azcore takes 0 for its own 3
	}
	options.PerCallPolicies = append(options.PerCallPolicies, &operationPolicy{w})
	options.PerRetryPolicies = append(options.PerRetryPolicies, &attemptPolicy{w})
	return options
}

// retryDelay is what azcore's back-off grows from. The n-th is (2^n-1) times as
// long, give or take: 0.2 s, 0.5 s, 1.3 s … and 46 s (at most 60) before the eighth.
const retryDelay = 180 * time.Millisecond

// wiring is what the two policies of one ClientOptions share. It is not changed
// once it is made.
type wiring struct {
	governor *cloudpace.Governor
	origin   policy.RetryOptions // how base wanted its calls retried
	alone    context.Context     // … as a context has it
	retries  int                 // after the first attempt
}

// ungoverned is a context under which azcore retries as base said, unless the
// caller's own context says how.
type ungoverned struct {
	context.Context
	alone context.Context
}

func (c ungoverned) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.alone.Value(key)
}
