package cloudpace_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// ended begins a call whose next attempt waits in another goroutine, and gives the
// error that attempt is refused with.
func ended(t *testing.T, g *cloudpace.Governor) (c *cloudpace.Call, refused <-chan error) {
	t.Helper()
	c = begin(t, g, scope)
	c.Failed(throttleFor(30))
	if err := c.Retry(); err != nil {
		t.Fatal(err)
	}
	next := make(chan error, 1)
	go func() { next <- c.Next(t.Context()) }()
	synctest.Wait()
	return c, next
}

// TestS5_3_EndWakesWhoWaits: a call that is ended from elsewhere stops queueing at
// once, and everything comes back.
func TestS5_3_EndWakesWhoWaits(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		c, next := ended(t, g)
		c.End(nil)
		if err := <-next; err == nil {
			t.Error("admitted after its end")
		}
		wantTime(t, "the wait for a token", clock(), 0)

		if err := c.Next(t.Context()); err == nil {
			t.Error("admitted after its end")
		}
	})
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		c := begin(t, g, scope)
		c.Failed(unavailable()) // the slot is lent back
		held := begin(t, g, scope)
		next := make(chan error, 1)
		go func() { next <- c.Next(t.Context()) }()
		synctest.Wait()
		c.End(nil)
		if err := <-next; err == nil {
			t.Error("admitted after its end")
		}
		held.End(nil)
		if n := slotsOf(t, g, "111122223333").InUse; n != 0 {
			t.Errorf("%d slots in use", n)
		}
	})
}

// TestS6_3_EndedCallsAreNotRefused: a circuit that opens counts no refusal for a
// call that is over.
func TestS6_3_EndedCallsAreNotRefused(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.BreakerThreshold = 1; p.BreakerCooldown = 10 * time.Second })
		other := begin(t, g, scope)
		c, next := ended(t, g)
		c.End(nil)
		other.End(throttle()) // opens the circuit before the waiter runs
		if err := <-next; err == nil {
			t.Error("admitted after its end")
		}
		if b := breakerOf(t, g, sqs); b.State != "open" {
			t.Errorf("%+v", b)
		}
		if n := g.Summary(nil).Totals.Rejected; n != 0 {
			t.Errorf("%d refusals", n)
		}
	})
}

// TestS9_2_EndedWhileTheSettingsChange: the lanes are released once each.
func TestS9_2_EndedWhileTheSettingsChange(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		for i := range 500 {
			s := scope
			s.Account = strconv.Itoa(i)
			c := begin(t, g, s)
			c.Failed(throttleFor(30))
			if err := c.Retry(); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			all.Go(func() {
				_ = c.Next(t.Context()) // whichever comes first
			})
			synctest.Wait()
			all.Go(func() { c.End(nil) })
			all.Go(func() {
				cfg := g.Config()
				p := cfg.Providers["aws"]
				p.MaxRPS += 0.001
				cfg.Providers["aws"] = p
				if err := g.Configure(cfg); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
		}
		time.Sleep(time.Hour)
		for i := range 20_000 {
			s := scope
			s.Account = strconv.Itoa(1000 + i)
			begin(t, g, s).End(nil)
			time.Sleep(time.Millisecond)
		}
		for _, b := range g.Snapshot().Bulkheads {
			if n, err := strconv.Atoi(b.Account); err != nil || n < 500 || b.InUse != 0 {
				t.Fatalf("%+v remains", b)
			}
		}
	})
}

// TestS5_3_TwoAttemptsAtOnce is misuse that leaks no slot.
func TestS5_3_TwoAttemptsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		c := begin(t, g, scope)
		c.Failed(throttleFor(5))
		if err := c.Retry(); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if err := c.Next(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		c.End(nil)
		if n := slotsOf(t, g, "111122223333").InUse; n != 0 {
			t.Errorf("%d slots in use", n)
		}
	})
}

// TestS8_1_AnAttemptIsReportedOnce, however often its failure is told.
func TestS8_1_AnAttemptIsReportedOnce(t *testing.T) {
	g := governor(t, nil)
	c := begin(t, g, scope)
	for range 3 {
		if kind := c.Failed(throttle()); kind != verdict.Throttled {
			t.Errorf("%s", kind)
		}
	}
	c.Failed(errors.New("another"))
	c.End(throttle())
	if n := g.Summary(nil).Totals; n.Throttled != 1 || n.GaveUp != 1 {
		t.Errorf("%+v, want one throttle", n)
	}
}

// TestS5_4_WhatDoLeavesBehind: the context of a Do that is over, on whichever attempt, can
// be used by others at any time. They take no second slot, and how they end harms nobody.
func TestS5_4_WhatDoLeavesBehind(t *testing.T) {
	g := governor(t, func(p *cloudpace.Provider) {
		p.MaxRPS, p.Burst, p.BreakerThreshold, p.MaxConcurrency = 1e9, 1e9, 1000, 64
	})
	with := cloudpace.WithGovernor(g)
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			attempts := 0
			err := cloudpace.Do(t.Context(), scope, func(ctx context.Context) error {
				for range 4 {
					all.Go(func() {
						c, err := g.Begin(ctx, scope)
						if err != nil {
							t.Error(err)
							return
						}
						c.End(denied())
					})
				}
				if attempts++; attempts < 3 {
					return unavailable()
				}
				return nil
			}, with, cloudpace.WithBackoff(1, 2))
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := slotsOf(t, g, scope.Account); n.InUse != 0 || n.Waiting != 0 {
		t.Errorf("%+v", n)
	}
	if n := g.Summary(nil).Totals; n.Calls != 200*(3+3*4) || n.Retries != 2*200 {
		t.Errorf("%+v", n)
	}
}
