package pacers

import (
	"context"
	"math/rand/v2"
	"time"

	"golang.org/x/time/rate"

	"github.com/cloudpace/cloudpace/bench/macro"
	"github.com/cloudpace/cloudpace/internal/scenario"
	"github.com/cloudpace/cloudpace/verdict"
)

// What everything here is given that has no settings of its own for it: those of
// [cloudpace.Do].
const (
	retries = 8
	base    = 500 * time.Millisecond
	ceiling = 60 * time.Second
)

// Rate is a limiter that every attempt waits for, in a loop that repeats.
func Rate(s scenario.Scenario, server *macro.Server) (macro.Client, error) {
	limiter := rate.NewLimiter(rate.Limit(s.Client.Rate), int(s.Client.Burst))
	return repeating(func(ctx context.Context) error {
		if err := limiter.Wait(ctx); err != nil {
			return err
		}
		return answer(server)
	}), nil
}

// repeating is the usual loop: exponential back-off with full jitter, at least as long
// as the server's hint.
func repeating(attempt macro.Client) macro.Client {
	return func(ctx context.Context) error {
		longest := base
		for n := 0; ; n++ {
			err := attempt(ctx)
			if err == nil || n == retries {
				return err
			}
			wait := rand.N(longest)
			longest = min(2*longest, ceiling)
			if hint, ok := verdict.RetryAfter(err); ok {
				wait = max(wait, hint)
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}
