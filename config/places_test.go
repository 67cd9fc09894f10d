package config

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Everything that was set has a place, and so has what follows from it; what is built in
// has none.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]Places{
		"": {},
		"ratelimit:\n  enabled: false\n  aws: {adaptive: }\n":       {"ratelimit.enabled": ":2"},
		"ratelimit:\n  aws:\n    max_rps: 8\n":                      {"ratelimit.aws.max_rps": ":3", "ratelimit.aws.burst": ":3, twice max_rps"},
		"ratelimit: {aws: {max_rps: 8,\n burst: 9}}":                {"ratelimit.aws.max_rps": ":1", "ratelimit.aws.burst": ":2"},
		"ratelimit: {azure: {graph_max_retries: 1}}":                {"ratelimit.azure.graph_max_retries": ":1"},
		"ratelimit: {github: {max_rps: 0.05, burst: 1}}":            {"ratelimit.github.max_rps": ":1", "ratelimit.github.burst": ":1", "ratelimit.github.min_rps": ":1, not above max_rps"},
		"aws: {max_retries: 1}\ndatabricks: {retry: {attempts: 2}}": {"aws.max_retries": ":1", "databricks.retry.attempts": ":2"},
		"ratelimit: {gcp: {services: {cloudasset.ListAssets: {max_rps: 1}}}}": {
			"ratelimit.gcp.services.cloudasset.ListAssets.max_rps": ":1",
			"ratelimit.gcp.services.cloudasset.ListAssets.burst":   ":1, twice max_rps",
		},
		// The built-in rate of what changes things is kept where it is not above.
		"ratelimit: {aws: {services: {ec2: {max_rps: 10, burst: 60}}}}": {"ratelimit.aws.services.ec2.max_rps": ":1", "ratelimit.aws.services.ec2.burst": ":1"},
		"ratelimit: {aws: {services: {ec2:\n {max_rps: 2}}}}": {
			"ratelimit.aws.services.ec2.max_rps":       ":2",
			"ratelimit.aws.services.ec2.burst":         ":2, twice max_rps",
			"ratelimit.aws.services.ec2.write_max_rps": ":2, not above max_rps",
			"ratelimit.aws.services.ec2.write_burst":   ":2, twice max_rps, not above burst",
		},
	} {
		file := filepath.Join(t.TempDir(), "cloudpace.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, got, warnings, err := LoadPlaces(file)
		if err != nil || len(warnings) > 0 {
			t.Fatal(err, warnings)
		}
		for path, at := range got {
			got[path] = strings.TrimPrefix(at, file)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s\ngot  %v\nwant %v", text, got, want)
		}
	}
}

// A variable goes before the file, and is the place of what follows from it.
func TestPlacesOfVariables(t *testing.T) {
	const variable = "CLOUDPACE_RATELIMIT__GCP__MAX_RPS"
	t.Setenv(variable, "3")
	_, got, _, err := LoadPlaces("")
	if want := (Places{"ratelimit.gcp.max_rps": variable, "ratelimit.gcp.burst": variable + ", twice max_rps"}); err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	t.Setenv(variable, "fast")
	if _, got, _, err := LoadPlaces(""); err == nil || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, _, _, err := LoadPlaces(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
