package paceaws

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// It is refused once, however often a client's own retryer comes back.
func TestS10_4_ARefusalIsRecordedOnce(t *testing.T) {
	t.Parallel()
	c := serve(t, always(broken()))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.BreakerThreshold = 1 }))
	cfg := c.installed(t, g)
	opened := false
	c.reply = func(n int, _ request) answer {
		if !opened {
			opened = true
			failing := sts.NewFromConfig(cfg, func(o *sts.Options) { o.RetryMaxAttempts = 1 })
			if whoAmI(t.Context(), failing) == nil {
				t.Error("no error")
			}
		}
		return broken()
	}
	ctx, ledger := cloudpace.WithLedger(t.Context())
	_ = wants[*cloudpace.CircuitOpenError](t, whoAmI(ctx, sts.NewFromConfig(cfg, func(o *sts.Options) { o.Retryer = &countingQuota{} })))
	equal(t, "rejected", totals(g, "").Rejected, 1)
	equal(t, "sent", c.sent(), 2)
	if text := ledger.String(); !strings.Contains(text, "1 call(s) skipped") || strings.Contains(text, "gave up") {
		t.Error(text)
	}
}

func TestS10_4_SuccessRecoversAndCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(then(throttle(), throttle(), identity()))
		g := governor(t, maxRetries(0), provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.BreakerThreshold = 100, 100, 2 }))
		client := sts.NewFromConfig(c.installed(t, g))
		for range 2 {
			if whoAmI(t.Context(), client) == nil {
				t.Fatal("no error")
			}
		}
		slowed, _ := leaf(g, stsScope)
		equal(t, "state", breakerState(g).State, "open")
		time.Sleep(time.Minute)
		if err := whoAmI(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		equal(t, "state", breakerState(g).State, "closed")
		if b, _ := leaf(g, stsScope); b.RPS <= slowed.RPS {
			t.Errorf("the rate went from %v to %v", slowed.RPS, b.RPS)
		}
	})
}

func breakerState(g *cloudpace.Governor) cloudpace.BreakerState {
	for _, b := range g.Snapshot().Breakers {
		return b
	}
	return cloudpace.BreakerState{}
}

func TestS10_4_Ends(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		answer   answer
		gaveUp   int
		degraded bool
		failures int // that the breaker counts, after one that it counted
	}{
		{"throttled", throttle(), 1, true, 2},
		{"transient", broken(), 0, true, 2},
		{"fatal heals", forbidden(), 0, false, 0},
		{"success heals", identity(), 0, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, always(broken()))
			g := governor(t, maxRetries(1))
			client := sts.NewFromConfig(c.installed(t, g), fast)
			if whoAmI(t.Context(), client) == nil {
				t.Fatal("no error")
			}
			equal(t, "failures before", breakerState(g).Failures, 1)
			c.reply = always(test.answer)
			ctx, ledger := cloudpace.WithLedger(t.Context())
			err := whoAmI(ctx, client)
			if (err == nil) != (test.answer.status == 200) {
				t.Fatal(err)
			}
			equal(t, "gave up", totals(g, "").GaveUp, test.gaveUp)
			equal(t, "degraded", ledger.Degraded(), test.degraded)
			equal(t, "failures", breakerState(g).Failures, test.failures)
			equal(t, "slots in use", slotsInUse(g), 0)
		})
	}
}

// Seen: a call cancelled during back-off still carries the last response. It is
// canceled all the same: no mark, nothing held.
func TestS10_4_CancelledInBackOff(t *testing.T) {
	t.Parallel()
	for _, deadline := range []bool{false, true} {
		c := serve(t, always(broken()))
		g := governor(t, provide(func(p *cloudpace.Provider) { p.BreakerThreshold = 1 }))
		client := sts.NewFromConfig(c.installed(t, g), slow(time.Hour))
		ctx, cancel := context.WithCancel(t.Context())
		want := context.Canceled
		if deadline {
			ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
			want = context.DeadlineExceeded
		} else {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
		ctx, ledger := cloudpace.WithLedger(ctx)
		_, err := client.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		cancel()
		if !errors.Is(err, want) {
			t.Errorf("error is %v, want %v", err, want)
		}
		_ = wants[*aws.RequestCanceledError](t, err)
		equal(t, "sent", c.sent(), 1)
		equal(t, "failures", breakerState(g).Failures, 0)
		equal(t, "degraded", ledger.Degraded(), false)
		equal(t, "gave up", totals(g, "").GaveUp, 0)
		equal(t, "slots in use", slotsInUse(g), 0)
	}
}

func TestS10_4_CancelledInFlightAndInTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(func(int, request) answer { a := identity(); a.delay = time.Hour; return a })
		g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 1; p.BreakerThreshold = 1 }))
		client := sts.NewFromConfig(c.installed(t, g))
		var all sync.WaitGroup
		for i := range 2 {
			synctest.Wait() // one is in flight before the other queues
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Duration(2-i)*time.Second, cancel)
				err := whoAmI(ctx, client)
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				if verdict.Classify(err) != verdict.Canceled {
					t.Error(verdict.Classify(err))
				}
			})
		}
		all.Wait()
		equal(t, "sent", c.sent(), 1)
		equal(t, "slots in use", slotsInUse(g), 0)
		equal(t, "trips", totals(g, "").BreakerTrips, 0)
	})
}

// E11: a slot comes back whatever ends the call.
func TestS5_3_PanicAndGoexit(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 1 }))
	cfg := c.installed(t, g)
	for name, end := range map[string]func(){"panic": func() { panic("x") }, "goexit": runtime.Goexit} {
		client := sts.NewFromConfig(cfg, func(o *sts.Options) {
			o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
				return s.Deserialize.Add(middleware.DeserializeMiddlewareFunc("end", func(context.Context, middleware.DeserializeInput, middleware.DeserializeHandler) (
					out middleware.DeserializeOutput, md middleware.Metadata, err error,
				) {
					end()
					return
				}), middleware.After)
			})
		})
		var done sync.WaitGroup
		done.Go(func() {
			defer func() { _ = recover() }()
			_ = whoAmI(t.Context(), client)
			t.Error(name + " did not happen")
		})
		done.Wait()
		equal(t, name+": slots in use", slotsInUse(g), 0)
	}
	if err := whoAmI(t.Context(), sts.NewFromConfig(cfg)); err != nil {
		t.Error(err)
	}
}

// A 304 is an error to the SDK and an answer to the governor: the rate recovers.
func TestS10_4_NotModifiedRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inProcess(func(n int, _ request) answer {
			if n == 1 {
				return bare(503, "text/xml", "<Error><Code>SlowDown</Code><Message>x</Message></Error>")
			}
			return answer{status: 304}
		})
		g := governor(t, maxRetries(0), provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 100, 100 }))
		client := s3.NewFromConfig(c.installed(t, g), pathStyle)
		get := func() {
			t.Helper()
			if _, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k"), IfNoneMatch: aws.String("e")}); err == nil {
				t.Error("no error")
			}
		}
		get()
		time.Sleep(20 * time.Second)
		get()
		equal(t, "rate", g.Snapshot().Buckets[0].RPS, 55)
		equal(t, "slots in use", slotsInUse(g), 0)
	})
}
