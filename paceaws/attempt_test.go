package paceaws

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

func TestS10_3_ThrottleSlowsTheScope(t *testing.T) {
	t.Parallel()
	c := serve(t, then(throttle(), identity(), broken(), identity()))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1000, 1000 }))
	cfg := c.installed(t, g)
	client := sts.NewFromConfig(cfg, fast)
	if err := whoAmI(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	b, _ := leaf(g, stsScope)
	equal(t, "rate", b.RPS, 500)
	if err := whoAmI(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	b, _ = leaf(g, stsScope)
	equal(t, "rate after a transient error", b.RPS, 500)
	equal(t, "transient errors", totals(g, "").TransientErrors, 1)
}

// Seen: the SDK ignores Retry-After and reads only X-Amz-Retry-After (A15, A16).
func TestS10_3_HintPausesTheScope(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, value string
		status      int
		pause       time.Duration
	}{
		{"Retry-After", "70", 429, 70 * time.Second},
		{"Retry-After", "100.5", 400, 100500 * time.Millisecond},
		{"X-Amz-Retry-After", "150000", 503, 150 * time.Second},
		{"Retry-After", "9223372037", 503, 300 * time.Second}, // max_pause_seconds
		{"X-Amz-Retry-After", "-1", 503, 0},
		{"X-Amz-Retry-After", "abc", 503, 0},
		{"X-Amz-Retry-After", "0", 503, 0},
	} {
		t.Run(test.name+"="+test.value, func(t *testing.T) {
			t.Parallel()
			c := serve(t, always(fault(test.status, "TooManyRequestsException", "slow").with(test.name, test.value)))
			g := governor(t, maxRetries(0))
			if whoAmI(t.Context(), sts.NewFromConfig(c.installed(t, g))) == nil {
				t.Fatal("no error")
			}
			b, _ := leaf(g, stsScope)
			if got := b.PausedSeconds; got > test.pause.Seconds() || got < test.pause.Seconds()-30 {
				t.Errorf("paused for %v s, want %v", got, test.pause)
			}
		})
	}
}

// A16: everybody is held for the whole hint, though the SDK would go again in
// milliseconds; callers leave at the bucket's rate afterwards.
func TestS10_3_HintHoldsEverybody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(then(throttle().with("Retry-After", "7"), identity()))
		g := governor(t)
		client := sts.NewFromConfig(c.installed(t, g), fast)
		start := time.Now()
		var all sync.WaitGroup
		all.Go(func() {
			if err := whoAmI(t.Context(), client); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if err := whoAmI(t.Context(), client); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		for _, r := range c.log()[1:] {
			if at := r.at.Sub(start); at < 7*time.Second || at > 7*time.Second+10*time.Millisecond {
				t.Errorf("sent at %v", at)
			}
		}
		equal(t, "sent", c.sent(), 3)
	})
}

func TestS10_3_RetryTokens(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		first answer
		wait  time.Duration
	}{
		// The burst is emptied and the rate halved: the next token is a second away.
		{"after a throttle", throttle(), time.Second},
		{"after a transient error", broken(), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := inProcess(then(test.first, identity()))
				g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 2, 1 }))
				if err := whoAmI(t.Context(), sts.NewFromConfig(c.installed(t, g), fast)); err != nil {
					t.Fatal(err)
				}
				log := c.log()
				got := log[1].at.Sub(log[0].at)
				if got < test.wait || got > test.wait+5*time.Millisecond {
					t.Errorf("the retry waited %v, want %v", got, test.wait)
				}
			})
		})
	}
}

// A hint on a transient answer delays the retry of that call, and pauses nobody
// else (S2.7).
func TestS10_3_HintOnATransientAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(then(fault(503, "ServiceUnavailable", "busy").with("Retry-After", "20"), identity()))
		g := governor(t)
		client := sts.NewFromConfig(c.installed(t, g), fast)
		start := time.Now()
		done := make(chan error)
		go func() { done <- whoAmI(t.Context(), client) }()
		synctest.Wait()
		if err := whoAmI(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		equal(t, "others waited", time.Since(start), 0)
		equal(t, "slots in use", slotsInUse(g), 0)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		equal(t, "the call waited", time.Since(start), 20*time.Second)

		// Its deadline may be too short for that: then it ends at once.
		c.reply = always(broken().with("Retry-After", "20"))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start = time.Now()
		late := wants[*cloudpace.DeadlineExceededError](t, whoAmI(ctx, client))
		equal(t, "ended after", time.Since(start), 0)
		equal(t, "time to retry", late.RetryAfter, 20*time.Second)
		equal(t, "kind", verdict.Classify(late), verdict.Transient)

		// Or end while it waits.
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, stop)
		err := whoAmI(ctx, client)
		_ = wants[*aws.RequestCanceledError](t, err)
		equal(t, "ended after", time.Since(start), 5*time.Second)
	})
}

func TestS10_3_BudgetEndsTheLoop(t *testing.T) {
	t.Parallel()
	c := serve(t, always(throttle()))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.RetryBudget = 1; p.BreakerThreshold = 1 }))
	ctx, ledger := cloudpace.WithLedger(t.Context())
	err := whoAmI(ctx, sts.NewFromConfig(c.installed(t, g), fast))
	// Two free retries, one paid.
	equal(t, "sent", c.sent(), 4)
	_ = wants[*cloudpace.RetryBudgetExhaustedError](t, err)
	likeThrottling(t, err)
	equal(t, "status inside", wants[*awshttp.ResponseError](t, err).HTTPStatusCode(), 400)
	// S10.4: given up, without a mark against the service.
	equal(t, "gave up", totals(g, "").GaveUp, 1)
	equal(t, "trips", totals(g, "").BreakerTrips, 0)
	if !ledger.Degraded() {
		t.Error("the ledger has no entry")
	}
	equal(t, "budget", budget(g), 0)
}

// The budget is asked before the back-off: an empty one does not let the caller
// sleep first.
func TestS10_3_EmptyBudgetDoesNotSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(always(broken()))
		g := governor(t, provide(func(p *cloudpace.Provider) { p.RetryBudget = 0 }))
		client := sts.NewFromConfig(c.installed(t, g), slow(time.Minute))
		start := time.Now()
		_ = wants[*cloudpace.RetryBudgetExhaustedError](t, whoAmI(t.Context(), client))
		equal(t, "slept", time.Since(start), 2*time.Minute) // the two free ones
		equal(t, "sent", c.sent(), 3)
	})
}

// The circuit is asked before every retry too.
func TestS6_3_CircuitOpensBetweenRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(always(broken()))
		g := governor(t, maxRetries(3), provide(func(p *cloudpace.Provider) { p.BreakerThreshold = 1 }))
		cfg := c.installed(t, g)
		waiting := sts.NewFromConfig(cfg, slow(10*time.Second))
		done := make(chan error)
		go func() { done <- whoAmI(t.Context(), waiting) }()
		synctest.Wait()
		failing := sts.NewFromConfig(cfg, func(o *sts.Options) { o.RetryMaxAttempts = 1 })
		if whoAmI(t.Context(), failing) == nil {
			t.Fatal("no error")
		}
		sent := c.sent()
		_ = wants[*cloudpace.CircuitOpenError](t, <-done)
		equal(t, "sent after it opened", c.sent()-sent, 0)
		equal(t, "rejected", totals(g, "").Rejected, 1)
	})
}
