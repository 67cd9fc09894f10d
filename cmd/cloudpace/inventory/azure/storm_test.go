package azure

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v8"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/v3"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
	"github.com/cloudpace/cloudpace/paceazure"
)

// large is a tenant of five subscriptions under the documented quotas.
func large(assets int) sim.Profile {
	front := simazure.New()
	p := sim.Default(front)
	p.Estate = sim.EstateConfig{Accounts: front.ExampleAccounts(5), Regions: front.Regions(), Assets: assets}
	return p
}

// paced is the governor as it comes.
func paced(t testing.TB) *cloudpace.Governor {
	t.Helper()
	return must(cloudpace.New(cloudpace.DefaultConfig()))(t)
}

// calm holds a run against what a storm may cost: under one request in a hundred
// throttled, none given up, no slot left in use. How long it took is logged: a
// machine that is busy elsewhere is no failure.
func calm(t testing.TB, x *tenant, g *cloudpace.Governor, took time.Duration) {
	t.Helper()
	r := x.Report()
	asked, throttled := r.Totals.Asked, r.Totals.Throttled
	if asked == 0 || float64(throttled) >= 0.01*float64(asked) {
		t.Errorf("%d of %d requests were throttled", throttled, asked)
	}
	sum := g.Summary(nil)
	if sum.Totals.GaveUp+sum.Totals.Rejected > 0 {
		t.Errorf("%+v", sum.Totals)
	}
	for _, b := range g.Snapshot().Bulkheads {
		if b.InUse != 0 || b.Waiting != 0 {
			t.Errorf("%+v", b)
		}
	}
	// The fullest subscription decides: Resource Manager gives it 250 reads and 25 a
	// second, and the governor takes 200 and 20 of them.
	most := 0
	perAccount := make(map[string]int)
	for _, s := range r.Scopes {
		perAccount[s.Account] += s.Asked
		if s.Account != "*" {
			most = max(most, perAccount[s.Account])
		}
	}
	ideal := func(burst, rate float64) float64 { return math.Max(0, float64(most)-burst) / rate }
	t.Logf("%d requests (%d in the fullest subscription), %d throttled, in %.2f s; the quota alone takes %.2f s, the governor's share of it %.2f s",
		asked, most, throttled, took.Seconds(), ideal(250, 25), ideal(200, 20))
}

// TestStorm: five subscriptions, sixteen callers each, real clients over a socket.
// Every list is whole every time.
func TestStorm(t *testing.T) { storm(t, 8) }

// BenchmarkStorm is a longer one, and prints its time over what the quota takes.
func BenchmarkStorm(b *testing.B) {
	for b.Loop() {
		storm(b, 24)
	}
}

func storm(t testing.TB, rounds int) {
	t.Helper()
	p := large(300) // few things, so that it is quotas that are waited for; two pages of some
	p.Estate.Types = map[string]int{"Microsoft.Compute/virtualMachines": 26, "Microsoft.Network/networkInterfaces": 26}
	x := serve(t, p)
	g := paced(t)
	a := x.open(t, func(o *Options) { o.Governor = g })
	lists := []struct {
		from source
		of   func(kind string) bool
	}{
		{all(armcompute.NewVirtualMachinesClient, (*armcompute.VirtualMachinesClient).NewListAllPager), func(k string) bool { return k == "Microsoft.Compute/virtualMachines" }},
		{all(armnetwork.NewInterfacesClient, (*armnetwork.InterfacesClient).NewListAllPager), func(k string) bool { return k == "Microsoft.Network/networkInterfaces" }},
		{all(armresources.NewClient, (*armresources.Client).NewListPager, &armresources.ClientListOptions{Top: to.Ptr[int32](100)}), tracked},
		{resourceGroups, func(k string) bool { return k == groupType }},
	}
	want := make(map[string]int) // by subscription and number of the list
	for _, s := range x.Estate().Accounts() {
		for kind := range simazure.Assets(x.Estate(), s) {
			for i, l := range lists {
				if l.of(kind) {
					want[fmt.Sprint(s, i)]++
				}
			}
		}
	}
	graph := must(paceazure.NewGraph(a.credential, a.options, paceazure.WithGovernor(g)))(t)
	begun := time.Now()
	var wg sync.WaitGroup
	for _, sub := range a.Subscriptions() {
		for caller := range 16 {
			wg.Go(func() {
				for round := range rounds {
					i := (caller + round) % len(lists)
					if got, err := count(t.Context(), a, sub.ID, lists[i].from); err != nil || got != want[fmt.Sprint(sub.ID, i)] {
						t.Errorf("%s, list %d: %d, there are %d: %v", sub.ID, i, got, want[fmt.Sprint(sub.ID, i)], err)
					}
				}
				if caller > 0 {
					return
				}
				rows := 0
				for _, err := range graph.Query(t.Context(), armresourcegraph.QueryRequest{Query: to.Ptr(resourcesQuery), Subscriptions: []*string{to.Ptr(sub.ID)}}) {
					if err != nil {
						t.Errorf("%s: %v", sub.ID, err)
					}
					rows++
				}
				if rows != want[fmt.Sprint(sub.ID, 2)] {
					t.Errorf("%s: %d rows, there are %d", sub.ID, rows, want[fmt.Sprint(sub.ID, 2)])
				}
			})
		}
	}
	wg.Wait()
	calm(t, x, g, time.Since(begun))
}

// count reads a list to its end.
func count(ctx context.Context, a *Tenant, subscription string, from source) (n int, err error) {
	page := (&site{tenant: a, subscription: subscription}).page(from)
	for token := ""; ; {
		items, next, err := page(ctx, token)
		if err != nil {
			return n, err
		}
		if n += len(items); next == "" {
			return n, nil
		}
		token = next
	}
}

// TestMapUnderQuotas: all tasks over five subscriptions with 20,000 resources, as a run
// carries them out, under the documented quotas.
func TestMapUnderQuotas(t *testing.T) {
	x := serve(t, large(20_000))
	g := paced(t)
	a := x.open(t, func(o *Options) { o.Governor = g })
	dir := t.TempDir()
	begun := time.Now()
	records := must(inventory.Run(t.Context(), a.Tasks(func(inventory.Kind) bool { return true }), inventory.Options{Sink: inventory.NewSink(dir), Governor: g}))(t)
	took := time.Since(begun)
	for _, r := range records {
		if r.Status != inventory.Success || strings.Contains(r.Error, "throttled") {
			t.Errorf("%+v", r)
		}
	}
	same(t, assets(t, dir), estate(x.Estate(), everything))
	calm(t, x, g, took)
}
