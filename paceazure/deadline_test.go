package paceazure_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// Seen: past the deadline azcore drops the provider's error.
func TestS11_6BackoffEndsWithTheOperation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(code(500, "InternalServerError"))
		g := governor(t, func(p *cloudpace.Provider) { p.Deadline = 20 * time.Second })
		err := newClient(t, f.inProcess(), g).get(computePath)
		_ = as[*cloudpace.DeadlineExceededError](t, err)
		if as[*azcore.ResponseError](t, err).ErrorCode != "InternalServerError" || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if verdict.Classify(err) != verdict.Transient {
			t.Errorf("classified as %v", verdict.Classify(err))
		}
		if d := time.Since(f.start); d != 20*time.Second {
			t.Errorf("it took %v", d)
		}
		if b := g.Snapshot().Breakers[0]; b.Failures != 1 {
			t.Errorf("%+v", b)
		}
		clean(t, g)
	})
}

func TestS11_6HangingAttemptIsCut(t *testing.T) {
	for _, before := range []answer{code(503, "ServerBusy"), {hang: true}} {
		bubble(t, func(t *testing.T) {
			f := script(before, answer{hang: true})
			g := governor(t, nil)
			err := newClient(t, f.inProcess(), g).get(computePath)
			_ = as[*cloudpace.DeadlineExceededError](t, err)
			var answer *azcore.ResponseError
			if got := errors.As(err, &answer); got != (before.status != 0) {
				t.Errorf("the provider's answer is there: %v; %v", got, err)
			}
			if d := time.Since(f.start); d != 900*time.Second {
				t.Errorf("it took %v", d)
			}
			if b := g.Snapshot().Breakers[0]; b.Failures != 1 {
				t.Errorf("%+v", b)
			}
			clean(t, g)
		})
	}
}

// A wait for a token counts too, and is not begun where it cannot end in time.
func TestS11_6WaitForATokenIsWithin(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(ok())
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.Deadline = 0.1, 1, 5*time.Second })
		c := newClient(t, f.inProcess(), g)
		_ = c.get(computePath)
		err := c.get(computePath)
		_ = as[*cloudpace.DeadlineExceededError](t, err)
		if len(f.at()) != 1 || time.Since(f.start) != 0 {
			t.Errorf("%d requests after %v", len(f.at()), time.Since(f.start))
		}
		if b := g.Snapshot().Breakers[0]; b.Failures != 0 {
			t.Errorf("nothing was sent, and yet %+v", b)
		}
		clean(t, g)
	})
}

// The caller's own end is Canceled, a mark against nobody, and gives all back.
func TestS2_1CallersEnd(t *testing.T) {
	for _, answers := range [][]answer{{{hang: true}}, {code(500, "InternalServerError")}, {retryAfter(429, "30")}} {
		bubble(t, func(t *testing.T) {
			f := script(answers...)
			g := governor(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Second, cancel)
			_, err := newClient(t, f.inProcess(), g).send(ctx, "GET", computePath, "")
			var answer *azcore.ResponseError
			if got := errors.As(err, &answer); got == answers[0].hang {
				t.Errorf("the provider's answer is there: %v; %v", got, err)
			}
			if verdict.Classify(err) != verdict.Canceled {
				t.Errorf("classified as %v", verdict.Classify(err))
			}
			if !errors.Is(err, context.Canceled) || time.Since(f.start) != 10*time.Second {
				t.Errorf("after %v: %v", time.Since(f.start), err)
			}
			if b := g.Snapshot().Breakers[0]; b.Failures != 0 {
				t.Errorf("%+v", b)
			}
			if n := g.Summary(nil).Totals; n.GaveUp != 0 {
				t.Errorf("%+v", n)
			}
			clean(t, g)
		})
	}
}

// S11.6: what the provider said last is beside the caller's end too, wherever that
// comes: in a queue for a token, or while a later attempt hangs.
func TestS11_6CallersEndKeepsTheAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		rps     float64
		answers []answer
	}{
		"queue": {0.1, []answer{ok(), code(500, "InternalServerError")}},
		"hang":  {10, []answer{ok(), code(503, "ServerBusy", "Retry-After", "1"), {hang: true}}},
		"break": {10, []answer{ok(), code(500, "InternalServerError"), lost, {hang: true}}},
	} {
		for _, deadline := range []bool{false, true} {
			if deadline && name == "queue" {
				continue // a wait that would be too long is not begun
			}
			bubble(t, func(t *testing.T) {
				f := script(tc.answers...)
				g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.MinRPS, p.Burst = tc.rps, tc.rps, 2 })
				c := newClient(t, f.inProcess(), g)
				_ = c.get(computePath)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				want := context.DeadlineExceeded
				if !deadline {
					ctx, cancel = context.WithCancel(t.Context())
					time.AfterFunc(5*time.Second, cancel)
					want = context.Canceled
				}
				defer cancel()
				_, err := c.send(ctx, "GET", computePath, "")
				if a := as[*azcore.ResponseError](t, err); a.StatusCode != tc.answers[1].status ||
					a.RawResponse.Header.Get("Retry-After") != tc.answers[1].header.Get("Retry-After") {
					t.Errorf("%s: %+v", name, a)
				}
				if !errors.Is(err, want) || !deadline && verdict.Classify(err) != verdict.Canceled || len(f.at()) != len(tc.answers) {
					t.Errorf("%s: %d requests, %v", name, len(f.at()), err)
				}
				if b := g.Snapshot().Breakers[0]; b.Failures != 0 {
					t.Errorf("%s: %+v", name, b)
				}
				clean(t, g)
			})
		}
	}
}

// Seen: a body that is buffered lets the context go at once, so no timer of a call
// outlives it.
func TestContextsEndWithTheCall(t *testing.T) {
	var ctx context.Context
	options := cloudAt("http://arm.example.com")
	options.Transport = transport(func(req *http.Request) (*http.Response, error) {
		ctx = req.Context()
		if ctx.Done() == nil || ctx.Err() != nil {
			t.Error("the context does not live during the call")
		}
		if d, ok := ctx.Deadline(); !ok || time.Until(d) > 900*time.Second {
			t.Errorf("deadline %v, %v", d, ok)
		}
		return instant{}.Do(req)
	})
	if err := newClient(t, options, governor(t, nil)).get(computePath); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() == nil {
		t.Error("the context outlives the call")
	}
}
