package cloudpace_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// TestS3_4_WaitersThatGiveUpLeaveNoWait: 300 callers queue and leave again; the
// next one waits only for the next token (E01).
func TestS3_4_WaitersThatGiveUpLeaveNoWait(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		drain(t, g, scope, 40)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 300 {
			wg.Go(func() {
				if _, err := g.Begin(ctx, scope); !errors.Is(err, context.Canceled) {
					t.Errorf("Begin: %v, want canceled", err)
				}
			})
		}
		synctest.Wait()
		if n := bucketOf(t, g, "aws/111122223333/us-east-1/sqs").Waiting; n != 300 {
			t.Fatalf("%d queue, want 300", n)
		}
		cancel()
		wg.Wait()
		drain(t, g, scope, 1)
		wantTime(t, "next call", clock(), 50*time.Millisecond)
	})
}

// TestE01_ATrickleIsServed: 200 waiters cancelled after 300 ms, then two a second
// with 300 ms of patience each.
func TestE01_ATrickleIsServed(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MinRPS = 5, 10, 0.1 })
		drain(t, g, scope, 10)
		var wg sync.WaitGroup
		try := func() (served int) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if c, err := g.Begin(ctx, scope); err == nil {
				c.End(nil)
				served = 1
			}
			return served
		}
		for range 200 {
			wg.Go(func() { try() })
		}
		wg.Wait()
		served := 0
		for range 10 {
			served += try()
			time.Sleep(500 * time.Millisecond)
		}
		if served < 9 {
			t.Errorf("%d of 10 served, want at least 9", served)
		}
	})
}

// TestS3_4_ACutReachesThoseQueued: ten callers queue at 20 a second; after a
// throttle they leave at 10 a second.
func TestS3_4_ACutReachesThoseQueued(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		sent := begin(t, g, scope)
		drain(t, g, scope, 39)
		var left list[time.Duration]
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				drain(t, g, scope, 1)
				left.add(clock())
			})
			synctest.Wait()
		}
		sent.Failed(throttle())
		wg.Wait()
		for i, at := range left.all {
			wantTime(t, "queued call", at, time.Duration(i+1)*100*time.Millisecond)
		}
	})
}

// TestS4_2_APauseHoldsEverybodyAndEndsAtTheBucketsPace: a hint of 4 s; nobody
// leaves before, one at its end, the others at the bucket's rate (A09).
func TestS4_2_APauseHoldsEverybodyAndEndsAtTheBucketsPace(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		begin(t, g, scope).Failed(throttleFor(4))
		var left list[time.Duration]
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				drain(t, g, scope, 1)
				left.add(clock())
			})
			synctest.Wait()
		}
		wg.Wait()
		for i, at := range left.all {
			wantTime(t, "call", at, 4*time.Second+time.Duration(i)*100*time.Millisecond)
		}
	})
}

// TestS4_2_APauseIsCapped: max_pause_seconds bounds what a hint can do to others.
func TestS4_2_APauseIsCapped(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		begin(t, g, scope).Failed(throttleFor(9999))
		drain(t, g, scope, 1)
		wantTime(t, "call", clock(), 300*time.Second)
	})
}

// TestS4_2_APauseHoldsWhoWaitsForASlot: the token was granted before the pause
// began, but the slot only in it.
func TestS4_2_APauseHoldsWhoWaitsForASlot(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		first := begin(t, g, scope)
		done := make(chan time.Duration, 1)
		go func() {
			drain(t, g, scope, 1)
			done <- clock()
		}()
		synctest.Wait()
		if n := slotsOf(t, g, "111122223333").Waiting; n != 1 {
			t.Fatalf("%d wait for a slot, want 1", n)
		}
		first.End(throttleFor(7))
		wantTime(t, "second call", <-done, 7*time.Second)
	})
}

// TestS3_5_ADeadlineThatCannotBeMet ends the wait at once, counting those ahead.
func TestS3_5_ADeadlineThatCannotBeMet(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 1 })
		drain(t, g, scope, 1)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { drain(t, g, scope, 1) })
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3900*time.Millisecond)
		defer cancel()
		_, err := g.Begin(ctx, scope)
		wantTime(t, "refusal", clock(), 0)
		e := as[*cloudpace.DeadlineExceededError](t, err)
		if e.RetryAfter != 4*time.Second || e.Scope.Service != "sqs" || e.Err != nil {
			t.Errorf("got %+v, want 4 s on sqs and no cause", e)
		}
		// E05: typed, findable, and transient.
		if !errors.Is(err, context.DeadlineExceeded) || verdict.Classify(err) != verdict.Transient {
			t.Errorf("%v: Is %v, kind %v", err, errors.Is(err, context.DeadlineExceeded), verdict.Classify(err))
		}
		wg.Wait()
		// S2.9: nothing was sent, so it has no bearing on the numbers.
		if n := g.Summary(nil).Totals; n.Calls != 4 || n.GaveUp != 0 || n.TransientErrors != 0 {
			t.Errorf("totals %+v, want 4 calls and nothing else", n)
		}
	})
}

// TestS3_5_AnEndedContext: it is refused without a trace, and ends a wait at once
// with its own error (E03).
func TestS3_5_AnEndedContext(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 1 })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.Begin(ctx, scope); err != context.Canceled {
			t.Errorf("Begin: %v, want context.Canceled itself", err)
		}
		drain(t, g, scope, 1) // the token is still there
		wantTime(t, "call", clock(), 0)

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, cancel)
		if _, err := g.Begin(ctx, scope); err != context.Canceled {
			t.Errorf("Begin: %v, want context.Canceled itself", err)
		}
		wantTime(t, "end of the wait", clock(), 300*time.Millisecond)
	})
}

// TestS3_5_APauseThatMakesADeadlineImpossible ends the wait of those queued.
func TestS3_5_APauseThatMakesADeadlineImpossible(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 1 })
		sent := begin(t, g, scope)
		done := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, err := g.Begin(ctx, scope)
			done <- err
		}()
		time.Sleep(100 * time.Millisecond)
		sent.Failed(throttleFor(30))
		_ = as[*cloudpace.DeadlineExceededError](t, <-done)
		wantTime(t, "refusal", clock(), 100*time.Millisecond)
	})
}

// TestS3_6_MaxWait: after d the call goes on in debt, down to one burst, then it
// fails.
func TestS3_6_MaxWait(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 3 })
		begin(t, g, scope).Failed(throttleFor(60)) // rate 0.5, burst 1.5, paused
		ctx := cloudpace.WithMaxWait(t.Context(), time.Second)
		c, err := g.Begin(ctx, scope)
		if err != nil {
			t.Fatalf("first: %v, want leave in debt", err)
		}
		c.End(nil)
		wantTime(t, "first", clock(), time.Second)
		_, err = g.Begin(ctx, scope)
		e := as[*cloudpace.DeadlineExceededError](t, err)
		wantTime(t, "second", clock(), 2*time.Second)
		if e.RetryAfter < 58*time.Second {
			t.Errorf("retry after %s, want the rest of the pause at least", e.RetryAfter)
		}
		if b := bucketOf(t, g, "aws/111122223333/us-east-1/sqs"); b.Tokens != -1 {
			t.Errorf("%v tokens, want a debt of 1", b.Tokens)
		}
	})
}

// TestS3_6_MaxWaitDoesNotBoundSlots: the wait for a slot may be longer.
func TestS3_6_MaxWaitDoesNotBoundSlots(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		first := begin(t, g, scope)
		time.AfterFunc(5*time.Second, func() { first.End(nil) })
		c, err := g.Begin(cloudpace.WithMaxWait(t.Context(), time.Second), scope)
		if err != nil {
			t.Fatal(err)
		}
		c.End(nil)
		wantTime(t, "call", clock(), 5*time.Second)
	})
}

// TestS3_1_TheSlowestLevelDecides, and a slow leaf does not hold its neighbour.
func TestS3_1_TheSlowestLevelDecides(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) {
			p.AccountMaxRPS, p.AccountBurst = 2, 1
			p.Services = map[string]cloudpace.Service{"slow": {MaxRPS: 0.1, Burst: 1}}
		})
		slow, quick := scope, scope
		slow.Service = "slow"
		drain(t, g, slow, 1) // takes the account's only token too
		var order list[string]
		var wg sync.WaitGroup
		call := func(name string, s cloudpace.Scope) {
			wg.Go(func() {
				drain(t, g, s, 1)
				order.add(name + " " + clock().String())
			})
			synctest.Wait()
		}
		call("slow", slow) // has waited longest, but its leaf has nothing until 10 s
		call("quick", quick)
		call("quick", quick)
		wg.Wait()
		want := []string{"quick 500ms", "quick 1s", "slow 10s"}
		if !slices.Equal(order.all, want) {
			t.Errorf("order %v, want %v", order.all, want)
		}
	})
}

// TestS3_2_Leaves: ec2 has a bucket per action, others one per service; an
// override for service.Operation makes one for that operation.
func TestS3_2_Leaves(t *testing.T) {
	g := governor(t, func(p *cloudpace.Provider) {
		p.Services["sqs.ListQueues"] = cloudpace.Service{MaxRPS: 3}
	})
	at := func(service, op string) cloudpace.Scope {
		s := scope
		s.Service, s.Operation = service, op
		return s
	}
	for _, s := range []cloudpace.Scope{
		at("ec2", "DescribeInstances"), at("ec2", "RunInstances"), at("ec2", "RebootInstances"), at("lambda", "ListFunctions"), at("lambda", "GetFunction"),
		at("sqs", "ListQueues"), at("sqs", "GetQueueUrl"),
	} {
		drain(t, g, s, 1)
	}
	got := map[string][2]float64{}
	for _, b := range g.Snapshot().Buckets {
		got[b.Scope] = [2]float64{b.MaxRPS, b.Burst}
	}
	want := map[string][2]float64{
		"aws/111122223333/us-east-1/ec2/DescribeInstances": {20, 100},
		"aws/111122223333/us-east-1/ec2/RebootInstances":   {5, 50},
		"aws/111122223333/us-east-1/ec2/RunInstances":      {2, 5}, // a row of its own
		"aws/111122223333/us-east-1/lambda":                {15, 15},
		"aws/111122223333/us-east-1/sqs/ListQueues":        {3, 6},
		"aws/111122223333/us-east-1/sqs":                   {20, 40},
	}
	if len(got) != len(want) {
		t.Errorf("buckets %v, want %v", got, want)
	}
	for s, l := range want {
		if got[s] != l {
			t.Errorf("%s: %v, want %v", s, got[s], l)
		}
	}
}

// TestUntil bounds the waits of every admission, for tokens and for slots; not the
// attempt that is under way.
func TestUntil(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MaxConcurrency = 1, 2, 1 })
		until := cloudpace.Until(time.Now().Add(5 * time.Second))
		c := begin(t, g, scope, until)
		var late *cloudpace.DeadlineExceededError
		if _, err := g.Begin(t.Context(), scope, until); !errors.As(err, &late) {
			t.Errorf("waiting for a slot: %v", err)
		}
		wantTime(t, "the slot", clock(), 5*time.Second)
		time.Sleep(time.Minute)
		c.Succeeded() // long past it, and nobody minds
		if err := c.Next(t.Context()); !errors.As(err, &late) {
			t.Errorf("the next page: %v", err)
		}
		c.End(nil)
		if _, err := g.Begin(t.Context(), scope, cloudpace.Until(time.Time{})); err != nil {
			t.Errorf("no bound: %v", err)
		}
	})
}

// TestS3_2_OperationsWithLimitsOfTheirOwn: the built-in ones are bounded by what is
// set for the service, and replaced by what is set for the operation.
func TestS3_2_OperationsWithLimitsOfTheirOwn(t *testing.T) {
	for name, c := range map[string]struct {
		services map[string]cloudpace.Service
		want     [2]float64
	}{
		"slower service": {map[string]cloudpace.Service{"ec2": {MaxRPS: 1, Burst: 2, PerOperation: true}}, [2]float64{1, 2}},
		"faster service": {map[string]cloudpace.Service{"ec2": {MaxRPS: 50, Burst: 500, PerOperation: true}}, [2]float64{2, 5}},
		"its own": {map[string]cloudpace.Service{
			"ec2": {MaxRPS: 1, Burst: 2, PerOperation: true}, "ec2.RunInstances": {MaxRPS: 7, Burst: 8},
		}, [2]float64{7, 8}},
	} {
		g := governor(t, func(p *cloudpace.Provider) { p.Services = c.services })
		s := scope
		s.Service, s.Operation = "ec2", "RunInstances"
		drain(t, g, s, 1)
		b := g.Snapshot().Buckets[0]
		if got := [2]float64{b.MaxRPS, b.Burst}; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
