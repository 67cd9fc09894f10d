package inventory

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

func task(name string, read func(context.Context, *Output) error) Task {
	return Task{Kind: Kind{Name: name, Service: "ec2"}, Provider: "aws", Account: "1", Region: "r", Read: read}
}

func emits(ids ...string) func(context.Context, *Output) error {
	return func(ctx context.Context, out *Output) error { return Walk(ctx, out, pagesOf(nil, ids), plain) }
}

// TestS15_1OneRecordEach: every task has one record, in the order they were
// given, and nothing a task does stops another (S15.3).
func TestS15_1OneRecordEach(t *testing.T) {
	d := new(disk)
	tasks := []Task{
		task("good", emits("a", "b")),
		task("denied", func(context.Context, *Output) error { return code(403, "AccessDenied") }),
		task("panics", func(context.Context, *Output) error {
			panic("out of order")
		}),
		task("throttled", func(context.Context, *Output) error { return code(503, "RequestLimitExceeded") }),
		task("also good", emits("c")),
	}
	var told []string
	records, err := Run(t.Context(), tasks, Options{Sink: onDisk(d), Workers: 2, Done: func(r Record) { told = append(told, r.Task) }})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		status Status
		reason Reason
	}{{Success, ""}, {Failed, AccessDenied}, {Failed, Protocol}, {Failed, Throttled}, {Success, ""}}
	for i, r := range records {
		if r.Task != tasks[i].Name || r.Status != want[i].status || r.Reason != want[i].reason {
			t.Errorf("record %d: %s %s %s, want %s %v", i, r.Task, r.Status, r.Reason, tasks[i].Name, want[i])
		}
		if r.Provider != "aws" || r.Account != "1" || r.Region != "r" || r.Scope != "aws/1/r/ec2" || r.Started.IsZero() || r.Finished.Before(r.Started) {
			t.Errorf("record %d lacks something: %+v", i, r)
		}
	}
	if !strings.Contains(records[2].Error, "out of order") {
		t.Errorf("the panic is not told: %q", records[2].Error)
	}
	if len(told) != len(tasks) {
		t.Errorf("told of %v", told)
	}
	if n := strings.Count(d.String(), "\n"); n != 3 {
		t.Errorf("%d assets written, want 3", n)
	}
}

// TestS8_3LedgerMakesPartial: calls that were given up under a task make its
// record PARTIAL also when the task swallowed the errors.
func TestS8_3LedgerMakesPartial(t *testing.T) {
	g, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	records, err := Run(t.Context(), []Task{task("swallows", func(ctx context.Context, out *Output) error {
		_ = cloudpace.Do(ctx, cloudpace.Scope{Provider: "aws", Service: "ec2"}, func(context.Context) error {
			return code(503, "RequestLimitExceeded")
		}, cloudpace.WithGovernor(g), cloudpace.WithMaxRetries(0))
		return out.Emit(plain("a"))
	})}, Options{Sink: onDisk(new(disk)), Governor: g})
	if err != nil {
		t.Fatal(err)
	}
	r := records[0]
	if r.Status != Partial || r.Reason != Throttled || !strings.HasPrefix(r.Ledger, "throttled: 1 call(s) gave up") || r.Assets != 1 || r.Calls != 1 {
		t.Errorf("record %+v, want PARTIAL throttled with the ledger's words", r)
	}
}

// TestS8_3LateTask: a task that does not hear the end of the run has its calls
// and the ledger's words in its record all the same.
func TestS8_3LateTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := cloudpace.New(cloudpace.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		records, err := Run(ctx, []Task{task("deaf", func(ctx context.Context, _ *Output) error {
			_ = cloudpace.Do(ctx, cloudpace.Scope{Provider: "aws", Service: "ec2"}, func(context.Context) error {
				return code(503, "RequestLimitExceeded")
			}, cloudpace.WithGovernor(g), cloudpace.WithMaxRetries(0))
			time.Sleep(time.Minute)
			return nil
		})}, Options{Sink: onDisk(new(disk)), Governor: g})
		if err != nil {
			t.Fatal(err)
		}
		if r := records[0]; r.Calls != 1 || !strings.HasPrefix(r.Ledger, "throttled: 1 call(s) gave up") || r.Reason != Truncated {
			t.Errorf("record %+v, want truncated with 1 call that gave up", r)
		}
		time.Sleep(time.Minute) // until the task has gone, too
	})
}

// TestLastErrorCounts: what ended a task is what its record tells of, with its
// own time to retry, and counts with the gaps before it.
func TestLastErrorCounts(t *testing.T) {
	slow := &verdict.ResponseError{Provider: "aws", StatusCode: 429, Header: http.Header{"Retry-After": {"30"}}}
	r, _ := read(t, func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(code(403, "AccessDenied"), []string{"a", "b"}), plain, Detail[string]{"d", func(context.Context, string, *Asset) error {
			return slow
		}})
	})
	if r.Reason != AccessDenied || r.RetryAfterSeconds != 0 || r.Errors != 3 {
		t.Errorf("record %+v, want access_denied as the last of 3 errors, and no time to retry", r)
	}
}

// TestRetryAfter: an open circuit's time is in the record, and its reason is
// what opened it.
func TestRetryAfter(t *testing.T) {
	open := &cloudpace.CircuitOpenError{RetryAfter: 42 * time.Second, Err: code(503, "RequestLimitExceeded")}
	r, _ := read(t, func(context.Context, *Output) error { return fmt.Errorf("wrapped: %w", open) })
	if r.RetryAfterSeconds != 42 || r.Reason != Throttled || r.Status != Failed {
		t.Errorf("record %+v, want FAILED throttled, 42 s", r)
	}
}

// TestInterrupted: tasks that end when told to, one that does not hear, and those
// that were never begun: each has its record, seconds later at the most.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		deaf := make(chan struct{})
		var outlived error
		tasks := []Task{
			task("done", emits("a")),
			task("hears", func(ctx context.Context, out *Output) error {
				return Walk(ctx, out, func(ctx context.Context, token string) ([]string, string, error) {
					if token == "" {
						return []string{"b"}, "more", nil
					}
					<-ctx.Done()
					return nil, "", fmt.Errorf("operation: %w", ctx.Err())
				}, plain)
			}),
			task("deaf", func(_ context.Context, out *Output) error {
				if err := out.Emit(plain("c")); err != nil {
					return err
				}
				<-deaf
				outlived = out.Emit(plain("too late"))
				return nil
			}),
			task("not begun", emits("d")),
		}
		tasks[3].Service, tasks[3].Region = "ec2", "r" // after the others of its service
		time.AfterFunc(time.Minute, func() { cancel(errors.New("interrupt")) })
		d := new(disk)
		start := time.Now()
		records, err := Run(ctx, tasks, Options{Sink: onDisk(d), Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > time.Minute+grace {
			t.Errorf("took %s after the interrupt", took-time.Minute)
		}
		want := []struct {
			status Status
			assets int
		}{{Success, 1}, {Partial, 1}, {Partial, 1}, {Skipped, 0}}
		for i, r := range records {
			if r.Status != want[i].status || r.Assets != want[i].assets {
				t.Errorf("%s: %s with %d assets, want %s with %d", r.Task, r.Status, r.Assets, want[i].status, want[i].assets)
			}
			if i > 0 && (r.Reason != Truncated || !strings.Contains(r.Error, "interrupt")) {
				t.Errorf("%s: reason %s, error %q", r.Task, r.Reason, r.Error)
			}
		}
		close(deaf)
		synctest.Wait()
		if !errors.Is(outlived, errClosed) || strings.Contains(d.String(), "too late") {
			t.Errorf("a task that outlived its run could still write (%v)", outlived)
		}
		if n := strings.Count(d.String(), "\n"); n != 3 {
			t.Errorf("%d assets kept, want 3", n)
		}
	})
}

// TestInterruptedDetails: the items of a page that arrived are kept when the
// details are cut off.
func TestInterruptedDetails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ids := make([]string, 50)
	d := new(disk)
	records, err := Run(ctx, []Task{task("fan", func(ctx context.Context, out *Output) error {
		return Walk(ctx, out, pagesOf(nil, ids), plain, Detail[string]{"size", func(ctx context.Context, _ string, _ *Asset) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}})
	})}, Options{Sink: onDisk(d)})
	if err != nil {
		t.Fatal(err)
	}
	r := records[0]
	if r.Status != Partial || r.Reason != Truncated || r.Assets != 50 || r.Incomplete != 50 || r.Details > DetailWorkers {
		t.Errorf("record %+v, want PARTIAL truncated with all 50 assets", r)
	}
}

func TestWorkersBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		var tasks []Task
		for range 20 {
			tasks = append(tasks, task("t", func(context.Context, *Output) error {
				n := running.Add(1)
				for {
					m := most.Load()
					if n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				time.Sleep(time.Second)
				running.Add(-1)
				return nil
			}))
		}
		tally := new(Tally)
		start := time.Now()
		if _, err := Run(t.Context(), tasks, Options{Sink: onDisk(new(disk)), Workers: 4, Tally: tally}); err != nil {
			t.Fatal(err)
		}
		if most.Load() != 4 || time.Since(start) != 5*time.Second {
			t.Errorf("%d side by side in %s, want 4 in 5s", most.Load(), time.Since(start))
		}
		if p := tally.Progress(); p.Done != 20 || p.Total != 20 || len(p.Running) != 0 {
			t.Errorf("progress %+v", p)
		}
	})
}

// TestDiskFull: a disk that is full stops the run, also between two assets.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("no space left on device")
		records, err := Run(t.Context(), []Task{task("slow", func(ctx context.Context, out *Output) error {
			if err := out.Emit(plain("a")); err != nil {
				return err
			}
			select {
			case <-time.After(time.Hour):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})}, Options{Sink: onDisk(&disk{full: full})})
		if !errors.Is(err, full) {
			t.Errorf("run ended with %v", err)
		}
		if r := records[0]; r.Status != Partial || !strings.Contains(r.Error, "no space left") {
			t.Errorf("record %+v", r)
		}
	})
}
