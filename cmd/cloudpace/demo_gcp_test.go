package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/gcp"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simgcp "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
)

// gcpEstate is what the demo's organization has.
func gcpEstate(t *testing.T) *sim.Estate {
	t.Helper()
	server, err := sim.New(simgcp.New(), gcpProfile(gcpDemo.speed()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server.Estate()
}

// TestDemoGCP: the demo's organization is read whole, all assets and all bindings, on a
// quota that a second instance uses too.
func TestDemoGCP(t *testing.T) {
	o := demonstrate(t, t.Context(), "-p", "gcp", "--json", "--fail-on-partial")
	if o.code != exitDone {
		t.Fatalf("exit code %d", o.code)
	}
	d, e := o.document(t), gcpEstate(t)
	if e.Total() != gcpDemoTotal || len(e.Accounts()) != gcpDemoProjects {
		t.Errorf("the estate has %d things in %d projects", e.Total(), len(e.Accounts()))
	}
	if len(d.Coverage) != 2*gcpDemoProjects || d.Summary.Outcome != inventory.Complete {
		t.Errorf("%d records, outcome %s", len(d.Coverage), d.Summary.Outcome)
	}
	for _, r := range d.Coverage {
		if r.Status != inventory.Success || r.Calls == 0 || r.Pages == 0 {
			t.Errorf("%s of %s: %+v", r.Task, r.Account, r)
		}
	}

	there, bindings := make(map[string]bool), make(map[string]int)
	for _, project := range e.Accounts() {
		account := "projects/" + project
		for a := range simgcp.Assets(e, account) {
			there[account+" "+a.Type+" "+a.Name] = true
		}
		for b := range simgcp.Bindings(e, account) {
			bindings[strings.Join([]string{account, b.Resource, b.Role, b.Member, b.Condition}, " ")]++
		}
	}
	total := gcpDemoAssets(e)
	if len(there) != total {
		t.Errorf("%d of %d things have a name of their own", len(there), total)
	}
	for _, a := range collected(t, o.dir) {
		key := a.Account + " " + a.Type + " " + a.ID
		if !there[key] {
			t.Errorf("found and not there, or found twice: %s", key)
		}
		delete(there, key)
	}
	for key := range there {
		t.Errorf("there and not found: %s", key)
	}
	for _, edge := range edges(t, o.dir) {
		bindings[strings.Join([]string{edge.Account, edge.To, edge.Role, edge.From, edge.Condition.Expression}, " ")]--
	}
	for key, n := range bindings {
		if n != 0 {
			t.Errorf("binding %s: %d more there than found", key, n)
		}
	}
	for _, want := range []string{
		fmt.Sprintf("Demo: a simulated Google Cloud organization of %s in 40 projects and 5 regions, where a second instance uses the same quota", count(total, "asset")),
		"400 times as fast as Google Cloud's, and cloudpace's limits are as many times the usual", "nothing of yours is read",
		"looking for Google Cloud credentials, and asking which projects they see",
		"Missing: nothing; 80 of 80 tasks complete.",
	} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("standard error does not say %q", want)
		}
	}
	if text, err := os.ReadFile("../../docs/map.md"); err != nil || !strings.Contains(string(text), count(total, "asset")) {
		t.Errorf("docs/map.md does not say that there are %s (%v)", count(total, "asset"), err)
	}
}

// TestDemoGCPNeighbour: at the speed that it is shown at, the second instance is felt.
// The service that is away for once counts as one throttle; by itself cloudpace stays
// within the quota, so that another one is the second instance's doing.
func TestDemoGCPNeighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := startDemo(t.Context(), simgcp.New(), gcpProfile(gcpDemo.speed()))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := d.close(); err != nil {
				t.Error(err)
			}
		}()
		g, err := cloudpace.New(demoSettings(cloudpace.DefaultConfig(), []*cloud{gcpCloud()}))
		if err != nil {
			t.Fatal(err)
		}
		e, err := gcp.Open(t.Context(), d.gcpEstate(g))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		records, err := inventory.Run(t.Context(), e.Tasks(func(inventory.Kind) bool { return true }), inventory.Options{Sink: inventory.NewSink(t.TempDir()), Governor: g})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.Status != inventory.Success {
				t.Errorf("%+v", r)
			}
		}
		if n := g.Summary(nil).Totals.Throttled; n < 2 {
			t.Errorf("%d throttles: the second instance is not felt", n)
		}
	})
}

// edges reads edges.jsonl, each line of which must be whole.
func edges(t *testing.T, dir string) (list []inventory.Edge) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, inventory.EdgesFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e inventory.Edge
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		list = append(list, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
