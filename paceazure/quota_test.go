package paceazure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
)

const networkPath = "/subscriptions/" + subscription + "/providers/Microsoft.Network/virtualNetworks"

// after gives when a call to path goes that follows a success with these headers.
func after(t *testing.T, first, path string, change func(*cloudpace.Provider), pairs ...string) (at time.Duration) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		f := script(say(200, `{"count":0,"data":[],"value":[]}`, pairs...), ok())
		g := governor(t, change)
		c := newClient(t, f.inProcess(), g)
		for _, path := range []string{first, path} {
			if _, err := c.send(t.Context(), map[bool]string{true: "POST", false: "GET"}[path == graphPath], path, ""); err != nil {
				t.Fatal(err)
			}
		}
		at = f.at()[1]
		if n := g.Summary(nil).Totals; n.Throttled != 0 {
			t.Errorf("a success counts as throttled: %+v", n)
		}
		if rps := leaf(t, g, g.Summary(nil).Scopes[0].Scope).RPS; rps < 3 {
			t.Errorf("slowed to %v rps", rps)
		}
	})
	return at
}

func TestS11_5NoUserQuotaPausesResourceGraph(t *testing.T) {
	const remaining, reset = "x-ms-user-quota-remaining", "x-ms-user-quota-resets-after"
	for _, tc := range []struct {
		pairs []string
		want  time.Duration
	}{
		{[]string{remaining, "0", reset, "00:00:04"}, 4 * time.Second},
		{[]string{remaining, "0", reset, "00:00:04.5"}, 4500 * time.Millisecond},
		{[]string{remaining, "0", reset, "1.00:00:00"}, 300 * time.Second},
		{[]string{remaining, "3", reset, "00:00:04"}, 0},
		{[]string{reset, "00:00:04"}, 0},
		{[]string{remaining, "0"}, 0},
		{[]string{remaining, "none", reset, "00:00:04"}, 0},
		{[]string{remaining, "0", reset, "soon"}, 0},
	} {
		if at := after(t, graphPath, graphPath, nil, tc.pairs...); at != tc.want {
			t.Errorf("%v: the next query goes at %v, want %v", tc.pairs, at, tc.want)
		}
		if at := after(t, graphPath, networkPath, nil, tc.pairs...); at != 0 {
			t.Errorf("%v: another service goes at %v", tc.pairs, at)
		}
	}
}

func TestS11_5FewReadsPauseTheSubscription(t *testing.T) {
	for _, name := range []string{"x-ms-ratelimit-remaining-subscription-reads", "x-ms-ratelimit-remaining-subscription-global-reads"} {
		for value, want := range map[string]time.Duration{
			"24": time.Second, "0": time.Second, " 7 ": time.Second,
			"25": 0, "11999": 0, "99999999999999999999999": 0, "": 0, "few": 0, "-1": 0, "1.5": 0,
		} {
			if at := after(t, computePath, networkPath, nil, name, value); at != want {
				t.Errorf("%s: %q: another namespace goes at %v, want %v", name, value, at, want)
			}
			off := func(p *cloudpace.Provider) { p.AccountMaxRPS = 0 }
			if at := after(t, computePath, networkPath, off, name, value); at != 0 {
				t.Errorf("%s: %q: without an account bucket another namespace goes at %v", name, value, at)
			}
			if at := after(t, computePath, computePath, off, name, value); at != want {
				t.Errorf("%s: %q: without an account bucket the namespace goes at %v, want %v", name, value, at, want)
			}
		}
		other := strings.Replace(networkPath, subscription, "00000000-0000-0000-0000-000000000002", 1)
		if at := after(t, computePath, other, nil, name, "0"); at != 0 {
			t.Errorf("another subscription goes at %v", at)
		}
		// A call of the tenant's is none of a subscription's reads.
		if at := after(t, "/subscriptions", "/subscriptions", nil, name, "0"); at != 0 {
			t.Errorf("%s: a call of the tenant goes at %v", name, at)
		}
	}
}

func TestS11_5PolicyNearItsEndPausesTheNamespace(t *testing.T) {
	const name = "x-ms-ratelimit-remaining-resource"
	for _, tc := range []struct {
		lines []string
		want  time.Duration
	}{
		{[]string{"Microsoft.Compute/HighCostGet3Min;0"}, 5 * time.Second},
		{[]string{"Microsoft.Compute/HighCostGet3Min;139,Microsoft.Compute/HighCostGet30Min;3"}, 5 * time.Second},
		{[]string{"Microsoft.Compute/HighCostGet3Min;139", "microsoft.compute/HighCostGet30Min; 9"}, 5 * time.Second},
		{[]string{"Microsoft.Compute/HighCostGet3Min;139", "Microsoft.Compute/HighCostGet30Min;10"}, 0},
		{[]string{"Microsoft.Storage/Lists;0"}, 0},
		{[]string{"Microsoft.Compute/HighCostGet3Min"}, 0},
		{[]string{"Microsoft.Compute;0", ";0", "garbage", ",,,", "Microsoft.Compute/A;x"}, 0},
	} {
		var pairs []string
		for _, line := range tc.lines {
			pairs = append(pairs, name, line)
		}
		if at := after(t, computePath, computePath, nil, pairs...); at != tc.want {
			t.Errorf("%q: the namespace goes at %v, want %v", tc.lines, at, tc.want)
		}
		if at := after(t, computePath, networkPath, nil, pairs...); at != 0 {
			t.Errorf("%q: another namespace goes at %v", tc.lines, at)
		}
	}
}
