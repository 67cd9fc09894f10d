package paceaws

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"

	"github.com/cloudpace/cloudpace/verdict"
)

// refusal is an error of cloudpace's as callers of the SDK get it: the same text
// and the same error inside, and a smithy.APIError besides (S2.9).
type refusal struct{ verdict.Own }

var (
	_ smithy.APIError = (*refusal)(nil)
	_ verdict.Own     = (*refusal)(nil)
)

// Unwrap gives the cloudpace error, in which the provider's is.
func (e *refusal) Unwrap() error { return e.Own }

// ErrorCode is the code that handlers of throttling look for.
func (e *refusal) ErrorCode() string             { return "Throttling" }
func (e *refusal) ErrorMessage() string          { return e.Own.Error() }
func (e *refusal) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

// RetryableError keeps an outer retry loop of the SDK from repeating the code.
func (e *refusal) RetryableError() bool { return false }

// forCaller makes what the governor returned fit for the SDK's callers.
func forCaller(err error) error {
	var own verdict.Own
	if errors.As(err, &own) {
		return &refusal{own}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		// The caller's context ended: worded as the SDK does.
		return &aws.RequestCanceledError{Err: err}
	}
	return err
}

// halted ends the SDK's retry loop. It has neither code nor cause, so whatever a
// retryer looks for, and whatever the SDK's adaptive mode would slow down for, is
// not there. The call hook puts the real error in its place.
type halted struct{}

var errHalted error = halted{}

func (halted) Error() string        { return "cloudpace: the call was ended" }
func (halted) RetryableError() bool { return false }

// nested is the failure of another API call inside an attempt of this one, as
// this one's governed call is told of it: it has a kind, but it was judged where
// it happened and slows and counts nothing here.
type nested struct{ err error }

var _ verdict.Own = (*nested)(nil)

// nestedIn tells whether an attempt failed because a call inside it did. The
// SDK puts an OperationError around an operation's error only after the
// operation's own middlewares are left, so one that is seen in them is another
// operation's.
func nestedIn(err error) *nested {
	var inner *smithy.OperationError
	if !errors.As(err, &inner) {
		return nil
	}
	return &nested{err}
}

func (e *nested) Error() string             { return e.err.Error() }
func (e *nested) Unwrap() error             { return e.err }
func (e *nested) VerdictKind() verdict.Kind { return verdict.ClassifyFor(provider, e.err) }

// lastAttempt ends the loop of a call that is not governed, where the SDK alone
// would have ended it.
type lastAttempt struct{ err error }

func (e *lastAttempt) Error() string { return e.err.Error() }
func (e *lastAttempt) Unwrap() error { return e.err }
