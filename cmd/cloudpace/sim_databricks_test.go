package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// TestSimDatabricks: it says what a driver needs, runs what it is asked to, and
// counts that; by flag, by name and by file.
func TestSimDatabricks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sim.yaml")
	if err := os.WriteFile(file, []byte("profile: databricks\nseed: 3\nwarehouse: {rows: 7}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	silent := filepath.Join(t.TempDir(), "silent.yaml")
	if err := os.WriteFile(silent, []byte("warehouse: {rows: 7}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		rows string
	}{
		{[]string{"--databricks"}, `"total_row_count":5`},
		{[]string{"--profile", "databricks", "--speed", "2"}, `"total_row_count":5`},
		{[]string{"--profile", file}, `"total_row_count":7`},
		{[]string{"--databricks", "--profile", file}, `"total_row_count":7`},
		{[]string{"--databricks", "--profile", silent, "--seed", "4"}, `"total_row_count":7`},
	} {
		code, stdout, stderr := outcomeOf(t, func(url string) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/api/2.0/sql/statements", strings.NewReader(`{"warehouse_id": "simulated", "statement": "SELECT 1"}`))
			if err != nil {
				t.Fatal(err)
			}
			transport := new(http.Transport)
			defer transport.CloseIdleConnections()
			response, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			var text strings.Builder
			if err := response.Write(&text); err != nil || !strings.Contains(text.String(), c.rows) {
				t.Errorf("%v: %s", err, text.String())
			}
			if page := get(t, url+"/_sim/"); !strings.Contains(page, "SELECT 1") || strings.Contains(page, "region(s)") {
				t.Errorf("status page: %s", page)
			}
		}, append(c.args, "--json")...)
		if code != exitDone {
			t.Errorf("exit code %d, want 0", code)
		}
		for _, want := range []string{"Simulating databricks at http://", "/sql/1.0/warehouses/simulated", "token", "curl -d", "/api/2.0/sql/statements", "Stop: Ctrl-C", "Ran 1 execution of 1 statement; 0 ran more than once."} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%v: stderr does not say %q", c.args, want)
			}
		}
		var r sim.Report
		if err := json.Unmarshal([]byte(stdout), &r); err != nil || r.Executions == nil || r.Executions.Executions != 1 || r.Provider != "databricks" {
			t.Errorf("%v: %s", err, stdout)
		}
	}
}

// TestSimDatabricksRefused: what makes no sense with it is wrong usage.
func TestSimDatabricksRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sim.yaml")
	if err := os.WriteFile(file, []byte("profile: aws\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	estate := filepath.Join(t.TempDir(), "estate.yaml")
	if err := os.WriteFile(estate, []byte("profile: databricks\nestate: {assets: 3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	warehouse := filepath.Join(t.TempDir(), "warehouse.yaml")
	if err := os.WriteFile(warehouse, []byte("warehouse: {rows: 3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{"--databricks", "--accounts", "3"}, []string{"--accounts", "no estate"}},
		{[]string{"--databricks", "--regions", "us-east-1"}, []string{"--regions"}},
		{[]string{"--profile", "databricks", "--assets", "3"}, []string{"--assets"}},
		{[]string{"--databricks", "--strict"}, []string{"--strict"}},
		{[]string{"--databricks", "--upstream", "http://127.0.0.1:1"}, []string{"--upstream"}},
		{[]string{"--databricks", "--profile", "aws"}, []string{"--databricks and --profile", "aws"}},
		{[]string{"--databricks", "--profile", file}, []string{"--databricks and --profile", "aws"}},
		{[]string{"--profile", "databriks"}, []string{"did you mean databricks?", "aws"}},
		{[]string{"--profile", estate}, []string{"line 2", "estate"}},
		{[]string{"--profile", warehouse}, []string{"line 1", "warehouse"}},
		{[]string{"--databricks", "--profile", "none.yaml"}, []string{"none.yaml"}},
		{[]string{"--databricks", "--speed", "0"}, []string{"speed"}},
	} {
		code, _, stderr := outcomeOf(t, nil, c.args...)
		if code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", c.args, code, exitUsage)
		}
		for _, want := range c.says {
			if !strings.Contains(stderr, want) {
				t.Errorf("%v: stderr does not say %q", c.args, want)
			}
		}
	}
}
