package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cloudpace/cloudpace/verdict"
)

// code is an answer of AWS with an error code.
func code(status int, name string) error {
	return &verdict.ResponseError{Provider: "aws", StatusCode: status, Code: name, Message: "no"}
}

// pagesOf makes a listing of the pages given; the error comes after the last.
func pagesOf(end error, pages ...[]string) Page[string] {
	return func(_ context.Context, token string) ([]string, string, error) {
		n := len(token) // one letter for each page read
		if n == len(pages) {
			return nil, "", end
		}
		next := strings.Repeat("t", n+1)
		if n == len(pages)-1 && end == nil {
			next = ""
		}
		return pages[n], next, nil
	}
}

func plain(id string) Asset { return Asset{Type: "T", ID: id} }

// read runs one task made of a walk and gives its record and what was written.
func read(t *testing.T, walk func(ctx context.Context, out *Output) error) (Record, string) {
	t.Helper()
	d := new(disk)
	records, err := Run(t.Context(), []Task{{Kind: Kind{Name: "task"}, Provider: "aws", Account: "1", Region: "r", Read: walk}}, Options{Sink: onDisk(d)})
	if err != nil {
		t.Fatal(err)
	}
	return records[0], d.String()
}

// TestS15_2PageKept: a page that arrived is kept, and a listing that ends early
// says so.
func TestS15_2PageKept(t *testing.T) {
	r, written := read(t, func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(code(403, "AccessDenied"), []string{"a", "b"}, []string{"c"}), plain)
	})
	if r.Status != Partial || r.Reason != AccessDenied || r.Assets != 3 || r.Pages != 2 {
		t.Errorf("record %+v, want PARTIAL access_denied with 3 assets of 2 pages", r)
	}
	if !strings.Contains(r.Error, "ended early, after 2 page(s) with 3 asset(s)") {
		t.Errorf("the record does not say what is missing: %q", r.Error)
	}
	if strings.Count(written, "\n") != 3 {
		t.Errorf("written: %s", written)
	}
}

// TestS15_2NotEmpty: what could not be read is never shown as empty.
func TestS15_2NotEmpty(t *testing.T) {
	r, _ := read(t, func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(code(403, "AccessDenied")), plain)
	})
	if r.Status != Failed || r.Reason != AccessDenied || r.Error == "" {
		t.Errorf("record %+v, want FAILED access_denied", r)
	}
	r, _ = read(t, func(ctx context.Context, out *Output) error { return Walk(ctx, out, pagesOf(nil, nil), plain) })
	if r.Status != Success || r.Assets != 0 || r.Pages != 1 {
		t.Errorf("an empty listing: %+v, want SUCCESS", r)
	}
}

// TestS15_4RepeatedToken: a token seen before ends a listing as PARTIAL, also
// when it is not the one just used.
func TestS15_4RepeatedToken(t *testing.T) {
	for name, next := range map[string]map[string]string{
		"at once":  {"": "a", "a": "a"},
		"a circle": {"": "a", "a": "b", "b": "c", "c": "a"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := read(t, func(ctx context.Context, out *Output) error {
				return Walk(ctx, out, func(_ context.Context, token string) ([]string, string, error) {
					return []string{"x" + token}, next[token], nil
				}, plain)
			})
			if r.Status != Partial || r.Reason != Truncated || r.Assets != len(next) {
				t.Errorf("record %+v, want PARTIAL truncated with %d assets", r, len(next))
			}
		})
	}
}

// TestS15_3Vanished: what vanishes between list and describe is no error.
func TestS15_3Vanished(t *testing.T) {
	r, written := read(t, func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(nil, []string{"a", "b"}), plain, Detail[string]{"size", func(_ context.Context, id string, a *Asset) error {
			if id == "b" {
				return code(400, "InvalidAMIID.NotFound")
			}
			return nil
		}})
	})
	if r.Status != Success || r.Vanished != 1 || r.Assets != 1 || strings.Contains(written, `"b"`) {
		t.Errorf("record %+v\n%s", r, written)
	}
	// On the listing itself the same answer is an error.
	r, _ = read(t, func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(code(400, "InvalidAMIID.NotFound")), plain)
	})
	if r.Status != Failed {
		t.Errorf("not found on a listing: %+v, want FAILED", r)
	}
}

// TestS15_2DetailMissing: an asset whose detail cannot be read is written
// without it and says so; the others have it.
func TestS15_2DetailMissing(t *testing.T) {
	r, written := read(t, func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(nil, []string{"a", "b", "c"}), plain, Detail[string]{"size", func(_ context.Context, id string, a *Asset) error {
			if id == "b" {
				return code(503, "RequestLimitExceeded")
			}
			a.Add("Size", 1)
			return nil
		}})
	})
	if r.Status != Partial || r.Reason != Throttled || r.Assets != 3 || r.Incomplete != 1 || r.Details != 3 {
		t.Errorf("record %+v, want PARTIAL throttled, 3 assets, 1 incomplete", r)
	}
	if !strings.HasPrefix(r.Error, "throttled: ") || !strings.Contains(r.Error, "size of b") {
		t.Errorf("error %q does not name the detail and the asset", r.Error)
	}
	if strings.Count(written, `"Size":1`) != 2 || strings.Count(written, `"missing":{"size":"throttled"}`) != 1 {
		t.Errorf("written: %s", written)
	}
}

// TestDetailNotSupported: an operation that the provider does not have is asked
// once, or as often as questions were under way by then.
func TestDetailNotSupported(t *testing.T) {
	ids := make([]string, 500)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	var asked atomic.Int64
	r, _ := read(t, func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(nil, ids), plain, Detail[string]{"size", func(context.Context, string, *Asset) error {
			asked.Add(1)
			return code(501, "NotImplemented")
		}})
	})
	if asked.Load() > detailWorkers || int(asked.Load()) != r.Details {
		t.Errorf("asked %d times, recorded %d, want at most %d", asked.Load(), r.Details, detailWorkers)
	}
	if r.Status != Partial || r.Reason != NotSupported || r.Assets != 500 || r.Incomplete != 500 {
		t.Errorf("record %+v, want PARTIAL not_supported with all 500 assets", r)
	}
}

// TestFanBounded: details run side by side, and no more of them than allowed.
func TestFanBounded(t *testing.T) {
	ids := make([]string, 100)
	var mu sync.Mutex
	running, most := 0, 0
	full := make(chan struct{})
	r, _ := read(t, func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(nil, ids), plain, Detail[string]{"d", func(context.Context, string, *Asset) error {
			mu.Lock()
			running++
			if running > most {
				if most = running; most == detailWorkers {
					close(full)
				}
			}
			mu.Unlock()
			<-full // nobody goes on before all places are taken
			mu.Lock()
			defer mu.Unlock()
			running--
			return nil
		}})
	})
	if most != detailWorkers || r.Details != len(ids) {
		t.Errorf("%d side by side, %d in all, want %d and %d", most, r.Details, detailWorkers, len(ids))
	}
}

// TestPanicInDetail: the goroutines of a task are contained like the task.
func TestPanicInDetail(t *testing.T) {
	r, _ := read(t, func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(nil, []string{"a"}), plain, Detail[string]{"d", func(context.Context, string, *Asset) error { panic("boom") }})
	})
	if r.Status != Partial || !strings.Contains(r.Error, "boom") {
		t.Errorf("record %+v", r)
	}
}

func TestEmitError(t *testing.T) {
	full := errors.New("no space left on device")
	d := &disk{full: full}
	sink := onDisk(d)
	_, err := Run(t.Context(), []Task{{Read: func(ctx context.Context, out *Output) error {
		for {
			if err := out.Emit(plain(strings.Repeat("x", 1000))); err != nil {
				return err
			}
		}
	}}}, Options{Sink: sink})
	if !errors.Is(err, full) {
		t.Errorf("run ended with %v, want the disk's error", err)
	}
}
