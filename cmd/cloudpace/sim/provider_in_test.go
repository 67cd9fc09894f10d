package sim_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
)

// TestProviderIn: a name or what a file says; files that say nothing sensible are for
// Load to complain about.
func TestProviderIn(t *testing.T) {
	for text, want := range map[string]string{
		"profile: azure\n": "azure", "seed: 1\nprofile: 'azure'\n": "azure", "profile: aws": "aws", "profile: axure": "axure",
		"seed: 2": "", "": "", "a: [": "", "- azure": "",
	} {
		file := filepath.Join(t.TempDir(), "sim.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := sim.ProviderIn(file); got != want {
			t.Errorf("%q is for %s, want %s", text, got, want)
		}
	}
	for name, want := range map[string]string{"azure": "azure", "aws": "aws", "": "", "none/such.yaml": ""} {
		if got := sim.ProviderIn(name); got != want {
			t.Errorf("%q is for %s, want %s", name, got, want)
		}
	}
	for file, front := range map[string]sim.Front{"testdata/gcp.yaml": gcp.New(), "gcp": gcp.New()} {
		p, err := sim.Load(front, file)
		if err != nil {
			t.Fatal(err)
		}
		if sim.ProviderIn(file) != "gcp" || p.Estate.Accounts[0] != "example-1" {
			t.Errorf("%s: %+v", file, p)
		}
		if _, err := sim.New(front, p); err != nil {
			t.Error(err)
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
