//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
)

// tasks is how many there are of one account and region.
var tasks = len(aws.Kinds())

// TestMap maps the seeded account and holds the result against what the AWS CLI
// lists, and the requests that arrived against the documented pace.
func TestMap(t *testing.T) {
	p := startProxy(t, nil, nil)
	r := runMap(t, credentials, "-p", "aws", "--regions", region, "--endpoint-url", p.url)
	if r.code != 0 {
		t.Fatalf("exit code %d, want 0", r.code)
	}
	d, assets := r.document(t), r.assets(t)

	// First, as long as all that arrived came from the map.
	t.Run("pace", func(t *testing.T) { checkPace(t, p, d) })
	t.Run("assets", func(t *testing.T) { compareWithCLI(t, p, d, assets) })
	t.Run("tagged", func(t *testing.T) { compareTagged(t, p, d, assets) })
	t.Run("coverage", func(t *testing.T) { checkCoverage(t, d, assets) })
	t.Run("secrets", func(t *testing.T) { checkSecrets(t, r) })
	t.Run("details", func(t *testing.T) { checkDetails(t, d, assets) })
}

func ofType(assets []asset, name string) (ids []string) {
	for _, a := range assets {
		if a.Type == name {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// identifiers gives ids or ARNs.
func identifiers(assets []asset, name string, arns bool) (list []string) {
	if !arns {
		return ofType(assets, name)
	}
	for _, a := range assets {
		if a.Type == name {
			list = append(list, a.ARN)
		}
	}
	return list
}

// compareWithCLI: every type is there as the AWS CLI lists it, and what was
// seeded is one of these types.
func compareWithCLI(t *testing.T, p *proxy, d document, assets []asset) {
	compared := map[string]bool{}
	for _, l := range listings {
		compared[l.assetType] = true
	}
	for name := range seeded {
		if !compared[name] {
			t.Errorf("%s is seeded and compared with nothing", name)
		}
	}
	for _, l := range listings {
		t.Run(strings.ReplaceAll(l.assetType, "::", "."), func(t *testing.T) {
			want := l.list(t, p.url)
			got := identifiers(assets, l.assetType, len(want) > 0 && strings.HasPrefix(want[0], "arn:"))
			if len(want) < seeded[l.assetType] {
				t.Fatalf("the AWS CLI lists %d, and %d were seeded", len(want), seeded[l.assetType])
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("mapped %d, the AWS CLI lists %d\nmapped: %s\nlisted: %s", len(got), len(want), got, want)
			}
			if d.Summary.ByType[l.assetType] != len(want) {
				t.Errorf("run.json says %d, want %d", d.Summary.ByType[l.assetType], len(want))
			}
		})
	}
}

// compareTagged: the tagging sweep emits what no other task lists and counts the
// rest, so that both together are all that is tagged.
func compareTagged(t *testing.T, p *proxy, d document, assets []asset) {
	arns := awsCLI(t, p.url, "resourcegroupstaggingapi get-resources", "ResourceTagMappingList[].ResourceARN")
	sweep := d.record(t, "tagging_sweep")
	if sweep.Assets+sweep.Elsewhere != len(arns) {
		t.Errorf("the sweep emitted %d and left %d to other tasks; the AWS CLI lists %d", sweep.Assets, sweep.Elsewhere, len(arns))
	}
	if got, want := len(ofType(assets, "AWS::SNS::Topic")), seeded["AWS::SNS::Topic"]; got != want {
		t.Errorf("%d topics, want %d", got, want)
	}
	mapped := map[string]asset{}
	for _, a := range assets {
		mapped[a.ARN] = a
	}
	for _, arn := range arns {
		if _, ok := mapped[arn]; !ok {
			t.Errorf("%s is tagged and missing from the map", arn)
		}
	}
	tagged := awsCLI(t, p.url, "resourcegroupstaggingapi get-resources --tag-filters Key=env,Values=test", "ResourceTagMappingList[].ResourceARN")
	kinds := map[string]bool{}
	for _, arn := range tagged {
		a := mapped[arn]
		if kinds[a.Type] = true; a.Tags["env"] != "test" {
			t.Errorf("%s of task %s has tags %v, and env=test by the tagging API", arn, a.Task, a.Tags)
		}
	}
	t.Logf("tags of %d assets of %d types are as the tagging API says", len(tagged), len(kinds))
}

// checkCoverage: each task has one record, and everything was read.
func checkCoverage(t *testing.T, d document, assets []asset) {
	if len(d.Coverage) != tasks {
		t.Errorf("%d records, want %d", len(d.Coverage), tasks)
	}
	byTask := map[string]int{}
	for _, a := range assets {
		byTask[a.Task]++
	}
	seen := map[string]bool{}
	for _, r := range d.Coverage {
		if seen[r.Task] {
			t.Errorf("%s has two records", r.Task)
		}
		seen[r.Task] = true
		if r.Status != "SUCCESS" || r.Reason != "" || r.Error != "" || r.Ledger != "" {
			t.Errorf("%s is %s %s %s %s, want SUCCESS", r.Task, r.Status, r.Reason, r.Error, r.Ledger)
		}
		if r.Account != account || r.Region != region && r.Region != "aws-global" {
			t.Errorf("%s is of %s in %s", r.Task, r.Account, r.Region)
		}
		if r.Assets != byTask[r.Task] {
			t.Errorf("%s counts %d assets and wrote %d", r.Task, r.Assets, byTask[r.Task])
		}
	}
	if d.Summary.Outcome != "complete" || len(d.Summary.Complete) != tasks || d.Summary.ByStatus["SUCCESS"] != tasks {
		t.Errorf("summary: outcome %q, %d complete, by status %v", d.Summary.Outcome, len(d.Summary.Complete), d.Summary.ByStatus)
	}
	if d.Summary.Assets != len(assets) || d.Summary.AssetsFile != "assets.jsonl" {
		t.Errorf("summary: %d assets in %q, the file has %d", d.Summary.Assets, d.Summary.AssetsFile, len(assets))
	}
	for _, a := range assets {
		if a.Provider != "aws" || a.Account != account || a.Region == "" || a.ID == "" || a.Task == "" || a.Time.IsZero() {
			t.Errorf("an asset lacks something: %+v", a)
		}
	}
}

// checkSecrets: what was seeded where secrets are kept is nowhere in the output.
func checkSecrets(t *testing.T, r result) {
	for _, name := range []string{"assets.jsonl", "run.json"} {
		text, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "hunter2") {
				t.Errorf("%s has a secret: %s", name, line)
			}
		}
	}
}

// checkDetails: what only the fan-out can know is in the images, and names and
// tags are where users look for them.
func checkDetails(t *testing.T, d document, assets []asset) {
	shared, named := 0, 0
	for _, a := range assets {
		switch a.Type {
		case "AWS::EC2::Image":
			if len(a.Missing) > 0 {
				t.Errorf("%s lacks %v", a.ID, a.Missing)
			}
			if strings.Contains(fmt.Sprint(a.Properties), "444455556666") {
				shared++
			}
		case "AWS::EC2::Instance":
			if a.Tags["env"] == "test" && a.Tags["Name"] == a.Name && a.Name != "" {
				named++
			}
		}
	}
	if shared != 10 {
		t.Errorf("%d images are shared with another account, want 10", shared)
	}
	if named != seeded["AWS::EC2::Instance"] {
		t.Errorf("%d instances have their name and tags, want %d", named, seeded["AWS::EC2::Instance"])
	}
}

// checkPace: one DescribeImageAttribute for each image, at EC2's documented 100
// at once and 20 a second from then on, none of them throttled.
func checkPace(t *testing.T, p *proxy, d document) {
	const burst, perSecond = 100, 20
	images := seeded["AWS::EC2::Image"]
	arrived := p.of("ec2", "DescribeImageAttribute")
	if len(arrived) != images {
		t.Fatalf("%d requests for %d images", len(arrived), images)
	}
	// The bucket was full when the list of images was asked for, before the first
	// detail. Nothing that delays a request, here or on its way, can make it
	// arrive before its token was there.
	full := p.of("ec2", "DescribeImages")[0].at
	for i, r := range arrived {
		due := time.Duration(max(0, i+1-burst)) * time.Second / perSecond
		if after := r.at.Sub(full); after < due {
			t.Fatalf("request %d arrived after %s, before its token at %s", i+1, after, due)
		}
	}

	ec2 := d.scope(t, "aws/"+account+"/"+region+"/ec2")
	if sent := p.to("ec2"); ec2.Calls != sent {
		t.Errorf("run.json counts %d calls of ec2, and %d arrived", ec2.Calls, sent)
	}
	if r := d.record(t, "ec2_images"); r.Details != images || r.Calls != images+r.Pages {
		t.Errorf("the record counts %d details in %d calls and %d pages", r.Details, r.Calls, r.Pages)
	}
	if d.Throttling.Totals.Throttled != 0 || d.Throttling.Totals.Retries != 0 || d.Throttling.Totals.GaveUp != 0 {
		t.Errorf("a run at the documented pace was throttled: %+v", d.Throttling.Totals)
	}
	if ec2.Waits == 0 || ec2.Waits > images-burst || ec2.WaitSeconds <= 0 {
		t.Errorf("%d waits of %.1f s together, want some, and at most the %d calls beyond the burst", ec2.Waits, ec2.WaitSeconds, images-burst)
	}
	t.Logf("%d calls, %d of them waited %.1f s together", ec2.Calls, ec2.Waits, ec2.WaitSeconds)
}
