package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace"
)

func fromEnviron(t *testing.T, file string, environ ...string) (cloudpace.Config, []string) {
	t.Helper()
	cfg, warnings, err := read([]byte(file), "line %d", Environ(environ))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, w := range warnings {
		list = append(list, w.String())
	}
	return cfg, list
}

func TestEnvironmentOverridesTheFile(t *testing.T) {
	file := "ratelimit:\n  my-cloud: {max_rps: 1}\n  aws: {max_rps: 5, burst: 6, services: {ec2.DescribeTags: {max_rps: 1}, ECR: {max_rps: 1}}}\n"
	for _, tc := range []struct {
		variable string
		got      func(cloudpace.Config) any
		want     any
	}{
		{"CLOUDPACE_RATELIMIT__ENABLED=false", func(c cloudpace.Config) any { return c.Enabled }, false},
		{"cloudpace_ratelimit__aws__max_rps=8", func(c cloudpace.Config) any { return c.Providers["aws"].MaxRPS }, 8.0},
		// The file's own burst stays: it was set.
		{"CLOUDPACE_RATELIMIT__AWS__MAX_RPS=8", func(c cloudpace.Config) any { return c.Providers["aws"].Burst }, 6.0},
		{"CLOUDPACE_RATELIMIT__GCP__MAX_RPS=8", func(c cloudpace.Config) any { return c.Providers["gcp"].Burst }, 16.0},
		{"CLOUDPACE_RATELIMIT__MY_CLOUD__MAX_RPS=8", func(c cloudpace.Config) any { return c.Providers["my-cloud"].MaxRPS }, 8.0},
		{"CLOUDPACE_RATELIMIT__GITHUB__MAX_RPS=8", func(c cloudpace.Config) any { return c.Providers["github"].MaxRPS }, 8.0},
		{"CLOUDPACE_RATELIMIT__AZURE__GRAPH_MAX_RETRIES= 3 ", func(c cloudpace.Config) any { return c.Azure.GraphMaxRetries }, 3},
		{"CLOUDPACE_AWS__RETRY_MODE=adaptive", func(c cloudpace.Config) any { return c.AWS.RetryMode }, "adaptive"},
		{"CLOUDPACE_DATABRICKS__RETRY__ATTEMPTS=7", func(c cloudpace.Config) any { return c.Databricks.Retry.Attempts }, 7},
		{"CLOUDPACE_RATELIMIT__AWS__SERVICES__EC2__MAX_RPS=10", func(c cloudpace.Config) any { return c.Providers["aws"].Services["ec2"].MaxRPS }, 10.0},
		// A name that the file or the built-in table has is found in any case.
		{"CLOUDPACE_RATELIMIT__AWS__SERVICES__ECR__MAX_RPS=10", func(c cloudpace.Config) any { return c.Providers["aws"].Services["ECR"].MaxRPS }, 10.0},
		{"CLOUDPACE_RATELIMIT__AWS__SERVICES__EC2__DESCRIBETAGS__MAX_RPS=10", func(c cloudpace.Config) any { return c.Providers["aws"].Services["ec2.DescribeTags"].MaxRPS }, 10.0},
		{"CLOUDPACE_RATELIMIT__GCP__SERVICES__CLOUDASSET__LISTASSETS__MAX_RPS=10", func(c cloudpace.Config) any { return c.Providers["gcp"].Services["cloudasset.ListAssets"].MaxRPS }, 10.0},
		// One that neither has is taken as it is written.
		{"CLOUDPACE_RATELIMIT__AWS__SERVICES__KMS__MAX_RPS=10", func(c cloudpace.Config) any { return c.Providers["aws"].Services["kms"].MaxRPS }, 10.0},
		{"CLOUDPACE_RATELIMIT__AWS__SERVICES__EC2__RunInstances__MAX_RPS=1", func(c cloudpace.Config) any { return c.Providers["aws"].Services["ec2.RunInstances"].Burst }, 2.0},
		// Empty is not set.
		{"CLOUDPACE_RATELIMIT__AWS__MAX_RPS=", func(c cloudpace.Config) any { return c.Providers["aws"].MaxRPS }, 5.0},
	} {
		cfg, warnings := fromEnviron(t, file, tc.variable)
		if got := tc.got(cfg); got != tc.want || len(warnings) > 0 {
			t.Errorf("%s: got %v, want %v; %v", tc.variable, got, tc.want, warnings)
		}
	}
}

func TestEnvironmentWarnings(t *testing.T) {
	_, got := fromEnviron(t, "",
		"CLOUDPACE_RATELIMIT__AWS__MAX_RPM=8", "CLOUDPACE_RATELIMIT__AWS__SERVICES__EC2__RUNINSTANCES__MAX_RPS=1",
		"CLOUDPACE_RATELIMIT__AWS____MAX_RPS=1", "CLOUDPACE_CONFIG=x", "CLOUDPACE_RATELIMIT=5", "PATH=/bin", "CLOUDPACE_OTHER__X=1", "odd")
	want := []string{
		"CLOUDPACE_RATELIMIT__AWS__MAX_RPM: ratelimit.aws.max_rpm: unknown key, ignored; did you mean max_rps?",
		"CLOUDPACE_RATELIMIT__AWS__SERVICES__EC2__RUNINSTANCES__MAX_RPS: ratelimit.aws.services.EC2.RUNINSTANCES.max_rps: ignored: the case of operation RUNINSTANCES is not known; write the variable with the operation as the API names it",
		"CLOUDPACE_RATELIMIT__AWS____MAX_RPS: ratelimit.aws..max_rps: not the path of a key, ignored",
	}
	if len(got) != len(want) {
		t.Fatalf("got\n%s", strings.Join(got, "\n"))
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n")+"\n", w+"\n") {
			t.Errorf("missing %s in\n%s", w, strings.Join(got, "\n"))
		}
	}
}

func TestProgramSettingsOverrideTheEnvironment(t *testing.T) {
	settings := append(Environ([]string{"CLOUDPACE_RATELIMIT__AWS__MAX_RPS=8", "CLOUDPACE_RATELIMIT__AWS__MAX_RETRIES=3"}),
		Setting{Path: "ratelimit.aws.max_rps", Value: "9", Source: "--max-rps"},
		Setting{Path: "ratelimit.gcp.services.cloudasset.ListAssets.max_rps", Value: "2", Source: "--x"})
	cfg, warnings, err := Read("", settings...)
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	if p := cfg.Providers["aws"]; p.MaxRPS != 9 || p.MaxRetries != 3 {
		t.Errorf("%+v", p)
	}
	if s := cfg.Providers["gcp"].Services["cloudasset.ListAssets"]; s.MaxRPS != 2 || s.Burst != 4 {
		t.Errorf("%+v", s)
	}
	_, _, err = Read("", append(settings, Setting{Path: "ratelimit.aws.burst", Value: "lots", Source: "--burst"})...)
	if err == nil || err.Error() != `--burst: ratelimit.aws.burst is "lots" (allowed: a number > 0)` {
		t.Errorf("got %v", err)
	}
}

// A value below something of the wrong type replaces it.
func TestOverrideBelowAScalar(t *testing.T) {
	cfg, warnings := fromEnviron(t, "ratelimit: {aws: 5}", "CLOUDPACE_RATELIMIT__AWS__MAX_RPS=8")
	if cfg.Providers["aws"].MaxRPS != 8 || len(warnings) != 0 {
		t.Errorf("%+v %v", cfg.Providers["aws"], warnings)
	}
}

func TestEnvironIsOrderedAndTheLastCounts(t *testing.T) {
	got := Environ([]string{"CLOUDPACE_AWS__MAX_RETRIES=1", "CLOUDPACE_AWS__MAX_RETRIES=2", "CLOUDPACE_AWS__A=1"})
	want := []Setting{
		{Path: "aws.a", Value: "1", Source: "CLOUDPACE_AWS__A", folded: true},
		{Path: "aws.max_retries", Value: "2", Source: "CLOUDPACE_AWS__MAX_RETRIES", folded: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}
