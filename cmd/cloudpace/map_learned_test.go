package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simaws "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
	"github.com/cloudpace/cloudpace/fleet/learned"
)

// remembered reads what is kept, by scope.
func remembered(t *testing.T) map[string]cloudpace.LearnedScope {
	t.Helper()
	l, err := learned.Read(ownCache(t))
	if err != nil {
		t.Fatal(err)
	}
	m := make(map[string]cloudpace.LearnedScope)
	for _, e := range l.Scopes {
		m[e.Scope] = e
	}
	return m
}

const (
	vpcsLeaf    = "aws/" + fakeaws.Account + "/us-east-1/ec2/DescribeVpcs"
	subnetsLeaf = "aws/" + fakeaws.Account + "/us-east-1/ec2/DescribeSubnets"
)

// refused is an answer of EC2 that asks for less.
func refused() fakeaws.Answer { return fakeaws.Fail(503, "RequestLimitExceeded") }

// TestMapTwice: against a quota that is half of what is documented, the second of two
// runs does not meet the throttles that the first learned from, and one that begins
// without does.
func TestMapTwice(t *testing.T) {
	p := sim.Default(simaws.New())
	p.Estate = sim.EstateConfig{Accounts: []string{fakeaws.Account}, Regions: []string{"us-east-1"}, Types: map[string]int{"AWS::EC2::Image": 40}}
	// At a rate of 15 a run that has slowed down to 10 is never refused, at whatever time
	// it begins, since its own bucket holds less and fills more slowly.
	p.Quotas = []sim.Quota{{Match: sim.Match{Operation: sim.Patterns{"DescribeImageAttribute"}}, Burst: 12, Rate: 15}}
	server, url := simulate(t, p)
	ownCache(t)
	config := filepath.Join(t.TempDir(), "cloudpace.yaml")
	if err := os.WriteFile(config, []byte("ratelimit: {aws: {services: {ec2.DescribeImageAttribute: {max_rps: 20, burst: 20}}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	throttled := func(args ...string) int {
		t.Helper()
		before := server.Report().Totals.Throttled
		args = append([]string{"map", "-p", "aws", "--endpoint-url", url, "--config", config, "--only", "compute", "--fail-on-partial", "-o", t.TempDir()}, args...)
		if code, _, stderr := call(args...); code != exitDone {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
		return server.Report().Totals.Throttled - before
	}
	first, second, fresh := throttled(), throttled(), throttled("--fresh")
	if first == 0 || second != 0 || fresh == 0 {
		t.Errorf("throttled %d times in the first run, %d in the second, %d in one that begins without; want some, none, some", first, second, fresh)
	}
}

// TestMapInterruptedRemembers: what was learned until then is kept.
func TestMapInterruptedRemembers(t *testing.T) {
	s := fakeaws.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.On("ec2.DescribeVpcs", func(r fakeaws.Request) (int, string) {
		cancel()
		return refused()(r)
	})
	s.On("ec2.DescribeSubnets", refused())
	if o := command(t, ctx, s, "--only", "network"); o.code != exitInterrupted {
		t.Errorf("exit code %d", o.code)
	}
	if kept := remembered(t); len(kept) == 0 {
		t.Error("nothing is kept")
	}
}

// TestTwoMapsAtOnce: both keep what they learn in one file, and neither loses the
// other's.
func TestTwoMapsAtOnce(t *testing.T) {
	ownCache(t)
	t.Setenv("CLOUDPACE_AWS__MAX_RETRIES", "0")
	var clouds []*fakeaws.Server // before any run, since each sets variables
	for _, operation := range []string{"DescribeVpcs", "DescribeSubnets"} {
		s := fakeaws.New(t)
		s.On("ec2."+operation, refused())
		clouds = append(clouds, s)
	}
	var work sync.WaitGroup
	for _, s := range clouds {
		dir := filepath.Join(t.TempDir(), "out")
		work.Go(func() {
			var stderr bytes.Buffer
			if code := run(t.Context(), []string{"map", "--endpoint-url", s.URL, "-o", dir, "--regions", "us-east-1", "--only", "network"}, nil, &stderr, &stderr); code != exitDone || strings.Contains(stderr.String(), "warning") {
				t.Errorf("exit code %d\n%s", code, &stderr)
			}
		})
	}
	work.Wait()
	kept := remembered(t)
	for _, leaf := range []string{vpcsLeaf, subnetsLeaf} {
		if kept[leaf].RPS != 10 {
			t.Errorf("of %s is kept %+v", leaf, kept[leaf])
		}
	}
}

// TestMapWarnsOnce: a file that is no use is said once, on a line of its own, and a run
// is none the worse; it is replaced unless a later version wrote it.
func TestMapWarnsOnce(t *testing.T) {
	for name, c := range map[string]struct {
		text, says string
		args       []string
		kept       bool
	}{
		"cut":              {`{"version":1,"scop`, "cannot be read", nil, false},
		"cut, and fresh":   {`{"version":1,"scop`, "", []string{"--fresh"}, false},
		"newer":            {`{"version":7}`, "has form 7, and this version of cloudpace reads form 1", nil, true},
		"newer, and fresh": {`{"version":7}`, "has form 7, and this version of cloudpace reads form 1", []string{"--fresh"}, true},
		"nonsense":         {`{"version":1,"scopes":[{"scope":"x","level":"leaf","time":"2999-01-01T00:00:00Z"}]}`, "", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := keepText(t, c.text)
			s := fakeaws.New(t)
			s.On("ec2.DescribeVpcs", refused())
			o := command(t, t.Context(), s, append([]string{"--only", "network"}, c.args...)...)
			var warnings []string
			for line := range strings.Lines(o.stderr) {
				if strings.Contains(line, "warning") {
					warnings = append(warnings, line)
				}
			}
			switch {
			case o.code != exitDone:
				t.Errorf("exit code %d", o.code)
			case c.says == "" && len(warnings) > 0,
				c.says != "" && (len(warnings) != 1 || !strings.HasPrefix(warnings[0], "cloudpace: warning: what earlier runs learned: "+path) || !strings.Contains(warnings[0], c.says)):
				t.Errorf("warnings: %q", warnings)
			}
			text, err := os.ReadFile(path)
			if err != nil || (string(text) == c.text) != c.kept {
				t.Errorf("the file has %s, %v", text, err)
			}
			if !c.kept && remembered(t)[vpcsLeaf].RPS != 10 {
				t.Errorf("%s is not kept", vpcsLeaf)
			}
		})
	}
}

// TestDemoRemembersNothing: its accounts are nobody's, and each time new ones.
func TestDemoRemembersNothing(t *testing.T) {
	path := ownCache(t)
	if o := demonstrate(t, t.Context(), "-p", "aws", "--only", "messaging"); o.code != exitDone {
		t.Errorf("exit code %d", o.code)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("it made %s (%v)", filepath.Dir(path), err)
	}
	if o := demonstrate(t, t.Context(), "--fresh"); o.code != exitUsage || !strings.Contains(o.stderr, "--demo and --fresh") {
		t.Errorf("exit code %d, %s", o.code, o.stderr)
	}
}
