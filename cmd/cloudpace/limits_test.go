package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet/learned"
)

// learnedText is a file that is ten seconds old when a test's time begins, with all that
// can be learned.
const learnedText = `{"version": 1, "scopes": [
 {"scope": "aws/111122223333/us-east-1/sqs", "level": "leaf", "time": "1999-12-31T23:59:50Z", "rps": 5, "max_rps": 20, "burst": 10, "tokens": 0, "throttled": "1999-12-31T23:59:50Z"},
 {"scope": "aws/111122223333/us-east-1/sns", "level": "leaf", "time": "1999-12-31T23:59:50Z", "rps": 2.5, "max_rps": 20, "burst": 5, "tokens": -3, "throttled": "1999-12-31T23:59:50Z", "paused_until": "2000-01-01T00:00:20Z"},
 {"scope": "aws/111122223333/us-east-1/ec2/DescribeSubnets", "level": "leaf", "time": "1999-12-31T23:59:50Z", "rps": 10, "max_rps": 20, "burst": 50, "tokens": 50, "throttled": "1999-12-31T23:59:50Z", "open_until": "2000-01-01T00:00:45Z", "cooldown_seconds": 60, "cause": {"text": "throttled: RequestLimitExceeded: no", "status": 503, "code": "RequestLimitExceeded"}},
 {"scope": "aws/111122223333/eu-west-1/lambda", "level": "leaf", "time": "1999-12-31T23:59:50Z", "rps": 15, "max_rps": 15, "burst": 15, "tokens": 15, "open_until": "1999-12-31T23:59:55Z", "cooldown_seconds": 60},
 {"scope": "aws/444455556666/eu-west-1/lambda", "level": "leaf", "time": "1999-12-31T23:59:59Z", "rps": 15, "max_rps": 15, "burst": 15, "tokens": -15},
 {"scope": "azure/00000000-0000-0000-0000-000000000001/*/*", "level": "account", "time": "1999-12-31T23:59:50Z", "rps": 20, "max_rps": 20, "burst": 200, "tokens": 0, "paused_until": "2000-01-01T00:00:01Z"},
 {"scope": "gcp/projects/example-1/*/bigquery", "level": "leaf", "time": "1999-12-31T23:59:50Z", "rps": 10, "max_rps": 10, "burst": 20, "tokens": 20, "barred_until": "2000-01-01T08:00:00Z", "cause": {"text": "quota of the day"}},
 {"scope": "gcp/*/*/*", "level": "provider", "time": "1999-12-31T23:59:50Z", "rps": 10, "max_rps": 10, "burst": 200, "tokens": 0}
], "budgets": [{"provider": "aws", "time": "1999-12-31T23:59:00Z", "tokens": 100}]}`

// shown runs limits at the time that a bubble begins with, and puts FILE for the file's
// name.
func shown(t *testing.T, file string, args ...string) (text string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		code, stdout, stderr := call(append([]string{"limits"}, args...)...)
		if code != exitDone || stderr != "" {
			t.Errorf("exit code %d, %s", code, stderr)
		}
		text = strings.ReplaceAll(stdout, file, "FILE")
	})
	return text
}

func section(text, from string) string {
	i := strings.Index(text, from)
	if i < 0 {
		return text
	}
	return text[i:]
}

// TestLimitsLearned: what was learned is shown as a run that begins now would meet it,
// the most severe first.
func TestLimitsLearned(t *testing.T) {
	file := keepText(t, learnedText)
	got := section(shown(t, file), "Learned")
	want := `Learned, as it is now
  gcp/projects/example-1/*/bigquery               quota used up for another 8 h, until 2000-01-01 08:00 UTC: quota of the day
  aws/111122223333/us-east-1/ec2/DescribeSubnets  circuit open for another 45 s: throttled: RequestLimitExceeded: no; 11 of 20/s, back there in 50 s
  aws/111122223333/eu-west-1/lambda               circuit half-open, the next call tries: an earlier process found it so
  aws/111122223333/us-east-1/sns                  paused for another 20 s; 3.5 of 20/s, back there in 85 s
  azure/00000000-0000-0000-0000-000000000001      paused for another 1.0 s
  aws/111122223333/us-east-1/sqs                  6 of 20/s, back there in 75 s
  aws/444455556666/eu-west-1/lambda               0 of 15 tokens left
  gcp                                             no limit of this configuration
  retry budget of aws                             150 of 500 left
It is kept in FILE; --fresh forgets it.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestLimitsOfScope: which of it a call meets, from which limits.
func TestLimitsOfScope(t *testing.T) {
	file := keepText(t, learnedText)
	config := filepath.Join(t.TempDir(), "cloudpace.yaml")
	if err := os.WriteFile(config, []byte("ratelimit:\n  aws:\n    account_max_rps: 50\n    max_retries: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(shown(t, file, "aws/111122223333/us-east-1/ec2/DescribeSubnets", "--config", config), config, "CONFIG")
	want := `What calls in aws/111122223333/us-east-1/ec2/DescribeSubnets wait for

  level    bucket                                          calls/s  burst  from
  account  aws/111122223333                                50       100    CONFIG:3
  leaf     aws/111122223333/us-east-1/ec2/DescribeSubnets  20       100    built in: EC2 API throttling: a bucket per action, account and region; 100 tokens and 20 a second for actions that only read, 50 tokens and 5 a second for those that change things

settings                    aws
  enabled                   true
  max_concurrency           128
  adaptive                  true
  controller                aimd
  ceiling                   hard
  min_rps                   0.2
  max_pause_seconds         300
  breaker_threshold         5
  breaker_cooldown_seconds  60
  max_retries               3
  max_backoff_seconds       60
  deadline_seconds          900
  retry_budget              500
  aws.retry_mode            standard
  aws.max_retries           10
Built in, but for
  ratelimit.aws.max_retries: CONFIG:4

Learned of aws/111122223333/us-east-1/ec2/DescribeSubnets, as it is now
  aws/111122223333/us-east-1/ec2/DescribeSubnets  circuit open for another 45 s: throttled: RequestLimitExceeded: no; 11 of 20/s, back there in 50 s
  retry budget of aws                             150 of 500 left
It is kept in FILE; --fresh forgets it.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for scope, wants := range map[string]string{
		"aws/111122223333/us-east-1/sqs/ListQueues":            "aws/111122223333/us-east-1/sqs  6 of 20/s", // all its operations have one leaf
		"aws/111122223333/us-east-1/sqs":                       "aws/111122223333/us-east-1/sqs  6 of 20/s",
		"aws/*/*/lambda":                                       "aws/444455556666/eu-west-1/lambda  0 of 15 tokens",
		"azure/00000000-0000-0000-0000-000000000001/*/network": "azure/00000000-0000-0000-0000-000000000001  paused for",
		"azure/00000000-0000-0000-0000-000000000002/*/network": "Learned of azure/00000000-0000-0000-0000-000000000002/*/network: nothing.",
		"azure/00000000-0000-0000-0000-000000000001":           "azure/00000000-0000-0000-0000-000000000001  paused for",
		"gcp/projects/example-1":                               "quota used up",
		"gcp/projects/example-2":                               "no limit of this configuration",
		"databricks":                                           "Learned of databricks: nothing.",
		"github/*/*/search":                                    "Learned of github/*/*/search: nothing.",
	} {
		if got := shown(t, file, scope); !strings.Contains(got, wants) {
			t.Errorf("%s does not show %q:\n%s", scope, wants, got)
		}
	}
	if got := shown(t, file, "aws/111122223333/us-east-1/ec2"); !strings.Contains(got, "Each operation has a leaf of its own") {
		t.Errorf("ec2 as such is shown as\n%s", got)
	}
}

// TestLimitsJSON: the keys are an interface.
func TestLimitsJSON(t *testing.T) {
	file := keepText(t, learnedText)
	t.Setenv("CLOUDPACE_RATELIMIT__AWS__MAX_CONCURRENCY", "7")
	got := shown(t, file, "aws/111122223333/us-east-1/sqs/ListQueues", "--json")
	var d map[string]any
	if err := json.Unmarshal([]byte(got), &d); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]any{
		"scope": "aws/111122223333/us-east-1/sqs/ListQueues", "file": "FILE", "enabled.value": true, "enabled.from": "built in",
		"providers.0.provider": "aws", "providers.0.built_in": true,
		"providers.0.buckets.0.level": "provider", "providers.0.buckets.0.rps.value": nil, "providers.0.buckets.0.rps.from": "built in",
		"providers.0.buckets.5.name": "ec2", "providers.0.buckets.5.per_operation": true, "providers.0.buckets.5.burst.value": 100.0,
		"providers.0.buckets.6.name": "ec2", "providers.0.buckets.6.writes": true, "providers.0.buckets.6.rps.value": 5.0,
		"providers.0.buckets.7.name": "ec2.AcceptVpcEndpointConnections", "providers.0.buckets.7.own": true, "providers.0.buckets.7.rps.value": 1.0,
		"providers.0.settings.1.key": "ratelimit.aws.max_concurrency", "providers.0.settings.1.value": 7.0,
		"providers.0.settings.1.from": "CLOUDPACE_RATELIMIT__AWS__MAX_CONCURRENCY",
		"call.0.level":                "leaf", "call.0.scope": "aws/111122223333/us-east-1/sqs", "call.0.rps.value": 20.0, "call.0.rps.source": "general default",
		"learned.0.scope": "aws/111122223333/us-east-1/sqs", "learned.0.rps": 6.0, "learned.0.time": "2000-01-01T00:00:00Z",
		"learned.0.recovered": "2000-01-01T00:01:15Z", "learned.0.in_force": true,
		"budgets.0.provider": "aws", "budgets.0.tokens": 150.0,
	} {
		if got := lookUp(d, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	if n := len(d["learned"].([]any)); n != 1 {
		t.Errorf("%d entries", n)
	}
}

func lookUp(v any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(in) {
				return errors.New("no element " + step)
			}
			v = in[i]
		}
	}
	return v
}

// TestLimitsAreThoseInForce: each number of the table is the one that a governor has, for
// every service, what was configured included, and each says where it is from.
func TestLimitsAreThoseInForce(t *testing.T) {
	ownCache(t)
	config := filepath.Join(t.TempDir(), "cloudpace.yaml")
	for _, text := range []string{
		"",
		"ratelimit: {aws: {max_rps: 3, global_max_rps: .inf, services: {ec2: {max_rps: 2}, ec2.RunInstances: {max_rps: 2, burst: 4}, new: {max_rps: 1, per_operation: true}}}}",
		"ratelimit: {aws: {services: {ec2: {max_rps: 10, per_operation: false}}}, own: {account_max_rps: 1}}",
		"ratelimit: {enabled: false, azure: {enabled: false, burst: 0.5}}",
	} {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		settings, places, err := configuration(config, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		g, err := cloudpace.New(switchedOn(settings))
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range settings.Providers {
			services := append(slices.Collect(maps.Keys(p.Services)), "unheard-of")
			for _, service := range services {
				for _, operation := range []string{"", "DescribeSubnets", "RunInstances", "CreateTags", "DescribeSpotDatafeedSubscription", "CreateVpc"} {
					s := cloudpace.Scope{Provider: name, Account: "1", Service: service, Operation: operation}
					d, err := inForce(settings, places, part{s})
					if err != nil {
						t.Fatal(err)
					}
					for i, b := range g.Look(s).Buckets {
						c := d.Call[i]
						if c.Level != b.Level || c.RPS.Value != number(b.MaxRPS, "", "").Value || c.Burst.Value != number(b.Burst, "", "").Value || c.RPS.From == "" {
							t.Errorf("%s of %q: shown is %+v, in force %+v", s, text, c, b)
						}
						if set := strings.Contains(text, service+":") && c.Level == levelLeaf; set && operation == "" && !strings.HasPrefix(c.RPS.From, config+":1") {
							t.Errorf("%s of %q is from %+v", s, text, c.RPS)
						}
					}
				}
			}
		}
	}
}

// TestLimitsText: the tables, with what was set.
func TestLimitsText(t *testing.T) {
	file := ownCache(t)
	config := filepath.Join(t.TempDir(), "cloudpace.yaml")
	if err := os.WriteFile(config, []byte("ratelimit:\n  enabled: false\n  aws:\n    services:\n      ec2: {max_rps: 10}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(shown(t, file, "--config", config), config, "CONFIG")
	for _, want := range []string{
		"Nothing is paced: ratelimit.enabled is false, CONFIG:2.",
		"\naws  ", "\nazure  ", "\ngcp  ", "\ndatabricks  ",
		"  ec2, each operation                           10         20       CONFIG:5\n",
		"  ec2, each operation that changes things       5          20       built in: EC2 API",
		"  ec2, 89 operations with figures of their own  0.1 to 10  1 to 20  built in: EC2 Developer Guide",
		"  all calls of an account  20       200    built in: Azure Resource Manager: 250 tokens",
		"  storage                  0.33     20     built in: Storage resource provider: 100 lists in 5 minutes\n",
		"  every other service      10       20     built in: none published for polling\n",
		"  max_concurrency                 128       16     16          16\n",
		"  graph_max_retries                         5\n",
		"All of them are built in.\n",
		"Learned: nothing.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	for line := range strings.Lines(got) {
		if strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
			t.Errorf("%q ends with blanks", line)
		}
	}
}

// TestLimitsForgets: all of it, or a part, and says how much that was.
func TestLimitsForgets(t *testing.T) {
	for scope, c := range map[string]struct {
		says string
		left int
	}{
		"":                           {"Forgot 9 entries in FILE.\n", 0},
		"aws":                        {"Forgot 6 entries of aws in FILE.\n", 3}, // with its budget
		"aws/111122223333/us-east-1": {"Forgot 3 entries of aws/111122223333/us-east-1 in FILE.\n", 6},
		"aws/111122223333/us-east-1/sqs/ListQueues":   {"Forgot 1 entry of aws/111122223333/us-east-1/sqs in FILE.\n", 8},
		"aws/111122223333/us-east-1/ec2/DescribeVpcs": {"Forgot 0 entries of aws/111122223333/us-east-1/ec2/DescribeVpcs in FILE.\n", 9},
		"azure/00000000-0000-0000-0000-000000000001":  {"Forgot 1 entry of azure/00000000-0000-0000-0000-000000000001 in FILE.\n", 8},
		"azure/*/*/network":                           {"Forgot 0 entries of azure/*/*/network in FILE.\n", 9}, // the subscription is everybody's
		"github":                                      {"Forgot 0 entries of github in FILE.\n", 9},
	} {
		t.Run(scope, func(t *testing.T) {
			file := keepText(t, learnedText)
			args := []string{"--fresh"}
			if scope != "" {
				args = append(args, scope)
			}
			if got := shown(t, file, args...); got != c.says {
				t.Errorf("says %q, want %q", got, c.says)
			}
			synctest.Test(t, func(t *testing.T) {
				l, err := learned.Read(file)
				if left := len(l.Scopes) + len(l.Budgets); err != nil || left != c.left {
					t.Errorf("%d are left, want %d (%v)", left, c.left, err)
				}
			})
		})
	}
	file := keepText(t, learnedText)
	if got := shown(t, file, "--fresh", "--json"); got != "{\n  \"file\": \"FILE\",\n  \"forgotten\": 9\n}\n" {
		t.Errorf("as JSON: %s", got)
	}
}

// TestLimitsWithoutFile: one that cannot be read, or is of a later version, is a warning;
// the limits are shown all the same, and to forget all takes it away.
func TestLimitsWithoutFile(t *testing.T) {
	for name, text := range map[string]string{"cut": `{"version":1,"sc`, "newer": `{"version":2,"scopes":{}}`} {
		t.Run(name, func(t *testing.T) {
			file := keepText(t, text)
			code, stdout, stderr := call("limits", "azure")
			if code != exitDone || !strings.HasPrefix(stderr, "cloudpace: warning: what earlier runs learned: "+file) || strings.Count(stderr, "\n") != 1 ||
				!strings.Contains(stdout, "Learned of azure: nothing.") {
				t.Errorf("exit code %d, %s%s", code, stdout, stderr)
			}
			if code, _, stderr := call("limits", "--fresh", "azure"); code != exitBroken || !strings.Contains(stderr, "nothing is forgotten") {
				t.Errorf("a part of it: exit code %d, %s", code, stderr)
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != text {
				t.Errorf("it has %s, %v", got, err)
			}
			code, stdout, stderr = call("limits", "--fresh")
			if _, err := os.Stat(file); code != exitDone || !strings.Contains(stderr, "it is removed") || !strings.HasPrefix(stdout, "Forgot 0 entries") || !os.IsNotExist(err) {
				t.Errorf("exit code %d, %s%s, %v", code, stdout, stderr, err)
			}
		})
	}
	t.Setenv(cacheVariable(), "")
	t.Setenv("HOME", "")
	if code, stdout, stderr := call("limits", "azure"); code != exitDone || !strings.Contains(stderr, "warning") || !strings.Contains(stdout, "storage") {
		t.Errorf("without a cache directory: exit code %d, %s", code, stderr)
	}
	if code, _, _ := call("limits", "--fresh"); code != exitBroken {
		t.Errorf("to forget, without a cache directory: exit code %d", code)
	}
}

// TestLimitsRefuses: what cannot be meant.
func TestLimitsRefuses(t *testing.T) {
	ownCache(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{""}, "allowed: PROVIDER[/ACCOUNT"}, {[]string{"*"}, "aws, azure, databricks, gcp"}, {[]string{"/1"}, "allowed"},
		{[]string{" aws"}, "allowed"}, {[]string{"aws/%zz"}, `scope "aws/%zz"`}, {[]string{"aws/1%2"}, "allowed"},
		{[]string{"aws", "azure"}, "at most 1"}, {[]string{"--config", ""}, "--config is empty"}, {[]string{"--config", "/no/such.yaml"}, "such.yaml"},
	} {
		if code, _, stderr := call(append([]string{"limits"}, c.args...)...); code != exitUsage || !strings.Contains(stderr, c.says) || !strings.Contains(stderr, "limits --help") {
			t.Errorf("%q: exit code %d, %s", c.args, code, stderr)
		}
	}
	code, stdout, stderr := call("limits", "asw")
	if code != exitDone || !strings.Contains(stderr, "did you mean aws?") || !strings.Contains(stdout, "asw (not built in)") || !strings.Contains(stdout, "general default") {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
	if code, _, stderr := call("limits", "github"); code != exitDone || stderr != "" {
		t.Errorf("one's own: exit code %d, %s", code, stderr)
	}
}

// TestLimitsManyLearned: a list that is too long to be read is cut, and says so.
func TestLimitsManyLearned(t *testing.T) {
	g, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	var l cloudpace.Learned
	for i := range 1000 {
		now := time.Now()
		l.Scopes = append(l.Scopes, cloudpace.LearnedScope{
			Scope: cloudpace.Scope{Provider: "aws", Account: fmt.Sprint(i), Service: "sqs"}.String(), Level: levelLeaf,
			Time: now, RPS: 1 + float64(i)/1000, MaxRPS: 20, Burst: 1, Throttled: now,
		})
	}
	d, err := inForce(cloudpace.DefaultConfig(), nil, part{})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.recall(g, part{}, l); err != nil || len(d.Learned) != 1000 || d.Learned[0].RPS != 1 {
		t.Fatalf("%d entries, %v", len(d.Learned), err)
	}
	var text strings.Builder
	d.textLearned(&text, part{}, time.Now())
	if got := text.String(); strings.Count(got, "\n") != learnedShown+3 || !strings.Contains(got, "  and 980 more; --json has them all\n") {
		t.Errorf("got\n%s", got)
	}
}

// FuzzLimitsScope: whatever is typed is a part of the cloud that its text names, or wrong
// usage.
func FuzzLimitsScope(f *testing.F) {
	for _, text := range []string{"aws", "aws/1/r/ec2/DescribeSubnets", "gcp/projects/x", "gcp/projects", "aws/%2F", "*/x", "a//b", "aws/*/*/*/*"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePart(text)
		if err != nil {
			var exit *exitError
			if !errors.As(err, &exit) || exit.code != exitUsage {
				t.Fatal(err)
			}
			return
		}
		again, err := parsePart(p.short())
		if err != nil || again != p {
			t.Errorf("%q is %+v, which is written %q and read as %+v, %v", text, p, p.short(), again, err)
		}
	})
}

// TestLimitsCompletes: providers, their services, and what something was learned of.
func TestLimitsCompletes(t *testing.T) {
	entry := fmt.Sprintf(`{"scope": "aws/111122223333/us-east-1/sqs", "level": "leaf", "time": %q, "rps": 1, "max_rps": 20, "burst": 2, "tokens": 0}`, time.Now().Format(time.RFC3339))
	keepText(t, `{"version": 1, "scopes": [`+entry+`]}`)
	for typed, want := range map[string]string{
		"":        "aws\n",
		"az":      "azure\nazure/*/*/network\nazure/*/*/resourcegraph\nazure/*/*/storage\n:",
		"gcp/":    "gcp/*/*/cloudasset/ListAssets\n",
		"aws/1":   "aws/111122223333\naws/111122223333/us-east-1/sqs\n:",
		"aws/*/*": "aws/*/*/ec2\n",
	} {
		if _, out, _ := call("__complete", "limits", typed); !strings.Contains("\n"+out, "\n"+want) {
			t.Errorf("%q completes to\n%s", typed, out)
		}
	}
}
