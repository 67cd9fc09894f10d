package aws

import (
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace"
)

// The governor's own limits of EC2's actions are no higher than what the simulated
// EC2 grants: both are from the same page, and one of them may be brought up to date
// before the other.
func TestGovernorKeepsToTheQuotas(t *testing.T) {
	g, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	granted := map[string][2]float64{"DescribeVpcs": {20, 100}, "RebootInstances": {5, 50}}
	for _, row := range ec2Actions {
		for _, action := range strings.Fields(row.actions) {
			granted[action] = [2]float64{row.rate, row.burst}
		}
	}
	for action := range granted {
		call, err := g.Begin(t.Context(), cloudpace.Scope{Provider: "aws", Account: "1", Region: "us-east-1", Service: "ec2", Operation: action})
		if err != nil {
			t.Fatal(err)
		}
		call.End(nil)
	}
	buckets := g.Snapshot().Buckets
	if len(buckets) != len(granted) {
		t.Errorf("%d buckets for %d actions", len(buckets), len(granted))
	}
	for _, b := range buckets {
		action := b.Scope[strings.LastIndexByte(b.Scope, '/')+1:]
		if want := granted[action]; b.MaxRPS != want[0] || b.Burst != want[1] {
			t.Errorf("%s: %v a second and %v at once, the quota is %v", action, b.MaxRPS, b.Burst, want)
		}
	}
}
