package azure_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
	"github.com/cloudpace/cloudpace/verdict"
)

const (
	inFirst  = "/subscriptions/" + first
	storage  = inFirst + "/providers/Microsoft.Storage/storageAccounts"
	machines = inFirst + "/providers/Microsoft.Compute/virtualMachines"
	networks = inFirst + "/providers/Microsoft.Network/virtualNetworks"
)

// documented is a profile with the documented quotas, and little in it.
func documented(front *azure.Front) sim.Profile {
	p := small(front)
	p.Quotas = front.Quotas()
	p.Estate.Assets = 40
	return p
}

// pace asks for a path so often a second for so long, and counts what passes; last
// is the last refusal.
func (x *tenant) pace(path string, rps int, d time.Duration) (passed int, last answer) {
	x.t.Helper()
	gap := time.Second / time.Duration(rps)
	for range int(d / gap) {
		a := x.get(path)
		switch a.status {
		case http.StatusOK:
			passed++
		case http.StatusTooManyRequests:
			last = a
		default:
			x.t.Fatalf("%s: %d %s", path, a.status, a.text)
		}
		time.Sleep(gap)
	}
	return passed, last
}

// TestQuotas: exactly what is documented passes; the refusals are in each
// provider's form, are throttles to cloudpace, and give the hint that is right.
func TestQuotas(t *testing.T) {
	for _, c := range []struct {
		name, path string
		rps        int
		d          time.Duration
		want, give int // so many may pass more or fewer
		code       string
		says       string
		hint       int // in seconds; 0 is none
	}{
		{"subscription reads", inFirst + "/resourcegroups", 50, 20 * time.Second, 250 + 25*20, 1, "SubscriptionRequestsThrottled", "GET/SUBSCRIPTIONS/RESOURCEGROUPS' exceeded", 1},
		{"tenant reads", "/tenants", 50, 20 * time.Second, 250 + 25*20, 1, "TenantRequestsThrottled", "Please try again after '1' seconds", 1},
		{"storage lists", storage, 2, 290 * time.Second, 100, 0, "TooManyRequests", "List_ObservationWindow_00:05:00", 11},
		{"storage lists in the next window", storage, 2, 400 * time.Second, 200, 0, "TooManyRequests", "srpthrottlinglimits", 201},
		{"machines", machines, 20, 100 * time.Second, 900 + 5*100, 1, "OperationNotAllowed", "HighCostGet3Min", 1},
		{"private DNS", inFirst + "/providers/Microsoft.Network/privateDnsZones", 5, 200 * time.Second, 500, 0, "TooManyRequests", "", 0},
		{"roles", inFirst + "/providers/Microsoft.Authorization/roleAssignments", 5, 50 * time.Second, 120, 0, "ResourceRequestsThrottled", "Microsoft.Authorization/roleAssignments/read' exceeded the limit of '120' for time interval '00:01:00'", 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, stop := start(t, azure.New(), documented(azure.New()))
				defer stop()
				passed, no := x.pace(c.path, c.rps, c.d)
				if passed < c.want-c.give || passed > c.want+c.give {
					t.Errorf("%d passed, want %d", passed, c.want)
				}
				if no.code() != c.code || !strings.Contains(no.text, c.says) {
					t.Errorf("refused with %s", no.text)
				}
				if k := no.kind(); k != verdict.Throttled {
					t.Errorf("%s is %s to cloudpace", no.text, k)
				}
				want := ""
				if c.hint > 0 {
					want = strconv.Itoa(c.hint)
				}
				if hint := no.header.Get("Retry-After"); hint != want {
					t.Errorf("Retry-After %q, want %q", hint, want)
				}
			})
		})
	}
}

// TestGraphQuota: fifteen in five seconds, with the headers that say so, and
// whatever subscriptions they are about.
func TestGraphQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, stop := start(t, azure.New(), documented(azure.New()))
		defer stop()
		for i := range 15 {
			a := x.query("ResourceContainers", "")
			if a.status != http.StatusOK || a.header.Get("x-ms-user-quota-remaining") != strconv.Itoa(14-i) || a.header.Get("x-ms-user-quota-resets-after") != "00:00:05" {
				t.Fatalf("query %d: %d, %v", i, a.status, a.header)
			}
		}
		time.Sleep(1500 * time.Millisecond)
		no := x.query("ResourceContainers", "")
		if no.code() != "RateLimiting" || no.kind() != verdict.Throttled || no.header.Get("Retry-After") != "" || no.header.Get("x-ms-user-quota-remaining") != "0" || no.header.Get("x-ms-user-quota-resets-after") != "00:00:04" {
			t.Errorf("%d %s %v", no.status, no.text, no.header)
		}
		time.Sleep(3500 * time.Millisecond)
		if a := x.query("ResourceContainers", ""); a.status != http.StatusOK {
			t.Errorf("%d after the window", a.status)
		}
		if a := x.get("/tenants"); a.header.Get("x-ms-ratelimit-remaining-tenant-reads") != "249" {
			t.Errorf("queries took from the tenant's reads: %v", a.header)
		}
	})
}

// TestLeft: answers say what is left, each of its own quotas.
func TestLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, stop := start(t, azure.New(), documented(azure.New()))
		defer stop()
		for _, c := range []struct {
			method, path string
			header, want string
		}{
			{"GET", machines, "x-ms-ratelimit-remaining-subscription-reads", "249"},
			{"GET", machines, "x-ms-ratelimit-remaining-subscription-global-reads", "3748"},
			{"GET", machines, "x-ms-ratelimit-remaining-resource", "Microsoft.Compute/HighCostGet3Min;897"},
			{"GET", networks, "x-ms-ratelimit-remaining-resource", ""},
			{"GET", networks, "x-ms-ratelimit-remaining-subscription-reads", "245"},
			{"DELETE", inFirst + "/resourceGroups/rg-network-00", "x-ms-ratelimit-remaining-subscription-deletes", "199"},
			{"PUT", inFirst + "/resourceGroups/rg-network-00", "x-ms-ratelimit-remaining-subscription-writes", "199"},
			{"GET", "/subscriptions", "x-ms-ratelimit-remaining-tenant-reads", "249"},
			{"GET", "/subscriptions", "x-ms-ratelimit-remaining-subscription-reads", ""},
			{"GET", "/subscriptions/" + second + "/resourcegroups", "x-ms-ratelimit-remaining-subscription-reads", "249"},
		} {
			if a := x.ask(c.method, c.path, ""); a.header.Get(c.header) != c.want {
				t.Errorf("%s %s: %s is %q, want %q", c.method, c.path, c.header, a.header.Get(c.header), c.want)
			}
		}
	})
}

// TestNeighbour: somebody who shares a subscription's quota takes his part of it,
// and nothing of another subscription's.
func TestNeighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := documented(azure.New())
		p.Neighbours = []sim.Neighbour{{Match: sim.Match{Account: sim.Patterns{first}, Class: sim.Patterns{"read"}}, Layer: sim.Patterns{"Subscription"}, Rate: 15}}
		x, stop := start(t, azure.New(), p)
		defer stop()
		// Together they ask for 35 a second and get 25 and the burst.
		passed, _ := x.pace(inFirst+"/resourcegroups", 20, 100*time.Second)
		if alone, _ := x.pace("/subscriptions/"+second+"/resourcegroups", 20, 100*time.Second); alone != 2000 {
			t.Errorf("%d of 2000 passed in the other subscription", alone)
		}
		for _, b := range x.server.Report().Buckets {
			if b.Account == first && b.Layer == "Subscription" {
				// What he took in the second hundred seconds, when nobody else asked, is his too.
				if his := b.NeighbourAsked - b.NeighbourRefused; passed > 1900 || passed+his < 2750+1300 || passed+his > 5250 {
					t.Errorf("%d passed, and %d of his", passed, his)
				}
			}
			if own := b.Account == first && b.Layer == "Subscription"; (b.NeighbourAsked > 0) != own {
				t.Errorf("the neighbour asked %d times of %s/%s %s", b.NeighbourAsked, b.Account, b.Service, b.Layer)
			}
		}
	})
}

// TestSpeed: hints are in the clock's time.
func TestSpeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := documented(azure.New())
		p.Speed = 10
		x, stop := start(t, azure.New(), p)
		defer stop()
		for range 100 {
			x.get(storage)
		}
		if a := x.get(storage); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "30" {
			t.Errorf("%d, Retry-After %q", a.status, a.header.Get("Retry-After"))
		}
		if a := x.query("ResourceContainers", ""); a.header.Get("x-ms-user-quota-resets-after") != "00:00:01" {
			t.Errorf("the window of five seconds ends in %s", a.header.Get("x-ms-user-quota-resets-after"))
		}
		time.Sleep(30 * time.Second)
		if a := x.get(storage); a.status != http.StatusOK {
			t.Errorf("%d after the window", a.status)
		}
	})
}

// TestOwnHint: a sim file's quota replaces the provider's own, with its hint.
func TestOwnHint(t *testing.T) {
	front := azure.New()
	p, err := sim.Parse(front, []byte("profile: azure\nestate: {accounts: 1, assets: 40}\nquotas: [{service: network, burst: 1, window: 300, retry_after: 372}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	x, stop := start(t, front, p)
	defer stop()
	x.get(networks)
	if a := x.get(networks); a.code() != "TooManyRequests" || a.header.Get("Retry-After") != "372" || a.header.Get("x-ms-ratelimit-remaining-subscription-reads") != "248" {
		t.Errorf("%s %v", a.text, a.header)
	}
}
