package main

import (
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	armcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/azure"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// The demo's tenant has 20,000 resources, most of which are there for a reason. Those
// are how many there are of them in each subscription and region, or where they
// belong to no region in each subscription.
const (
	azureDemoTotal         = 20_000
	azureDemoSubscriptions = 5
	// As many storage accounts as a subscription may have in a region: a hundred on
	// each page make lists of 30 pages, of which the provider allows 100 in 5 minutes.
	azureDemoStorage = 500
	// Each takes a call of its own: of these the subscriptions' own quota allows 250
	// at once and 25 a second.
	azureDemoServers = 40
	azureDemoZones   = 10
	azureDemoPrivate = 20
	// Three pages in each subscription, so that a list can end after two.
	azureDemoSnapshots = 40
)

// What goes wrong in the demo's Azure, and in which subscription. A test holds the
// coverage against it.
const (
	azureDemoThrottled = "00000000-0000-0000-0000-000000000001" // App Service throttles, and does not say for how long
	azureDemoBusy      = "00000000-0000-0000-0000-000000000002" // a neighbour uses most of what Resource Manager grants
	azureDemoDenied    = "00000000-0000-0000-0000-000000000003" // its key vaults may not be read
	azureDemoDown      = "00000000-0000-0000-0000-000000000004" // Cosmos DB is down
	azureDemoCut       = "00000000-0000-0000-0000-000000000005" // the list of snapshots leads back to itself
)

// azureDemoRetries keeps the wait for a service that is down short: the pauses
// between retries are not a quota, and do not get shorter with the quotas.
const azureDemoRetries = 4

var azureDemoRegions = []string{"eastus", "westus2", "northeurope", "westeurope", "southeastasia", "australiaeast"}

var azureDemo = demonstration{
	front:   func() sim.Front { return simazure.New() },
	profile: azureProfile,
	what: func(e *sim.Estate) string {
		return fmt.Sprintf("Azure tenant of %s (%s with their parts) in %s and %s", count(e.Total(), "resource"), count(azureDemoAssets(e), "asset"),
			count(len(e.Accounts()), "subscription"), count(len(e.Regions()), "region"))
	},
	patience: func(c *cloudpace.Config) {
		p := c.Providers[azure.Provider]
		p.MaxRetries = min(p.MaxRetries, azureDemoRetries)
		c.Providers[azure.Provider] = p
	},
	sources: func(d *demo, g *cloudpace.Governor) []source { return []source{azureSource(d.azureTenant(g))} },
}

// azureDemoAssets counts all that there is to find: resource groups, and parts of
// things such as subnets, databases and record sets, come on top of the resources.
func azureDemoAssets(e *sim.Estate) (n int) {
	for _, subscription := range e.Accounts() {
		for range simazure.Assets(e, subscription) {
			n++
		}
	}
	return n
}

// azureProfile is the simulated tenant.
func azureProfile(speed float64) sim.Profile {
	front := simazure.New()
	p := sim.Default(front)
	p.Name, p.Seed, p.Speed = "demo", 7, speed
	perRegion := map[string]int{
		"Microsoft.Storage/storageAccounts": azureDemoStorage,
		"Microsoft.Sql/servers":             azureDemoServers,
		"Microsoft.Compute/snapshots":       azureDemoSnapshots,
	}
	types := map[string]int{"Microsoft.Network/dnsZones": azureDemoZones, "Microsoft.Network/privateDnsZones": azureDemoPrivate}
	rest := azureDemoTotal - azureDemoSubscriptions*(azureDemoZones+azureDemoPrivate)
	for name, n := range perRegion {
		types[name] = n
		rest -= azureDemoSubscriptions * len(azureDemoRegions) * n
	}
	p.Estate = sim.EstateConfig{Accounts: front.ExampleAccounts(azureDemoSubscriptions), Regions: azureDemoRegions, Assets: rest, Types: types}
	const most = 20 // of the 25 reads a second that Resource Manager grants in a subscription
	p.Neighbours = []sim.Neighbour{{
		Match: sim.Match{Account: sim.Patterns{azureDemoBusy}, Class: sim.Patterns{"read"}}, Layer: sim.Patterns{"Subscription"}, Rate: most,
	}}
	p.Faults = []sim.Fault{
		// Nothing in the same process is as far away as a cloud is.
		{Kind: sim.Latency, Seconds: 0.02 * speed},
		{Kind: sim.Error, Code: "ResourceRequestsThrottled", First: 2, Match: sim.Match{Account: sim.Patterns{azureDemoThrottled}, Service: sim.Patterns{"web"}}},
		{Kind: sim.Denied, Match: sim.Match{Account: sim.Patterns{azureDemoDenied}, Service: sim.Patterns{"keyvault"}}},
		{Kind: sim.HTTP500, Match: sim.Match{Account: sim.Patterns{azureDemoDown}, Service: sim.Patterns{"documentdb"}}},
		{Kind: sim.RepeatToken, Match: sim.Match{Account: sim.Patterns{azureDemoCut}, Operation: sim.Patterns{"snapshots.list"}, Page: 2}},
	}
	return p
}

// azureTenant is what opens the tenant. The user's own logins are not looked at.
func (d *demo) azureTenant(governor *cloudpace.Governor) azure.Options {
	return azure.Options{Governor: governor, Credential: noLogin{}, ClientOptions: &arm.ClientOptions{ClientOptions: policy.ClientOptions{
		Cloud: armcloud.Configuration{Services: map[armcloud.ServiceName]armcloud.ServiceConfiguration{
			armcloud.ResourceManager: {Endpoint: "http://simulated", Audience: simazure.Audience},
		}},
		InsecureAllowCredentialWithHTTP: true,
		Transport: &http.Client{
			Transport:     whole{d.transport},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}}}
}
