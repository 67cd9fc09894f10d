package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// TestReport: a run leaves a report that says what the screen says, and a timeline
// that has what was throttled.
func TestReport(t *testing.T) {
	s := fakeaws.New(t)
	s.On("sqs.ListQueues", fakeaws.Fail(400, "ThrottlingException"))
	o := command(t, t.Context(), s, "--only", "network,messaging")
	text, err := os.ReadFile(filepath.Join(o.dir, inventory.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Finished, with gaps", "Missing: something in 1 of 34 tasks (throttled 1).", "sqs_queues"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	if !strings.Contains(o.stderr, "Report: "+filepath.Join(o.dir, inventory.ReportFile)) {
		t.Error("stderr does not name the report")
	}
	line := o.document(t).Timeline
	if line == nil || len(line.Scopes) != 1 || !strings.HasSuffix(line.Scopes[0].Scope, "/us-east-1/sqs") {
		t.Fatalf("timeline %+v, want one of sqs", line)
	}
	if last := line.Scopes[0].Points[len(line.Scopes[0].Points)-1]; last.Throttled == 0 {
		t.Errorf("the last point is %+v", last)
	}
}

// TestReportCannotBeWritten: then the run is broken, and says so.
func TestReportCannotBeWritten(t *testing.T) {
	s := fakeaws.New(t)
	s.On("sqs.ListQueues", fakeaws.Fail(403, "AccessDenied"))
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, inventory.ReportFile, "something"), 0o755); err != nil {
		t.Fatal(err)
	}
	o := command(t, t.Context(), s, "--only", "messaging", "-o", dir)
	if o.code != 1 || !strings.Contains(o.stderr, inventory.ReportFile+" cannot be written") || strings.Contains(o.stderr, "Report: ") {
		t.Errorf("exit code %d", o.code)
	}
	if _, err := os.Stat(filepath.Join(dir, inventory.RunFile)); err != nil {
		t.Error(err)
	}
}
