package config

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
)

func mustParse(t *testing.T, text string) cloudpace.Config {
	t.Helper()
	cfg, warnings, err := Parse([]byte(text))
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%s\n%v %v", text, warnings, err)
	}
	return cfg
}

func TestUnsetMeansBuiltIn(t *testing.T) {
	for _, text := range []string{
		"", "  \n", "# nothing\n", "---\n", "null\n", "{}", "\ufeff", "ratelimit:\n", "ratelimit: {aws: , gcp: ~}",
		"ratelimit: {enabled: , aws: {max_rps: , services: }}", "ratelimit: {aws: {services: {ec2: }}}", "databricks: {retry: {delay_min: 0}}",
	} {
		if cfg := mustParse(t, text); !reflect.DeepEqual(cfg, cloudpace.DefaultConfig()) {
			t.Errorf("%q: not the built-in settings: %+v", text, cfg)
		}
	}
}

func TestExampleFileShowsTheDefaults(t *testing.T) {
	text, err := os.ReadFile("testdata/cloudpace.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cfg := mustParse(t, string(text))
	for _, own := range []string{"github"} {
		if _, ok := cfg.Providers[own]; !ok {
			t.Errorf("%s is missing", own)
		}
		delete(cfg.Providers, own)
	}
	delete(cfg.Providers["aws"].Services, "ec2.RunInstances")
	ec2 := cfg.Providers["aws"].Services["ec2"]
	if ec2.Controller != "aimd" || ec2.Ceiling != "hard" {
		t.Errorf("ec2: %+v", ec2)
	}
	ec2.Controller, ec2.Ceiling = "", ""
	cfg.Providers["aws"].Services["ec2"] = ec2
	want := cloudpace.DefaultConfig()
	databricks := want.Providers["databricks"]
	want.Providers["databricks"] = databricks
	if !reflect.DeepEqual(cfg, want) {
		t.Errorf("got  %+v\nwant %+v", cfg, want)
	}
	for _, keys := range [][]key{ratelimitKeys, providerKeys, azureKeys, serviceKeys, awsKeys, databricksRetryKeys} {
		for _, k := range keys {
			if !strings.Contains(string(text), k.name+":") {
				t.Errorf("the example does not show %s", k.name)
			}
		}
	}
}

func TestEachKeyArrives(t *testing.T) {
	cfg := mustParse(t, `
ratelimit:
  enabled: false
  gcp:
    enabled: false
    max_rps: 1
    burst: 2
    account_max_rps: 3
    account_burst: 4
    global_max_rps: 5
    global_burst: 6
    max_concurrency: 7
    adaptive: false
    ceiling: soft
    min_rps: 0.5
    max_pause_seconds: 8
    breaker_threshold: 9
    breaker_cooldown_seconds: 10.5
    max_retries: 11
    max_backoff_seconds: 0.25
    deadline_seconds: 13
    retry_budget: 14
    services:
      a: {max_rps: 15, burst: 16, per_operation: true, controller: aimd, ceiling: soft}
  azure: {graph_max_retries: 17}
aws: {retry_mode: adaptive, max_retries: 18}
databricks:
  retry: {delay_min: 0.5, delay_max: 20, attempts: 21, duration: 22, delay_default: 23}
`)
	gcp := cfg.Providers["gcp"]
	service := gcp.Services["a"]
	gcp.Services = nil
	want := cloudpace.Provider{
		MaxRPS: 1, Burst: 2, AccountMaxRPS: 3, AccountBurst: 4, GlobalMaxRPS: 5, GlobalBurst: 6, MaxConcurrency: 7,
		Controller: "aimd", Ceiling: "soft", MinRPS: 0.5, MaxPause: 8 * time.Second, BreakerThreshold: 9,
		BreakerCooldown: 10500 * time.Millisecond, MaxRetries: 11, MaxBackoff: 250 * time.Millisecond,
		Deadline: 13 * time.Second, RetryBudget: 14,
	}
	if cfg.Enabled || !reflect.DeepEqual(gcp, want) {
		t.Errorf("got  %+v\nwant %+v", gcp, want)
	}
	if want := (cloudpace.Service{MaxRPS: 15, Burst: 16, PerOperation: true, Controller: "aimd", Ceiling: "soft"}); service != want {
		t.Errorf("service %+v", service)
	}
	if cfg.Azure.GraphMaxRetries != 17 || cfg.AWS != (cloudpace.AWSConfig{RetryMode: "adaptive", MaxRetries: 18}) {
		t.Errorf("azure %+v aws %+v", cfg.Azure, cfg.AWS)
	}
	if got, want := cfg.Databricks.Retry, (cloudpace.DatabricksRetry{
		DelayMin: 500 * time.Millisecond, DelayMax: 20 * time.Second, Duration: 22 * time.Second, DelayDefault: 23 * time.Second, Attempts: 21,
	}); got != want {
		t.Errorf("databricks %+v", got)
	}
}

func TestS3_3ARateWithoutBurstGetsTwiceTheRate(t *testing.T) {
	cfg := mustParse(t, `
ratelimit:
  azure: {max_rps: 8, account_max_rps: 6, global_max_rps: 0.1}
  aws: {burst: 7, services: {lambda: {max_rps: 3}}}
  gcp: {max_rps: .inf}
`)
	azure, aws := cfg.Providers["azure"], cfg.Providers["aws"]
	if azure.Burst != 16 || azure.AccountBurst != 12 || azure.GlobalBurst != 0.2 {
		t.Errorf("azure %v %v %v", azure.Burst, azure.AccountBurst, azure.GlobalBurst)
	}
	if aws.MaxRPS != 20 || aws.Burst != 7 || aws.Services["lambda"].Burst != 6 {
		t.Errorf("aws %+v", aws)
	}
	if b := cfg.Providers["gcp"].Burst; !math.IsInf(b, 1) {
		t.Errorf("gcp %v", b)
	}
}

func TestMinRPSFollowsALowRate(t *testing.T) {
	if p := mustParse(t, "ratelimit: {aws: {max_rps: 0.1}}").Providers["aws"]; p.MinRPS != 0.1 {
		t.Errorf("unset: %v", p.MinRPS)
	}
	if p := mustParse(t, "ratelimit: {aws: {max_rps: 0.1, min_rps: 0.05}}").Providers["aws"]; p.MinRPS != 0.05 {
		t.Errorf("set: %v", p.MinRPS)
	}
	_, _, err := Parse([]byte("ratelimit:\n  aws:\n    max_rps: 0.1\n    min_rps: 0.2\n"))
	if err == nil || err.Error() != "line 4: ratelimit.aws.min_rps is 0.2 (allowed: > 0, at most max_rps, which is 0.1)" {
		t.Errorf("set above: %v", err)
	}
}

func TestServiceReplacesTheBuiltInEntry(t *testing.T) {
	for text, want := range map[string]cloudpace.Service{
		// The write row stays, capped.
		"ec2: {max_rps: 10}":                       {MaxRPS: 10, Burst: 20, PerOperation: true, WriteMaxRPS: 5, WriteBurst: 20},
		"ec2: {max_rps: 2}":                        {MaxRPS: 2, Burst: 4, PerOperation: true, WriteMaxRPS: 2, WriteBurst: 4},
		"ec2: {max_rps: 30, burst: 200}":           {MaxRPS: 30, Burst: 200, PerOperation: true, WriteMaxRPS: 5, WriteBurst: 50},
		"ec2: {max_rps: 10, per_operation: false}": {MaxRPS: 10, Burst: 20},
		"iam: {max_rps: 3, per_operation: true}":   {MaxRPS: 3, Burst: 6, PerOperation: true},
		"ec2.RunInstances: {max_rps: 1, burst: 3}": {MaxRPS: 1, Burst: 3},
		"new: {max_rps: 1, ceiling: soft}":         {MaxRPS: 1, Burst: 2, Ceiling: "soft"},
	} {
		name, _, _ := strings.Cut(text, ":")
		cfg := mustParse(t, "ratelimit: {aws: {services: {"+text+"}}}")
		if got := cfg.Providers["aws"].Services[name]; got != want {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
		// The others stay.
		if cfg.Providers["aws"].Services["sts"].MaxRPS != 50 {
			t.Errorf("%s: sts is gone", text)
		}
	}
}

func TestOtherProvidersStartFromTheGeneralDefaults(t *testing.T) {
	cfg := mustParse(t, "ratelimit: {github: {max_retries: 3}, other: {}}")
	want := cloudpace.DefaultProvider()
	if got := cfg.Providers["other"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	want.MaxRetries = 3
	if got := cfg.Providers["github"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// A burst whose rate is nowhere set limits nothing. Whoever wrote it meant a limit.
func TestS9_4BurstWithoutItsRateIsWarnedAbout(t *testing.T) {
	yaml := filepath.Join(t.TempDir(), "cloudpace.yaml")
	for _, c := range []struct {
		text     string
		settings []Setting
		want     []string
	}{
		{"ratelimit: {aws: {account_burst: 10}}", nil, []string{":1: ratelimit.aws.account_burst: no effect without account_max_rps, ignored"}},
		{"ratelimit:\n  gcp:\n    global_burst: 10\n    account_burst: 5\n", nil,
			[]string{
				":3: ratelimit.gcp.global_burst: no effect without global_max_rps, ignored",
				":4: ratelimit.gcp.account_burst: no effect without account_max_rps, ignored",
			}},
		{"ratelimit: {github: {global_burst: 10}}", nil, []string{":1: ratelimit.github.global_burst: no effect without global_max_rps, ignored"}},
		{"ratelimit: {aws: {account_burst: 10, account_max_rps: }}", nil, []string{":1: ratelimit.aws.account_burst: no effect without account_max_rps, ignored"}},
		{"ratelimit: {aws: {account_burst: 5}}", []Setting{{Path: "ratelimit.aws.account_burst", Value: "10", Source: "X"}},
			[]string{"X: ratelimit.aws.account_burst: no effect without account_max_rps, ignored"}},
		{"ratelimit: {aws: {account_burst: 10}}", []Setting{{Path: "ratelimit.aws.account_max_rps", Value: "5", Source: "X"}}, nil},
		{"ratelimit: {aws: {account_burst: 10, account_max_rps: 5, global_max_rps: 9}}", nil, nil},
		{"ratelimit: {azure: {account_burst: 10}}", nil, nil}, // its rate is built in
		{"ratelimit: {azure: {global_burst: 10}}", nil, []string{":1: ratelimit.azure.global_burst: no effect without global_max_rps, ignored"}},
		{"ratelimit: {aws: {burst: 10}}", nil, nil},
	} {
		if err := os.WriteFile(yaml, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, warnings, err := Read(yaml, c.settings...)
		var got []string
		for _, w := range warnings {
			got = append(got, strings.ReplaceAll(w.String(), yaml, ""))
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.text, got, err, c.want)
		}
		if err := cfg.Validate(); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	// One fault is enough, and a burst out of range stays one.
	for _, text := range []string{"ratelimit: {aws: {account_max_rps: x, account_burst: 10}}", "ratelimit: {aws: {account_max_rps: 0, account_burst: 10}}", "ratelimit: {aws: {account_burst: x}}"} {
		if _, warnings, err := Parse([]byte(text)); err == nil || len(warnings) > 0 {
			t.Errorf("%s: %v, %v", text, warnings, err)
		}
	}
	if _, _, err := Parse([]byte("ratelimit: {aws: {account_burst: -1}}")); err == nil {
		t.Error("a burst below zero is accepted")
	}
}

func TestS9_4UnknownKeysAreWarnedAboutAndIgnored(t *testing.T) {
	cfg, warnings, err := Parse([]byte(`ratelimit:
  enabld: false
  aws:
    max_rpm: 5
    graph_max_retries: 1
    services:
      ec2: {max_rps: 20, burst: 100, brust: 3}
  asw: {max_rps: 1}
  github: {}
rate_limit: {x: 1}
aws: {retrymode: adaptive}
databricks: {retry: {delaymin: 1}, retries: 5}
? [a]
: 1
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		got = append(got, w.String())
	}
	want := []string{
		"line 2: ratelimit.enabld: unknown key, ignored; did you mean enabled?",
		"line 4: ratelimit.aws.max_rpm: unknown key, ignored; did you mean max_rps?",
		"line 5: ratelimit.aws.graph_max_retries: unknown key, ignored",
		"line 7: ratelimit.aws.services.ec2.brust: unknown key, ignored; did you mean burst?",
		"line 8: ratelimit.asw: taken for a provider of your own; did you mean aws?",
		"line 10: rate_limit: unknown key, ignored; did you mean ratelimit?",
		"line 11: aws.retrymode: unknown key, ignored; did you mean retry_mode?",
		"line 12: databricks.retry.delaymin: unknown key, ignored; did you mean delay_min?",
		"line 12: databricks.retries: unknown key, ignored",
		"line 13: top level: a key that is not a text, ignored",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	delete(cfg.Providers, "asw")
	delete(cfg.Providers, "github")
	if !reflect.DeepEqual(cfg, cloudpace.DefaultConfig()) {
		t.Errorf("not ignored: %+v", cfg)
	}
}

func TestS9_4AllFaultsComeAtOnceWithTheirLines(t *testing.T) {
	_, _, err := Parse([]byte(`ratelimit:
  aws:
    max_rps: fast
    burst: -1
    max_concurrency: 5000
    services:
      lambda: {burst: -3}
      iam: 5
  gcp: 7
  azure:
    max_rps: 1
    max_rps: 2
aws: []
databricks: {retry: {delay_min: 20, delay_max: 10}}
`))
	want := `line 3: ratelimit.aws.max_rps is "fast" (allowed: a number > 0)
line 4: ratelimit.aws.burst is -1 (allowed: > 0)
line 5: ratelimit.aws.max_concurrency is 5000 (allowed: 1 to 1024)
line 7: ratelimit.aws.services.lambda.max_rps is missing (allowed: a number > 0)
line 7: ratelimit.aws.services.lambda.burst is -3 (allowed: > 0)
line 8: ratelimit.aws.services.iam is 5 (allowed: a mapping with max_rps)
line 9: ratelimit.gcp is 7 (allowed: a mapping of keys)
line 12: ratelimit.azure.max_rps is "a second value" (allowed: each key once; the first is at line 11)
line 13: aws is "a list" (allowed: a mapping of keys)
line 14: databricks.retry.delay_min is 20 (allowed: 0.1 to 60, at most delay_max, which is 10)`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestHostileText(t *testing.T) {
	bomb := "a: &a {x: 1, y: 1, z: 1, w: 1, v: 1, u: 1, t: 1, s: 1, r: 1}\n"
	for i := 'b'; i < 'k'; i++ {
		bomb += string(i) + ": &" + string(i) + " {"
		for j := range 9 {
			bomb += strings.Repeat("k", j+1) + ": *" + string(i-1) + ", "
		}
		bomb += "}\n"
	}
	for name, text := range map[string]string{
		"not YAML":      "ratelimit: [",
		"tabs":          "ratelimit:\n\taws: 1",
		"two documents": "ratelimit: {}\n---\nratelimit: {}\n",
		"a list":        "- 1\n",
		"a text":        "hello",
		"too long":      "# " + strings.Repeat("x", maxSize),
		"too deep":      strings.Repeat("{a: ", 20000),
		"deep lists":    "a: " + strings.Repeat("[", 20000),
		"bomb":          bomb + "ratelimit: {aws: *j}\n",
		"merge key":     "x: &x {max_rps: 1}\nratelimit: {aws: {<<: *x}}",
		"binary":        "\x00\x01\x02",
		"broken UTF-8":  "ratelimit: \xff\xfe",
	} {
		begin := time.Now()
		_, _, err := Parse([]byte(text))
		if err == nil {
			t.Errorf("%s: accepted", name)
		} else if len(err.Error()) > 1000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
		if d := time.Since(begin); d > 20*time.Second {
			t.Errorf("%s: took %v", name, d)
		}
	}
}

func TestAnchorsAreRead(t *testing.T) {
	// One that contains itself ends too.
	if _, warnings, err := Parse([]byte("ratelimit: &a {x: *a}")); err != nil || len(warnings) != 1 {
		t.Error(warnings, err)
	}
	cfg, warnings, err := Parse([]byte("x-slow: &slow {max_rps: 2}\nratelimit: {aws: *slow, gcp: *slow}\n"))
	if err != nil || len(warnings) != 1 {
		t.Fatal(warnings, err)
	}
	if cfg.Providers["aws"].MaxRPS != 2 || cfg.Providers["gcp"].Burst != 4 {
		t.Errorf("%+v", cfg.Providers)
	}
}

func TestLoad(t *testing.T) {
	if _, _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	path := filepath.Join(t.TempDir(), "cloudpace.yaml")
	if err := os.WriteFile(path, []byte("ratelimit:\n  aws: {max_rps: 5, max_retries: 3}\n  foo: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CLOUDPACE_RATELIMIT__AWS__MAX_RPS", "8")
	cfg, warnings, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if p := cfg.Providers["aws"]; p.MaxRPS != 8 || p.Burst != 16 || p.MaxRetries != 3 {
		t.Errorf("%+v", p)
	}
	if len(warnings) != 1 || warnings[0].Where != path+":3" {
		t.Errorf("%v", warnings)
	}
	t.Setenv("CLOUDPACE_RATELIMIT__AWS__MAX_RPS", "-8")
	if _, _, err := Load(path); err == nil || err.Error() != "CLOUDPACE_RATELIMIT__AWS__MAX_RPS: ratelimit.aws.max_rps is -8 (allowed: > 0)" {
		t.Errorf("got %v", err)
	}
}
