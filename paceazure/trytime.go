package paceazure

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cloudpace/cloudpace/internal/httpbody"
)

// within tells how long an attempt may take once it is admitted: what the extended
// options say, or what is left of a deadline around this attempt alone. The retry
// options of a call's context make one, and it runs while the attempt waits to be
// admitted; a request that was sent with what the wait has left would be counted as
// a failure of the service.
func (op *operation) within(ctx context.Context, now time.Time) (limit time.Duration, limited bool) {
	if op.origin.TryTimeout > 0 {
		limit, limited = op.origin.TryTimeout, true
	}
	if d, ok := ctx.Deadline(); ok && ctx != context.Context(op) {
		if whole, _ := op.Deadline(); d.Before(whole) && (!limited || d.Sub(now) < limit) {
			limit, limited = d.Sub(now), true
		}
	}
	return limit, limited
}

// send sends the request within the time that one attempt may take.
func (op *operation) send(req *policy.Request, limit time.Duration) (*http.Response, error) {
	around := req.Raw().Context()
	ctx, cancel := context.WithTimeout(&fresh{op, around}, limit)
	// Whoever stands between may end the attempt in other ways than by its time.
	stop := context.AfterFunc(around, func() {
		if !errors.Is(around.Err(), context.DeadlineExceeded) {
			cancel()
		}
	})
	release := func() {
		stop()
		cancel()
	}
	resp, err := req.WithContext(ctx).Next()
	if err != nil || !streams(resp) {
		release()
		return resp, err
	}
	resp.Body = httpbody.AtEnd(resp.Body, release)
	return resp, nil
}

// fresh ends with the operation and has the values of what is around the attempt.
type fresh struct {
	context.Context
	values context.Context
}

func (c *fresh) Value(key any) any { return c.values.Value(key) }
