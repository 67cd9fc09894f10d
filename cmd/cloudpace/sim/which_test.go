package sim_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// TestFrontFor: a name or what a file says decides, and the first where neither
// does; files that say nothing sensible are for Load to complain about.
func TestFrontFor(t *testing.T) {
	for text, want := range map[string]string{
		"profile: azure\n": "azure", "seed: 1\nprofile: 'azure'\n": "azure", "profile: aws": "aws", "seed: 2": "aws", "profile: axure": "aws", "": "aws", "a: [": "aws", "- azure": "aws",
	} {
		file := filepath.Join(t.TempDir(), "sim.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := sim.FrontFor(file, aws.New(), azure.New()).Provider(); got != want {
			t.Errorf("%q is for %s, want %s", text, got, want)
		}
	}
	for name, want := range map[string]string{"azure": "azure", "aws": "aws", "": "aws", "none/such.yaml": "aws"} {
		if got := sim.FrontFor(name, aws.New(), azure.New()).Provider(); got != want {
			t.Errorf("%q is for %s, want %s", name, got, want)
		}
	}
	p, err := sim.Load(azure.New(), "testdata/azure.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Estate.Accounts) != 5 || p.Estate.Accounts[4] != "00000000-0000-0000-0000-000000000005" {
		t.Errorf("subscriptions %q", p.Estate.Accounts)
	}
	if _, err := sim.New(azure.New(), p); err != nil {
		t.Error(err)
	}
}
