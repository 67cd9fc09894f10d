package paceaws

import (
	"context"
	"errors"
	"time"

	"github.com/aws/smithy-go/middleware"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/backoff"
	"github.com/cloudpace/cloudpace/verdict"
)

const attemptHookID = "cloudpace:attempt"

// attemptHook stands first inside the retry loop: before the credentials are
// looked up and the request is signed, so that no wait of ours ages a signature
// (S10.3).
type attemptHook operation

var _ middleware.FinalizeMiddleware = (*attemptHook)(nil)

func (*attemptHook) ID() string { return attemptHookID }

func (h *attemptHook) HandleFinalize(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
	middleware.FinalizeOutput, middleware.Metadata, error,
) {
	op := (*operation)(h)
	op.attempts++
	op.limit = countsTo(in.Request)
	if op.call == nil {
		return next.HandleFinalize(ctx, in)
	}
	if op.end != nil {
		// A retryer that repeats whatever it is given came back. It gets the same
		// answer, and nothing is sent.
		return middleware.FinalizeOutput{}, op.metadata, errHalted
	}
	if op.failed != nil {
		if err := op.again(ctx); err != nil {
			return middleware.FinalizeOutput{}, op.metadata, op.halt(err)
		}
	}
	op.failed = nil
	out, metadata, err := next.HandleFinalize(ctx, in)
	if err == nil {
		err = pageInstead(out.Result, metadata)
	}
	if err == nil {
		if op.inside {
			op.succeeded(metadata)
		}
		return out, metadata, nil // the call's end reports it
	}
	op.metadata = metadata
	if inner := nestedIn(err); inner != nil {
		// Another call failed on the way to this one: credentials, a session. It was
		// repeated and judged on its own, and says nothing about this service.
		op.call.Failed(inner)
		op.end, op.public = inner, err
		return out, metadata, errHalted
	}
	op.fail(err)
	return out, metadata, err
}

// fail reports a failed attempt, and notes how long its hint asks this call to
// wait. After a throttle the governor's pause sees to that, for everybody; after a
// transient error it is this call's own affair (S2.7), and bounded like a pause,
// since a call of the SDK need not have a deadline.
func (op *operation) fail(err error) {
	op.failed = err
	op.hint, op.mine = time.Time{}, time.Time{}
	var answer interface{ HTTPStatusCode() int }
	if errors.As(err, &answer) && answer.HTTPStatusCode()/100 == 3 {
		// "Not modified", or another region's: an error to the SDK, and a service that
		// served the call (S10.4). The call's end says what it means to the caller.
		op.call.Succeeded()
		return
	}
	kind := op.call.Failed(err)
	hint, ok := verdict.RetryAfter(err)
	if !ok || hint <= 0 {
		return
	}
	now := time.Now()
	op.hint = now.Add(hint)
	if kind == verdict.Transient {
		op.mine = now.Add(min(hint, op.governor.Provider(provider).MaxPause))
	}
}

// pay pays for one more attempt. A hint that lies beyond the caller's deadline
// ends the call at once: there is nothing to wait for.
func (op *operation) pay(ctx context.Context) error {
	if err := op.tooLate(ctx, op.hint); err != nil {
		return err
	}
	return op.call.Retry()
}

// tooLate tells whether the caller's deadline comes before a moment that has to
// be waited for.
func (op *operation) tooLate(ctx context.Context, until time.Time) error {
	if deadline, ok := ctx.Deadline(); !ok || !deadline.Before(until) {
		return nil
	}
	return &cloudpace.DeadlineExceededError{Scope: op.scope, RetryAfter: time.Until(until), Err: op.failed}
}

// again admits a further attempt. A retryer that is not ours, because it was set on
// the client itself, has not paid for it. What has been paid for is not paid twice.
func (op *operation) again(ctx context.Context) error {
	if err := op.pay(ctx); err != nil {
		return err
	}
	if err := op.sleep(ctx); err != nil {
		return err
	}
	return op.call.Next(ctx)
}

// sleep waits out what is left of a transient answer's hint after the SDK's
// back-off. The slot has been lent back.
func (op *operation) sleep(ctx context.Context) error {
	left := time.Until(op.mine)
	if left <= 0 {
		return nil
	}
	if err := op.tooLate(ctx, op.mine); err != nil {
		return err
	}
	return backoff.Rest(ctx, left)
}

// halt ends the SDK's loop for a reason of cloudpace's and gives the error to
// end it with.
func (op *operation) halt(err error) error {
	op.end, op.public = err, forCaller(err)
	return errHalted
}
