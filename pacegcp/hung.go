package pacegcp

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errHung is what an attempt over REST came to that was cut.
var errHung error = hungError{}

type hungError struct{}

// hung is the same over gRPC, a status as if a deadline had passed.
func hung() error {
	return &failure{err: status.Error(codes.DeadlineExceeded, errHung.Error()), local: true}
}

func (hungError) Error() string { return "pacegcp: no answer within " + hang.String() }

// Timeout makes it a time-out to verdict and to net's callers.
func (hungError) Timeout() bool { return true }
