package inventory

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestSums: a task that asks nothing tells of the others of its account, and of those
// that read all accounts, and never of another account's or provider's.
func TestSums(t *testing.T) {
	reads := func(account, name string, err error) Task {
		return Task{Kind: Kind{Name: name, Service: "s"}, Provider: "azure", Account: account, Read: func(context.Context, *Output) error { return err }}
	}
	whole := func(account string) Task {
		return Task{Kind: Kind{Name: "whole", Covers: "all"}, Provider: "azure", Account: account, Sums: true}
	}
	other := reads("a", "elsewhere", errors.New("no"))
	other.Provider = "aws"
	for _, c := range []struct {
		name  string
		tasks []Task
		want  Status
		why   Reason
		words string
	}{
		{"all read", []Task{whole("a"), reads("a", "x", nil), reads("b", "y", errors.New("no")), other}, Success, "", ""},
		{"one not", []Task{reads("a", "x", nil), reads("a", "y", &TruncatedError{errors.New("no")}), whole("a")}, Partial, Truncated, "1 of 2 task(s) of a have gaps: y FAILED (truncated)"},
		{"none", []Task{whole("a"), reads("a", "x", &UnknownAccountError{"a"}), reads("a", "y", errors.New("no"))}, Failed, AccessDenied, "x FAILED (access_denied), y FAILED (protocol)"},
		{"one of everybody's", []Task{whole("a"), reads("a", "x", nil), reads("*", "y", errors.New("no"))}, Partial, Protocol, "y FAILED"},
		{"one not asked", []Task{whole("a"), reads("a", "x", nil), reads("a", "y", &AccountDisabledError{"a", "Disabled"})}, Partial, APIDisabled, "y SKIPPED"},
	} {
		ended := 0
		records, err := Run(t.Context(), c.tasks, Options{Sink: NewSink(t.TempDir()), Done: func(Record) { ended++ }})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.Task == "whole" && (r.Status != c.want || r.Reason != c.why || !strings.Contains(r.Error, c.words) || (r.Error == "") != (c.want == Success) || r.Covers != "all" || r.Finished.IsZero()) {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
		if ended != len(c.tasks) {
			t.Errorf("%s: %d of %d ended", c.name, ended, len(c.tasks))
		}
	}
}

// TestSumsInterrupted: what was not begun is a gap of the whole.
func TestSumsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tasks := []Task{
		{Kind: Kind{Name: "whole"}, Account: "a", Sums: true},
		{Kind: Kind{Name: "x"}, Account: "a", Read: func(context.Context, *Output) error { return nil }},
	}
	records, err := Run(ctx, tasks, Options{Sink: NewSink(t.TempDir())})
	if err != nil || records[0].Status != Skipped || records[0].Reason != Truncated || records[1].Status != Skipped {
		t.Errorf("%v %+v", err, records)
	}
}

// TestAccountOfAsset: a task that reads several accounts says whose an asset is.
func TestAccountOfAsset(t *testing.T) {
	sink := NewSink(t.TempDir())
	task := Task{Kind: Kind{Name: "x"}, Provider: "azure", Account: "*", Read: func(_ context.Context, out *Output) error {
		return errors.Join(out.Emit(Asset{Account: "a", Type: "t", ID: "1"}), out.Emit(Asset{Type: "t", ID: "2"}))
	}}
	if _, err := Run(t.Context(), []Task{task}, Options{Sink: sink}); err != nil {
		t.Fatal(err)
	}
	places, n := sink.Counts()
	if n != 2 || places["a"][""]["t"] != 1 || places["*"][""]["t"] != 1 {
		t.Errorf("%d %v", n, places)
	}
}
