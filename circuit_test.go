package cloudpace_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
)

// TestS14_7_WaitForCircuit: who is to wait for an open circuit waits, in whatever
// part of the admission it meets it, and nothing counts as refused.
func TestS14_7_WaitForCircuit(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 6 })
		ctx, ledger := cloudpace.WithLedger(t.Context())
		retrying := begin(t, g, scope, cloudpace.WaitForCircuit())
		retrying.Failed(unavailable())
		for range 4 {
			fail(t, g, scope, unavailable())
		}
		last := begin(t, g, scope)
		var work sync.WaitGroup
		var went list[time.Duration]
		waits := func() {
			c, err := g.Begin(ctx, scope, cloudpace.WaitForCircuit())
			if err != nil {
				t.Error(err)
				return
			}
			went.add(clock())
			time.Sleep(5 * time.Second)
			c.End(nil)
		}
		work.Go(waits) // meets it while queueing for a token
		synctest.Wait()
		time.Sleep(100 * time.Millisecond)
		last.End(unavailable())
		for range 3 { // meet it at once
			work.Go(waits)
		}
		if err := retrying.Retry(); err != nil {
			t.Error(err)
		}
		if err := retrying.Next(ctx); err != nil {
			t.Error(err)
		}
		went.add(clock())
		time.Sleep(5 * time.Second)
		retrying.End(nil)
		work.Wait()
		slices.Sort(went.all)
		if probe, next := went.all[0], went.all[1]; len(went.all) != 5 || probe < 60*time.Second || probe > 62*time.Second || next < probe+5*time.Second {
			t.Errorf("went at %v, want one to try after the cooldown and the others after its success", went.all)
		}
		if n := g.Summary(nil).Totals; n.Rejected != 0 || ledger.Degraded() {
			t.Errorf("%+v, %s", n, ledger)
		}
		if s := slotsOf(t, g, scope.Account); s.InUse != 0 {
			t.Errorf("%d slots kept", s.InUse)
		}
	})
}

// TestS14_7_WaitForCircuitIsBounded: by the deadline, at once, and by the context.
func TestS14_7_WaitForCircuitIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		open(t, g)
		_, err := g.Begin(t.Context(), scope, cloudpace.WaitForCircuit(), cloudpace.Until(time.Now().Add(59*time.Second)))
		_ = as[*cloudpace.CircuitOpenError](t, err)
		wantTime(t, "refused", clock(), 0)
		_, err = g.Begin(cloudpace.WithMaxWait(t.Context(), time.Second), scope, cloudpace.WaitForCircuit())
		_ = as[*cloudpace.CircuitOpenError](t, err)
		wantTime(t, "refused", clock(), 0)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second/2, cancel)
		if _, err := g.Begin(ctx, scope, cloudpace.WaitForCircuit()); err != context.Canceled {
			t.Errorf("%v, want the cancellation", err)
		}
		wantTime(t, "canceled", clock(), time.Second/2)
	})
}

// TestS14_7_WaitForCircuitGivesItsSlotBack while it waits.
func TestS14_7_WaitForCircuitGivesItsSlotBack(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		holder := begin(t, g, scope)
		waiting := make(chan error, 1)
		go func() {
			c, err := g.Begin(t.Context(), scope, cloudpace.WaitForCircuit())
			if err == nil {
				c.End(nil)
			}
			waiting <- err
		}()
		synctest.Wait() // it queues for the slot
		other := scope
		other.Service = "sns"
		holder.End(unavailable())
		for range 4 {
			fail(t, g, scope, unavailable())
		}
		synctest.Wait()
		begin(t, g, other).End(nil) // another service of the account is not kept waiting
		if err := <-waiting; err != nil {
			t.Error(err)
		}
	})
}
