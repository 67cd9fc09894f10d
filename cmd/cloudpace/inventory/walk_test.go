package inventory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
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
	if asked.Load() > DetailWorkers || int(asked.Load()) != r.Details {
		t.Errorf("asked %d times, recorded %d, want at most %d", asked.Load(), r.Details, DetailWorkers)
	}
	if r.Status != Partial || r.Reason != NotSupported || r.Assets != 500 || r.Incomplete != 500 {
		t.Errorf("record %+v, want PARTIAL not_supported with all 500 assets", r)
	}
}

// TestS15_2RefusedForOne: a refusal that is about one item says nothing about the
// others, which are asked; only one that names the operation, or so many that
// nothing else is left to think, ends the asking.
func TestS15_2RefusedForOne(t *testing.T) {
	const many = 200
	for _, c := range []struct {
		name    string
		items   int
		refuse  func(n int64) error // n counts the questions
		asked   int                 // at most this many more than one for each place
		missing int
		reason  Reason // of the record, and of each asset that lacks something
	}{
		{"a page with a 500 for the first", many, only(1, code(500, "")), many, 1, Unreachable},
		{"a page with a 500 for a later one", many, only(100, code(500, "")), many, 1, Unreachable},
		{"a page with a 404 for one", many, only(1, code(404, "")), many, 1, Protocol},
		{"a code for one", many, only(1, code(400, "UnsupportedOperation")), many, 1, NotSupported},
		{"unknown for one, after answers for others", many, only(100, code(501, "")), many, 1, NotSupported},
		{"a page with a 500 for each of a few", 3, always(code(500, "")), 3, 3, NotSupported},
		{"a page with a 500 for all", many, always(code(500, "")), 2 * enoughRefusals, many, NotSupported},
		{"a code for all", many, always(code(400, "UnsupportedOperation")), 2 * enoughRefusals, many, NotSupported},
		{"an open circuit for all", many, always(&cloudpace.CircuitOpenError{Err: code(500, "")}), 2 * enoughRefusals, many, NotSupported},
		{"denied for all", many, always(code(403, "AccessDenied")), many, many, AccessDenied},
		{"an error of the service's own for all", many, always(code(500, "InternalError")), many, many, Unreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			ids := make([]string, c.items)
			var asked atomic.Int64
			r, written := read(t, func(ctx context.Context, out *Output) error {
				return Walk(ctx, out, pagesOf(nil, ids), plain, Detail[string]{"size", func(context.Context, string, *Asset) error {
					return c.refuse(asked.Add(1))
				}})
			})
			if n := int(asked.Load()); n > c.asked || n != r.Details || c.asked == c.items && n != c.items {
				t.Errorf("asked %d times, recorded %d, want %d", n, r.Details, c.asked)
			}
			if r.Status != Partial || r.Reason != c.reason || r.Assets != c.items || r.Incomplete != c.missing || r.Errors != c.missing {
				t.Errorf("record %+v, want PARTIAL %s with all %d assets, %d incomplete", r, c.reason, c.items, c.missing)
			}
			if n := strings.Count(written, fmt.Sprintf(`"missing":{"size":"%s"}`, c.reason)); n != c.missing {
				t.Errorf("%d assets lack their size for %s, want %d", n, c.reason, c.missing)
			}
		})
	}
}

func always(err error) func(int64) error { return func(int64) error { return err } }

func only(n int64, err error) func(int64) error {
	return func(i int64) error {
		if i == n {
			return err
		}
		return nil
	}
}

// TestS15_2RefusedUntilInterrupted: of a listing that did not come to its end
// nobody can say that the provider does not have the operation.
func TestS15_2RefusedUntilInterrupted(t *testing.T) {
	r, written := read(t, func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(code(403, "AccessDenied"), []string{"a"}), plain, Detail[string]{"size", func(context.Context, string, *Asset) error {
			return code(500, "")
		}})
	})
	if r.Assets != 1 || !strings.Contains(written, `"missing":{"size":"unreachable"}`) {
		t.Errorf("record %+v\n%s", r, written)
	}
}

// TestDetailsCounted: only reads that were made are counted.
func TestDetailsCounted(t *testing.T) {
	r, _ := read(t, func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(nil, []string{"a", "b"}), plain, Detail[string]{"region", func(_ context.Context, id string, _ *Asset) error {
			if id == "a" {
				return ErrNotNeeded
			}
			return nil
		}})
	})
	if r.Status != Success || r.Details != 1 || r.Incomplete != 0 {
		t.Errorf("record %+v, want SUCCESS with 1 detail", r)
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
				if most = running; most == DetailWorkers {
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
	if most != DetailWorkers || r.Details != len(ids) {
		t.Errorf("%d side by side, %d in all, want %d and %d", most, r.Details, DetailWorkers, len(ids))
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

// TestS15_2PanicInPage: a panic between two pages ends the listing, and what
// arrived before it is kept: its details are waited for.
func TestS15_2PanicInPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, written := read(t, func(ctx context.Context, out *Output) error {
			page := func(_ context.Context, token string) ([]string, string, error) {
				if token != "" {
					panic("boom")
				}
				return []string{"a", "b", "c"}, "more", nil
			}
			return Walk(ctx, out, page, plain, Detail[string]{"d", func(context.Context, string, *Asset) error {
				time.Sleep(time.Second)
				return nil
			}})
		})
		if r.Status != Partial || r.Reason != Protocol || !strings.Contains(r.Error, "boom") || r.Assets != 3 || strings.Count(written, "\n") != 3 {
			t.Errorf("record %+v, want PARTIAL protocol with the 3 assets of the first page\n%s", r, written)
		}
	})
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

// TestElsewherePages: pages of things that other tasks list are not empty, however many
// there are; pages with nothing on them still end a listing.
func TestElsewherePages(t *testing.T) {
	const pages = mostEmptyPages + 100
	for _, left := range []bool{true, false} {
		r, _ := read(t, func(ctx context.Context, out *Output) error {
			return Walk(ctx, out, func(_ context.Context, token string) ([]string, string, error) {
				n, _ := strconv.Atoi(token)
				if left {
					out.Elsewhere()
				}
				if n++; n == pages {
					return nil, "", nil
				}
				return nil, strconv.Itoa(n), nil
			}, plain)
		})
		if ok := r.Status == Success && r.Pages == pages && r.Elsewhere == pages; ok != left {
			t.Errorf("left to others %v: %+v", left, r)
		}
	}
}

// TestEach: what is read before there are tasks is read to its end, or not at all.
func TestEach(t *testing.T) {
	var got []string
	if err := Each(t.Context(), pagesOf(nil, []string{"a", "b"}, []string{"c"}), func(s string) { got = append(got, s) }); err != nil || len(got) != 3 {
		t.Errorf("%v %v", got, err)
	}
	n := 0
	var empty *EmptyPagesError
	err := Each(t.Context(), func(context.Context, string) ([]string, string, error) { n++; return nil, strconv.Itoa(n), nil }, func(string) {})
	if !errors.As(err, &empty) || n != mostEmptyPages {
		t.Errorf("%d pages, %v", n, err)
	}
	var again *RepeatedTokenError
	err = Each(t.Context(), func(context.Context, string) ([]string, string, error) { return []string{"a"}, "t", nil }, func(string) {})
	if !errors.As(err, &again) {
		t.Error(err)
	}
}
