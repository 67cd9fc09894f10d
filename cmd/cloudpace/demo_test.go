package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	inventoryaws "github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simaws "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

// demonstrate runs the demo with quotas that hardly hold it up.
func demonstrate(t *testing.T, ctx context.Context, args ...string) outcome {
	t.Helper()
	return demonstrateAt(t, ctx, 200, args...)
}

// demonstrateAt runs the demo so many times as fast as documented. The environment and the
// files are those of a user whose credentials must not be used.
func demonstrateAt(t *testing.T, ctx context.Context, speed float64, args ...string) outcome {
	t.Helper()
	usual := demoSpeed
	demoSpeed = speed
	t.Cleanup(func() { demoSpeed = usual })
	trap := filepath.Join(t.TempDir(), "trap")
	if err := os.WriteFile(trap, []byte("[default]\ncredential_process = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIA999999999999EXAM", "AWS_SECRET_ACCESS_KEY": "theirs", "AWS_PROFILE": "none", "AWS_REGION": "eu-north-1",
		"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1",
		"AWS_CONFIG_FILE": trap, "AWS_SHARED_CREDENTIALS_FILE": trap, "AWS_MAX_ATTEMPTS": "1",
		"AZURE_TENANT_ID": "theirs", "AZURE_CLIENT_ID": "theirs", "AZURE_CLIENT_SECRET": "theirs", "AZURE_AUTHORITY_HOST": "https://127.0.0.1:1",
		"GOOGLE_APPLICATION_CREDENTIALS": trap, "GOOGLE_CLOUD_PROJECT": "theirs", "GOOGLE_CLOUD_QUOTA_PROJECT": "theirs",
	} {
		t.Setenv(name, value)
	}
	o := outcome{dir: filepath.Join(t.TempDir(), "out")}
	var stdout, stderr bytes.Buffer
	o.code = run(ctx, append([]string{"map", "--demo", "-o", o.dir}, args...), strings.NewReader(""), &stdout, &stderr)
	o.stdout, o.stderr = stdout.String(), stderr.String()
	t.Logf("exit code %d\n%s", o.code, o.stderr)
	return o
}

// assets reads assets.jsonl, each line of which must be whole, and counts what is
// there by task, account and region that were asked.
func (o outcome) assets(t *testing.T) (byTask map[string]int, total int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(o.dir, inventory.AssetsFile))
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		t.Error("the last line is not whole")
	}
	byTask = make(map[string]int)
	seen := make(map[string]bool)
	for _, a := range collected(t, o.dir) {
		key := strings.Join([]string{a.Account, a.Region, a.Type, a.ID}, " ")
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
		byTask[a.Task]++
		total++
	}
	return byTask, total
}

// truth counts what a task would find that misses nothing.
func truth(e *sim.Estate, r inventory.Record) (n int) {
	listed := make(map[string]bool)
	var own []string
	for _, k := range inventoryaws.Kinds() {
		for _, name := range k.Types {
			listed[name] = true
		}
		if k.Name == r.Task {
			own = k.Types
		}
	}
	place := sim.Place{Account: r.Account, Region: r.Region}
	if r.Region == "aws-global" {
		place.Region = ""
	}
	for _, name := range own {
		n += e.Count(place, name)
	}
	if own != nil {
		return n
	}
	for _, k := range e.Kinds() { // the sweep's: what has tags and no task of its own
		if !listed[k.Name] {
			for range simaws.Tagged(e, place, k.Name) {
				n++
			}
		}
	}
	return n
}

// rows counts the rows of the table that are read in each region, and once.
func rows(wanted func(inventory.Kind) bool) (regional, global int) {
	for _, k := range inventoryaws.Kinds() {
		switch {
		case !wanted(k):
		case k.Global:
			global++
		default:
			regional++
		}
	}
	return regional, global
}

// TestDemo: what goes wrong in the demo is in its coverage with the right reason,
// and nothing else is; what is complete is all there is.
func TestDemo(t *testing.T) {
	o := demonstrate(t, t.Context(), "-p", "aws", "--json")
	if o.code != exitDone {
		t.Fatalf("exit code %d", o.code)
	}
	d := o.document(t)
	server, err := sim.New(simaws.New(), awsProfile(demoSpeed))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	e := server.Estate()
	if n := e.Total(); n < 10_000 || n > 20_000 {
		t.Errorf("the estate has %d assets", n)
	}
	if text, err := os.ReadFile("../../docs/map.md"); err != nil || !strings.Contains(string(text), count(e.Total(), "asset")) {
		t.Errorf("docs/map.md does not say that there are %s (%v)", count(e.Total(), "asset"), err)
	}
	regional, global := rows(func(inventory.Kind) bool { return true })
	if len(d.Coverage) != 3*(4*regional+global) || len(d.Summary.Accounts) != 3 || d.Summary.Outcome != inventory.WithGaps {
		t.Errorf("%d records of %d accounts, outcome %s", len(d.Coverage), len(d.Summary.Accounts), d.Summary.Outcome)
	}
	found := 0
	gaps := 3*regional + 3 + 1
	for _, r := range d.Coverage {
		status, reason := inventory.Success, inventory.Reason("")
		switch {
		case r.Region == demoDeniedRegion:
			status, reason = inventory.Failed, inventory.DeniedByPolicy
		case r.Region == demoDownRegion && r.Task == "sqs_queues":
			status, reason = inventory.Failed, inventory.Unreachable
		case r.Region == demoCutRegion && r.Account == demoCutAccount && r.Task == "lambda_functions":
			status, reason = inventory.Partial, inventory.Truncated
		}
		if r.Status != status || r.Reason != reason {
			t.Errorf("%s in %s of %s: %s %s, want %s %s: %s %s", r.Task, r.Region, r.Account, r.Status, r.Reason, status, reason, r.Error, r.Ledger)
		}
		want := truth(e, r)
		switch status {
		case inventory.Failed:
			want = 0
		case inventory.Partial:
			want = 100 // two pages
		}
		if r.Assets != want {
			t.Errorf("%s in %s of %s: found %d, want %d", r.Task, r.Region, r.Account, r.Assets, want)
		}
		if r.Task == "ec2_images" && status == inventory.Success && r.Details != demoImages {
			t.Errorf("%d images of %d were asked about", r.Details, demoImages)
		}
		found += r.Assets
	}
	if _, total := o.assets(t); total != found || total != d.Summary.Assets {
		t.Errorf("%d assets are written, %d counted, %d in the summary", total, found, d.Summary.Assets)
	}
	for _, want := range []string{
		"Demo: a simulated AWS organization of 17,640 assets in 3 accounts and 4 regions", "nothing of yours is read", "200 times as fast as AWS's",
		"in aws accounts 111122223333, 444455556666 and 777788889999 (4 of 4 enabled regions each)",
		fmt.Sprintf("Missing: something in %d of %d tasks (denied_by_policy %d, unreachable 3, truncated 1).", gaps, len(d.Coverage), 3*regional),
		fmt.Sprint(regional) + " tasks FAILED, denied_by_policy in ap-southeast-2 of 111122223333, 444455556666 and 777788889999: ",
		"explicit deny in a service control policy",
		"sqs_queues FAILED, unreachable in eu-central-1",
		"lambda_functions PARTIAL, truncated in eu-west-1 of 444455556666: ",
	} {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("standard error does not say %q", want)
		}
	}
	if strings.Contains(o.stderr, "\x1b") {
		t.Error("there are escape codes in what is no terminal")
	}
	var summary inventory.Summary
	if err := json.Unmarshal([]byte(o.stdout), &summary); err != nil || summary.Assets != found {
		t.Errorf("--json printed %v %.200s", err, o.stdout)
	}
}

// TestDemoSelects: the flags that do not say where to read are good for the demo.
func TestDemoSelects(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cloudpace.yaml")
	if err := os.WriteFile(file, []byte("ratelimit:\n  aws:\n    max_concurrency: 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	regional, global := rows(func(k inventory.Kind) bool { return k.Family == "network" })
	o := demonstrate(t, t.Context(), "-p", "aws", "--only", "network", "--max-items", "1000", "--config", file, "--fail-on-partial")
	if d := o.document(t); o.code != exitPartial || len(d.Coverage) != 3*(4*regional+global) {
		t.Errorf("exit code %d, %d records", o.code, len(d.Coverage))
	}
}

// TestDemoExcludes: where to read is not to be said to the demo.
func TestDemoExcludes(t *testing.T) {
	for name, value := range map[string]string{
		"profile": "audit", "role-arn": "arn:aws:iam::111122223333:role/Audit", "external-id": "x", "regions": "us-east-1", "endpoint-url": "http://localhost",
		"subscriptions": azureDemoBusy, "management-group": "platform", "azure-cloud": "china", "azure-endpoint": "http://localhost",
	} {
		o := demonstrate(t, t.Context(), "--"+name, value)
		if _, err := os.Stat(o.dir); o.code != exitUsage || !strings.Contains(o.stderr, "--demo and --"+name) || !os.IsNotExist(err) {
			t.Errorf("--%s: exit code %d, %s", name, o.code, o.stderr)
		}
	}
}

// TestDemoInterrupted: an interrupted demo keeps what it has, and says that it is
// not all.
func TestDemoInterrupted(t *testing.T) {
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
	regional, global := rows(func(inventory.Kind) bool { return true })
	o := demonstrate(t, ctx, "-p", "aws", "-o", dir)
	o.dir = dir
	d := o.document(t)
	if o.code != exitInterrupted || d.Summary.Outcome != inventory.Interrupted || len(d.Coverage) != 3*(4*regional+global) {
		t.Errorf("exit code %d, outcome %s, %d records", o.code, d.Summary.Outcome, len(d.Coverage))
	}
	gaps := 0
	for _, r := range d.Coverage {
		if r.Reason == inventory.Truncated {
			gaps++
		}
	}
	if _, total := o.assets(t); total != d.Summary.Assets || gaps < 2 {
		t.Errorf("%d assets are written, %d in the summary; %d tasks are truncated", total, d.Summary.Assets, gaps)
	}
}

// TestDemoSettings: rates are multiplied, bursts are not, and what another
// provider may is left alone.
func TestDemoSettings(t *testing.T) {
	c := cloudpace.DefaultConfig()
	aws := c.Providers["aws"]
	aws.AccountMaxRPS = 7 // a burst of twice the rate goes without saying
	c.Providers["aws"] = aws
	usual := demoSpeed
	demoSpeed = 4
	t.Cleanup(func() { demoSpeed = usual })
	got := demoSettings(c, []*cloud{awsCloud()})
	p := got.Providers["aws"]
	if ec2 := p.Services["ec2"]; ec2.MaxRPS != 80 || ec2.Burst != 100 || ec2.WriteMaxRPS != 20 || p.MaxRPS != 80 || p.Burst != 40 || p.MinRPS != 0.8 ||
		p.AccountMaxRPS != 28 || p.AccountBurst != 14 || got.AWS.MaxRetries != demoRetries {
		t.Errorf("settings %+v", got)
	}
	if got.Providers["azure"].MaxRPS != c.Providers["azure"].MaxRPS || c.Providers["aws"].Services["ec2"].MaxRPS != 20 {
		t.Error("what is not the demo's was changed")
	}
	got = demoSettings(c, []*cloud{gcpCloud()})
	if s := got.Providers["gcp"].Services["cloudasset.ListAssets"]; s.MaxRPS != 8*1.5 || s.Burst != 10 {
		t.Errorf("settings %+v", s)
	}
	got = demoSettings(c, []*cloud{azureCloud()})
	p = got.Providers["azure"]
	if s := p.Services["storage"]; s.MaxRPS != 4*0.33 || s.Burst != 20 || p.AccountMaxRPS != 80 || p.AccountBurst != 200 || p.MaxRetries != azureDemoRetries ||
		got.Providers["aws"].MaxRPS != c.Providers["aws"].MaxRPS || c.Providers["azure"].MaxRetries == azureDemoRetries || got.AWS.MaxRetries != c.AWS.MaxRetries {
		t.Errorf("settings %+v", got)
	}
}
