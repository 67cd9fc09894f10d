package inventory

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
)

// S15.1, F22: a limit that the user set makes a record PARTIAL only where there is
// more, and says how much more at least.
func TestF22Capped(t *testing.T) {
	ids := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint(i))
		}
		return list
	}
	for _, c := range []struct {
		n, limit, assets int
		why              string
	}{
		{5, 0, 5, ""},
		{5, 6, 5, ""},
		{5, 5, 5, ""},
		{5, 4, 4, "the limit of 4 asset(s) a task was reached, of at least 5"},
		{5, 1, 1, "the limit of 1 asset(s) a task was reached, of at least 5"},
	} {
		d := new(disk)
		records, err := Run(t.Context(), []Task{task("t", emits(ids(c.n)...))}, Options{Sink: onDisk(d), MaxAssets: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		r := records[0]
		if r.Assets != c.assets || strings.Count(d.String(), "\n") != c.assets {
			t.Errorf("%+v: %d assets", c, r.Assets)
		}
		if c.why == "" && r.Status != Success || c.why != "" && (r.Status != Partial || r.Reason != Capped || !strings.Contains(r.Error, c.why)) {
			t.Errorf("%+v: %s %s: %s", c, r.Status, r.Reason, r.Error)
		}
	}
}

// S15.3, F17: a task of which nothing comes is ended, one that is slow is not, and
// those beside it go on.
func TestF17Stalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		g, err := cloudpace.New(cloudpace.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		hangs := func(ctx context.Context, out *Output) error {
			if err := out.Emit(plain("first")); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}
		records, err := Run(t.Context(), []Task{
			task("hangs", hangs),
			task("waits for a quota", func(ctx context.Context, out *Output) error {
				call, err := g.Begin(ctx, cloudpace.Scope{Provider: "aws", Service: "ec2"})
				if err != nil {
					return err
				}
				call.End(code(429, ""))
				<-ctx.Done()
				return ctx.Err()
			}),
			task("slow", func(ctx context.Context, out *Output) error {
				for i := range 10 {
					time.Sleep(14 * time.Minute)
					if err := out.Emit(plain(fmt.Sprint(i))); err != nil {
						return err
					}
				}
				return nil
			}),
		}, Options{Sink: onDisk(new(disk)), Governor: g})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []struct {
			status Status
			reason Reason
			after  time.Duration
		}{{Partial, Unreachable, 15 * time.Minute}, {Failed, Throttled, 15 * time.Minute}, {Success, "", 140 * time.Minute}} {
			r := records[i]
			if r.Status != want.status || r.Reason != want.reason || r.Finished.Sub(start) != want.after {
				t.Errorf("%s: %s %s after %s: %s", r.Task, r.Status, r.Reason, r.Finished.Sub(start), r.Error)
			}
		}
	})
}

// S15.1: where there is nobody to ask, a task is SKIPPED. A region that was asked
// for is missing then; a service that a region does not have is not.
func TestS15_1NobodyToAsk(t *testing.T) {
	run := func(err error) Document {
		t.Helper()
		sink := onDisk(new(disk))
		records, broken := Run(t.Context(), []Task{
			task("good", emits("a")),
			task("t", func(context.Context, *Output) error { return err }),
		}, Options{Sink: sink})
		return NewDocument(Summary{}, records, sink, broken, nil)
	}
	d := run(&RegionDisabledError{Region: "me-south-1"})
	if r := d.Coverage[1]; r.Status != Skipped || r.Reason != RegionDisabled || d.Summary.Outcome != WithGaps {
		t.Errorf("%+v, %s", r, d.Summary.Outcome)
	}
	d = run(&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true})
	if r := d.Coverage[1]; r.Status != Skipped || r.Reason != ServiceNotInRegion || d.Summary.Outcome != Complete {
		t.Errorf("%+v, %s", r, d.Summary.Outcome)
	}
	// Nobody said that nothing exists, so nothing may be deleted there.
	if len(d.Summary.Complete) != 1 {
		t.Errorf("complete: %+v", d.Summary.Complete)
	}
}

// F14: a record has the id of the last answer.
func TestF14RequestID(t *testing.T) {
	records, err := Run(t.Context(), []Task{task("t", func(ctx context.Context, out *Output) error {
		Answered(ctx, "1")
		Answered(ctx, "2")
		Answered(ctx, "")
		Answered(context.Background(), "3") // not a task's
		return errors.New("no")
	})}, Options{Sink: onDisk(new(disk))})
	if err != nil || records[0].RequestID != "2" {
		t.Errorf("%+v, %v", records, err)
	}
}

// S15.2: what a provider lists twice is one asset, also where a page comes again and
// the listing cannot be followed any further.
func TestNothingTwice(t *testing.T) {
	d := new(disk)
	page := func(_ context.Context, token string) ([]string, string, error) {
		return []string{"a", "b"}, "again", nil // whatever the token
	}
	records, err := Run(t.Context(), []Task{task("t", func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, page, func(id string) Asset { return Asset{Type: "T", ID: id} })
	})}, Options{Sink: onDisk(d)})
	if err != nil {
		t.Fatal(err)
	}
	r := records[0]
	if r.Status != Partial || r.Reason != Truncated || r.Assets != 2 || r.Duplicates != 2 || strings.Count(d.String(), "\n") != 2 {
		t.Errorf("%+v\n%s", r, d)
	}
}

// A listing of empty pages without end is ended; some of them are followed.
func TestEmptyPages(t *testing.T) {
	for _, c := range []struct{ empty, assets int }{{999, 1}, {1000, 0}} {
		n := 0
		page := func(context.Context, string) ([]string, string, error) {
			if n++; n <= c.empty {
				return nil, fmt.Sprint(n), nil
			}
			return []string{"a"}, "", nil
		}
		records, err := Run(t.Context(), []Task{task("t", func(ctx context.Context, out *Output) error {
			return Walk(ctx, out, page, plain)
		})}, Options{Sink: onDisk(new(disk))})
		if err != nil {
			t.Fatal(err)
		}
		r := records[0]
		if r.Assets != c.assets || c.assets == 0 && (r.Status != Partial || r.Reason != Truncated) || c.assets == 1 && r.Status != Success {
			t.Errorf("after %d empty pages: %+v", c.empty, r)
		}
	}
}

// A listing that gives the same page under tokens that are always new is ended.
func TestRepeatedAssets(t *testing.T) {
	ids := make([]string, 500)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	n := 0
	page := func(context.Context, string) ([]string, string, error) {
		n++
		return ids, fmt.Sprint(n), nil
	}
	records, err := Run(t.Context(), []Task{task("t", func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, page, plain)
	})}, Options{Sink: onDisk(new(disk))})
	if err != nil {
		t.Fatal(err)
	}
	if r := records[0]; r.Status != Partial || r.Reason != Truncated || r.Assets != len(ids) || r.Duplicates != mostRepeated || n != 21 {
		t.Errorf("%+v after %d pages", r, n)
	}
}
