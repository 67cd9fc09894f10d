//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// asset is a line of assets.jsonl, as the documentation gives it to users.
type asset struct {
	Provider   string            `json:"provider"`
	Account    string            `json:"account"`
	Region     string            `json:"region"`
	Type       string            `json:"type"`
	ID         string            `json:"id"`
	ARN        string            `json:"arn"`
	Name       string            `json:"name"`
	Tags       map[string]string `json:"tags"`
	Properties map[string]any    `json:"properties"`
	Missing    map[string]string `json:"missing"`
	Task       string            `json:"task"`
	Time       time.Time         `json:"time"`
}

// record is an element of coverage in run.json.
type record struct {
	Account, Region, Task, Family, Scope  string
	Status, Reason, Error, Ledger         string
	Assets, Pages, Calls, Details, Errors int
	Incomplete, Vanished, Elsewhere       int
}

// document is run.json.
type document struct {
	Summary struct {
		Outcome    string         `json:"outcome"`
		Assets     int            `json:"assets"`
		AssetsFile string         `json:"assets_file"`
		ByType     map[string]int `json:"by_type"`
		ByStatus   map[string]int `json:"by_status"`
		Complete   []struct {
			Account, Region, Task string
		} `json:"complete"`
	} `json:"summary"`
	Coverage   []record `json:"coverage"`
	Throttling struct {
		Totals counters `json:"totals"`
		Scopes []struct {
			Scope string `json:"scope"`
			counters
		} `json:"scopes"`
	} `json:"throttling"`
	Fleet struct {
		Store             string
		Exchanges, Tokens int
		Outages           int
	} `json:"fleet"`
}

// counters are what the run's pacing counted.
type counters struct {
	Calls       int     `json:"calls"`
	Throttled   int     `json:"throttled"`
	Transient   int     `json:"transient_errors"`
	Retries     int     `json:"retries"`
	GaveUp      int     `json:"gave_up"`
	Waits       int     `json:"waits"`
	WaitSeconds float64 `json:"wait_seconds"`
}

// scope gives the counters of a service scope.
func (d document) scope(t *testing.T, name string) counters {
	t.Helper()
	for _, s := range d.Throttling.Scopes {
		if s.Scope == name {
			return s.counters
		}
	}
	t.Fatalf("run.json has no numbers for %s", name)
	return counters{}
}

// credentials that moto accepts, as it accepts all.
var credentials = []string{"AWS_ACCESS_KEY_ID=testing", "AWS_SECRET_ACCESS_KEY=testing"}

// result is what a run of the command left.
type result struct {
	code           int
	stdout, stderr string
	dir            string // the output directory
}

// runMap runs `cloudpace map` for the region, writing into a new directory.
func runMap(t *testing.T, env []string, args ...string) result {
	t.Helper()
	return start(t, env, args...).wait()
}

// process is a run under way.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	result result
	out    bytes.Buffer
	err    bytes.Buffer
}

// start starts `cloudpace map` with a directory for its output, unless args
// name one. It is killed with the test's context, or after three minutes.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	home := t.TempDir()
	p := &process{t: t, result: result{dir: filepath.Join(home, "out")}}
	p.cmd = exec.CommandContext(ctx, binary, append([]string{"map", "-o", p.result.dir}, args...)...)
	p.cmd.Dir = home
	p.cmd.Env = clean(home, env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// wait waits for the end and tells how it was.
func (p *process) wait() result {
	p.t.Helper()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("the command did not run: %v", err)
	}
	p.result.code = p.cmd.ProcessState.ExitCode()
	p.result.stdout, p.result.stderr = p.out.String(), p.err.String()
	p.t.Logf("exit code %d, stderr:\n%s", p.result.code, p.result.stderr)
	return p.result
}

// document reads run.json.
func (r result) document(t *testing.T) document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatalf("run.json: %v", err)
	}
	return d
}

// assets reads assets.jsonl; every line must be whole.
func (r result) assets(t *testing.T) []asset {
	t.Helper()
	return lines[asset](t, filepath.Join(r.dir, "assets.jsonl"))
}

// edge is a line of edges.jsonl, as the documentation gives it.
type edge struct{ Account, From, To, Role string }

// edges reads edges.jsonl.
func (r result) edges(t *testing.T) []edge {
	t.Helper()
	return lines[edge](t, filepath.Join(r.dir, "edges.jsonl"))
}

// lines reads a file of JSON Lines.
func lines[T any](t *testing.T, path string) (list []T) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for decoder := json.NewDecoder(file); ; {
		var v T
		if err := decoder.Decode(&v); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatalf("%s after %d lines: %v", path, len(list), err)
		}
		list = append(list, v)
	}
}

// record gives the record of a task.
func (d document) record(t *testing.T, task string) record {
	t.Helper()
	var found []record
	for _, r := range d.Coverage {
		if r.Task == task {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d records of %s, want 1", len(found), task)
	}
	return found[0]
}
