package main

import (
	"cmp"
	"slices"
	"strings"
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

// TestPlanWaits: what a plan says that calls wait for most is what they waited for most.
func TestPlanWaits(t *testing.T) {
	// So slowly that it is the quotas that are waited for, and not a busy machine.
	o := demonstrateAt(t, t.Context(), 8, "-p", "aws,gcp", "--only", "compute,resources")
	run, err := readRun(o.dir, clouds())
	if err != nil {
		t.Fatal(err)
	}
	spent := make(map[string]map[string]float64) // seconds by provider and service
	for _, s := range run.Throttling.Scopes {
		at, err := cloudpace.ParseScope(s.Scope)
		if err != nil {
			t.Fatal(err)
		}
		if spent[at.Provider] == nil {
			spent[at.Provider] = make(map[string]float64)
		}
		spent[at.Provider][at.Service] += s.WaitSeconds
	}
	limits := planLimitsOf(t, demoSettings(cloudpace.DefaultConfig(), clouds()))
	for provider, want := range map[string]string{"aws": "ec2.DescribeImageAttribute", "gcp": "cloudasset.ListAssets"} {
		tasks, _, _ := run.tasks(limits, []string{provider}, func(inventory.Kind) bool { return true })
		d, err := reckon(t.Context(), tasks, limits, plan.Options{Workers: inventory.DefaultWorkers, Latency: 10 * time.Millisecond}, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		if most := slices.MaxFunc(d.Limits, func(a, b planLimit) int { return cmp.Compare(a.AllSeconds, b.AllSeconds) }); most.Name != provider+" "+want {
			t.Errorf("%s: planned calls wait for %s most", provider, most.Name)
		}
		service, _, _ := strings.Cut(want, ".")
		slow := run.Summary.Seconds > 1.5*d.Seconds // then it is the machine that calls wait for
		if slow {
			t.Logf("%s: the map took %.1f s, the machine had other things to do than the %.1f s of the plan", provider, run.Summary.Seconds, d.Seconds)
		}
		for other, seconds := range spent[provider] {
			if !slow && other != service && seconds >= spent[provider][service] {
				t.Errorf("%s: calls waited %g s for %s, and %g s for %s", provider, seconds, other, spent[provider][service], service)
			}
		}
		if d.Binds != "ratelimit."+provider+".services."+want+".max_rps" {
			t.Errorf("%s: what binds is %q", provider, d.Binds)
		}
	}
}
