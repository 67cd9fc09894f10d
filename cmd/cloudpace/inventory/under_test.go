package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudpace/cloudpace"
)

// TestWalkUnder: what each listing below an item does to the record, and that
// none of them does anything to the others.
func TestWalkUnder(t *testing.T) {
	for _, c := range []struct {
		name    string
		parents Page[string]
		bad     Page[string] // of the parent "b"; "a" and "c" have two items each
		status  Status
		reason  Reason
		assets  int
		gone    int
		says    string
	}{
		{"all there", pagesOf(nil, []string{"a"}, []string{"b", "c"}), pagesOf(nil, []string{"1"}, []string{"2"}), Success, "", 6, 0, ""},
		{"nothing below one", pagesOf(nil, []string{"a", "b", "c"}), pagesOf(nil, nil), Success, "", 4, 0, ""},
		{"one denied", pagesOf(nil, []string{"a", "b", "c"}), pagesOf(code(403, "AccessDenied")), Partial, AccessDenied, 4, 0, "things of b: "},
		{"one ends early", pagesOf(nil, []string{"a", "b", "c"}), pagesOf(code(503, "RequestLimitExceeded"), []string{"1", "2"}), Partial, Throttled, 6, 0, "things of b: "},
		{"one goes in circles", pagesOf(nil, []string{"a", "b", "c"}), func(context.Context, string) ([]string, string, error) {
			return []string{"1"}, "again", nil
		}, Partial, Truncated, 5, 0, "things of b: the provider repeated a page token after 2 page(s)"},
		{"one is gone", pagesOf(nil, []string{"a", "b", "c"}), pagesOf(code(400, "ResourceNotFoundException")), Success, "", 4, 1, ""},
		{"one panics", pagesOf(nil, []string{"b"}), func(context.Context, string) ([]string, string, error) { panic("boom") }, Partial, Protocol, 0, 0, "boom"},
		{"the parents end early", pagesOf(code(403, "AccessDenied"), []string{"a", "b"}), pagesOf(nil, []string{"1"}), Partial, AccessDenied, 3, 0, "ended early"},
		{"no parents", pagesOf(nil, nil), nil, Success, "", 0, 0, ""},
		{"the parents are denied", pagesOf(code(403, "AccessDenied")), nil, Failed, AccessDenied, 0, 0, "AccessDenied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, written := read(t, func(ctx context.Context, out *Output) error {
				return WalkUnder(ctx, out, c.parents, func(parent string) Sub[string] {
					page := pagesOf(nil, []string{parent + "1"}, []string{parent + "2"})
					if parent == "b" {
						page = c.bad
					}
					return Sub[string]{"things of " + parent, page}
				}, plain)
			})
			if r.Status != c.status || r.Reason != c.reason || r.Assets != c.assets || r.Vanished != c.gone || strings.Count(written, "\n") != c.assets {
				t.Errorf("record %+v, want %s %s with %d assets, %d vanished\n%s", r, c.status, c.reason, c.assets, c.gone, written)
			}
			if !strings.Contains(r.Error, c.says) {
				t.Errorf("error %q does not say %q", r.Error, c.says)
			}
		})
	}
}

// TestWalkUnderNotSupported: a listing that the provider does not have is asked
// for once, or as often as questions were under way by then.
func TestWalkUnderNotSupported(t *testing.T) {
	parents := make([]string, 200)
	var asked atomic.Int64
	r, _ := read(t, func(ctx context.Context, out *Output) error {
		return WalkUnder(ctx, out, pagesOf(nil, parents), func(string) Sub[string] {
			return Sub[string]{"things", func(context.Context, string) ([]string, string, error) {
				asked.Add(1)
				return nil, "", code(501, "NotImplemented")
			}}
		}, plain)
	})
	if r.Status != Partial || r.Reason != NotSupported || r.Errors != len(parents) || asked.Load() > ListingWorkers {
		t.Errorf("record %+v after %d questions, want PARTIAL not_supported for all %d", r, asked.Load(), len(parents))
	}
}

// TestWalkUnderStops: the end of the run and a full disk end it; neither is a
// gap of one parent.
func TestWalkUnderStops(t *testing.T) {
	endless := func(_ context.Context, token string) ([]string, string, error) {
		return []string{"x"}, token + "t", nil
	}
	full := errors.New("no space left on device")
	for _, c := range []struct {
		name string
		disk *disk
		stop int64 // the asset with which the run is told to end
	}{{"disk full", &disk{full: full}, -1}, {"interrupted", new(disk), 20}} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var n atomic.Int64
			records, err := Run(ctx, []Task{{Read: func(ctx context.Context, out *Output) error {
				return WalkUnder(ctx, out, endless, func(string) Sub[string] { return Sub[string]{"things", endless} }, func(id string) Asset {
					i := n.Add(1)
					if i == c.stop {
						cancel()
					}
					return Asset{ID: fmt.Sprint(i, strings.Repeat(id, 1000))}
				})
			}}}, Options{Sink: onDisk(c.disk)})
			if !errors.Is(err, c.disk.full) {
				t.Errorf("run ended with %v, want %v", err, c.disk.full)
			}
			if r := records[0]; r.Status != Partial || r.Reason != Truncated || r.Errors != 1 {
				t.Errorf("record %+v, want PARTIAL truncated", r)
			}
		})
	}
}

// TestGone: what a provider says of what is no more, and what it only seems to.
func TestGone(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"a code of one asset":             {code(400, "ClusterNotFoundException"), true},
		"left out of an answer":           {fmt.Errorf("tags: %w", ErrGone), true},
		"denied":                          {code(403, "AccessDenied"), false},
		"any 404":                         {code(404, "PageNotFound"), false},
		"an open circuit before anything": {&cloudpace.CircuitOpenError{Err: code(503, "Unavailable")}, false},
	} {
		if got := Gone("aws", c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
