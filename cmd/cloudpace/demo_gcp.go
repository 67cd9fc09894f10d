package main

import (
	"fmt"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/gcp"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simgcp "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
)

// The demo's organization has 60,000 assets and the projects that hold them.
const (
	gcpDemoTotal    = 60_000
	gcpDemoProjects = 40
	// Whose quota is used, for whatever is read: the first of them.
	gcpDemoQuota = "example-1"
)

// What happens in the demo's Google Cloud. All of it heals, so nothing is missing.
const (
	// A second instance lists assets on the same quota project: of 100 pages a minute
	// it takes 40.
	gcpDemoNeighbour = 40.0 / 60
	gcpDemoBusy      = "projects/example-7"  // its first request meets a service that is away
	gcpDemoSparse    = "projects/example-12" // its listings begin with a page that has nothing on it
)

var gcpDemoRegions = []string{"us-central1", "us-east1", "europe-west1", "europe-west4", "asia-northeast1"}

var gcpDemo = demonstration{
	front: func() sim.Front { return simgcp.New() },
	// A quota of 100 pages a minute is the slowest of all.
	haste:   2,
	profile: gcpProfile,
	what: func(e *sim.Estate) string {
		return fmt.Sprintf("Google Cloud organization of %s in %s and %s, where a second instance uses the same quota",
			count(gcpDemoAssets(e), "asset"), count(len(e.Accounts()), "project"), count(len(e.Regions()), "region"))
	},
	patience: func(*cloudpace.Config) {},
	sources:  func(d *demo, g *cloudpace.Governor) []source { return []source{gcpSource(d.gcpEstate(g))} },
}

// gcpDemoAssets counts all that there is to find: the projects are assets too.
func gcpDemoAssets(e *sim.Estate) (n int) {
	for _, project := range e.Accounts() {
		for range simgcp.Assets(e, "projects/"+project) {
			n++
		}
	}
	return n
}

// gcpProfile is the simulated organization.
func gcpProfile(speed float64) sim.Profile {
	front := simgcp.New()
	p := sim.Default(front)
	p.Name, p.Seed, p.Speed = "demo", 7, speed
	p.Estate = sim.EstateConfig{Accounts: front.ExampleAccounts(gcpDemoProjects), Regions: gcpDemoRegions, Assets: gcpDemoTotal}
	p.Neighbours = []sim.Neighbour{{
		Match: sim.Match{Account: sim.Patterns{"projects/" + gcpDemoQuota}, Operation: sim.Patterns{"ListAssets"}}, Layer: sim.Patterns{""}, Rate: gcpDemoNeighbour,
	}}
	p.Faults = []sim.Fault{
		// Nothing in the same process is as far away as a cloud is.
		{Kind: sim.Latency, Seconds: 0.02 * speed},
		{Kind: sim.HTTP503, First: 1, Match: sim.Match{Account: sim.Patterns{gcpDemoBusy}}},
		{Kind: sim.EmptyPage, Match: sim.Match{Account: sim.Patterns{gcpDemoSparse}, Page: 1}},
	}
	return p
}

// gcpEstate is what opens it. The user's own credentials are not looked at: what is
// asked without TLS is asked without any.
func (d *demo) gcpEstate(governor *cloudpace.Governor) gcp.Options {
	return gcp.Options{Governor: governor, Endpoint: "http://localhost", Dial: d.transport.DialContext, QuotaProject: gcpDemoQuota}
}
