package cloudpace_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
)

// Look shows the levels that a call would have to pass, and that is all it does.
func TestLook(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) {
			p.GlobalMaxRPS, p.GlobalBurst, p.AccountMaxRPS, p.AccountBurst = 100, 150, 50, 60
		})
		s := g.Look(scope)
		var got []string
		for _, b := range s.Buckets {
			got = append(got, b.Level+" "+b.Scope)
		}
		want := []string{"provider aws/*/*/*", "account aws/111122223333/*/*", "leaf " + sqs}
		if !reflect.DeepEqual(got, want) || s.Buckets[0].MaxRPS != 100 || s.Buckets[1].Burst != 60 || s.Buckets[2].MaxRPS != 20 {
			t.Errorf("buckets %+v", s.Buckets)
		}
		if len(s.Breakers) != 1 || s.Breakers[0].Scope != sqs || len(s.Budgets) != 1 || s.Budgets[0].Capacity != 500 ||
			len(s.Bulkheads) != 1 || s.Bulkheads[0].Slots != 128 || s.Bulkheads[0].InUse != 0 {
			t.Errorf("%+v", s)
		}
		for _, b := range g.Look(scope).Buckets {
			if b.Tokens != b.Burst {
				t.Errorf("%s: %g of %g tokens are left", b.Level, b.Tokens, b.Burst)
			}
		}
		if n := g.Summary(nil).Totals.Calls; n != 0 || len(g.Learned().Scopes) != 0 {
			t.Errorf("%d calls are counted, learned %+v", n, g.Learned())
		}
		// It reads what the calls themselves meet.
		if all := g.Snapshot(); !reflect.DeepEqual(all.Breakers, g.Look(scope).Breakers) || len(all.Buckets) != 3 {
			t.Errorf("the whole is %+v", all)
		}
	})
}

// What was restored is in force where somebody looks, aged, and so it is handed on.
func TestLookRecalls(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		first := governor(t, nil)
		fail(t, first, scope, throttle())
		l := first.Learned()
		time.Sleep(11 * time.Second)
		g := governor(t, nil)
		if err := g.Restore(l); err != nil {
			t.Fatal(err)
		}
		if b := g.Look(scope).Buckets[0]; b.RPS != 11 {
			t.Errorf("after 11 s it is at %g, want 11 of 20", b.RPS)
		}
		e := g.Learned().Scopes[0]
		if e.RPS != 11 || !e.Time.Equal(time.Now()) {
			t.Errorf("handed on is %+v", e)
		}
		// Nine raises are missing, and rounding may cost one more.
		if left := time.Until(e.Recovered()); left != 50*time.Second {
			t.Errorf("it is back in %s, want 50 s", left)
		}
		time.Sleep(time.Until(e.Recovered()))
		again := governor(t, nil)
		if err := again.Restore(cloudpace.Learned{Scopes: []cloudpace.LearnedScope{e}}); err != nil {
			t.Fatal(err)
		}
		if b := again.Look(scope).Buckets[0]; b.RPS != 20 {
			t.Errorf("then it is at %g", b.RPS)
		}
	})
}

// A quota that is used up, an open circuit and a pause do not keep anybody from looking.
func TestLookWaitsForNothing(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		for range 5 {
			fail(t, g, scope, throttleFor(10))
			time.Sleep(11 * time.Second)
		}
		before := clock()
		s := g.Look(scope)
		if s.Breakers[0].State != "open" || clock() != before {
			t.Errorf("%+v after %s", s.Breakers, clock()-before)
		}
	})
}

// Nothing is governed: there is nothing to see.
func TestLookDisabled(t *testing.T) {
	g := governor(t, func(p *cloudpace.Provider) { p.Enabled = false })
	if s := g.Look(scope); len(s.Buckets)+len(s.Breakers)+len(s.Budgets)+len(s.Bulkheads) != 0 {
		t.Errorf("%+v", s)
	}
}

// Every built-in limit has a source, and every source a limit.
func TestDefaultSources(t *testing.T) {
	sources, cfg := cloudpace.DefaultSources(), cloudpace.DefaultConfig()
	g, err := cloudpace.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	need := func(key string) {
		used[key] = true
		if sources[key] == "" {
			t.Errorf("%s has no source", key)
		}
	}
	for name, p := range cfg.Providers {
		path := "ratelimit." + name
		need(path + ".max_rps")
		if p.AccountMaxRPS > 0 {
			need(path + ".account_max_rps")
		}
		if p.GlobalMaxRPS > 0 {
			need(path + ".global_max_rps")
		}
		for service := range p.Services {
			need(path + ".services." + service)
		}
	}
	operations := 0
	for key := range sources {
		action, ok := strings.CutPrefix(key, "ratelimit.aws.services.ec2.")
		if !ok {
			if !used[key] {
				t.Errorf("%s is the source of nothing", key)
			}
			continue
		}
		operations++
		b := g.Look(cloudpace.Scope{Provider: "aws", Service: "ec2", Operation: action}).Buckets[0]
		if b.MaxRPS == 20 && b.Burst == 100 || b.MaxRPS == 5 && b.Burst == 50 {
			t.Errorf("%s has the limits of its group, %+v", action, b)
		}
	}
	if operations < 100 {
		t.Errorf("%d operations of EC2 have a source of their own", operations)
	}
}
