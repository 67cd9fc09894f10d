package cloudpace

import (
	"context"
	"fmt"
	"time"

	"github.com/cloudpace/cloudpace/verdict"
)

// The three errors below are cloudpace's own. They are returned as pointers,
// never repeated, slow nothing and count as nothing new. Unwrap gives the
// provider's error that was the cause, when there is one.

// CircuitOpenError says that a call was not sent, because the circuit of its
// scope is open. It classifies as throttled.
type CircuitOpenError struct {
	Scope      Scope         // the scope whose circuit is open
	RetryAfter time.Duration // until the next call may try
	Err        error         // the failure that opened the circuit
}

// Error names the scope, the time left and the cause.
func (e *CircuitOpenError) Error() string {
	return withCause(fmt.Sprintf("cloudpace: %s: circuit open, next try in %s", e.Scope, seconds(e.RetryAfter)), e.Err)
}

// Unwrap gives the failure that opened the circuit.
func (e *CircuitOpenError) Unwrap() error { return e.Err }

// VerdictKind is Throttled: the service is being spared.
func (e *CircuitOpenError) VerdictKind() verdict.Kind { return verdict.Throttled }

// VerdictHint is RetryAfter, whatever the failure inside once asked for.
func (e *CircuitOpenError) VerdictHint() (time.Duration, bool) { return e.RetryAfter, true }

// RetryBudgetExhaustedError says that a call was given up, because its provider's
// retry budget, or its own allowance of retries, was spent. It classifies as
// throttled.
type RetryBudgetExhaustedError struct {
	Scope      Scope
	RetryAfter time.Duration // the server's hint, 0 without one
	Err        error         // what the last attempt came back with
}

// Error names the scope and the cause.
func (e *RetryBudgetExhaustedError) Error() string {
	return withCause(fmt.Sprintf("cloudpace: %s: retry budget exhausted", e.Scope), e.Err)
}

// Unwrap gives what the last attempt came back with.
func (e *RetryBudgetExhaustedError) Unwrap() error { return e.Err }

// VerdictKind is Throttled.
func (e *RetryBudgetExhaustedError) VerdictKind() verdict.Kind { return verdict.Throttled }

// VerdictHint is RetryAfter where the server gave one.
func (e *RetryBudgetExhaustedError) VerdictHint() (time.Duration, bool) {
	return e.RetryAfter, e.RetryAfter > 0
}

// DeadlineExceededError says that a wait would have passed the caller's deadline,
// so it was not begun. errors.Is finds [context.DeadlineExceeded] in it.
type DeadlineExceededError struct {
	Scope      Scope
	RetryAfter time.Duration // how long the wait would have been
	Err        error         // the provider's error, nil when nothing was sent
}

// Error names the scope, the wait that was needed and the cause.
func (e *DeadlineExceededError) Error() string {
	return withCause(fmt.Sprintf("cloudpace: %s: a wait of %s would exceed the deadline", e.Scope, seconds(e.RetryAfter)), e.Err)
}

// Unwrap gives the provider's error.
func (e *DeadlineExceededError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, context.DeadlineExceeded) true.
func (e *DeadlineExceededError) Is(target error) bool { return target == context.DeadlineExceeded }

// VerdictKind is the kind of the provider's error, Transient without one.
func (e *DeadlineExceededError) VerdictKind() verdict.Kind {
	if e.Err == nil {
		return verdict.Transient
	}
	return verdict.ClassifyFor(e.Scope.Provider, e.Err)
}

// VerdictHint is RetryAfter where the wait was known.
func (e *DeadlineExceededError) VerdictHint() (time.Duration, bool) {
	return e.RetryAfter, e.RetryAfter > 0
}

var (
	_ verdict.Own = (*CircuitOpenError)(nil)
	_ verdict.Own = (*RetryBudgetExhaustedError)(nil)
	_ verdict.Own = (*DeadlineExceededError)(nil)
)

func withCause(text string, err error) string {
	if err == nil {
		return text
	}
	return text + ": " + err.Error()
}

// seconds words a duration for people: tenths below a minute are enough.
func seconds(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
