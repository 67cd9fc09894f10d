package paceaws

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

func TestS10_2_OnceForEachAPICall(t *testing.T) {
	t.Parallel()
	c := serve(t, then(throttle(), throttle(), broken(), identity()))
	g := governor(t)
	ctx, stats := cloudpace.WithStats(t.Context())
	if err := whoAmI(ctx, sts.NewFromConfig(c.installed(t, g), fast)); err != nil {
		t.Fatal(err)
	}
	equal(t, "sent", c.sent(), 4)
	for what, n := range map[string]cloudpace.Totals{"governor": totals(g, stsScope), "run": g.Summary(stats).Totals} {
		equal(t, what+": calls", n.Calls, 1)
		equal(t, what+": retries", n.Retries, 3)
		equal(t, what+": throttled", n.Throttled, 2)
		equal(t, what+": transient errors", n.TransientErrors, 1)
		equal(t, what+": gave up", n.GaveUp, 0)
	}
	equal(t, "slots in use", slotsInUse(g), 0)
}

func TestS10_2_OpenCircuitRefusesAtOnce(t *testing.T) {
	t.Parallel()
	c := serve(t, always(throttle()))
	g := governor(t, maxRetries(1), provide(func(p *cloudpace.Provider) { p.BreakerThreshold = 2 }))
	client := sts.NewFromConfig(c.installed(t, g), fast)
	for range 2 {
		if whoAmI(t.Context(), client) == nil {
			t.Fatal("no error")
		}
	}
	equal(t, "sent", c.sent(), 4)

	ctx, ledger := cloudpace.WithLedger(t.Context())
	err := whoAmI(ctx, client)
	equal(t, "sent", c.sent(), 4)
	open := wants[*cloudpace.CircuitOpenError](t, err)
	if open.RetryAfter <= 0 || open.Scope.Service != "sts" {
		t.Errorf("%+v", open)
	}
	likeThrottling(t, err)
	// The provider's error is inside, and the operation's around it.
	equal(t, "status inside", wants[*awshttp.ResponseError](t, err).HTTPStatusCode(), 400)
	equal(t, "operation", wants[*smithy.OperationError](t, err).Operation(), "GetCallerIdentity")
	// S10.4: it is recorded once.
	equal(t, "rejected", totals(g, "").Rejected, 1)
	equal(t, "calls", totals(g, "").Calls, 2)
	equal(t, "gave up", totals(g, "").GaveUp, 2)
	if !ledger.Degraded() {
		t.Error("the ledger has no entry")
	}
	t.Log(ledger)
}

// likeThrottling checks what handlers written before cloudpace look at.
func likeThrottling(t *testing.T, err error) {
	t.Helper()
	api := wants[smithy.APIError](t, err)
	equal(t, "code", api.ErrorCode(), "Throttling")
	equal(t, "fault", api.ErrorFault(), smithy.FaultClient)
	if api.ErrorMessage() == "" {
		t.Error("no message")
	}
	equal(t, "kind", verdict.Classify(err), verdict.Throttled)
	if !verdict.Examine("aws", err).Own {
		t.Error("it does not count as cloudpace's own")
	}
}

func TestS10_2_TokenBeforeSending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(always(identity()))
		g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 2, 1 }))
		client := sts.NewFromConfig(c.installed(t, g))
		start := time.Now()
		for range 4 {
			if err := whoAmI(t.Context(), client); err != nil {
				t.Fatal(err)
			}
		}
		for i, r := range c.log() {
			equal(t, fmt.Sprint("request ", i), r.at.Sub(start), time.Duration(i)*500*time.Millisecond)
		}
	})
}

func TestS10_2_SlotWhileInFlight(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	c := serve(t, func(int, request) answer {
		n := now.Add(1)
		defer now.Add(-1)
		for {
			m := most.Load()
			if n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		time.Sleep(5 * time.Millisecond)
		return identity()
	})
	g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 2 }))
	client := sts.NewFromConfig(c.installed(t, g))
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := whoAmI(t.Context(), client); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	equal(t, "most at once", most.Load(), 2)
	equal(t, "slots in use", slotsInUse(g), 0)
}

// A call that waits in the SDK's back-off lends its slot to others.
func TestS5_2_NoSlotDuringBackOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := true
		c := inProcess(func(int, request) answer {
			if first {
				first = false
				return broken()
			}
			return identity()
		})
		g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 1 }))
		client := sts.NewFromConfig(c.installed(t, g), slow(time.Hour))
		done := make(chan error)
		go func() { done <- whoAmI(t.Context(), client) }()
		synctest.Wait() // it sleeps
		start := time.Now()
		if err := whoAmI(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		equal(t, "waited for a slot", time.Since(start), 0)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		equal(t, "slots in use", slotsInUse(g), 0)
	})
}

// E19: a hint that lies beyond the deadline ends the call at once, with the
// answer inside.
func TestS3_5_HintBeyondTheDeadline(t *testing.T) {
	t.Parallel()
	c := serve(t, always(fault(429, "TooManyRequestsException", "slow").with("Retry-After", "500")))
	g := governor(t)
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Second)
	defer cancel()
	start := time.Now()
	err := whoAmI(ctx, sts.NewFromConfig(c.installed(t, g)))
	if took := time.Since(start); took > 100*time.Second {
		t.Errorf("took %v", took)
	}
	late := wants[*cloudpace.DeadlineExceededError](t, err)
	if late.RetryAfter > 500*time.Second || late.RetryAfter < 400*time.Second {
		t.Errorf("time to retry: %v", late.RetryAfter)
	}
	likeThrottling(t, err)
	equal(t, "status inside", wants[*awshttp.ResponseError](t, err).HTTPStatusCode(), 429)
	equal(t, "sent", c.sent(), 1)
	equal(t, "slots in use", slotsInUse(g), 0)
	if hint, ok := verdict.RetryAfter(err); !ok || hint < 400*time.Second {
		t.Errorf("hint %v, %v", hint, ok)
	}
}

func TestS3_5_DeadlineBeforeTheToken(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MinRPS = 0.01, 1, 0.001 }))
	client := sts.NewFromConfig(c.installed(t, g))
	if err := whoAmI(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := whoAmI(ctx, client)
	_ = wants[*cloudpace.DeadlineExceededError](t, err)
	equal(t, "code", wants[smithy.APIError](t, err).ErrorCode(), "Throttling")
	equal(t, "sent", c.sent(), 1)
}

func TestS3_6_WithMaxWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(then(throttle().with("Retry-After", "60"), identity()))
		g := governor(t, maxRetries(0), provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 10, 10 }))
		client := sts.NewFromConfig(c.installed(t, g))
		if whoAmI(t.Context(), client) == nil {
			t.Fatal("no error")
		}
		start := time.Now()
		if err := whoAmI(cloudpace.WithMaxWait(t.Context(), time.Second), client); err != nil {
			t.Fatal(err)
		}
		equal(t, "waited", time.Since(start), time.Second)
	})
}

var _ http.RoundTripper = (*cloud)(nil)
