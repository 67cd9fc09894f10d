package pacegcp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/backoff"
	"github.com/cloudpace/cloudpace/verdict"
)

// hang is how long one attempt may take that only reads; then it is cut, and counts as
// timed out (S13.6). Google's own clients give a whole read as much.
const hang = 60 * time.Second

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
// safe tells that the request may be carried out twice.
func (r *repeater) again(ctx context.Context, failed error, safe bool) *stop {
	kind := r.call.Failed(failed)
	if kind != verdict.Throttled && kind != verdict.Transient {
		return &stop{failed, failed}
	}
	result := verdict.Examine(provider, failed)
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
