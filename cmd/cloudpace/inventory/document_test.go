package inventory

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func records(statuses ...Status) []Record {
	var list []Record
	for _, s := range statuses {
		list = append(list, Record{Provider: "aws", Account: "1", Region: "r", Task: string(s), Status: s})
	}
	return list
}

// TestS15_5Outcome: a run in which every task failed is a failed run, and only
// what was read completely is listed as complete.
func TestS15_5Outcome(t *testing.T) {
	for _, c := range []struct {
		name          string
		records       []Record
		broken, cause error
		want          Outcome
		complete      int
	}{
		{"all read", records(Success, Success), nil, nil, Complete, 2},
		{"gaps", records(Success, Failed, Partial), nil, nil, WithGaps, 1},
		{"something is still something", records(Partial, Failed), nil, nil, WithGaps, 0},
		{"every task failed (F02)", records(Failed, Failed), nil, nil, NothingRead, 0},
		{"nothing to do", nil, nil, nil, NothingRead, 0},
		{"interrupted", records(Success, Skipped), nil, errors.New("interrupt"), Interrupted, 1},
		{"disk full", records(Success, Success), errors.New("full"), nil, NothingRead, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewDocument(Summary{}, c.records, onDisk(new(disk)), c.broken, c.cause).Summary
			if c.broken != nil && s.ByStatus[Success] > 0 {
				t.Error("records are SUCCESS whose assets may not be on the disk")
			}
			if s.Outcome != c.want || len(s.Complete) != c.complete {
				t.Errorf("outcome %s with %d complete, want %s with %d", s.Outcome, len(s.Complete), c.want, c.complete)
			}
		})
	}
}

// TestNothingReadKeepsAssets: a run that reads nothing leaves the assets of an
// earlier one alone and does not claim them; one that finds nothing there
// replaces them.
func TestNothingReadKeepsAssets(t *testing.T) {
	for _, c := range []struct {
		name  string
		task  Task
		file  string
		bytes string
	}{
		{"nothing read", task("denied", nil), "", "old"},
		{"nothing there", task("empty", emits()), AssetsFile, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, AssetsFile)
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			sink := NewSink(dir)
			list, err := Run(t.Context(), []Task{c.task}, Options{Sink: sink})
			if err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != c.bytes {
				t.Errorf("the file has %q (%v), want %q", text, err, c.bytes)
			}
			if s := NewDocument(Summary{}, list, sink, nil, nil).Summary; s.AssetsFile != c.file {
				t.Errorf("run.json names %q, want %q", s.AssetsFile, c.file)
			}
		})
	}
}

func TestDocumentWrite(t *testing.T) {
	dir := t.TempDir()
	d := NewDocument(Summary{Provider: []string{"aws"}}, records(Success, Failed), onDisk(new(disk)), nil, nil)
	for range 2 { // the second replaces the first
		if err := d.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, RunFile))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"summary", "coverage", "throttling"} {
		if got[key] == nil {
			t.Errorf("run.json has no %q", key)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left in the directory: %v (%v)", files, err)
	}
	if err := d.Write(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("writing into a directory that is not there succeeded")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestWritable(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "a", "b", "c")
	undo, err := Writable(dir)
	if err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("the probe left %v (%v)", files, err)
	}
	undo()
	if files, err := os.ReadDir(top); err != nil || len(files) != 0 {
		t.Errorf("directories made for nothing are still there: %v (%v)", files, err)
	}
	if undo, err = Writable(dir); err != nil {
		t.Fatal(err)
	}
	used := filepath.Join(top, "a", "used")
	if err := os.WriteFile(used, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	undo()
	if _, err := os.Stat(used); err != nil || exists(filepath.Join(top, "a", "b")) {
		t.Errorf("what somebody used has gone, or what nobody used is still there (%v)", err)
	}
	if _, err := Writable(filepath.Join(top, "new", strings.Repeat("x", 300))); err == nil || exists(filepath.Join(top, "new")) {
		t.Errorf("what was made until it failed is still there (%v)", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{file, filepath.Join(file, "x")} {
		if _, err := Writable(bad); err == nil {
			t.Errorf("%s counts as writable", bad)
		}
	}
}
