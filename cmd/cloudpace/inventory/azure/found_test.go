package azure

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// TestTable: what the rest relies on about the rows.
func TestTable(t *testing.T) {
	names, types := map[string]bool{}, map[string]bool{}
	for _, r := range table {
		if r.Name == "" || r.Family == "" || r.Service == "" || names[r.Name] || !strings.HasPrefix(r.Name, "azure_") || r.Covers == "" {
			t.Errorf("row %+v lacks something, or its name is taken", r.Kind)
		}
		if (r.read == nil) != (r.Name == fullTask) || r.everywhere != (r.Family == graphFamily) {
			t.Errorf("%s does not read what its family reads", r.Name)
		}
		names[r.Name] = true
		for _, typ := range r.Types {
			if types[typ] {
				t.Errorf("%s is listed by two tasks: it would be counted twice", typ)
			}
			types[typ] = true
		}
	}
	if len(names) < 38 {
		t.Errorf("%d tasks, want at least 38", len(names))
	}
}

// estate has what the simulated subscriptions have, as "account type id", folded.
func estate(e *sim.Estate, of func(kind string) bool) map[string]bool {
	m := make(map[string]bool)
	for _, s := range e.Accounts() {
		for kind, id := range simazure.Assets(e, s) {
			if of(kind) {
				m[strings.ToLower(s+" "+kind+" "+id)] = true
			}
		}
	}
	return m
}

// same compares that with what was found, and counts how often.
func same(t *testing.T, found []inventory.Asset, want map[string]bool) {
	t.Helper()
	got := make(map[string]int)
	for _, a := range found {
		got[strings.ToLower(a.Account+" "+a.Type+" "+a.ID)]++
	}
	var wrong []string
	for key, n := range got {
		if n > 1 || !want[key] {
			wrong = append(wrong, fmt.Sprintf("%d times %s, which is there: %v", n, key, want[key]))
		}
	}
	for key := range want {
		if got[key] == 0 {
			wrong = append(wrong, "not found: "+key)
		}
	}
	slices.Sort(wrong)
	if len(wrong) > 0 || len(want) == 0 {
		t.Errorf("%d found, %d there, %d wrong:\n%s", len(got), len(want), len(wrong), strings.Join(wrong[:min(len(wrong), 10)], "\n"))
	}
}

func everything(string) bool { return true }

// TestEveryTask: over a socket and through the official clients, each task finds
// exactly what there is of its types, and all of them everything, once.
func TestEveryTask(t *testing.T) {
	x := serve(t, small())
	a := x.open(t)
	records, found := run(t, a)
	same(t, found, estate(x.Estate(), everything))
	byTask := make(map[string][]inventory.Asset)
	for _, f := range found {
		byTask[f.Task] = append(byTask[f.Task], f)
		// A part is where the thing is that it is a part of.
		global := strings.HasPrefix(f.Type, "Microsoft.Authorization/") || strings.Contains(strings.ToLower(f.Type), "dnszones")
		if f.Tags == nil || (f.Region == nowhere) != global && !strings.HasPrefix(f.Type, "Microsoft.Insights/") || f.Region != nowhere && !slices.Contains(x.Estate().Regions(), f.Region) {
			t.Fatalf("in %s: %+v", f.Region, f)
		}
	}
	for _, k := range Kinds() {
		if len(k.Types) == 0 {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			same(t, byTask[k.Name], estate(x.Estate(), func(kind string) bool { return slices.Contains(k.Types, kind) }))
		})
	}
	for _, r := range records {
		if r.Status != inventory.Success || r.Error != "" || r.Covers == "" || r.Region != "" {
			t.Errorf("%s in %s: %+v", r.Task, r.Account, r)
		}
		if r.Task != fullTask && (r.Calls == 0 || r.RequestID == "") {
			t.Errorf("%s in %s: %d calls, request %q", r.Task, r.Account, r.Calls, r.RequestID)
		}
	}
	if r := record(t, records, first, "azure_resources"); r.Assets != 0 || r.Elsewhere == 0 {
		t.Errorf("the sweep lists what others list: %+v", r)
	}
	// A list of each group, and one of the groups, where the API has no other.
	groups := record(t, records, first, "azure_resource_groups").Assets
	if r := record(t, records, first, "azure_virtual_network_gateways"); r.Calls != groups+1 {
		t.Errorf("%d groups, asked in %d calls", groups, r.Calls)
	}
}

// TestScopes: a task is charged to the service that its record names.
func TestScopes(t *testing.T) {
	for _, k := range Kinds() {
		if k.Name == fullTask {
			continue
		}
		x := serve(t, small())
		g := governor(t)
		a := x.open(t, func(o *Options) { o.Subscriptions, o.Governor = []string{first}, g })
		records, _ := run(t, a, k.Name)
		scopes := make(map[string]bool)
		for _, s := range g.Summary(nil).Scopes {
			scopes[s.Scope] = true
		}
		if len(records) != 1 || !scopes[records[0].Scope] {
			t.Errorf("%s has the scope %s, calls were counted under %s", k.Name, records[0].Scope, slices.Sorted(maps.Keys(scopes)))
		}
	}
}

// TestSweepAlone: the sweep finds all resources where nobody else does, the master
// lists only what it is asked to.
func TestSweepAlone(t *testing.T) {
	x := serve(t, small())
	records, found := run(t, x.open(t), "azure_resources")
	same(t, found, estate(x.Estate(), tracked))
	if r := record(t, records, second, "azure_resources"); r.Elsewhere != 0 || r.Status != inventory.Success {
		t.Errorf("%+v", r)
	}
	if len(records) != 2 {
		t.Errorf("%d records: the sum of a subscription is of all that it has or of nothing", len(records))
	}
}

// tracked tells which types are among a subscription's resources.
func tracked(kind string) bool {
	return !strings.HasPrefix(kind, "Microsoft.Authorization/") && kind != groupType &&
		(strings.Count(kind, "/") == 1 || kind == "Microsoft.Sql/servers/databases")
}

// TestGraph: Resource Graph alone finds the same resources, with their subnets and
// groups, in a few queries, and the assets are as the lists make them.
func TestGraph(t *testing.T) {
	x := serve(t, small())
	a := x.open(t)
	records, found := runWhere(t, a, func(k inventory.Kind) bool { return k.Family == graphFamily })
	same(t, found, estate(x.Estate(), func(kind string) bool { return tracked(kind) || kind == groupType || kind == subnetType }))
	calls := 0
	for _, r := range records {
		if calls += r.Calls; r.Status != inventory.Success || r.Account != Everywhere {
			t.Errorf("%+v", r)
		}
	}
	if most := len(found)/1000 + 2; len(records) != 2 || calls > most {
		t.Errorf("%d records, %d calls, want 2 and at most %d", len(records), calls, most)
	}
	_, listed := run(t, a, "azure_virtual_machines", "azure_virtual_networks")
	of := make(map[string]inventory.Asset)
	for _, f := range found {
		of[f.ID] = f
	}
	for _, l := range listed {
		g := of[l.ID]
		l.Task, l.Time, l.Properties, g.Properties = g.Task, g.Time, nil, nil
		if fmt.Sprint(l) != fmt.Sprint(g) {
			t.Fatalf("listed %+v\n graph %+v", l, g)
		}
	}
}

// TestGraphForSweep: which of the two is read, and that nothing is there twice.
func TestGraphForSweep(t *testing.T) {
	x := serve(t, small())
	a := x.open(t)
	for _, c := range []struct {
		name         string
		wanted       func(inventory.Kind) bool
		sweep, graph bool
	}{
		{"all", func(inventory.Kind) bool { return true }, true, false},
		{"skip resources", func(k inventory.Kind) bool { return k.Family != sweepFamily }, false, true},
		{"skip both", func(k inventory.Kind) bool { return k.Family != sweepFamily && k.Family != graphFamily }, false, false},
		{"only both", func(k inventory.Kind) bool { return k.Family == sweepFamily || k.Family == graphFamily }, true, false},
		{"graph and network", func(k inventory.Kind) bool { return k.Family == graphFamily || k.Family == "network" }, false, true},
	} {
		sweep, graph := false, false
		for _, task := range a.Tasks(c.wanted) {
			sweep = sweep || task.Family == sweepFamily
			graph = graph || task.Family == graphFamily
		}
		if sweep != c.sweep || graph != c.graph {
			t.Errorf("%s: sweep %v, graph %v", c.name, sweep, graph)
		}
	}
	_, found := runWhere(t, a, func(k inventory.Kind) bool { return k.Family != sweepFamily })
	same(t, found, estate(x.Estate(), everything))
	records, found := runWhere(t, a, func(k inventory.Kind) bool { return k.Family == graphFamily || k.Family == "network" })
	same(t, found, estate(x.Estate(), func(kind string) bool {
		return tracked(kind) || kind == groupType || kind == subnetType
	}))
	if r := record(t, records, Everywhere, "azure_graph_resources"); r.Elsewhere == 0 {
		t.Errorf("%+v", r)
	}
}
