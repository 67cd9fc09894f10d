package cloudpace_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

const sqs = "aws/111122223333/us-east-1/sqs"

// TestS1_4_ChargedTo: tokens and rate are the other scope's, breaker, slot and
// numbers the call's own.
func TestS1_4_ChargedTo(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) { chargedTo(t) })
}

func chargedTo(t *testing.T) {
	g := governor(t, nil)
	payer := scope
	payer.Account, payer.Service = "444455556666", "billing"
	begin(t, g, scope, cloudpace.ChargedTo(payer)).End(throttle())
	if b := bucketOf(t, g, "aws/444455556666/us-east-1/billing"); b.RPS != 10 || b.Tokens != 0 {
		t.Errorf("payer's bucket %+v, want cut to 10 and empty", b)
	}
	if b := bucketOf(t, g, sqs); b.RPS != 20 || b.Tokens != 40 {
		t.Errorf("own bucket %+v, want untouched", b)
	}
	if b := breakerOf(t, g, sqs); b.Failures != 1 {
		t.Errorf("own breaker %+v, want one failure", b)
	}
	for _, s := range g.Summary(nil).Scopes {
		if want := map[string]int{sqs: 1}[s.Scope]; s.Calls != want {
			t.Errorf("%s: %d calls, want %d", s.Scope, s.Calls, want)
		}
	}
}

// TestS2_1_OnlyTheCallsOwnContextCancels.
func TestS2_1_OnlyTheCallsOwnContextCancels(t *testing.T) {
	g := governor(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	c, err := g.Begin(ctx, scope)
	if err != nil {
		t.Fatal(err)
	}
	if k := c.Failed(context.DeadlineExceeded); k != verdict.Transient {
		t.Errorf("an attempt's time-out: %v, want transient", k)
	}
	if k := c.Failed(context.Canceled); k != verdict.Fatal {
		t.Errorf("somebody else's cancel: %v, want fatal", k)
	}
	cancel()
	if k := c.Failed(fmt.Errorf("get: %w", context.Canceled)); k != verdict.Canceled {
		t.Errorf("own cancel: %v, want canceled", k)
	}
	c.End(fmt.Errorf("get: %w", throttle())) // the last answer, carried by a cancelled call
	n := g.Summary(nil).Totals
	if n.GaveUp != 0 || n.TransientErrors != 1 || breakerOf(t, g, sqs).Failures != 0 {
		t.Errorf("totals %+v, breaker %+v: want no trace of the cancelled end", n, breakerOf(t, g, sqs))
	}
}

// TestS5_3_TheSlotComesBackOnce, whatever ends the call (E11).
func TestS5_3_TheSlotComesBackOnce(t *testing.T) {
	ends := map[string]func(c *cloudpace.Call){
		"success": func(c *cloudpace.Call) { c.End(nil) },
		"error":   func(c *cloudpace.Call) { c.End(denied()) },
		"twice":   func(c *cloudpace.Call) { c.End(nil); c.End(throttle()); c.Drop() },
		"early":   func(*cloudpace.Call) {},
		"panic":   func(*cloudpace.Call) { panic("x") },
		"goexit":  func(*cloudpace.Call) { runtime.Goexit() },
		"failed":  func(c *cloudpace.Call) { c.Failed(throttle()) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
			var wg sync.WaitGroup
			wg.Go(func() {
				defer func() { _ = recover() }()
				c := begin(t, g, scope)
				defer c.Drop()
				end(c)
			})
			wg.Wait()
			if n := slotsOf(t, g, "111122223333").InUse; n != 0 {
				t.Errorf("%d slots in use, want 0", n)
			}
		})
	}
}

// TestS5_2_NoSlotWhileBackingOff, but HoldSlot keeps it.
func TestS5_2_NoSlotWhileBackingOff(t *testing.T) {
	g := governor(t, nil)
	c, held := begin(t, g, scope), begin(t, g, scope, cloudpace.HoldSlot())
	c.Failed(unavailable())
	held.Failed(unavailable())
	if n := slotsOf(t, g, "111122223333").InUse; n != 1 {
		t.Errorf("%d slots in use, want the held one", n)
	}
	for _, c := range []*cloudpace.Call{c, held} {
		if err := errors.Join(c.Retry(), c.Next(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if n := slotsOf(t, g, "111122223333").InUse; n != 2 {
		t.Errorf("%d slots in use, want 2", n)
	}
	c.End(nil)
	held.End(nil)
	if n := slotsOf(t, g, "111122223333").InUse; n != 0 {
		t.Errorf("%d slots in use, want 0", n)
	}
}

// TestS5_4_ACallUnderAnother takes no second slot; its end is not repeated by the
// outer call and says nothing about the outer service.
func TestS5_4_ACallUnderAnother(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1; p.MaxRetries = 2 })
		inner := scope
		inner.Service = "sts"
		sent := 0
		err := cloudpace.Do(t.Context(), scope, func(ctx context.Context) error {
			return fmt.Errorf("outer: %w", cloudpace.Do(ctx, inner, func(context.Context) error {
				sent++
				if n := slotsOf(t, g, "111122223333").InUse; n != 1 {
					t.Errorf("%d slots in use, want 1", n)
				}
				return throttle()
			}, cloudpace.WithGovernor(g)))
		}, cloudpace.WithGovernor(g))
		if sent != 3 {
			t.Errorf("%d sends, want 3", sent)
		}
		_ = as[*verdict.ResponseError](t, err)
		if b := bucketOf(t, g, sqs); b.RPS != 20 {
			t.Errorf("outer rate %v, want 20", b.RPS)
		}
		if n := breakerOf(t, g, sqs).Failures; n != 0 {
			t.Errorf("%d failures of the outer service, want 0", n)
		}
		if n := g.Summary(nil).Totals.GaveUp; n != 1 {
			t.Errorf("gave up %d, want 1", n)
		}
	})
}

// TestS5_4_ACallOutlivesTheOneItIsUnder and still takes no slot: credentials are
// looked up once for all who wait, in the context of who asked first.
func TestS5_4_ACallOutlivesTheOneItIsUnder(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		first := begin(t, g, scope)
		shared, err := g.Begin(context.WithoutCancel(first.Context()), scope)
		if err != nil {
			t.Fatal(err)
		}
		shared.Failed(throttle())
		first.End(context.Canceled)
		second := begin(t, g, scope) // it has the only slot, and waits for shared
		if err := errors.Join(shared.Retry(), shared.Next(t.Context())); err != nil {
			t.Fatal(err)
		}
		late, err := g.Begin(first.Context(), scope) // begun when the one it is under had ended
		if err != nil {
			t.Fatal(err)
		}
		late.End(nil)
		shared.End(nil)
		if n := slotsOf(t, g, "111122223333").InUse; n != 1 {
			t.Errorf("%d slots in use, want the second call's", n)
		}
		second.End(nil)
		if clock() > 2*time.Second {
			t.Errorf("it took %s", clock())
		}
	})
}

// TestS6_2_WhatCounts: which ends count for the breaker (E16, B14).
func TestS6_2_WhatCounts(t *testing.T) {
	for name, c := range map[string]struct {
		ends []error
		want int
	}{
		"throttled and transient": {[]error{throttle(), unavailable(), throttle()}, 3},
		"success starts anew":     {[]error{throttle(), throttle(), nil, throttle()}, 1},
		"fatal answer too":        {[]error{unavailable(), unavailable(), denied(), unavailable()}, 1},
		"local fatal neither":     {[]error{throttle(), errors.New("cannot marshal"), throttle()}, 2},
		"refusals neither":        {[]error{throttle(), &cloudpace.CircuitOpenError{}, throttle()}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := governor(t, nil)
			for _, err := range c.ends {
				fail(t, g, scope, err)
			}
			if n := breakerOf(t, g, sqs).Failures; n != c.want {
				t.Errorf("%d failures, want %d", n, c.want)
			}
		})
	}
}

// open opens the circuit of scope with five failures.
func open(t *testing.T, g *cloudpace.Governor) {
	t.Helper()
	for range 5 {
		fail(t, g, scope, unavailable())
	}
}

// TestS6_3_AnOpenCircuit refuses at once, and turns away those who queue.
func TestS6_3_AnOpenCircuit(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 6 })
		retrying := begin(t, g, scope)
		retrying.Failed(unavailable())
		ctx, ledger := cloudpace.WithLedger(t.Context())
		queued := make(chan error, 1)
		for range 4 {
			fail(t, g, scope, unavailable())
		}
		last := begin(t, g, scope)
		go func() {
			_, err := g.Begin(ctx, scope)
			queued <- err
		}()
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		last.End(unavailable())
		_ = as[*cloudpace.CircuitOpenError](t, <-queued)
		wantTime(t, "queued call turned away", clock(), 100*time.Millisecond)
		time.Sleep(10 * time.Second)
		_, err := g.Begin(ctx, scope)
		e := as[*cloudpace.CircuitOpenError](t, err)
		if e.RetryAfter != 50*time.Second || e.Scope.Service != "sqs" {
			t.Errorf("%+v, want 50 s left on sqs", e)
		}
		_ = as[*verdict.ResponseError](t, err)
		if k := verdict.Classify(err); k != verdict.Throttled {
			t.Errorf("kind %v, want throttled", k)
		}
		_ = as[*cloudpace.CircuitOpenError](t, retrying.Retry())
		n := g.Summary(nil).Totals
		if n.Calls != 6 || n.Rejected != 3 || n.BreakerTrips != 1 {
			t.Errorf("totals %+v, want 6 calls, 3 rejected, 1 trip", n)
		}
		if !ledger.Degraded() {
			t.Error("ledger does not know of the refusals")
		}
	})
}

// TestS6_4_OneMayTry after the cooldown; a failure doubles it, a success restores it.
func TestS6_4_OneMayTry(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		open(t, g)
		time.Sleep(60 * time.Second)
		probe := begin(t, g, scope)
		_, err := g.Begin(t.Context(), scope)
		_ = as[*cloudpace.CircuitOpenError](t, err)
		probe.End(unavailable())
		if b := breakerOf(t, g, sqs); b.State != "open" || b.RetryAfterSeconds != 120 {
			t.Errorf("after a failed try: %+v, want 120 s", b)
		}
		time.Sleep(120 * time.Second)
		begin(t, g, scope).End(denied()) // alive
		if b := breakerOf(t, g, sqs); b.State != "closed" || b.Failures != 0 {
			t.Errorf("after a Fatal answer: %+v, want closed", b)
		}
		open(t, g)
		if b := breakerOf(t, g, sqs); b.RetryAfterSeconds != 60 {
			t.Errorf("opened again: %+v, want 60 s", b)
		}
	})
}

// TestS6_4_AHungProbeCannotWedge (E13), and late answers decide nothing.
func TestS6_4_AHungProbeCannotWedge(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		before := begin(t, g, scope)
		open(t, g)
		time.Sleep(60 * time.Second)
		hung := begin(t, g, scope)
		before.End(nil) // begun before the circuit opened
		if s := breakerOf(t, g, sqs).State; s != "half-open" {
			t.Errorf("a late success: %s, want half-open", s)
		}
		time.Sleep(60 * time.Second)
		next := begin(t, g, scope) // the lease ran out
		hung.End(unavailable())
		if s := breakerOf(t, g, sqs).State; s != "half-open" {
			t.Errorf("the hung probe's late failure: %s, want half-open", s)
		}
		next.End(nil)
		if s := breakerOf(t, g, sqs).State; s != "closed" {
			t.Errorf("the second probe: %s, want closed", s)
		}
	})
}

// TestS6_4_AProbeGivenUpFreesTheTry: panic, Goexit and cancel give it back.
func TestS6_4_AProbeGivenUpFreesTheTry(t *testing.T) {
	for name, end := range map[string]func(*cloudpace.Call, context.CancelFunc){
		"drop":   func(c *cloudpace.Call, _ context.CancelFunc) { c.Drop() },
		"cancel": func(c *cloudpace.Call, cancel context.CancelFunc) { cancel(); c.End(context.Canceled) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, clock func() time.Duration) {
				g := governor(t, nil)
				open(t, g)
				time.Sleep(60 * time.Second)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				c, err := g.Begin(ctx, scope)
				if err != nil {
					t.Fatal(err)
				}
				end(c, cancel)
				begin(t, g, scope).End(nil) // may try at once
				if s := breakerOf(t, g, sqs).State; s != "closed" {
					t.Errorf("%s, want closed", s)
				}
			})
		})
	}
}

// TestS7_4_TheBudget: two free retries, then a token each, given back when the
// retry is never sent; a tenth for each success (E24).
func TestS7_4_TheBudget(t *testing.T) {
	g := governor(t, func(p *cloudpace.Provider) { p.RetryBudget = 2; p.BreakerThreshold = 100 })
	left := func() float64 { return g.Snapshot().Budgets[0].Tokens }
	retry := func(c *cloudpace.Call) error {
		c.Failed(unavailable())
		if err := c.Retry(); err != nil {
			return err
		}
		return c.Next(t.Context())
	}
	c := begin(t, g, scope)
	for i, want := range []float64{2, 2, 1, 0} {
		if err := retry(c); err != nil {
			t.Fatalf("retry %d: %v", i+1, err)
		}
		if left() != want {
			t.Errorf("after retry %d: %v tokens, want %v", i+1, left(), want)
		}
	}
	err := retry(c)
	e := as[*cloudpace.RetryBudgetExhaustedError](t, err)
	_ = as[*verdict.ResponseError](t, e.Err)
	c.End(err)
	if b := breakerOf(t, g, sqs); b.Failures != 0 {
		t.Errorf("an empty budget marks the service: %+v", b)
	}
	if n := g.Summary(nil).Totals; n.GaveUp != 1 || n.Retries != 4 {
		t.Errorf("totals %+v, want 1 given up and 4 retries", n)
	}
	for range 10 {
		begin(t, g, scope).End(nil)
	}
	if left() != 1 {
		t.Errorf("after ten successes %v tokens, want 1", left())
	}
	c = begin(t, g, scope)
	c.Succeeded() // a page: it renews the free retries
	if err := c.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.Failed(unavailable())
		if err := c.Retry(); err != nil {
			t.Fatal(err)
		}
		if err := c.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c.Failed(unavailable())
	c.End(unavailable())
	c = begin(t, g, scope)
	c.Failed(unavailable())
	_ = c.Retry()
	c.End(unavailable()) // decided, never sent
	if got := left(); got < 0 || got > 1 {
		t.Errorf("%v tokens, want between 0 and 1", got)
	}
}

// TestS8_4_WhatCountsAsACall: every attempt and page does, and takes a token;
// CountOnce counts the operation once, and FreeTransientRetries saves the token of
// an attempt after a transient failure.
func TestS8_4_WhatCountsAsACall(t *testing.T) {
	for name, c := range map[string]struct {
		opts   []cloudpace.BeginOption
		calls  int
		tokens float64 // taken
	}{
		"default":                 {nil, 3, 3},
		"CountOnce":               {[]cloudpace.BeginOption{cloudpace.CountOnce()}, 1, 3},
		"FreeTransientRetries":    {[]cloudpace.BeginOption{cloudpace.FreeTransientRetries()}, 3, 2},
		"both, as the AWS wiring": {[]cloudpace.BeginOption{cloudpace.CountOnce(), cloudpace.FreeTransientRetries()}, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, _ func() time.Duration) {
				g := governor(t, nil)
				call := begin(t, g, scope, c.opts...)
				call.Succeeded() // a page
				if err := call.Next(t.Context()); err != nil {
					t.Fatal(err)
				}
				call.Failed(unavailable()) // the next page, once again
				if err := errors.Join(call.Retry(), call.Next(t.Context())); err != nil {
					t.Fatal(err)
				}
				call.End(nil)
				if n := g.Summary(nil).Totals; n.Calls != c.calls || n.Retries != 1 {
					t.Errorf("totals %+v, want %d calls and 1 retry", n, c.calls)
				}
				if b := bucketOf(t, g, sqs); b.Tokens != 40-c.tokens {
					t.Errorf("%v tokens, want %v", b.Tokens, 40-c.tokens)
				}
			})
		})
	}
}
