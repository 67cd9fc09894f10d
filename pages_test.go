package cloudpace_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// S13.1: a call that asks the circuit once goes on to its next page where others have
// opened it, whether it waits for a token, for a slot, or for nothing.
func TestS13_1_AskCircuitOnce(t *testing.T) {
	open := func(t *testing.T, g *cloudpace.Governor) {
		for range 5 {
			fail(t, g, scope, unavailable())
		}
		if s := breakerOf(t, g, "aws/111122223333/us-east-1/sqs").State; s != "open" {
			t.Fatalf("the circuit is %s", s)
		}
	}
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, nil)
		pages := begin(t, g, scope, cloudpace.AskCircuitOnce(), cloudpace.HoldSlot())
		plain := begin(t, g, scope, cloudpace.HoldSlot())
		pages.Succeeded()
		plain.Succeeded()
		open(t, g)
		_ = as[*cloudpace.CircuitOpenError](t, plain.Next(t.Context()))
		if err := pages.Next(t.Context()); err != nil {
			t.Errorf("a further page: %v", err)
		}
		// What repeats a failed page asks again.
		pages.Failed(throttle())
		_ = as[*cloudpace.CircuitOpenError](t, pages.Retry())
		_ = as[*cloudpace.CircuitOpenError](t, pages.Next(t.Context()))
		pages.Drop()
		plain.Drop()
		_, err := g.Begin(t.Context(), scope, cloudpace.AskCircuitOnce())
		_ = as[*cloudpace.CircuitOpenError](t, err)
	})
	// In the queue for a token.
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 6 })
		pages := begin(t, g, scope, cloudpace.AskCircuitOnce())
		pages.Succeeded()
		calls := make([]*cloudpace.Call, 5)
		for i := range calls {
			calls[i] = begin(t, g, scope)
		}
		time.AfterFunc(time.Second/2, func() {
			for _, c := range calls {
				c.End(unavailable())
			}
		})
		if err := pages.Next(t.Context()); err != nil {
			t.Errorf("a further page that waits for its token: %v", err)
		}
		wantTime(t, "it went", clock(), time.Second)
		pages.End(nil)
	})
	// In the queue for a slot.
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		calls := make([]*cloudpace.Call, 5)
		for i := range calls {
			calls[i] = begin(t, g, scope)
			calls[i].LendSlot()
		}
		pages := begin(t, g, scope, cloudpace.AskCircuitOnce())
		pages.Succeeded()
		go func() {
			other := begin(t, g, scope)
			time.Sleep(time.Second)
			other.Drop()
		}()
		synctest.Wait()
		time.AfterFunc(time.Second/2, func() { // while pages waits for what other has taken
			for _, c := range calls {
				c.End(unavailable())
			}
		})
		if err := pages.Next(t.Context()); err != nil {
			t.Errorf("a further page that waits for its slot: %v", err)
		}
		wantTime(t, "it went", clock(), time.Second)
		if s := breakerOf(t, g, scopeText).State; s != "open" {
			t.Errorf("the circuit is %s", s)
		}
		pages.End(nil)
	})
}

// S13.2: each page has a time of its own.
func TestS13_2_UntilIsMovedForEachPage(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MaxConcurrency = 1, 1, 1 })
		c := begin(t, g, scope, cloudpace.Until(time.Now().Add(2*time.Second)))
		c.Succeeded()
		time.Sleep(3 * time.Second)
		_ = as[*cloudpace.DeadlineExceededError](t, c.Next(t.Context()))
		c.Until(time.Now().Add(2 * time.Second))
		if err := c.Next(t.Context()); err != nil {
			t.Errorf("with a new bound: %v", err)
		}
		c.Succeeded()
		c.Until(time.Now().Add(time.Second / 2))
		_ = as[*cloudpace.DeadlineExceededError](t, c.Next(t.Context())) // the token comes after a second
		c.End(nil)

		// It bounds the wait for a slot too.
		time.Sleep(time.Minute)
		holder := begin(t, g, scope)
		time.Sleep(time.Minute)
		before := clock()
		_, err := g.Begin(context.Background(), scope, cloudpace.Until(time.Now().Add(5*time.Second)))
		_ = as[*cloudpace.DeadlineExceededError](t, err)
		wantTime(t, "the wait for a slot ended", clock()-before, 5*time.Second)
		holder.End(nil)
	})
}

// S5.3: a slot that is lent back early is not given back again at the end.
func TestS5_3_LendSlot(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		stream := begin(t, g, scope)
		stream.LendSlot()
		stream.LendSlot()
		other := begin(t, g, scope) // would wait for ever
		stream.End(nil)
		if n := slotsOf(t, g, scope.Account).InUse; n != 1 {
			t.Errorf("%d slots in use, want the other call's", n)
		}
		other.End(nil)
		if n := slotsOf(t, g, scope.Account).InUse; n != 0 {
			t.Errorf("%d slots in use at the end", n)
		}
	})
}

// A quota that is used up until a known time closes what is charged to it: for those
// who begin, and for those who wait.
func TestBarUntilAQuotaIsRenewed(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 1 })
		quota := scope
		quota.Account = "444455556666"
		c := begin(t, g, scope, cloudpace.ChargedTo(quota))
		waiting := make(chan error)
		go func() {
			late, err := g.Begin(context.Background(), scope, cloudpace.ChargedTo(quota))
			if err == nil {
				late.Drop()
			}
			waiting <- err
		}()
		time.Sleep(time.Second / 2)
		used := denied()
		c.Bar(time.Now().Add(10*time.Hour), used)
		c.Bar(time.Now().Add(time.Hour), denied()) // an earlier end changes nothing
		c.End(used)
		if e := as[*cloudpace.CircuitOpenError](t, <-waiting); e.Err != used {
			t.Errorf("the cause is %v", e.Err)
		}
		other := scope
		other.Account = "777788889999"
		_, err := g.Begin(context.Background(), other, cloudpace.ChargedTo(quota))
		e := as[*cloudpace.CircuitOpenError](t, err)
		if left := 10*time.Hour + time.Second/2 - clock(); e.RetryAfter != left || verdict.Classify(err) != verdict.Throttled {
			t.Errorf("retry after %v, want %v", e.RetryAfter, left)
		}
		begin(t, g, other).End(nil) // its own quota is another
		if n := g.Summary(nil).Totals; n.Rejected != 2 || n.Calls != 2 {
			t.Errorf("%+v", n)
		}
		time.Sleep(10 * time.Hour)
		begin(t, g, scope, cloudpace.ChargedTo(quota)).End(nil)
	})
}

// A bar outlives the crowd of scopes that makes idle ones forgotten.
func TestBarIsNotForgotten(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, nil)
		c := begin(t, g, scope)
		c.Bar(time.Now().Add(time.Hour), denied())
		c.End(nil)
		time.Sleep(time.Minute)
		s := scope
		for i := range 20000 {
			s.Account = string(rune('a'+i%26)) + time.Duration(i).String()
			begin(t, g, s).End(nil)
			if i%1000 == 0 {
				time.Sleep(time.Second)
			}
		}
		_, err := g.Begin(context.Background(), scope)
		_ = as[*cloudpace.CircuitOpenError](t, err)
	})
}
