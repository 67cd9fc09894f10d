//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// gcloud runs a command of the Google Cloud CLI against a simulator, without
// credentials, and reads what it prints.
func gcloud(t *testing.T, s *simulator, into any, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "gcloud", append(args, "--format=json")...)
	cmd.Env = clean(t.TempDir(),
		"CLOUDSDK_CONFIG="+t.TempDir(), "CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true", "CLOUDSDK_CORE_DISABLE_PROMPTS=1",
		"CLOUDSDK_CORE_DISABLE_USAGE_REPORTING=true", "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDASSET="+s.url+"/")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("gcloud %s: %v\n%s", strings.Join(args, " "), err, exit.Stderr)
		}
		t.Fatalf("gcloud %s: %v", strings.Join(args, " "), err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("gcloud %s: %v\n%.300s", strings.Join(args, " "), err, out)
	}
}

// TestGcloud: gcloud, which nobody of this project wrote, lists the same assets and the
// same policies of the simulated Google Cloud as a map finds there.
func TestGcloud(t *testing.T) {
	s := startSim(t, "--profile", "gcp", "--accounts", "3", "--assets", "1500", "--speed", "20")
	r := runMap(t, nil, "-p", "gcp", "--gcp-endpoint", s.url, "--quota-project", "example-1", "--fail-on-partial")
	if r.code != 0 {
		t.Fatalf("exit code %d", r.code)
	}
	found := make(map[string][]string)
	for _, a := range r.assets(t) {
		found[a.Account] = append(found[a.Account], a.Type+" "+a.ID)
	}
	granted := r.edges(t)
	for _, project := range []string{"example-1", "example-2", "example-3"} {
		account := "projects/" + project
		slices.Sort(found[account])

		var listed []struct{ Name, AssetType string }
		gcloud(t, s, &listed, "asset", "list", "--project="+project, "--content-type=resource")
		var names []string
		for _, a := range listed {
			names = append(names, a.AssetType+" "+a.Name)
		}
		slices.Sort(names)
		if !slices.Equal(found[account], names) || len(names) == 0 {
			t.Errorf("%s: a map finds %d assets, gcloud asset list %d", project, len(found[account]), len(names))
		}

		var searched []struct{ Name, AssetType string }
		gcloud(t, s, &searched, "asset", "search-all-resources", "--scope="+account)
		names = nil
		for _, a := range searched {
			names = append(names, a.AssetType+" "+a.Name)
		}
		slices.Sort(names)
		if !slices.Equal(found[account], names) {
			t.Errorf("%s: a map finds %d assets, gcloud asset search-all-resources %d", project, len(found[account]), len(names))
		}

		var policies []struct {
			Resource string
			Policy   struct {
				Bindings []struct {
					Role    string
					Members []string
				}
			}
		}
		gcloud(t, s, &policies, "asset", "search-all-iam-policies", "--scope="+account)
		var bindings []string
		for _, p := range policies {
			for _, b := range p.Policy.Bindings {
				for _, m := range b.Members {
					bindings = append(bindings, p.Resource+" "+b.Role+" "+m)
				}
			}
		}
		var ours []string
		for _, e := range granted {
			if e.Account == account {
				ours = append(ours, e.To+" "+e.Role+" "+e.From)
			}
		}
		slices.Sort(bindings)
		slices.Sort(ours)
		if !slices.Equal(ours, bindings) || len(ours) == 0 {
			t.Errorf("%s: a map finds %d bindings, gcloud asset search-all-iam-policies %d", project, len(ours), len(bindings))
		}
	}
	s.stop(t)
}
