package sim

import (
	"testing"
	"time"
)

// TestLayers: a call needs a token in every layer, each from the first quota there
// that matches, and the service's own comes last.
func TestLayers(t *testing.T) {
	start := time.Now()
	q := newQuotas(Profile{Speed: 1, Quotas: []Quota{
		{Match: Match{Service: Patterns{"storage"}}, Burst: 2, Window: 300, Shared: true, Name: "list"},
		{Match: Match{Service: Patterns{"storage"}}, Burst: 1, Rate: 1},
		{Burst: 3, Rate: 1, Wide: true, Layer: "gate"},
	}}, start)
	storage := &Call{Account: "1", Service: "storage", Operation: "list"}
	for i, want := range []struct {
		gate, own float64
		refused   string
	}{{2, 1, ""}, {1, 0, ""}, {0, 0, "list"}} {
		left, no := q.take(storage, start)
		if len(left) != 2 || left[0].Layer != "gate" || left[0].Tokens != want.gate || left[1].Tokens != want.own {
			t.Errorf("call %d: left %+v", i, left)
		}
		if got := ""; no != nil {
			if got = no.Quota.Name; got != want.refused || no.Wait != 300*time.Second {
				t.Errorf("call %d: refused by %q, %s", i, got, no.Wait)
			}
		} else if want.refused != "" {
			t.Errorf("call %d: not refused", i)
		}
	}
	// The gate is empty for every service of the account, and for no other account.
	if left, no := q.take(&Call{Account: "1", Service: "compute", Operation: "get"}, start); no == nil || no.Quota.Layer != "gate" || len(left) != 1 {
		t.Errorf("the gate let pass: %+v, %+v", left, no)
	}
	if _, no := q.take(&Call{Account: "2", Service: "compute", Operation: "get"}, start); no != nil {
		t.Errorf("another account is refused: %+v", no)
	}
}

// TestPayers: a bucket belongs to who is charged in its layer, whoever is asked about,
// and so do rules and neighbours.
func TestPayers(t *testing.T) {
	start := time.Now()
	q := newQuotas(Profile{Speed: 1, Seed: 1, Neighbours: []Neighbour{{Match: Match{Account: Patterns{"payer"}}, Rate: 100}}, Quotas: []Quota{
		{Match: Match{Account: Patterns{"other"}}, Burst: 1, Window: 60},
		{Burst: 2, Window: 60},
		{Burst: 3, Window: 60, Layer: "whole"},
	}}, start)
	ask := func(account, payer string) string {
		_, no := q.take(&Call{Account: account, Operation: "list", Payers: map[string]string{"": payer, "whole": "all"}}, start)
		if no == nil {
			return "passed"
		}
		return no.Quota.Layer + " refused"
	}
	for i, c := range []struct{ account, payer, want string }{
		{"1", "payer", "passed"}, {"2", "payer", "passed"}, {"1", "other", "passed"},
		{"3", "third", "whole refused"}, {"other", "third", "whole refused"},
	} {
		if got := ask(c.account, c.payer); got != c.want {
			t.Errorf("call %d: %s, want %s", i, got, c.want)
		}
	}
	start = start.Add(time.Second)
	states := q.states(start)
	if len(states) != 3 || states[0].Account != "all" || states[1].Account != "other" || states[1].Burst != 1 || states[2].Account != "payer" {
		t.Errorf("buckets %+v", states)
	}
	for _, s := range states {
		if (s.NeighbourAsked > 0) != (s.Account == "payer") {
			t.Errorf("neighbour: %+v", s)
		}
	}
}

// TestWindow: so many calls pass, none until the window's end, and then so many.
func TestWindow(t *testing.T) {
	start := time.Now()
	q := newQuotas(Profile{Speed: 10, Quotas: []Quota{{Burst: 3, Window: 60}}}, start)
	passed := make(map[int]int) // by the model's minute
	for i := range 200 {
		at := time.Duration(i) * time.Second // of the model
		left, no := q.take(&Call{Operation: "list"}, start.Add(at/10))
		minute := i / 60
		if no == nil {
			passed[minute]++
			continue
		}
		if end := time.Duration(minute+1) * time.Minute; at+no.Wait != end || left[0].Resets != no.Wait {
			t.Fatalf("at %s: wait %s, the window ends at %s", at, no.Wait, end)
		}
	}
	for minute, n := range passed {
		if n != 3 {
			t.Errorf("%d passed in minute %d", n, minute)
		}
	}
	if len(passed) != 4 {
		t.Errorf("something passed in %d minutes of 4", len(passed))
	}
}

// TestNeighbourOfALayer: a neighbour takes from the buckets of the layer he is
// given, and of all without one.
func TestNeighbourOfALayer(t *testing.T) {
	for _, c := range []struct {
		layer     Patterns
		gate, own bool
	}{
		{nil, true, true},
		{Patterns{"gate"}, true, false},
		{Patterns{""}, false, true},
	} {
		start := time.Now()
		q := newQuotas(Profile{Speed: 1, Seed: 1, Neighbours: []Neighbour{
			{Match: Match{Account: Patterns{"1"}, Service: Patterns{"storage"}}, Layer: c.layer, Rate: 10},
		}, Quotas: []Quota{{Burst: 1e6, Rate: 1e-6, Wide: true, Layer: "gate"}, {Burst: 1e6, Rate: 1e-6, Shared: true}}}, start)
		taken := func(account string) (gate, own bool) {
			for range 2 {
				left, _ := q.take(&Call{Account: account, Service: "storage"}, start)
				gate, own = left[0].Tokens < 1e6-50, left[1].Tokens < 1e6-50
				start = start.Add(time.Minute)
			}
			return gate, own
		}
		if gate, own := taken("1"); gate != c.gate || own != c.own {
			t.Errorf("layer %q: took from the gate %v, from the service's %v", c.layer, gate, own)
		}
		if gate, own := taken("2"); gate || own {
			t.Errorf("layer %q: took from another account's", c.layer)
		}
	}
}
