package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/azure"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// azureEstate is what the demo's tenant has.
func azureEstate(t *testing.T) *sim.Estate {
	t.Helper()
	server, err := sim.New(simazure.New(), azureProfile(demoSpeed))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server.Estate()
}

// azureGap is what the coverage of the demo's tenant has to say of a record.
func azureGap(r inventory.Record) (inventory.Status, inventory.Reason) {
	switch {
	case r.Account == azureDemoDenied && r.Task == "azure_key_vaults":
		return inventory.Failed, inventory.AccessDenied
	case r.Account == azureDemoDown && r.Task == "azure_cosmos_accounts":
		return inventory.Failed, inventory.Unreachable
	case r.Account == azureDemoCut && r.Task == "azure_snapshots":
		return inventory.Partial, inventory.Truncated
	case r.Task != "azure_full":
	case r.Account == azureDemoDenied:
		return inventory.Partial, inventory.AccessDenied
	case r.Account == azureDemoDown:
		return inventory.Partial, inventory.Unreachable
	case r.Account == azureDemoCut:
		return inventory.Partial, inventory.Truncated
	}
	return inventory.Success, ""
}

// asset is what tells one from all others in a subscription. Azure's names do not
// mind how they are written.
func azureKey(subscription, typ, id string) string {
	return strings.ToLower(subscription + " " + typ + " " + id)
}

// TestDemoAzure: what goes wrong in the demo's tenant is in its coverage with the
// right reason, and nothing else is; what was found is all that there is but for that.
func TestDemoAzure(t *testing.T) {
	o := demonstrate(t, t.Context(), "-p", "azure", "--json")
	if o.code != exitDone {
		t.Fatalf("exit code %d", o.code)
	}
	d, e := o.document(t), azureEstate(t)
	if e.Total() != azureDemoTotal || len(e.Accounts()) != azureDemoSubscriptions {
		t.Errorf("the estate has %d things in %d subscriptions", e.Total(), len(e.Accounts()))
	}
	total := azureDemoAssets(e)
	if text, err := os.ReadFile("../../docs/map.md"); err != nil || !strings.Contains(string(text), count(total, "asset")) {
		t.Errorf("docs/map.md does not say that there are %s (%v)", count(total, "asset"), err)
	}
	gaps := 0
	for _, r := range d.Coverage {
		status, reason := azureGap(r)
		if r.Status != status || r.Reason != reason {
			t.Errorf("%s of %s: %s %s, want %s %s: %s %s", r.Task, r.Account, r.Status, r.Reason, status, reason, r.Error, r.Ledger)
		}
		if r.Gap() {
			gaps++
		}
	}
	if want := azureDemoSubscriptions * rowsOf(t, "resources"); len(d.Coverage) != want || gaps != 6 || d.Summary.Outcome != inventory.WithGaps {
		t.Errorf("%d records, want %d; %d gaps, outcome %s", len(d.Coverage), want, gaps, d.Summary.Outcome)
	}
	if a := d.Summary.Accounts; len(a) != azureDemoSubscriptions || !slices.Equal(d.Summary.Provider, []string{"azure"}) {
		t.Errorf("accounts %v of %v", a, d.Summary.Provider)
	}
	if s := scopeOf(t, d, "azure/"+azureDemoThrottled+"/*/web"); s.Throttled == 0 || s.GaveUp > 0 {
		t.Errorf("where App Service throttles: %+v", s)
	}

	there := make(map[string]bool)
	for _, subscription := range e.Accounts() {
		for typ, id := range simazure.Assets(e, subscription) {
			there[azureKey(subscription, typ, id)] = true
		}
	}
	if len(there) != total {
		t.Errorf("%d of %d things have a name of their own", len(there), total)
	}
	found := collected(t, o.dir)
	for _, a := range found {
		key := azureKey(a.Account, a.Type, a.ID)
		if !there[key] {
			t.Errorf("found and not there, or found twice: %s", key)
		}
		delete(there, key)
	}
	cut := 0
	for key := range there {
		switch {
		case strings.HasPrefix(key, azureDemoDenied+" microsoft.keyvault/vaults "):
		case strings.HasPrefix(key, azureDemoDown+" microsoft.documentdb/databaseaccounts "):
		case strings.HasPrefix(key, azureDemoCut+" microsoft.compute/snapshots "):
			cut++
		default:
			t.Errorf("there and not found: %s", key)
		}
	}
	if want := azureDemoSnapshots*len(azureDemoRegions) - 200; cut != want { // two pages arrived
		t.Errorf("%d snapshots are not found, want %d", cut, want)
	}
	for _, want := range []string{
		fmt.Sprintf("Demo: a simulated Azure tenant of 20,000 resources (%s with their parts) in 5 subscriptions and 6 regions", count(total, "asset")),
		"200 times as fast as Azure's, and cloudpace's limits are as many times the usual", "nothing of yours is read",
		"asking whose Azure credentials these are, and which subscriptions they see",
		"in 5 azure subscriptions, in ",
		fmt.Sprintf("Missing: something in 6 of %d tasks (access_denied 2, truncated 2, unreachable 2).", len(d.Coverage)),
		"azure_key_vaults FAILED, access_denied in " + azureDemoDenied + ": GET /subscriptions/" + azureDemoDenied + "/providers/Microsoft.KeyVault/vaults: 403 AuthorizationFailed: The client",
		"azure_cosmos_accounts FAILED, unreachable in " + azureDemoDown + ": GET /",
		"azure_snapshots PARTIAL, truncated in " + azureDemoCut + ": ",
		"azure_full PARTIAL, access_denied in " + azureDemoDenied + ": ",
	} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("standard error does not say %q", want)
		}
	}
	if strings.Contains(o.stderr, "AWS") || strings.Contains(o.stderr, "-----") {
		t.Error("standard error speaks of AWS, or has an answer as the SDK prints it")
	}
	var summary inventory.Summary
	if err := json.Unmarshal([]byte(o.stdout), &summary); err != nil || summary.Assets != len(found) {
		t.Errorf("--json printed %v %.200s", err, o.stdout)
	}
}

// rowsOf counts the tasks of a subscription in a run where the sweep is this one:
// "resources" or "graph".
func rowsOf(t *testing.T, sweep string) (n int) {
	t.Helper()
	for _, k := range azure.Kinds() {
		if k.Family == sweep || k.Family != "resources" && k.Family != "graph" {
			n++
		}
	}
	return n
}

func scopeOf(t *testing.T, d inventory.Document, name string) (found struct{ Throttled, GaveUp int }) {
	t.Helper()
	for _, s := range d.Throttling.Scopes {
		if s.Scope == name {
			found.Throttled, found.GaveUp = s.Throttled, s.GaveUp
			return found
		}
	}
	t.Errorf("there is no scope %s", name)
	return found
}

// TestDemoAzureInterrupted: an interrupted demo keeps what it has, and says that it
// is not all.
func TestDemoAzureInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir := filepath.Join(t.TempDir(), "out")
	go func() { // as soon as there are some assets on the disk
		for ctx.Err() == nil {
			if found, err := filepath.Glob(filepath.Join(dir, inventory.AssetsFile+"*")); err != nil || len(found) > 0 {
				cancel()
			}
		}
	}()
	o := demonstrate(t, ctx, "-p", "azure", "-o", dir)
	o.dir = dir
	d := o.document(t)
	if o.code != exitInterrupted || d.Summary.Outcome != inventory.Interrupted || len(d.Coverage) != azureDemoSubscriptions*rowsOf(t, "resources") {
		t.Errorf("exit code %d, outcome %s, %d records", o.code, d.Summary.Outcome, len(d.Coverage))
	}
	gaps := 0
	for _, r := range d.Coverage {
		if r.Reason == inventory.Truncated {
			gaps++
		}
	}
	if n := len(collected(t, dir)); n != d.Summary.Assets || gaps < 2 {
		t.Errorf("%d assets are written, %d in the summary; %d tasks are truncated", n, d.Summary.Assets, gaps)
	}
}

// TestDemoOfAll: without -p the demo has every provider, and each finds what it does
// alone.
func TestDemoOfAll(t *testing.T) {
	o := demonstrate(t, t.Context(), "--only", "network,dns", "--fail-on-partial")
	d := o.document(t)
	if o.code != exitPartial || !slices.Equal(d.Summary.Provider, []string{"aws", "azure"}) || len(d.Summary.Accounts) != 3+azureDemoSubscriptions {
		t.Errorf("exit code %d, %v, %d accounts", o.code, d.Summary.Provider, len(d.Summary.Accounts))
	}
	for _, want := range []string{"Demo: a simulated AWS organization", "Demo: a simulated Azure tenant", "(account 3 of 3)",
		"in aws accounts 111122223333, 444455556666 and 777788889999 (4 of 4 enabled regions each) and 5 azure subscriptions, in "} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("standard error does not say %q", want)
		}
	}
	seen := make(map[string]int)
	for _, r := range d.Coverage {
		seen[r.Provider]++
		if r.Provider == "azure" && r.Status != inventory.Success {
			t.Errorf("%s of %s: %s %s %s", r.Task, r.Account, r.Status, r.Reason, r.Error)
		}
	}
	if seen["aws"] == 0 || seen["azure"] == 0 {
		t.Errorf("records %v", seen)
	}
}
