package pacegcp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/backoff"
	"github.com/cloudpace/cloudpace/verdict"
)

// firstBackoff is the pause before the first retry, which doubles with each further
// one (S13.2).
const firstBackoff = time.Second

// repeater decides whether a failed attempt of one request is followed by another, and
// waits for the leave to send it.
type repeater struct {
	call     *cloudpace.Call
	scope    cloudpace.Scope
	settings cloudpace.Provider
	deadline time.Time // of the request with its waits
	sent     time.Time // when the attempt under way was
	retries  int       // in a row
}

// begin gives the request its time: deadline_seconds, or less where the caller's
// context ends before.
func (r *repeater) begin(ctx context.Context, now time.Time) {
	r.retries = 0
	r.deadline = now.Add(r.settings.Deadline)
	if d, ok := ctx.Deadline(); ok && d.Before(r.deadline) {
		r.deadline = d
	}
}

// stop is why no attempt follows: what the caller is given, and what the operation has
// ended with for the governor.
type stop struct{ give, end error }

// again takes in that an attempt failed. It returns nil when the next one may be sent.
// safe tells that the request may be carried out twice. prepare, if it is not nil,
// makes the next attempt's request, before anything is paid or waited for.
func (r *repeater) again(ctx context.Context, failed error, safe bool, prepare func() error) *stop {
	if ranOut(ctx, r.sent, failed) {
		give := failed
		if safe { // gax would use the rest of the time for another
			give = &cloudpace.DeadlineExceededError{Scope: r.scope, RetryAfter: firstBackoff, Err: failed}
		}
		return &stop{give, &callersOwn{failed}}
	}
	kind := r.call.Failed(failed)
	result := verdict.Examine(provider, failed)
	switch {
	case kind == verdict.Fatal && madeHere(failed):
		return &stop{&unrepeatable{failed}, failed}
	case kind != verdict.Throttled && kind != verdict.Transient:
		return &stop{failed, failed}
	case result.NoRepeat:
		return &stop{&unrepeatable{failed}, failed}
	}
	if !safe && !result.Unprocessed || result.Own {
		return &stop{failed, failed}
	}
	if r.retries >= r.settings.MaxRetries {
		// For the breaker that is a failure of the service, unlike an empty budget, so
		// the operation ends with the provider's error.
		return &stop{&cloudpace.RetryBudgetExhaustedError{Scope: r.scope, RetryAfter: result.Hint, Err: failed}, failed}
	}
	wait := max(pause(r.retries, r.settings.MaxBackoff), result.Hint)
	if time.Until(r.deadline) < wait {
		late := &cloudpace.DeadlineExceededError{Scope: r.scope, RetryAfter: wait, Err: failed}
		return &stop{late, late}
	}
	if prepare != nil && prepare() != nil {
		return &stop{failed, failed}
	}
	if err := r.call.Retry(); err != nil {
		return &stop{err, err}
	}
	r.retries++
	if err := backoff.Rest(ctx, wait); err != nil {
		err = fmt.Errorf("cloudpace: %s: %w while waiting to repeat after: %w", r.scope, err, failed)
		return &stop{err, err}
	}
	if err := r.call.Next(ctx); err != nil {
		return &stop{err, err}
	}
	return nil
}

// madeHere tells the statuses that the client library makes of a host or a certificate
// that is wrong, and of a request that cannot be encoded. By their codes gax takes them
// for something that passes.
func madeHere(failed error) bool {
	f, ok := failed.(*failure) //nolint:errorlint // as received made it
	code := status.Code(failed)
	return ok && f.local && (code == codes.Unavailable || code == codes.Internal)
}

// pause is the back-off before retry n, counted from 0: 1 s, 2 s, 4 s … up to longest,
// and up to a quarter more, so that those who failed together do not come back
// together.
func pause(n int, longest time.Duration) time.Duration {
	d := longest
	if n < 30 {
		d = min(firstBackoff<<n, longest)
	}
	return d + rand.N(d/4+1)
}
