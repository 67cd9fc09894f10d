package main

import (
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/plan"
)

func planLimitsOf(t *testing.T, c cloudpace.Config) *planLimits {
	t.Helper()
	tables, err := newTables(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return newPlanLimits(tables)
}

// TestPlanCounts: what the tables say that a task asks is what it asks, call for call,
// wherever the demo lets it read everything.
func TestPlanCounts(t *testing.T) {
	o := demonstrate(t, t.Context())
	d := o.document(t)
	run, err := readRun(o.dir, clouds())
	if err != nil {
		t.Fatal(err)
	}
	limits := planLimitsOf(t, cloudpace.DefaultConfig())
	assets := make(map[[4]string]int)
	for _, r := range d.Coverage {
		assets[[4]string{r.Provider, r.Account, r.Region, r.Task}] = r.Assets
	}
	compared, details := 0, 0
	for _, r := range d.Coverage {
		k := run.kinds[r.Task]
		repeated := r.Account == azureDemoThrottled && k.Service == "web" || r.Account == gcpDemoBusy || r.Account == gcpDemoSparse || r.Provider == "azure" && r.Ledger != ""
		if r.Status != inventory.Success || k.Calls.Nothing || repeated {
			continue
		}
		items := r.Assets + r.Elsewhere + r.Edges
		if k.Name == "azure_virtual_networks" {
			continue // subnets come with them, so that pages are of fewer things
		}
		l := limits.listing(r.Provider, k, items)
		if l.Under != nil {
			l.Under.Items = assets[[4]string{r.Provider, r.Account, r.Region, k.Calls.Of}]
		}
		got, err := plan.Run(t.Context(), []plan.Task{{Provider: r.Provider, Account: r.Account, Region: r.Region, Service: k.Service, Work: l}}, plan.Options{Latency: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if got.Requests != r.Calls {
			t.Errorf("%s in %s of %s with %d items: planned are %d calls, made were %d (%d pages)", r.Task, r.Region, r.Account, items, got.Requests, r.Calls, r.Pages)
		}
		compared++
		if r.Calls > r.Pages {
			details++
		}
	}
	t.Logf("compared %d records, %d with details", compared, details)
	if compared < 700 || details < 20 {
		t.Errorf("%d records were compared, %d with details", compared, details)
	}
	// From the run itself the number is right whatever went wrong in it.
	tasks, _, unknown := run.tasks(limits, d.Summary.Provider, func(inventory.Kind) bool { return true })
	again, err := plan.Run(t.Context(), tasks, plan.Options{Latency: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, r := range d.Coverage {
		if !run.kinds[r.Task].Calls.Nothing {
			calls += r.Calls
		}
	}
	if unknown != 0 || again.Requests < calls-calls/1000 || again.Requests > calls+calls/1000 {
		t.Errorf("planned again are %d calls, made were %d", again.Requests, calls)
	}
}
