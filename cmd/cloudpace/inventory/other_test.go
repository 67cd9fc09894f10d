package inventory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace/verdict"
)

// TestOtherWay: it is gone right after a task that failed for a reason it may not meet,
// and only then; its record comes after that of the task.
func TestOtherWay(t *testing.T) {
	refuses := func(err error, ids ...string) func(context.Context, *Output) error {
		return func(ctx context.Context, out *Output) error {
			if len(ids) > 0 {
				return Walk(ctx, out, pagesOf(err, ids), plain)
			}
			return err
		}
	}
	for _, c := range []struct {
		name string
		read func(context.Context, *Output) error
		want string
	}{
		{"denied", refuses(code(403, "AccessDenied")), "first FAILED,other SUCCESS"},
		{"by policy", refuses(code(403, "RequestDisallowedByPolicy")), "first FAILED,other SUCCESS"},
		{"not there", refuses(code(501, "NotImplemented")), "first FAILED,other SUCCESS"},
		{"throttled", refuses(code(503, "RequestLimitExceeded")), "first FAILED,other SUCCESS"},
		{"out of quota", refuses(&RenewedError{At: time.Now().Add(time.Hour), Err: code(429, "RESOURCE_EXHAUSTED")}), "first FAILED,other SUCCESS"},
		{"denied after a page", refuses(code(403, "AccessDenied"), "a"), "first PARTIAL"},
		{"unreachable", refuses(&verdict.ResponseError{StatusCode: 502, Err: errors.New("bad gateway")}), "first FAILED"},
		{"API disabled", refuses(code(403, "SERVICE_DISABLED")), "first FAILED"},
		{"no login", refuses(&LoginError{Err: errors.New("expired")}), "first FAILED"},
		{"a busy login", refuses(fmt.Errorf("x: %w", &LoginError{Err: errors.New("busy"), Why: Throttled})), "first FAILED"},
		{"the same either way", refuses(fmt.Errorf("x: %w", &EitherWayError{code(403, "AccessDenied")})), "first FAILED"},
		{"good", emits("a"), "first SUCCESS"},
		{"nothing", emits(), "first SUCCESS"},
		{"panics", func(context.Context, *Output) error { panic("oops") }, "first FAILED"},
	} {
		first := task("first", c.read)
		other := task("other", emits("a", "b"))
		first.Otherwise = &other
		tally := new(Tally)
		records, err := Run(t.Context(), []Task{first, task("last", emits("z"))}, Options{Sink: onDisk(new(disk)), Tally: tally})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range records {
			got = append(got, fmt.Sprintf("%s %s", r.Task, r.Status))
			if (r.InPlaceOf == "first") != (r.Task == "other") {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
		if want := c.want + ",last SUCCESS"; strings.Join(got, ",") != want {
			t.Errorf("%s: %v, want %s", c.name, got, want)
		}
		if p := tally.Progress(); p.Total != len(records) || p.Done != p.Total || len(p.Running) != 0 {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

// TestOtherWayInterrupted: one that has begun is recorded with what it has; one that has
// not begun was not needed, and has no record.
func TestOtherWayInterrupted(t *testing.T) {
	for _, begun := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			first := task("first", func(context.Context, *Output) error {
				if !begun {
					cancel()
				}
				return code(403, "AccessDenied")
			})
			other := task("other", func(_ context.Context, out *Output) error {
				_ = out.Emit(plain("a"))
				cancel()
				time.Sleep(time.Minute) // it does not hear
				return nil
			})
			first.Otherwise = &other
			records, err := Run(ctx, []Task{first}, Options{Sink: onDisk(new(disk))})
			if err != nil {
				t.Fatal(err)
			}
			if records[0].Reason != AccessDenied || len(records) != map[bool]int{true: 2, false: 1}[begun] {
				t.Errorf("%+v", records)
			}
			if begun && (records[1].Status != Partial || records[1].Reason != Truncated || records[1].Assets != 1) {
				t.Errorf("%+v", records[1])
			}
			time.Sleep(2 * time.Minute)
		})
	}
}

func edge(from string) Edge {
	return Edge{Kind: IAMBinding, From: from, To: "//x/y", Role: "roles/viewer"}
}

// TestEdges: they are in a file of their own, with what the task fills in, and each once;
// what an earlier run left goes with its assets.
func TestEdges(t *testing.T) {
	dir := t.TempDir()
	run := func(read func(context.Context, *Output) error) ([]Record, Document) {
		t.Helper()
		sink := NewSink(dir)
		records, err := Run(t.Context(), []Task{task("t", read)}, Options{Sink: sink})
		if err != nil {
			t.Fatal(err)
		}
		return records, NewDocument(Summary{}, records, sink, nil, nil)
	}
	file := filepath.Join(dir, EdgesFile)
	records, doc := run(func(_ context.Context, out *Output) error {
		conditional := edge("user:a@example.com")
		conditional.Condition.Expression = "false"
		titled, described, typed := conditional, conditional, conditional
		titled.Condition.Title, described.Condition.Description, typed.ToType = "t", "t", "t" // a binding each
		for _, e := range []Edge{edge("user:a@example.com"), edge("user:b@example.com"), edge("user:a@example.com"), conditional, titled, described, typed, conditional} {
			if err := out.EmitEdge(e); err != nil {
				return err
			}
		}
		return nil
	})
	if r := records[0]; r.Edges != 6 || r.Duplicates != 2 || r.Assets != 0 || r.Status != Success || doc.Summary.Edges != 6 || doc.Summary.EdgesFile != EdgesFile {
		t.Errorf("%+v %+v", r, doc.Summary)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	var e Edge
	if len(lines) != 6 || json.Unmarshal(lines[0], &e) != nil || e.Provider != "aws" || e.Account != "1" || e.Task != "t" || e.Time.IsZero() || bytes.Contains(lines[0], []byte("condition")) || !bytes.Contains(lines[2], []byte(`"condition":{"expression":"false"}`)) {
		t.Errorf("%s", text)
	}
	run(func(context.Context, *Output) error { return code(403, "AccessDenied") })
	if _, err := os.Stat(file); err != nil {
		t.Errorf("a run that read nothing took the older edges: %v", err)
	}
	_, doc = run(emits("a"))
	if _, err := os.Stat(file); !os.IsNotExist(err) || doc.Summary.EdgesFile != "" {
		t.Errorf("the older edges lie beside newer assets (%v)", err)
	}
}

// TestEdgesDiskFull: edges that are not on the disk are not counted, and nothing is
// SUCCESS then.
func TestEdgesDiskFull(t *testing.T) {
	full := errors.New("no space left on device")
	edges := &disk{full: full, room: 500}
	sink := newSink(func() (file, error) { return new(disk), nil }, func() (file, error) { return edges, nil })
	records, err := Run(t.Context(), []Task{task("one", func(_ context.Context, out *Output) error {
		for i := range 9 {
			if err := out.EmitEdge(edge(fmt.Sprint(i))); err != nil {
				return err
			}
		}
		return nil
	})}, Options{Sink: sink})
	there := strings.Count(edges.String(), "\n")
	if !errors.Is(err, full) || there == 0 || there == 9 || edges.halfLine() {
		t.Fatalf("%d lines, %v", there, err)
	}
	doc := NewDocument(Summary{}, records, sink, err, nil)
	if r := doc.Coverage[0]; r.Status != Partial || r.Edges != there || doc.Summary.Edges != there || !strings.Contains(r.Error, "edge(s) that were read could not be written") {
		t.Errorf("%d lines: %+v", there, r)
	}
}

// TestFollow: items are taken as they come, up to the limit, and pages are those that
// were told of.
func TestFollow(t *testing.T) {
	items := func(ctx context.Context, err error, ids ...string) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for _, id := range ids {
				Arrived(ctx, 1)
				if !yield(id, nil) {
					return
				}
			}
			if err != nil {
				yield("", err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		err    error
		limit  int
		status Status
		reason Reason
		assets int
	}{
		{"to the end", nil, 0, Success, "", 3},
		{"early", code(403, "AccessDenied"), 0, Partial, AccessDenied, 3},
		{"limit", nil, 2, Partial, Capped, 2},
		{"just so many", nil, 3, Success, "", 3},
	} {
		records, err := Run(t.Context(), []Task{task("t", func(ctx context.Context, out *Output) error {
			return Follow(ctx, out, items(ctx, c.err, "a", "b", "c"), func(id string) error { return out.Emit(plain(id)) })
		})}, Options{Sink: onDisk(new(disk)), MaxAssets: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		if r := records[0]; r.Status != c.status || r.Reason != c.reason || r.Assets != c.assets || r.Pages != 3 {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	Arrived(t.Context(), 1) // outside of a task it is nobody's
}

// TestAgain: a listing that begins anew repeats as much as there was, and counts anew
// against the limit.
func TestAgain(t *testing.T) {
	var ids []string
	for i := range mostRepeated + 5 {
		ids = append(ids, fmt.Sprint(i))
	}
	records, err := Run(t.Context(), []Task{task("t", func(_ context.Context, out *Output) error {
		for range 2 {
			for _, id := range ids {
				if !out.take() {
					return &CappedError{}
				}
				if err := out.Emit(plain(id)); err != nil {
					return err
				}
			}
			out.Again()
		}
		return nil
	})}, Options{Sink: newSink(func() (file, error) { return discard{}, nil }, nil), MaxAssets: len(ids)})
	if err != nil {
		t.Fatal(err)
	}
	if r := records[0]; r.Status != Success || r.Assets != len(ids) || r.Duplicates != len(ids) {
		t.Errorf("%+v", r)
	}
}

// TestAgainWithNews: what is new when a listing begins anew does not shorten what it may
// repeat.
func TestAgainWithNews(t *testing.T) {
	const n = 2 * mostRepeated
	for name, emit := range map[string]func(*Output, string) error{
		"assets": func(out *Output, id string) error { return out.Emit(plain(id)) },
		"edges":  func(out *Output, id string) error { return out.EmitEdge(edge(id)) },
	} {
		null := func() (file, error) { return discard{}, nil }
		records, err := Run(t.Context(), []Task{task("t", func(_ context.Context, out *Output) error {
			for i := range 2 * n {
				id := fmt.Sprint(i % n)
				if i == n {
					out.Again()
					id = "new"
				}
				if err := emit(out, id); err != nil {
					return err
				}
			}
			return nil
		})}, Options{Sink: newSink(null, null)})
		if err != nil {
			t.Fatal(err)
		}
		if r := records[0]; r.Status != Success || r.Assets+r.Edges != n+1 || r.Duplicates != n-1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestRenewed: when a quota is renewed is when trying again makes sense.
func TestRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := read(t, func(context.Context, *Output) error {
			return fmt.Errorf("listing: %w", &RenewedError{At: time.Now().Add(time.Hour), Err: code(429, "x")})
		})
		if r.Reason != QuotaExhausted || r.RetryAfterSeconds != 3600 || !slices.Contains(strings.Fields(r.Error), "(renewed") {
			t.Errorf("%+v", r)
		}
	})
}
