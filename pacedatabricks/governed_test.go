package pacedatabricks_test

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacedatabricks"
)

const leaf = "databricks/dbc-1.example.com/*/sql"

func circuit(t *testing.T, g *cloudpace.Governor) cloudpace.BreakerState {
	t.Helper()
	for _, b := range g.Snapshot().Breakers {
		if b.Scope == leaf {
			return b
		}
	}
	t.Fatalf("no breaker of %s in %+v", leaf, g.Snapshot().Breakers)
	return cloudpace.BreakerState{}
}

// trip opens the circuit with five requests that end badly.
func trip(t *testing.T, g *cloudpace.Governor) {
	t.Helper()
	rt := transport(t, script(answer{err: read(syscall.ECONNRESET)}), pacedatabricks.WithGovernor(g))
	for range 5 {
		if _, err := rt.RoundTrip(thriftRequest(t, t.Context(), "ExecuteStatement")); err == nil {
			t.Fatal("no error")
		}
	}
}

// TestS14_7_Attempts take a token each, and no slot while they sleep.
func TestS14_7_Attempts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(_ *cloudpace.Config, p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MaxConcurrency = 0.1, 1, 1 })
		s := script(answer{status: 502}, answer{status: 502}, answer{status: 200})
		rt := transport(t, s, pacedatabricks.WithGovernor(g))
		resp, err := rt.RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		// The sleep of 5 s ends while there is no token yet: 0.1 a second.
		if at := s.sent(); len(at) != 3 || at[1] != 10*time.Second || at[2] != 20*time.Second {
			t.Errorf("sent at %v", at)
		}
		if n := g.Summary(nil).Totals; n.Calls != 3 || n.Retries != 2 || n.TransientErrors != 2 || n.GaveUp != 0 {
			t.Errorf("%+v", n)
		}
	})
}

// TestS14_7_WaitsForTokensAreTime: what is waited for the governor is part of the
// duration.
func TestS14_7_WaitsForTokensAreTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := slow(t)
		s := script(answer{err: read(syscall.ECONNRESET)})
		rt := transport(t, s, pacedatabricks.WithGovernor(g), pacedatabricks.WithRetry(pacedatabricks.Retry{Duration: 150 * time.Second}))
		_, err := rt.RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
		var e *pacedatabricks.RetryError
		if !errors.As(err, &e) || e.Reason != "out of time" || len(s.asked) != 2 || e.Elapsed < 100*time.Second || e.Elapsed > 110*time.Second {
			t.Errorf("%v, sent at %v", err, s.sent())
		}
		// The first token is too far away: nothing is sent at all.
		s = script(answer{status: 200})
		rt = transport(t, s, pacedatabricks.WithGovernor(g), pacedatabricks.WithRetry(pacedatabricks.Retry{Duration: 5 * time.Second}))
		_, err = rt.RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
		var late *cloudpace.DeadlineExceededError
		if !errors.As(err, &e) || e.Reason != "out of time" || e.Attempt != 0 || !errors.As(err, &late) || len(s.asked) > 0 {
			t.Errorf("%v, sent at %v", err, s.sent())
		}
	})
}

// TestS14_7_TheBreakerCountsRequests with their retries, and what is repeatable
// waits for it.
func TestS14_7_TheBreakerCountsRequests(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := fast(t)
		s := script(answer{status: 502}, answer{status: 502}, answer{status: 502}, answer{status: 502}, answer{status: 502}, answer{status: 502}, answer{status: 200})
		resp, err := transport(t, s, pacedatabricks.WithGovernor(g)).RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
		if err != nil || resp.StatusCode != 200 || circuit(t, g).State != "closed" {
			t.Errorf("six failed attempts of one request: %v, %+v", err, circuit(t, g))
		}
		trip(t, g)
		if circuit(t, g).State != "open" {
			t.Fatalf("%+v", circuit(t, g))
		}
		s = script(answer{status: 200})
		rt := transport(t, s, pacedatabricks.WithGovernor(g))
		_, err = rt.RoundTrip(thriftRequest(t, t.Context(), "ExecuteStatement"))
		var open *cloudpace.CircuitOpenError
		var e *pacedatabricks.RetryError
		if !errors.As(err, &open) || !errors.As(err, &e) || e.Reason != "non-retryable error" || e.Attempt != 0 || len(s.asked) > 0 {
			t.Errorf("%v", err)
		}
		if resp, err := rt.RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus")); err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		if at := s.sent(); len(at) != 1 || at[0] != 60*time.Second {
			t.Errorf("sent at %v, want when the circuit lets one try", at)
		}
		// Beyond the duration it does not wait at all.
		trip(t, g)
		before := time.Now()
		rt = transport(t, s, pacedatabricks.WithGovernor(g), pacedatabricks.WithRetry(pacedatabricks.Retry{Duration: 59 * time.Second}))
		_, err = rt.RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
		if !errors.As(err, &open) || !errors.As(err, &e) || e.Reason != "out of time" || time.Since(before) != 0 {
			t.Errorf("%v after %s", err, time.Since(before))
		}
	})
}

// TestS14_7_ARetryWaitsForTheCircuit that others opened meanwhile.
func TestS14_7_ARetryWaitsForTheCircuit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := fast(t)
		s := script(answer{status: 502}, answer{status: 200})
		done := make(chan error)
		go func() {
			_, err := transport(t, s, pacedatabricks.WithGovernor(g)).RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
			done <- err
		}()
		synctest.Wait()
		trip(t, g)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if at := s.sent(); len(at) != 2 || at[1] < 60*time.Second || at[1] > 61*time.Second {
			t.Errorf("sent at %v", at)
		}
	})
}

// TestS14_7_TheBudget ends the repeating, the provider's settings for Do do not.
func TestS14_7_TheBudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(_ *cloudpace.Config, p *cloudpace.Provider) {
			p.RetryBudget, p.MaxRetries, p.Deadline = 3, 1, time.Second
		})
		s := script(answer{err: read(syscall.ECONNRESET)})
		_, err := transport(t, s, pacedatabricks.WithGovernor(g)).RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
		var budget *cloudpace.RetryBudgetExhaustedError
		var e *pacedatabricks.RetryError
		if !errors.As(err, &budget) || !errors.As(err, &e) || e.Reason != "out of attempts" || !errors.Is(err, syscall.ECONNRESET) || len(s.asked) != 6 {
			t.Errorf("%v after %d attempts", err, len(s.asked))
		}
	})
}

// TestS14_4_TheCallersDeadline ends it before a sleep that would pass it, and its
// cancellation at once.
func TestS14_4_TheCallersDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		s := script(answer{status: 502, body: "bad gateway"})
		resp, err := transport(t, s, pacedatabricks.WithGovernor(fast(t))).RoundTrip(thriftRequest(t, ctx, "GetOperationStatus"))
		if err != nil || resp.StatusCode != 502 || len(s.asked) != 3 || time.Since(start) != 10*time.Second {
			t.Fatalf("%v, %v, %d attempts after %s", resp, err, len(s.asked), time.Since(start))
		}
		if e := pacedatabricks.Failure(resp); e.Reason != "out of time" || e.HTTPCode != 502 {
			t.Errorf("%v", e)
		}
		body := make([]byte, 20)
		if n, _ := resp.Body.Read(body); string(body[:n]) != "bad gateway" {
			t.Errorf("the body was read: %q", body[:n])
		}

		start = time.Now()
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(7*time.Second, cancel)
		for _, a := range []answer{{status: 502}, {err: read(syscall.ECONNRESET)}} {
			s = script(a)
			_, err = transport(t, s, pacedatabricks.WithGovernor(fast(t))).RoundTrip(thriftRequest(t, ctx, "GetOperationStatus"))
			var e *pacedatabricks.RetryError
			if !errors.Is(err, context.Canceled) || !errors.As(err, &e) || e.Reason != "canceled" || s.open != 0 {
				t.Errorf("%v, %d bodies open", err, s.open)
			}
		}
		if d := time.Since(start); d != 7*time.Second {
			t.Errorf("ended after %s, want at the cancellation", d)
		}
	})
}

// TestS14_4_ACancelledAttemptIsNoFailure of the network: not logged, not counted,
// not held against the service.
func TestS14_4_ACancelledAttemptIsNoFailure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g, logged := fast(t), &levels{}
		for i, end := range []func() (context.Context, context.CancelFunc){
			func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), time.Second) },
			func() (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				return ctx, cancel
			},
		} {
			ctx, cancel := end()
			s := script(answer{status: 200, sleep: time.Hour})
			_, err := transport(t, s, pacedatabricks.WithGovernor(g), logger(logged)).RoundTrip(thriftRequest(t, ctx, "GetOperationStatus"))
			var e *pacedatabricks.RetryError
			want := []string{"out of time", "canceled"}[i]
			if !errors.Is(err, ctx.Err()) || !errors.As(err, &e) || e.Reason != want {
				t.Errorf("%v, want %s", err, want)
			}
			cancel()
		}
		if n := g.Summary(nil).Totals; n.TransientErrors != 0 || circuit(t, g).Failures != 0 || len(logged.all) != 0 {
			t.Errorf("%+v, %+v, logged %v", n, circuit(t, g), logged.all)
		}
	})
}

// TestS14_4_TheOwner of a detached request ends its sleeps, and neither withholds
// the first attempt nor cuts one under way.
func TestS14_4_TheOwner(t *testing.T) {
	bubble(t, func(t *testing.T) {
		start := time.Now()
		owner, cancel := context.WithCancel(t.Context())
		ctx := pacedatabricks.WithOwner(context.WithoutCancel(owner), owner)
		s := script(answer{err: read(syscall.ECONNRESET), sleep: time.Second})
		time.AfterFunc(3*time.Second, cancel)
		rt := transport(t, s, pacedatabricks.WithGovernor(fast(t)))
		_, err := rt.RoundTrip(thriftRequest(t, ctx, "GetOperationStatus"))
		var e *pacedatabricks.RetryError
		if !errors.Is(err, context.Canceled) || !errors.As(err, &e) || e.Reason != "canceled" || time.Since(start) != 3*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		s = script(answer{status: 200, sleep: time.Second})
		rt = transport(t, s, pacedatabricks.WithGovernor(fast(t)))
		if resp, err := rt.RoundTrip(thriftRequest(t, ctx, "CloseOperation")); err != nil || resp.StatusCode != 200 {
			t.Errorf("closing for an owner who has left: %v, %v", resp, err)
		}
		start = time.Now()
		owner, cancel = context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		s = script(answer{status: 503})
		rt = transport(t, s, pacedatabricks.WithGovernor(fast(t)))
		resp, err := rt.RoundTrip(thriftRequest(t, pacedatabricks.WithOwner(t.Context(), owner), "GetOperationStatus"))
		if err != nil || pacedatabricks.Failure(resp).Reason != "out of time" || time.Since(start) != 0 {
			t.Errorf("%v, %v after %s", resp, err, time.Since(start))
		}
	})
}

// TestS6_2_AnOwnerWhoLeaves says nothing about the service: the failures in a row
// stay what they were.
func TestS6_2_AnOwnerWhoLeaves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := fast(t)
		for range 4 {
			_, _ = transport(t, script(answer{err: read(syscall.ECONNRESET)}), pacedatabricks.WithGovernor(g)).
				RoundTrip(thriftRequest(t, t.Context(), "ExecuteStatement"))
		}
		owner, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		rt := transport(t, script(answer{status: 502}), pacedatabricks.WithGovernor(g))
		resp, err := rt.RoundTrip(thriftRequest(t, pacedatabricks.WithOwner(t.Context(), owner), "GetOperationStatus"))
		if err != nil || pacedatabricks.Failure(resp).Reason != "canceled" || circuit(t, g).Failures != 4 {
			t.Errorf("%v, %v, %+v", resp, err, circuit(t, g))
		}
	})
}

// slow has one token, and the next in a hundred seconds.
func slow(t *testing.T) *cloudpace.Governor {
	t.Helper()
	return governor(t, func(_ *cloudpace.Config, p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MinRPS = 0.01, 1, 0.01 })
}

// TestS9_3_Disabled keeps the rules of repetition, and paces nothing.
func TestS9_3_Disabled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(_ *cloudpace.Config, p *cloudpace.Provider) {
			p.Enabled, p.MaxRPS, p.MinRPS, p.Burst = false, 0.001, 0.001, 1
		})
		s := script(answer{err: read(syscall.ECONNRESET)}, answer{status: 429}, answer{status: 200})
		resp, err := transport(t, s, pacedatabricks.WithGovernor(g)).RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
		if err != nil || resp.StatusCode != 200 || len(s.asked) != 3 || s.sent()[2] != 10*time.Second {
			t.Errorf("%v, %v, sent at %v", resp, err, s.sent())
		}
		if n := g.Summary(nil).Totals; n.Calls != 0 {
			t.Errorf("%+v", n)
		}
	})
}

// TestS14_3_AHintPausesEverybody who shares the scope, the ceiling notwithstanding.
func TestS14_3_AHintPausesEverybody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := script(answer{status: 429, header: http.Header{"Retry-After": {"20"}}}, answer{status: 200})
		rt := transport(t, s, pacedatabricks.WithGovernor(fast(t)))
		go func() { _, _ = rt.RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus")) }()
		synctest.Wait()
		if _, err := rt.RoundTrip(thriftRequest(t, t.Context(), "ExecuteStatement")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, at := range s.sent()[1:] {
			if at < 20*time.Second || at > 21*time.Second {
				t.Errorf("sent at %v", s.sent())
			}
		}
	})
}
