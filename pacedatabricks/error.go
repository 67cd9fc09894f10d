package pacedatabricks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace/verdict"
)

// The reasons for which a request is not repeated any more.
const (
	outOfTime     = "out of time"         // the next sleep would pass the schedule's Duration or the caller's deadline
	outOfAttempts = "out of attempts"     // Attempts were made, or the retry budget is empty
	notRetryable  = "non-retryable error" // this command, after this failure, may not be repeated
	canceled      = "canceled"            // the caller has left
)

// RetryError says why a request's last attempt was its last. It is returned where
// no answer came; of an answer, [Failure] gives it. It quotes no statement, no
// secret and no header.
type RetryError struct {
	Method    string // Thrift's method, or verb and path without ids
	SessionID string // of Thrift, where the request tells it
	QueryID   string // of the statement, where the request tells it
	HTTPCode  int    // of the last answer, 0 where none came
	Reason    string // "out of time", "out of attempts", "non-retryable error" or "canceled"
	// Delay is what would have been slept before the next attempt: the server's wish
	// within the schedule's bounds.
	Delay    time.Duration
	Elapsed  time.Duration // since the request came, waits for tokens included
	Attempt  int           // attempts made; 0 where the governor let none go
	Attempts int           // attempts allowed
	// Resends is how often net/http itself sent attempts again, beyond Attempt.
	Resends int

	message     string
	maxDuration time.Duration
	err         error
}

// Error tells it all on one line.
func (e *RetryError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "databricks: %s", e.Method)
	if e.SessionID != "" {
		fmt.Fprintf(&b, ", session %s", e.SessionID)
	}
	if e.QueryID != "" {
		fmt.Fprintf(&b, ", query %s", e.QueryID)
	}
	fmt.Fprintf(&b, ": %s after attempt %d/%d in %s/%s, delay %s", e.Reason, e.Attempt, e.Attempts,
		short(e.Elapsed), short(e.maxDuration), short(e.Delay))
	if e.Resends > 0 {
		fmt.Fprintf(&b, ", %d hidden resends", e.Resends)
	}
	if e.HTTPCode != 0 {
		fmt.Fprintf(&b, ", status %d", e.HTTPCode)
		if e.message != "" {
			fmt.Fprintf(&b, ": %s", e.message)
		}
	} else if e.err != nil {
		fmt.Fprintf(&b, ": %s", verdict.DescribeFor(provider, e.err))
	}
	return b.String()
}

// Unwrap gives the cause: the connection's error, the answer as a
// [verdict.ResponseError], or cloudpace's own error.
func (e *RetryError) Unwrap() error { return e.err }

// Timeout tells whether the cause was a time-out, as net.Error has it.
func (e *RetryError) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(e.err, &t) && t.Timeout() || errors.Is(e.err, context.DeadlineExceeded)
}

func short(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

type failureKey struct{}

// marked is a failure and the answer's request that it belongs to.
type marked struct {
	request *http.Request
	why     *RetryError
}

// Failure tells why an answer was the last of its request, where it is no success:
// the status is 400 or above, or the Thrift reply to a status, cancel or close
// inside a 200 is an error of the application. Otherwise, and for answers that did
// not come through this package's transport, it is nil.
func Failure(resp *http.Response) *RetryError {
	if resp == nil || resp.Request == nil {
		return nil
	}
	m, ok := resp.Request.Context().Value(failureKey{}).(*marked)
	if !ok || m.request != resp.Request {
		return nil // another one, made from it
	}
	return m.why
}

// mark makes an answer one that Failure knows, by its request: clients wrap bodies,
// and leave that alone.
func mark(resp *http.Response, req *http.Request, why *RetryError) {
	m := &marked{why: why}
	m.request = req.WithContext(context.WithValue(req.Context(), failureKey{}, m))
	resp.Request = m.request
}
