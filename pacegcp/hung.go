package pacegcp

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// hang is how long one attempt may take that only reads; then it is cut, and counts as
// timed out (S13.6). Google's own clients give a whole read as much, by the context's
// deadline.
const hang = 60 * time.Second

// An attempt whose context ends at about that time is over for the governor a second
// before. It would be the caller's own end otherwise, which is nothing to the breaker;
// and it is gax that sets such a deadline, where its caller has none.
const (
	nearly = 5 * time.Second
	before = time.Second
)

// patience is how long an attempt that only reads may take under ctx, 0 where ctx ends
// sooner by far.
func patience(ctx context.Context) time.Duration {
	d, ok := ctx.Deadline()
	if !ok {
		return hang
	}
	switch left := time.Until(d); {
	case left > hang+before:
		return hang
	case left > hang-nearly:
		return left - before
	}
	return 0
}

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

// ranOut tells a DEADLINE_EXCEEDED that the server has sent because the caller's time
// was over, of which gRPC tells it. It comes a little before the context's own end, so
// this is what comes in the last tenth of the time that was left when the attempt was
// sent. One that comes earlier is the service's.
func ranOut(ctx context.Context, sent time.Time, failed error) bool {
	f, ok := failed.(*failure) //nolint:errorlint // as received made it
	if !ok || f.local || status.Code(f.err) != codes.DeadlineExceeded {
		return false
	}
	d, ok := ctx.Deadline()
	return ok && time.Until(d) <= d.Sub(sent)/10
}

// callersOwn is the end of an operation by the caller's time, for the governor: no event
// of the service (S2.1). The caller gets the error inside.
type callersOwn struct{ error }

// Is makes it such an end, and not what is inside.
func (e *callersOwn) Is(target error) bool { return target == context.Canceled }

// RemadeAs knows what the caller got.
func (e *callersOwn) RemadeAs(err error) bool { return err == e.error } //nolint:errorlint // it is this very value
