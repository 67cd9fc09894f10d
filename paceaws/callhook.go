package paceaws

import (
	"context"
	"errors"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"github.com/cloudpace/cloudpace"
)

const callHookID = "cloudpace:call"

// callHook stands before the retry loop: it begins and ends the governed call
// (S10.2, S10.4).
type callHook operation

var _ middleware.FinalizeMiddleware = (*callHook)(nil)

func (*callHook) ID() string { return callHookID }

func (h *callHook) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	out middleware.FinalizeOutput, metadata middleware.Metadata, err error,
) {
	op := (*operation)(h)
	scope, known := scopeOf(ctx, op.account, op.name)
	if !known {
		return op.pass(ctx, in, next)
	}
	call, err := op.governor.Begin(ctx, scope, cloudpace.CountOnce(), cloudpace.FreeTransientRetries())
	if err != nil {
		return out, metadata, forCaller(err)
	}
	// Covers panics. After End it does nothing.
	defer call.Drop()
	if !call.Governed() {
		// The governor is disabled (S9.3). The call knows what Begin acted on.
		return op.pass(ctx, in, next)
	}
	op.call, op.scope = call, scope
	op.inside = tellsInside(awsmiddleware.GetServiceID(ctx), op.name)
	out, metadata, err = next.HandleFinalize(withOperation(call.Context(), op), in)
	if err != nil && op.end != nil {
		call.End(op.end)
		return out, metadata, op.public
	}
	err = op.unlimited(err)
	call.End(err)
	return out, metadata, err
}

// pass lets a call go ungoverned.
func (op *operation) pass(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	op.off = true
	out, metadata, err := next.HandleFinalize(withOperation(ctx, op), in)
	return out, metadata, op.unlimited(err)
}

// unlimited words the error of a loop that the retryer ended at the last attempt
// as the loop itself does.
func (op *operation) unlimited(err error) error {
	var last *lastAttempt
	if err == nil || !errors.As(err, &last) {
		return err
	}
	return &retry.MaxAttemptsError{Attempt: op.attempts, Err: last.err}
}
