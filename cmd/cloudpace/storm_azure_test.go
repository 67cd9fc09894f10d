package main

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	armcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v8"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/v3"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
	"github.com/cloudpace/cloudpace/paceazure"
)

// The storm: so many callers in each of five subscriptions list again and again, with
// the documented quotas and the built-in limits both so many times as fast.
const (
	stormSpeed   = 4.0
	stormCallers = 16
	stormRounds  = 10
)

// TestAzureStorm: the official clients over a real socket, five subscriptions with
// sixteen callers each: under 1 % of the requests are throttled, no page is lost, and
// no slot is kept. How long it took against what the quotas would allow is logged:
//
//	go test -run AzureStorm -v ./cmd/cloudpace
func TestAzureStorm(t *testing.T) {
	front := simazure.New()
	p := sim.Default(front)
	p.Speed = stormSpeed
	p.Estate = sim.EstateConfig{Accounts: front.ExampleAccounts(5), Regions: []string{"eastus"}, Types: map[string]int{
		"Microsoft.Compute/disks": 30, "Microsoft.Network/networkInterfaces": 30,
	}}
	server, url := serve(t, front, p)
	settings := cloudpace.DefaultConfig()
	settings.Providers["azure"] = scaled(settings.Providers["azure"], stormSpeed)
	g, err := cloudpace.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 128}
	defer transport.CloseIdleConnections()
	options := paceazure.ClientOptions(&arm.ClientOptions{ClientOptions: policy.ClientOptions{
		Cloud: armcloud.Configuration{Services: map[armcloud.ServiceName]armcloud.ServiceConfiguration{
			armcloud.ResourceManager: {Endpoint: url, Audience: simazure.Audience},
		}},
		InsecureAllowCredentialWithHTTP: true,
		Transport:                       &http.Client{Transport: transport},
	}}, paceazure.WithGovernor(g))

	start := time.Now()
	var wg sync.WaitGroup
	for _, subscription := range server.Estate().Accounts() {
		for caller := range stormCallers {
			wg.Go(func() { besiege(t, subscription, caller, options) })
		}
	}
	wg.Wait()
	took := time.Since(start)

	summary, report := g.Summary(nil), server.Report()
	totals := report.Totals
	if share := float64(totals.Throttled) / float64(totals.Asked); share >= 0.01 || summary.Totals.GaveUp+summary.Totals.Rejected > 0 {
		t.Errorf("%d of %d throttled (%.2f %%), %d given up", totals.Throttled, totals.Asked, 100*share, summary.Totals.GaveUp)
	}
	for _, b := range g.Snapshot().Bulkheads {
		if b.InUse != 0 || b.Waiting != 0 {
			t.Errorf("%s/%s: %d slots are in use, %d wait", b.Provider, b.Account, b.InUse, b.Waiting)
		}
	}
	each := float64(summary.Totals.Calls) / 5
	own, quota := (each-200)/(20*stormSpeed), (each-250)/(25*stormSpeed)
	t.Logf("%d requests in %.2f s at %g times the speed, %d throttled; %.2f times what the governor's own 200 and 20 a second take, %.2f times the quota's 250 and 25",
		totals.Asked, took.Seconds(), stormSpeed, totals.Throttled, took.Seconds()/own, took.Seconds()/quota)
}

// besiege lists what a subscription has, round after round, and counts what comes.
func besiege(t *testing.T, subscription string, caller int, options *arm.ClientOptions) {
	disks, err1 := armcompute.NewDisksClient(subscription, noLogin{}, options)
	cards, err2 := armnetwork.NewInterfacesClient(subscription, noLogin{}, options)
	all, err3 := armresources.NewClient(subscription, noLogin{}, options)
	graph, err4 := armresourcegraph.NewClient(noLogin{}, options)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Error(err)
			return
		}
	}
	ctx := t.Context()
	for range stormRounds {
		expect(t, "disks", 30, func() (int, error) {
			return items(ctx, disks.NewListPager(nil), func(r armcompute.DisksClientListResponse) int { return len(r.Value) })
		})
		expect(t, "interfaces", 30, func() (int, error) {
			return items(ctx, cards.NewListAllPager(nil), func(r armnetwork.InterfacesClientListAllResponse) int { return len(r.Value) })
		})
		expect(t, "resources", 60, func() (int, error) {
			return items(ctx, all.NewListPager(&armresources.ClientListOptions{Top: to.Ptr[int32](20)}), func(r armresources.ClientListResponse) int { return len(r.Value) })
		})
	}
	if caller > 0 { // queries are few: all subscriptions share the 15 in 5 seconds
		return
	}
	expect(t, "rows", 60, func() (int, error) {
		r, err := graph.Resources(ctx, armresourcegraph.QueryRequest{
			Query: to.Ptr("Resources | project id"), Subscriptions: []*string{to.Ptr(subscription)},
		}, nil)
		if err != nil {
			return 0, err
		}
		return int(*r.Count), nil
	})
}

// items counts what is on all pages.
func items[R any](ctx context.Context, p *runtime.Pager[R], on func(R) int) (n int, err error) {
	for p.More() {
		r, err := p.NextPage(ctx)
		if err != nil {
			return n, err
		}
		n += on(r)
	}
	return n, nil
}

func expect(t *testing.T, what string, want int, list func() (int, error)) {
	switch n, err := list(); {
	case err != nil:
		t.Errorf("%s: %v", what, err)
	case n != want:
		t.Errorf("%d %s, want %d", n, what, want)
	}
}
