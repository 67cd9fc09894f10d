package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	inventoryaws "github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simaws "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

// place is where in a map the matrix puts a fault: JSON and XML, the first page, the
// second one of three, and one of many items.
type place struct {
	name, task, kind string
	operation        string
	page             int // 0: every one
	item             bool
	total, pageSize  int
}

var places = []place{
	{"JSON listing", "lambda_functions", "AWS::Lambda::Function", "ListFunctions", 0, false, 120, 50},
	{"JSON page 2", "lambda_functions", "AWS::Lambda::Function", "ListFunctions", 2, false, 120, 50},
	{"JSON item", "lambda_functions", "AWS::Lambda::Function", "ListTags", 0, true, 20, 50},
	{"XML listing", "ec2_volumes", "AWS::EC2::Volume", "DescribeVolumes", 0, false, 2100, 1000},
	{"XML page 2", "ec2_volumes", "AWS::EC2::Volume", "DescribeVolumes", 2, false, 2100, 1000},
	{"XML item", "ec2_images", "AWS::EC2::Image", "DescribeImageAttribute", 0, true, 20, 1000},
}

// reasonsOf are the reasons that a fault may come out as; none means that it loses
// nothing.
var reasonsOf = map[sim.FaultKind][]inventory.Reason{
	sim.Reset: {inventory.Unreachable}, sim.Close: {inventory.Unreachable}, sim.Hang: {inventory.Unreachable},
	sim.Error: {inventory.Unreachable}, sim.HTTP500: {inventory.Unreachable},
	sim.HTTP503: {inventory.Unreachable, inventory.Throttled}, // codes that nobody knows leave it to the status (S2.3)
	sim.HTML:    {inventory.Protocol}, sim.Wrong: {inventory.Protocol},
	// Half a document: what its decoder says of it depends on the protocol.
	sim.Truncated:    {inventory.Unreachable, inventory.Protocol},
	sim.Cut:          {inventory.Unreachable},
	sim.CloseMidBody: {inventory.Unreachable},
	sim.Expired:      {inventory.CredentialsExpired}, sim.Denied: {inventory.AccessDenied}, sim.DeniedByPolicy: {inventory.DeniedByPolicy},
	sim.RegionDisabled: {inventory.CredentialsExpired}, // for the account says that it has the region
	sim.RepeatToken:    {inventory.Truncated},
	sim.EmptyPage:      {}, // one of them; without end it is truncated
}

// TestFaultMatrix: every fault at every place. Whatever it is, nothing that arrived
// is lost, nothing is claimed that was not read, nothing hangs and nothing leaks.
func TestFaultMatrix(t *testing.T) {
	fakeaws.Isolate(t)
	t.Setenv("AWS_ACCESS_KEY_ID", simaws.AccessKey(fakeaws.Account))
	t.Setenv("AWS_SECRET_ACCESS_KEY", "simulated")
	for _, fault := range sim.FaultKinds() {
		switch fault {
		case sim.Latency, sim.GoAway, sim.Idle, sim.Unreachable:
			continue // slow is not wrong; the others are of HTTP/2, and of Google's lists
		}
		if _, ok := reasonsOf[fault]; !ok {
			t.Errorf("%s is not in the matrix", fault)
			continue
		}
		for _, at := range places {
			if at.item && (fault == sim.RepeatToken || fault == sim.EmptyPage) {
				continue // an item has no pages
			}
			t.Run(string(fault)+"/"+at.name, func(t *testing.T) { spoil(t, fault, at) })
		}
	}
}

func spoil(t *testing.T, fault sim.FaultKind, at place) {
	p := sim.Default(simaws.New())
	p.Quotas = nil
	p.Estate = sim.EstateConfig{
		Accounts: []string{fakeaws.Account}, Regions: []string{"us-east-1", "eu-west-1"}, Types: map[string]int{at.kind: at.total},
	}
	match := sim.Match{Operation: sim.Patterns{at.operation}, Page: at.page}
	spoiled := sim.Fault{Kind: fault, Match: match}
	if fault == sim.Error {
		spoiled.Code, spoiled.Status = "InternalFailure", 500
	}
	here := sim.Place{Account: fakeaws.Account, Region: "us-east-1"}
	switch {
	case at.item:
		// One item, however often it is asked about: net/http itself sends a GET again
		// whose connection was in use before, so that a fault that strikes once is
		// healed or not as the connections happen to fall.
		plain, err := sim.New(simaws.New(), p)
		if err != nil {
			t.Fatal(err)
		}
		ids := slices.Collect(plain.Estate().IDs(here, at.kind))
		spoiled.Item = sim.Patterns{"*" + ids[7]}
	case fault == sim.EmptyPage:
		spoiled.First = 1
	}
	p.Faults = []sim.Fault{{Kind: sim.Latency, Seconds: 0.002}, spoiled}
	server, url := simulate(t, p)

	settings := cloudpace.DefaultConfig()
	settings.AWS.MaxRetries = 0 // what a retry heals is no gap
	settings.Providers["aws"] = func() cloudpace.Provider {
		p := settings.Providers["aws"]
		p.MaxRPS, p.Burst, p.Services = 1e6, 1e6, nil
		return p
	}()
	g, err := cloudpace.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	account, err := inventoryaws.Open(t.Context(), inventoryaws.Options{Endpoint: url, Regions: []string{"us-east-1"}, Governor: g})
	if err != nil {
		t.Fatal(err)
	}
	stall := time.Minute
	if fault == sim.Hang {
		stall = time.Second
	}
	dir := t.TempDir()
	records, err := inventory.Run(t.Context(), account.Tasks(func(k inventory.Kind) bool { return k.Name == at.task }), inventory.Options{
		Sink: inventory.NewSink(dir), Governor: g, Stall: stall,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := records[0]
	at.judge(t, reasonsOf[fault], r, collected(t, dir), slices.Collect(server.Estate().IDs(here, at.kind)))
}

// judge holds what a map says against what there is.
func (at place) judge(t *testing.T, reasons []inventory.Reason, r inventory.Record, found []inventory.Asset, exists []string) {
	t.Helper()
	var ids []string
	lacking := 0
	for _, a := range found {
		ids = append(ids, a.ID)
		lacking += len(a.Missing)
		if !slices.Contains(exists, a.ID) {
			t.Errorf("claimed and not there: %s", a.ID)
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(ids)))); n != len(ids) {
		t.Errorf("%d of %d are there twice", len(ids)-n, len(ids))
	}
	if r.Assets != len(found) {
		t.Errorf("the record says %d assets, the file has %d", r.Assets, len(found))
	}
	want := map[bool]inventory.Status{true: inventory.Failed, false: inventory.Partial}[at.page == 0 && !at.item && r.Pages == 0]
	arrived := 0
	switch {
	case len(reasons) == 0:
		want, arrived = inventory.Success, at.total
	case at.item:
		arrived = at.total
		if lacking != 1 || r.Incomplete != 1 {
			t.Errorf("%d details missing, %d assets incomplete, want one", lacking, r.Incomplete)
		}
	default:
		arrived = r.Pages * at.pageSize // whole pages, in the order of the estate
		if at.page == 2 && r.Pages < 1 {
			t.Errorf("the first page is lost: %+v", r)
		}
	}
	for _, id := range exists[:min(arrived, len(exists))] {
		if len(ids) < arrived-r.Duplicates && !slices.Contains(ids, id) {
			t.Fatalf("arrived and lost: %s, of %d assets on %d pages", id, len(found), r.Pages)
		}
	}
	if r.Status == inventory.Success && len(found) != len(exists) {
		t.Errorf("SUCCESS with %d of %d", len(found), len(exists))
	}
	if r.Status != want || len(reasons) > 0 && !slices.Contains(reasons, r.Reason) {
		t.Errorf("%s, %s: %s (%d pages, %d assets); want %s, one of %v", r.Status, r.Reason, r.Error, r.Pages, r.Assets, want, reasons)
	}
}

// collected reads what a map has written.
func collected(t *testing.T, dir string) (list []inventory.Asset) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, inventory.AssetsFile))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var a inventory.Asset
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(fmt.Errorf("%w in %q", err, lines.Text()))
		}
		list = append(list, a)
	}
	return list
}
