package paceaws

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"

	"github.com/cloudpace/cloudpace"
)

func TestS10_5_Sends(t *testing.T) {
	t.Parallel()
	for retries, sends := range map[int]int{0: 1, 3: 4, 10: 11} {
		for name, a := range map[string]answer{"throttled": throttle(), "broken": broken()} {
			c := serve(t, always(a))
			g := governor(t, maxRetries(retries))
			err := whoAmI(t.Context(), sts.NewFromConfig(c.installed(t, g), fast))
			equal(t, name+": sends", c.sent(), sends)
			// What the SDK alone would return.
			equal(t, name+": attempts", wants[*retry.MaxAttemptsError](t, err).Attempt, sends)
			equal(t, name+": retries", totals(g, "").Retries, sends-1)
		}
	}
}

// Seen: the SDK's own quota of 500 tokens ends the retries of a client after some
// thirty operations.
func TestS10_5_TheSixtiethOperationLikeTheFirst(t *testing.T) {
	t.Parallel()
	c := serve(t, always(throttle()))
	g := governor(t, maxRetries(10), provide(func(p *cloudpace.Provider) { p.RetryBudget = 1e6 }))
	client := sts.NewFromConfig(c.installed(t, g), slow(0))
	for i := range 60 {
		before := c.sent()
		err := whoAmI(t.Context(), client)
		_ = wants[*retry.MaxAttemptsError](t, err)
		if n := c.sent() - before; n != 11 {
			t.Fatalf("operation %d: %d sends: %v", i+1, n, err)
		}
	}
}

// The back-off is the SDK's own, at the times it would choose alone.
func TestS10_5_BackOffIsTheSDKs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(always(broken()))
		g := governor(t, maxRetries(4))
		if whoAmI(t.Context(), sts.NewFromConfig(c.installed(t, g))) == nil {
			t.Fatal("no error")
		}
		log := c.log()
		equal(t, "sent", len(log), 5)
		limit := 50 * time.Millisecond
		for i := 1; i < len(log); i++ {
			if d := log[i].at.Sub(log[i-1].at); d > limit {
				t.Errorf("retry %d after %v, the SDK's longest is %v", i, d, limit)
			}
			limit *= 2
		}
	})
}

func TestS10_5_ARetryerOfTheConfigStays(t *testing.T) {
	t.Parallel()
	c := serve(t, always(throttle()))
	g := governor(t, maxRetries(7), provide(func(p *cloudpace.Provider) { p.RetryBudget = 100 }))
	made := 0
	cfg := c.config()
	cfg.Retryer = func() aws.Retryer {
		made++
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 6
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	}
	install(t, &cfg, g)
	client := sts.NewFromConfig(cfg)
	_ = wants[*retry.MaxAttemptsError](t, whoAmI(t.Context(), client))
	equal(t, "sent", c.sent(), 6)
	equal(t, "budget", budget(g), 97) // five retries, two free

	// Its own quota stays too: 500 tokens, 5 for a throttled retry.
	for range 18 {
		_ = wants[*retry.MaxAttemptsError](t, whoAmI(t.Context(), client))
	}
	before, tokens := c.sent(), budget(g)
	for range 3 {
		err := whoAmI(t.Context(), client)
		if err == nil {
			t.Fatal("no error")
		}
		t.Log(err)
	}
	equal(t, "sent with an empty quota", c.sent()-before, 3+5)
	equal(t, "paid for what was not sent", tokens-budget(g), 3)
	sts.NewFromConfig(cfg)
	if made < 2 {
		t.Error("the clients share one retryer")
	}
}

// B12: the SDK's own quota error is no answer of the provider.
func TestS10_5_TheConfigsQuotaIsGivenBack(t *testing.T) {
	t.Parallel()
	quota := &countingQuota{}
	c := serve(t, always(throttle()))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.RetryBudget = 0 }))
	cfg := c.config()
	cfg.Retryer = func() aws.Retryer { return quota }
	install(t, &cfg, g)
	_ = wants[*cloudpace.RetryBudgetExhaustedError](t, whoAmI(t.Context(), sts.NewFromConfig(cfg)))
	equal(t, "sent", c.sent(), 3)
	equal(t, "taken", quota.taken, 3)
	equal(t, "given back", quota.given, 1) // the one that our budget refused
}

// countingQuota is a Retryer of the first kind, without GetAttemptToken.
type countingQuota struct {
	taken, given, initial int
}

func (*countingQuota) IsErrorRetryable(error) bool                  { return true }
func (*countingQuota) MaxAttempts() int                             { return 20 }
func (*countingQuota) RetryDelay(int, error) (time.Duration, error) { return 0, nil }
func (q *countingQuota) GetInitialToken() func(error) error {
	q.initial++
	return func(error) error { return nil }
}
func (q *countingQuota) GetRetryToken(context.Context, error) (func(error) error, error) {
	q.taken++
	return func(err error) error {
		if err == nil {
			q.given++
		}
		return nil
	}, nil
}

// A client's own Retryer goes past ours: the attempt hook charges what was not
// charged, and ends what it may not repeat, even for one that repeats everything.
func TestS10_5_ARetryerOfTheClient(t *testing.T) {
	t.Parallel()
	c := serve(t, always(throttle()))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.RetryBudget = 2 }))
	quota := &countingQuota{}
	client := sts.NewFromConfig(c.installed(t, g), func(o *sts.Options) { o.Retryer = quota })
	err := whoAmI(t.Context(), client)
	_ = wants[*cloudpace.RetryBudgetExhaustedError](t, err)
	likeThrottling(t, err)
	equal(t, "sent", c.sent(), 5) // one, two free, two paid
	equal(t, "retries", totals(g, "").Retries, 4)
	equal(t, "budget", budget(g), 0)
	equal(t, "slots in use", slotsInUse(g), 0)
	if quota.initial == 0 {
		t.Error("it was not asked")
	}
}

func TestS10_5_AttemptsOfTheClientAndTheCall(t *testing.T) {
	t.Parallel()
	c := serve(t, always(throttle()))
	g := governor(t, maxRetries(2), provide(func(p *cloudpace.Provider) { p.RetryBudget = 100 }))
	cfg := c.installed(t, g)
	attempts := func(n int) func(*sts.Options) { return func(o *sts.Options) { o.RetryMaxAttempts = n } }
	for _, test := range []struct {
		client, call []func(*sts.Options)
		want         int
	}{
		{nil, nil, 3},
		{[]func(*sts.Options){attempts(7)}, nil, 7},
		{nil, []func(*sts.Options){attempts(5)}, 5},
		{[]func(*sts.Options){attempts(2)}, []func(*sts.Options){attempts(6)}, 6},
		{nil, []func(*sts.Options){func(o *sts.Options) { o.Retryer = aws.NopRetryer{} }}, 1},
	} {
		before := c.sent()
		client := sts.NewFromConfig(cfg, append([]func(*sts.Options){fast}, test.client...)...)
		if whoAmI(t.Context(), client, test.call...) == nil {
			t.Fatal("no error")
		}
		equal(t, "sent", c.sent()-before, test.want)
	}
	equal(t, "calls", totals(g, "").Calls, 5)
	equal(t, "retries", totals(g, "").Retries, 2+6+4+5)
	equal(t, "budget", budget(g), 100-(0+4+2+3))
}

// S10.9: the settings that bound Do do not bound the SDK.
func TestS10_9_SettingsOfDo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(always(throttle()))
		g := governor(t, maxRetries(4), provide(func(p *cloudpace.Provider) {
			p.MaxRetries, p.MaxBackoff, p.Deadline = 1, time.Millisecond, time.Millisecond
		}))
		client := sts.NewFromConfig(c.installed(t, g), slow(time.Hour))
		start := time.Now()
		_ = wants[*retry.MaxAttemptsError](t, whoAmI(t.Context(), client))
		equal(t, "sent", c.sent(), 5)
		equal(t, "took", time.Since(start).Round(time.Hour), 4*time.Hour)
	})
}

func TestS9_3_DisabledLeavesTheSDKAlone(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]func(*cloudpace.Config, *cloudpace.Provider){
		"all":      func(c *cloudpace.Config, _ *cloudpace.Provider) { c.Enabled = false },
		"provider": func(_ *cloudpace.Config, p *cloudpace.Provider) { p.Enabled = false },
	} {
		for when, early := range map[string]bool{"from the start": true, "later": false} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				c := serve(t, always(throttle()))
				change := []func(*cloudpace.Config, *cloudpace.Provider){maxRetries(10), provide(func(p *cloudpace.Provider) {
					p.MaxConcurrency, p.RetryBudget = 1, 0
				})}
				g := governor(t, change...)
				disable := func() {
					if err := g.Configure(configuration(append(change, off)...)); err != nil {
						t.Fatal(err)
					}
				}
				if early {
					disable()
				}
				client := sts.NewFromConfig(c.installed(t, g), fast)
				if !early {
					disable()
				}
				// The SDK alone: three attempts, and 500 tokens of which a throttled retry
				// takes five, so that fifty operations retry twice each.
				for i := range 50 {
					before := c.sent()
					err := whoAmI(t.Context(), client)
					equal(t, "attempts", wants[*retry.MaxAttemptsError](t, err).Attempt, 3)
					if n := c.sent() - before; n != 3 {
						t.Fatalf("operation %d: %d sends", i+1, n)
					}
				}
				before := c.sent()
				err := whoAmI(t.Context(), client)
				if err == nil || !strings.Contains(err.Error(), "retry quota exceeded") {
					t.Errorf("error is %v", err)
				}
				equal(t, "sent with an empty quota", c.sent()-before, 1)
				equal(t, "calls", totals(g, "").Calls, 0)
				equal(t, "slots in use", slotsInUse(g), 0)

				// A number that the client was given stays.
				before = c.sent()
				own := sts.NewFromConfig(c.installed(t, g), fast, func(o *sts.Options) { o.RetryMaxAttempts = 5 })
				if whoAmI(t.Context(), own) == nil {
					t.Error("no error")
				}
				equal(t, "sent", c.sent()-before, 5)

				// Enabled again: governed again, with aws.max_retries.
				if err := g.Configure(configuration(maxRetries(10))); err != nil {
					t.Fatal(err)
				}
				before = c.sent()
				_ = wants[*retry.MaxAttemptsError](t, whoAmI(t.Context(), client))
				equal(t, "sent", c.sent()-before, 11)
				equal(t, "calls", totals(g, "").Calls, 1)
			})
		}
	}
}

// max_retries below the SDK's own number, on a client that was made while the
// governor was disabled.
func TestS9_3_EnabledAfterwards(t *testing.T) {
	t.Parallel()
	c := serve(t, always(throttle()))
	g := governor(t, maxRetries(0), func(c *cloudpace.Config, _ *cloudpace.Provider) { c.Enabled = false })
	client := sts.NewFromConfig(c.installed(t, g), fast)
	_ = wants[*retry.MaxAttemptsError](t, whoAmI(t.Context(), client))
	equal(t, "sent", c.sent(), 3)
	if err := g.Configure(configuration(maxRetries(0))); err != nil {
		t.Fatal(err)
	}
	err := whoAmI(t.Context(), client)
	equal(t, "attempts", wants[*retry.MaxAttemptsError](t, err).Attempt, 1)
	equal(t, "sent", c.sent(), 4)
	equal(t, "calls", totals(g, "").Calls, 1)
}

// Another middleware inside the loop that fails before anything is sent.
func TestS10_3_AFailureBeforeTheAttempt(t *testing.T) {
	t.Parallel()
	g := governor(t, maxRetries(2))
	c := serve(t, func(int, request) answer {
		equal(t, "slots in use while it is sent", slotsInUse(g), 1)
		return identity()
	})
	fail := errors.New("temporary, of this machine")
	client := sts.NewFromConfig(c.installed(t, g), fast, func(o *sts.Options) {
		o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
			n := 0
			return s.Finalize.Insert(middleware.FinalizeMiddlewareFunc("fails", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (
				middleware.FinalizeOutput, middleware.Metadata, error,
			) {
				if n++; n == 1 {
					return middleware.FinalizeOutput{}, middleware.Metadata{}, &temporary{fail}
				}
				return next.HandleFinalize(ctx, in)
			}), "Retry", middleware.After)
		})
	})
	if err := whoAmI(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	equal(t, "sent", c.sent(), 1)
	equal(t, "calls", totals(g, "").Calls, 1)
	equal(t, "slots in use", slotsInUse(g), 0)
}

type temporary struct{ error }

func (temporary) Temporary() bool { return true }

// Other services' clients are generated alike; one more, to be sure.
func TestS10_5_AnotherService(t *testing.T) {
	t.Parallel()
	c := serve(t, always(throttle()))
	g := governor(t, maxRetries(3))
	client := iam.NewFromConfig(c.installed(t, g), func(o *iam.Options) { o.Retryer = retry.AddWithMaxBackoffDelay(o.Retryer, time.Millisecond) })
	_, err := client.ListUsers(t.Context(), &iam.ListUsersInput{})
	_ = wants[*retry.MaxAttemptsError](t, err)
	equal(t, "sent", c.sent(), 4)
}
