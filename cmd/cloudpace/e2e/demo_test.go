//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
)

// TestDemo: the README's first command, as built, finds what its simulated clouds
// have and names what goes wrong there. Credentials of the user, an
// endpoint and a proxy are set, and lead nowhere.
func TestDemo(t *testing.T) {
	r := runMap(t, append([]string{"AWS_ENDPOINT_URL=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1", "AWS_PROFILE=none"}, credentials...), "--demo", "--fail-on-partial")
	if r.code != 3 {
		t.Fatalf("exit code %d, want 3", r.code)
	}
	d := r.document(t)
	gaps := make(map[string]int)
	for _, c := range d.Coverage {
		if c.Task == "azure_full" {
			continue // it sums the others up
		}
		if c.Status != "SUCCESS" {
			gaps[c.Status+" "+c.Reason]++
		}
		if c.Task == "ec2_images" && c.Status == "SUCCESS" && (c.Assets != 600 || c.Details != 600 || c.Incomplete != 0) {
			t.Errorf("images in %s of %s: %+v", c.Region, c.Account, c)
		}
	}
	regional := 0
	for _, k := range aws.Kinds() {
		if !k.Global {
			regional++
		}
	}
	for kind, want := range map[string]int{
		"FAILED denied_by_policy": 3 * regional, "FAILED unreachable": 3 + 1, "PARTIAL truncated": 1 + 1, "FAILED access_denied": 1,
	} {
		if gaps[kind] != want {
			t.Errorf("%s: %d, want %d", kind, gaps[kind], want)
		}
		delete(gaps, kind)
	}
	if len(gaps) > 0 {
		t.Errorf("and also %v", gaps)
	}
	if n := len(r.assets(t)); n != d.Summary.Assets || n < 30_000 {
		t.Errorf("%d assets are written, %d in the summary", n, d.Summary.Assets)
	}
	for _, account := range []string{"111122223333", "444455556666", "777788889999"} {
		if c := d.scope(t, "aws/"+account+"/us-east-1/ec2"); c.Throttled == 0 || c.Waits == 0 || c.GaveUp > 0 {
			t.Errorf("where the neighbour is, in %s: %+v", account, c)
		}
	}
	if c := d.scope(t, "azure/00000000-0000-0000-0000-000000000001/*/web"); c.Throttled == 0 || c.GaveUp > 0 {
		t.Errorf("where App Service throttles: %+v", c)
	}
	for _, sentence := range []string{"\nFound ", "\nThrottled: ", fmt.Sprintf("\nMissing: something in %d of %d tasks", 3*regional+4+6, len(d.Coverage))} {
		if !strings.Contains(strings.ReplaceAll(r.stderr, ",", ""), sentence) { // numbers are grouped for people
			t.Errorf("standard error has no sentence %q", sentence)
		}
	}
}
