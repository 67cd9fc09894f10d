//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLimits: the built command remembers from one run to the next: the second does not
// meet the throttles that the first learned from, limits shows why, and forgets it.
func TestLimits(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "sim.yaml")
	const operation = "DescribeImageAttribute"
	text := "estate:\n  regions: [us-east-1]\n  assets: 0\n  types: {AWS::EC2::Image: 40}\nquotas:\n- {service: ec2, operation: " + operation + ", burst: 12, rate: 15}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startSim(t, "--profile", file)
	env := append([]string{
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"),
		"CLOUDPACE_RATELIMIT__AWS__SERVICES__EC2__" + operation + "__MAX_RPS=20", "CLOUDPACE_RATELIMIT__AWS__SERVICES__EC2__" + operation + "__BURST=20",
	}, credentials...)
	var throttled []int
	for range 2 {
		r := runMap(t, env, "-p", "aws", "--regions", region, "--endpoint-url", s.url, "--only", "compute", "--fail-on-partial")
		if r.code != 0 || strings.Contains(r.stderr, "warning") {
			t.Fatalf("exit code %d", r.code)
		}
		throttled = append(throttled, r.document(t).Throttling.Totals.Throttled)
	}
	s.stop(t)
	if throttled[0] == 0 || throttled[1] != 0 {
		t.Errorf("throttled %d times in the first run and %d in the second", throttled[0], throttled[1])
	}
	limits := func(args ...string) []byte {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, binary, append([]string{"limits", "--json"}, args...)...)
		c.Env = clean(home, env...)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var shown struct {
		Learned []struct {
			Scope  string  `json:"scope"`
			RPS    float64 `json:"rps"`
			MaxRPS float64 `json:"max_rps"`
		} `json:"learned"`
	}
	if err := json.Unmarshal(limits("aws/*/*/ec2/"+operation), &shown); err != nil {
		t.Fatal(err)
	}
	if l := shown.Learned; len(l) != 1 || !strings.HasSuffix(l[0].Scope, "/us-east-1/ec2/"+operation) || l[0].RPS >= l[0].MaxRPS {
		t.Errorf("learned %+v", l)
	}
	var gone struct {
		Forgotten int `json:"forgotten"`
	}
	if err := json.Unmarshal(limits("--fresh"), &gone); err != nil || gone.Forgotten == 0 {
		t.Errorf("forgotten %+v, %v", gone, err)
	}
}
