package pacers

import (
	"context"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/cloudpace/cloudpace/bench/macro"
	"github.com/cloudpace/cloudpace/internal/scenario"
	"github.com/cloudpace/cloudpace/verdict"
)

// Failsafe is failsafe-go with a retry policy around a breaker, a smooth limiter and a
// bulkhead. The limiter has no burst; its bursty one grants whole periods at once, which
// a server's bucket does not. The breaker does not count throttles: if it did, it would
// be open most of the time.
func Failsafe(s scenario.Scenario, server *macro.Server) (macro.Client, error) {
	retry := retrypolicy.NewBuilder[any]().
		WithMaxRetries(retries).
		WithBackoff(base, ceiling).
		WithJitterFactor(0.5).
		WithDelayFunc(func(exec failsafe.ExecutionAttempt[any]) time.Duration {
			if hint, ok := verdict.RetryAfter(exec.LastError()); ok {
				return hint
			}
			return -1 // the back-off
		}).
		Build()
	breaker := circuitbreaker.NewBuilder[any]().
		HandleIf(func(_ any, err error) bool { return err != nil && verdict.Classify(err) != verdict.Throttled }).
		WithFailureThreshold(5).
		WithDelay(time.Minute).
		Build()
	limiter := ratelimiter.NewSmoothBuilder[any](uint(s.Client.Rate), time.Second).WithMaxWaitTime(time.Hour).Build()
	slots := bulkhead.NewBuilder[any](128).WithMaxWaitTime(time.Hour).Build()
	executor := failsafe.With[any](retry, breaker, limiter, slots)
	return func(ctx context.Context) error {
		return executor.WithContext(ctx).Run(func() error { return answer(server) })
	}, nil
}
