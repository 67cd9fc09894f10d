package bench

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/alibaba/sentinel-golang/api"
	sentinelbreaker "github.com/alibaba/sentinel-golang/core/circuitbreaker"
	"github.com/alibaba/sentinel-golang/core/flow"
	"github.com/alibaba/sentinel-golang/logging"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/cloudpace/cloudpace"
)

// Buckets that never run dry, and that never fill up again either: a scope whose bucket
// is full is one that cloudpace may forget.
const (
	slow   = 0.001 // tokens a second
	plenty = 1e12
	slots  = 1024
)

const kept = 10_000 // scopes

// scopes are 100 accounts with 100 services each.
func scopes() []cloudpace.Scope {
	list := make([]cloudpace.Scope, 0, kept)
	for account := range kept / 100 {
		for service := range 100 {
			list = append(list, cloudpace.Scope{
				Provider: "aws", Account: fmt.Sprintf("%012d", account), Region: "us-east-1",
				Service: fmt.Sprintf("service%d", service), Operation: "DescribeThings",
			})
		}
	}
	return list
}

// A subject makes a function that carries fn out once under the i-th scope, all of which
// have been used before.
type subject struct {
	name   string
	scoped bool // false: there are no scopes to look up
	make   func(tb testing.TB, fn func() error) func(i int) error
}

// subjects in an order that has sentinel, whose rules are global and stay, at the end.
var subjects = []subject{
	{"cloudpace.Do", true, paced},
	{"cloudpace.Begin+End", true, begun},
	{"by-hand", true, byHand},
	{"failsafe-go+lookup", true, failsafeScoped},
	{"failsafe-go", false, failsafeAlone},
	{"x-time-rate", false, rateAlone},
	{"gobreaker", false, breakerAlone},
	{"sentinel-golang", true, sentinel},
}

// BenchmarkHotPath is a call that nothing holds up: always the same scope, each of 10,000
// scopes in turn, and the same scope by as many goroutines as there are processors.
func BenchmarkHotPath(b *testing.B) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			call := s.make(b, func() error { return nil })
			b.Run("one", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := call(0); err != nil {
						b.Fatal(err)
					}
				}
			})
			if s.scoped {
				b.Run("each", func(b *testing.B) {
					b.ReportAllocs()
					i := 0
					for b.Loop() {
						if err := call(i); err != nil {
							b.Fatal(err)
						}
						if i++; i == kept {
							i = 0
						}
					}
				})
			}
			b.Run("parallel", func(b *testing.B) {
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := call(0); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		})
	}
}

// TestHotPath: every subject carries out what it is given, once, and gives its error back.
func TestHotPath(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			n := 0
			call := s.make(t, func() error { n++; return nil })
			n = 0
			for i := range 3 {
				if err := call(i); err != nil || n != i+1 {
					t.Fatalf("call %d: error %v, carried out %d times", i, err, n)
				}
			}
		})
	}
}

// warm uses every scope once.
func warm(tb testing.TB, call func(i int) error) func(i int) error {
	tb.Helper()
	for i := range kept {
		if err := call(i); err != nil {
			tb.Fatal(err)
		}
	}
	return call
}

// governor has two levels of buckets: the leaf's and the account's.
func governor(tb testing.TB) *cloudpace.Governor {
	tb.Helper()
	cfg := cloudpace.DefaultConfig()
	p := cfg.Providers["aws"]
	p.Services = nil
	p.MaxRPS, p.Burst, p.MinRPS = slow, plenty, slow
	p.AccountMaxRPS, p.AccountBurst = slow, plenty
	p.MaxConcurrency = slots
	cfg.Providers["aws"] = p
	g, err := cloudpace.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func paced(tb testing.TB, fn func() error) func(i int) error {
	tb.Helper()
	with, list, ctx := cloudpace.WithGovernor(governor(tb)), scopes(), context.Background()
	work := func(context.Context) error { return fn() }
	return warm(tb, func(i int) error { return cloudpace.Do(ctx, list[i], work, with) })
}

func begun(tb testing.TB, fn func() error) func(i int) error {
	tb.Helper()
	g, list, ctx := governor(tb), scopes(), context.Background()
	return warm(tb, func(i int) error {
		c, err := g.Begin(ctx, list[i])
		if err != nil {
			return err
		}
		err = fn()
		c.End(err)
		return err
	})
}

// composed is what one would put together by hand for a scope.
type composed struct {
	leaf, account *rate.Limiter
	breaker       *gobreaker.CircuitBreaker[struct{}]
	slots         *semaphore.Weighted
}

// byHand is the smallest thing that does something similar: a lookup among the scopes,
// two limiters, a breaker and a semaphore. It has no retries, no budget, no counters, no
// order among those who wait, and learns nothing.
func byHand(tb testing.TB, fn func() error) func(i int) error {
	tb.Helper()
	var mu sync.RWMutex
	known := make(map[cloudpace.Scope]*composed, kept)
	accounts := map[string]*composed{}
	list := scopes()
	for _, s := range list {
		a := accounts[s.Account]
		if a == nil {
			a = &composed{account: rate.NewLimiter(slow, plenty), slots: semaphore.NewWeighted(slots)}
			accounts[s.Account] = a
		}
		known[s] = &composed{
			leaf: rate.NewLimiter(slow, plenty), account: a.account, slots: a.slots,
			breaker: gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{}),
		}
	}
	ctx := context.Background()
	work := func() (struct{}, error) { return struct{}{}, fn() }
	return warm(tb, func(i int) error {
		mu.RLock()
		c := known[list[i]]
		mu.RUnlock()
		if err := c.account.Wait(ctx); err != nil {
			return err
		}
		if err := c.leaf.Wait(ctx); err != nil {
			return err
		}
		if err := c.slots.Acquire(ctx, 1); err != nil {
			return err
		}
		defer c.slots.Release(1)
		_, err := c.breaker.Execute(work)
		return err
	})
}

// fourPolicies has a limiter that grants a permit every nanosecond: the next one is
// always at hand.
func fourPolicies() failsafe.Executor[any] {
	return failsafe.With[any](
		retrypolicy.NewBuilder[any]().WithMaxRetries(8).WithBackoff(500*time.Millisecond, time.Minute).Build(),
		circuitbreaker.NewBuilder[any]().WithFailureThreshold(5).WithDelay(time.Minute).Build(),
		ratelimiter.NewSmoothBuilderWithMaxRate[any](time.Nanosecond).WithMaxWaitTime(time.Minute).Build(),
		bulkhead.NewBuilder[any](slots).WithMaxWaitTime(time.Minute).Build(),
	)
}

func failsafeAlone(_ testing.TB, fn func() error) func(i int) error {
	executor := fourPolicies()
	return func(int) error { return executor.Run(fn) }
}

func failsafeScoped(tb testing.TB, fn func() error) func(i int) error {
	tb.Helper()
	var mu sync.RWMutex
	known := make(map[cloudpace.Scope]failsafe.Executor[any], kept)
	list := scopes()
	for _, s := range list {
		known[s] = fourPolicies()
	}
	return warm(tb, func(i int) error {
		mu.RLock()
		executor := known[list[i]]
		mu.RUnlock()
		return executor.Run(fn)
	})
}

func rateAlone(_ testing.TB, fn func() error) func(i int) error {
	limiter, ctx := rate.NewLimiter(slow, plenty), context.Background()
	return func(int) error {
		if err := limiter.Wait(ctx); err != nil {
			return err
		}
		return fn()
	}
}

func breakerAlone(_ testing.TB, fn func() error) func(i int) error {
	breaker := gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{})
	work := func() (struct{}, error) { return struct{}{}, fn() }
	return func(int) error {
		_, err := breaker.Execute(work)
		return err
	}
}

// sentinel has a flow rule and a breaker's rule for each of as many resources. It is not
// initialized, since that would write log files to the home directory; the rules work
// without.
func sentinel(tb testing.TB, fn func() error) func(i int) error {
	tb.Helper()
	logging.ResetGlobalLoggerLevel(logging.ErrorLevel)
	names := make([]string, kept)
	flows := make([]*flow.Rule, kept)
	breakers := make([]*sentinelbreaker.Rule, kept)
	for i, s := range scopes() {
		names[i] = s.String()
		flows[i] = &flow.Rule{Resource: names[i], TokenCalculateStrategy: flow.Direct, ControlBehavior: flow.Reject, Threshold: math.MaxInt32, StatIntervalInMs: 1000}
		breakers[i] = &sentinelbreaker.Rule{
			Resource: names[i], Strategy: sentinelbreaker.ErrorCount, Threshold: 5,
			RetryTimeoutMs: 60_000, MinRequestAmount: 5, StatIntervalMs: 1000,
		}
	}
	if _, err := flow.LoadRules(flows); err != nil {
		tb.Fatal(err)
	}
	if _, err := sentinelbreaker.LoadRules(breakers); err != nil {
		tb.Fatal(err)
	}
	return warm(tb, func(i int) error {
		entry, blocked := api.Entry(names[i])
		if blocked != nil {
			return blocked
		}
		err := fn()
		api.TraceError(entry, err)
		entry.Exit()
		return err
	})
}
