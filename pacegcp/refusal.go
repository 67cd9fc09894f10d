package pacegcp

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// refusal is an error of cloudpace's as callers of a gRPC client get it: the same text
// and the same error inside, and a status, as they expect of every error.
type refusal struct{ verdict.Own }

var _ verdict.Own = (*refusal)(nil)

// Unwrap gives the cloudpace error, in which the provider's is.
func (e *refusal) Unwrap() error { return e.Own }

// GRPCStatus is FAILED_PRECONDITION, which no client of Google's repeats: with the code
// that the provider gave last, gax would begin the whole operation again (E23). The
// provider's details are in it, and where a circuit is open the time until the next
// try as RetryInfo.
func (e *refusal) GRPCStatus() *status.Status {
	st := status.New(codes.FailedPrecondition, e.Error())
	var (
		open   *cloudpace.CircuitOpenError
		inside interface{ GRPCStatus() *status.Status }
	)
	switch {
	case errors.As(e.Own, &open):
		if with, err := st.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(open.RetryAfter)}); err == nil {
			return with
		}
	case errors.As(e.Own, &inside) && inside.GRPCStatus() != nil:
		p := st.Proto()
		p.Details = inside.GRPCStatus().Proto().GetDetails()
		return status.FromProto(p)
	}
	return st
}

// unrepeatable is a failure that gax would repeat and must not: an answer of which the
// server has said so (grpc-retry-pushback-ms), which gax does not read, or what was
// never sent and is no better the next time. Its status is as above.
type unrepeatable struct{ error }

func (e *unrepeatable) Error() string { return "pacegcp: not to be repeated: " + e.error.Error() }
func (e *unrepeatable) Unwrap() error { return e.error }

// GRPCStatus is FAILED_PRECONDITION, with the provider's details.
func (e *unrepeatable) GRPCStatus() *status.Status {
	p := status.New(codes.FailedPrecondition, e.Error()).Proto()
	if inside := statusOf(e.error); inside != nil {
		p.Details = inside.Proto().GetDetails()
	}
	return status.FromProto(p)
}

// ended is the end of the caller's own context while nothing was under way, beside
// what the provider said before.
type ended struct{ error }

func (e *ended) Unwrap() error { return e.error }

// GRPCStatus says which end it was.
func (e *ended) GRPCStatus() *status.Status {
	if errors.Is(e.error, context.DeadlineExceeded) {
		return status.New(codes.DeadlineExceeded, e.Error())
	}
	return status.New(codes.Canceled, e.Error())
}

// forCaller makes what the governor returned fit for gRPC's callers.
func forCaller(err error) error {
	var own verdict.Own
	switch {
	case errors.As(err, &own):
		return &refusal{own}
	case statusOf(err) == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
		return &ended{err}
	}
	return err
}
