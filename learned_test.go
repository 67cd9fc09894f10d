package cloudpace_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// handDown gives what one governor has learned to another, through the JSON that it is
// kept as.
func handDown(t *testing.T, from, to *cloudpace.Governor) cloudpace.Learned {
	t.Helper()
	text, err := json.Marshal(from.Learned())
	if err != nil {
		t.Fatal(err)
	}
	var l cloudpace.Learned
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	if err := to.Restore(l); err != nil {
		t.Fatal(err)
	}
	return l
}

// What a throttle took is still missing in the next process, and comes back as time
// allows.
func TestLearnedRate(t *testing.T) {
	for _, c := range []struct {
		after       time.Duration
		rps, tokens float64
	}{
		{0, 10, 0}, {time.Second, 10, 10}, {11 * time.Second, 11, 22}, {time.Hour, 20, 40},
	} {
		bubble(t, func(t *testing.T, _ func() time.Duration) {
			g := governor(t, nil)
			fail(t, g, scope, throttle())
			learned := g.Learned()
			time.Sleep(c.after)
			next := governor(t, nil)
			if err := next.Restore(learned); err != nil {
				t.Fatal(err)
			}
			begin(t, next, scope, cloudpace.FreeTransientRetries()).Drop()
			b := bucketOf(t, next, sqs)
			if b.RPS != c.rps || math.Abs(b.Tokens-max(0, c.tokens-1)) > 0.01 {
				t.Errorf("after %s: %+v, want %g rps and a token less than %g", c.after, b, c.rps, c.tokens)
			}
		})
	}
}

// A run that follows at once asks for no more than the one before it would have.
func TestLearnedBurstIsNotGivenTwice(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		drain(t, g, scope, 40)
		next := governor(t, nil)
		handDown(t, g, next)
		drain(t, next, scope, 20)
		wantTime(t, "20 calls were admitted", clock(), time.Second)
	})
}

// The same run twice: what the first had to learn by being refused, the second knows.
func TestLearnedSparesTheSecondRun(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		server := &modelQuota{rate: 5, burst: 5, tokens: 5, last: time.Now()}
		run := func(g *cloudpace.Governor) (throttled int) {
			var work sync.WaitGroup
			before := server.asked - server.spent
			for range 40 {
				work.Go(func() {
					_ = cloudpace.Do(t.Context(), scope, func(context.Context) error {
						if server.take() {
							return nil
						}
						return throttle()
					}, cloudpace.WithGovernor(g), cloudpace.WithMaxRetries(50))
				})
			}
			work.Wait()
			return server.asked - server.spent - before
		}
		first, second := governor(t, nil), governor(t, nil)
		learning := run(first)
		handDown(t, first, second)
		if knowing := run(second); learning < 5 || knowing > 2 {
			t.Errorf("throttled %d times, and %d times the second time", learning, knowing)
		}
	})
}

// A pause, an open circuit, a used-up quota and a spent budget outlive their process.
func TestLearnedStops(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.GlobalMaxRPS, p.AccountMaxRPS, p.RetryBudget = 100, 50, 7 })
		paused, opened, barred := scope, scope, scope
		opened.Service, barred.Service = "sns", "kms"
		fail(t, g, paused, throttleFor(30))
		for range 5 {
			fail(t, g, opened, unavailable())
		}
		c := begin(t, g, barred)
		c.Bar(time.Now().Add(20*time.Hour), &verdict.ResponseError{Provider: "aws", StatusCode: 400, Code: "DailyLimit", Message: "gone for today"})
		c.End(nil)
		c = begin(t, g, cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "ses"})
		for range 5 {
			c.Failed(throttle())
			if err := c.Retry(); err != nil {
				t.Fatal(err)
			}
			if err := c.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		c.End(nil)
		start := clock()

		next := governor(t, func(p *cloudpace.Provider) { p.GlobalMaxRPS, p.AccountMaxRPS, p.RetryBudget = 100, 50, 7 })
		l := handDown(t, g, next)
		if len(l.Scopes) < 6 {
			t.Errorf("%d entries, want those of four leaves, the account and the provider: %+v", len(l.Scopes), l.Scopes)
		}
		_, err := next.Begin(t.Context(), opened)
		open := as[*cloudpace.CircuitOpenError](t, err)
		if open.RetryAfter > time.Minute || open.RetryAfter < 50*time.Second || verdict.Examine("aws", open.Err).Status != 500 {
			t.Errorf("%v, and try again in %s", err, open.RetryAfter)
		}
		_, err = next.Begin(t.Context(), barred)
		bar := as[*cloudpace.CircuitOpenError](t, err)
		if bar.RetryAfter < 19*time.Hour || !strings.Contains(err.Error(), "gone for today") || verdict.Examine("aws", bar.Err).Code != "DailyLimit" {
			t.Errorf("%v, and try again in %s", err, bar.RetryAfter)
		}
		if left := next.Snapshot().Budgets[0].Tokens; left > 4.5 || left < 3.9 {
			t.Errorf("%g tokens of the budget are left, want about 4", left)
		}
		begin(t, next, paused).End(nil)
		if waited := clock() - start; waited < 25*time.Second || waited > 30*time.Second {
			t.Errorf("it waited %s for the end of the pause", waited)
		}
		time.Sleep(time.Minute)
		begin(t, next, opened).End(nil) // the try
		begin(t, next, opened).End(nil)
	})
}

// What this process does not use is kept for those that do, and what it uses is its own
// from then on.
func TestLearnedIsHandedOn(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, nil)
		fail(t, g, scope, throttle())
		between, last := governor(t, nil), governor(t, nil)
		first := handDown(t, g, between)
		time.Sleep(11 * time.Second)
		if kept := handDown(t, between, last); len(kept.Scopes) != 1 || !kept.Scopes[0].Time.Equal(first.Scopes[0].Time) {
			t.Errorf("it has %+v, of %+v", kept, first)
		}
		drain(t, last, scope, 1)
		if now := last.Learned(); len(now.Scopes) != 1 || !now.Scopes[0].Time.Equal(time.Now()) || now.Scopes[0].RPS <= 10 {
			t.Errorf("it has %+v", now.Scopes)
		}
	})
}

// Trouble that comes to be known while the calls go on holds for them too.
func TestLearnedWhileRunning(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g, running := governor(t, nil), governor(t, nil)
		drain(t, running, scope, 1)
		fail(t, g, scope, throttle())
		handDown(t, g, running)
		if b := bucketOf(t, running, sqs); b.RPS != 10 || b.Tokens > 0.1 {
			t.Errorf("%+v", b)
		}
	})
}

// Nothing learned is an empty memory, and reads as one.
func TestLearnedNothing(t *testing.T) {
	g := governor(t, nil)
	text, err := json.Marshal(g.Learned())
	if err != nil || string(text) != `{"scopes":[],"budgets":[]}` {
		t.Errorf("%s, %v", text, err)
	}
	if err := g.Restore(cloudpace.Learned{}); err != nil {
		t.Error(err)
	}
}

// What makes no sense is named and left out.
func TestLearnedNonsense(t *testing.T) {
	g := governor(t, nil)
	good := cloudpace.LearnedScope{Scope: sqs, Level: "leaf", Time: time.Now(), RPS: 5, MaxRPS: 20}
	with := func(change func(*cloudpace.LearnedScope)) cloudpace.LearnedScope {
		e := good
		change(&e)
		return e
	}
	l := cloudpace.Learned{
		Scopes: []cloudpace.LearnedScope{
			with(func(e *cloudpace.LearnedScope) { e.Scope = "ec2" }),
			with(func(e *cloudpace.LearnedScope) { e.Scope = "*/*/*/*" }),
			with(func(e *cloudpace.LearnedScope) { e.Level = "floor" }),
			with(func(e *cloudpace.LearnedScope) { e.RPS = math.NaN() }),
			with(func(e *cloudpace.LearnedScope) { e.RPS = -1 }),
			with(func(e *cloudpace.LearnedScope) { e.Tokens = math.Inf(-1) }),
			good,
		},
		Budgets: []cloudpace.LearnedBudget{{Provider: "aws", Tokens: math.NaN()}, {Provider: "*"}},
	}
	err := g.Restore(l)
	if err == nil || strings.Count(err.Error(), "\n") != 7 {
		t.Errorf("the error names %v", err)
	}
	drain(t, g, scope, 1)
	if b := bucketOf(t, g, sqs); b.LowestRPS != 5 {
		t.Errorf("%+v", b)
	}
}
