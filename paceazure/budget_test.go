package paceazure_test

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// budget gives what is left of the retry budget.
func budget(g *cloudpace.Governor) float64 { return g.Snapshot().Budgets[0].Tokens }

func TestS11_4RetriesArePaid(t *testing.T) {
	for _, status := range []int{429, 503, 408, 500, 502, 504} {
		bubble(t, func(t *testing.T) {
			f := script(code(status, ""))
			g := governor(t, func(p *cloudpace.Provider) { p.RetryBudget = 6 })
			err := newClient(t, f.inProcess(), g).get(computePath)
			if as[*azcore.ResponseError](t, err).StatusCode != status {
				t.Error(err)
			}
			// Eight retries, two of them free; nothing follows the ninth attempt, so it needs
			// no token where none is left.
			var spent *cloudpace.RetryBudgetExhaustedError
			if errors.As(err, &spent) {
				t.Error(err)
			}
			if left := budget(g); left != 0 || len(f.at()) != 9 {
				t.Errorf("%d: %d requests, %v tokens left", status, len(f.at()), left)
			}
			if n := scopeStats(t, g, computeScope); n.Calls != 9 || n.Retries != 8 {
				t.Errorf("%d: %+v", status, n)
			}
		})
	}
}

func TestS11_4OtherAnswersCostNothing(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 409, 410, 412, 422} {
		f := script(code(500, "InternalServerError"), code(500, "InternalServerError"), code(status, "Nope"))
		g := governor(t, func(p *cloudpace.Provider) { p.RetryBudget, p.MaxRetries, p.BreakerThreshold = 3, 0, 3 })
		c := newClient(t, f.loopback(t), g)
		for range 2 {
			_ = c.get(computePath)
		}
		err := c.get(computePath)
		if as[*azcore.ResponseError](t, err).StatusCode != status || len(f.at()) != 3 || budget(g) != 3 {
			t.Errorf("%d: %d requests, %v tokens, %v", status, len(f.at()), budget(g), err)
		}
		if b := g.Snapshot().Breakers[0]; b.Failures != 0 { // S6.2: it is alive
			t.Errorf("%d: %d failures in a row", status, b.Failures)
		}
	}
}

func TestS11_4EmptyBudgetEndsTheLoop(t *testing.T) {
	for _, first := range []answer{code(500, "InternalServerError"), {err: &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}}} {
		bubble(t, func(t *testing.T) {
			f := script(first)
			g := governor(t, func(p *cloudpace.Provider) { p.RetryBudget = 1 })
			ctx, ledger := cloudpace.WithLedger(t.Context())
			_, err := newClient(t, f.inProcess(), g).send(ctx, "GET", computePath, "")
			spent := as[*cloudpace.RetryBudgetExhaustedError](t, err)
			if len(f.at()) != 4 || spent.Scope.String() != computeScope {
				t.Errorf("%d requests, %v", len(f.at()), err)
			}
			if verdict.Classify(err) != verdict.Throttled {
				t.Errorf("classified as %v", verdict.Classify(err))
			}
			// Handlers of azcore's errors get the provider's answer, or else one that
			// reads as throttling.
			want := first.status
			if want == 0 {
				want = 429
				if !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("the cause is not in %v", err)
				}
			}
			if as[*azcore.ResponseError](t, err).StatusCode != want {
				t.Error(err)
			}
			if n := scopeStats(t, g, computeScope); n.GaveUp != 1 || !ledger.Degraded() {
				t.Errorf("%+v", n)
			}
			if b := g.Snapshot().Breakers[0]; b.Failures != 0 {
				t.Errorf("an empty budget is a mark against the service: %+v", b)
			}
		})
	}
}

// Seen: azcore's own 0 means 3.
func TestS11_4NoRetriesIsOneSend(t *testing.T) {
	f := script(code(500, "InternalServerError"))
	g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries, p.RetryBudget = 0, 1 })
	_ = newClient(t, f.loopback(t), g).get(computePath)
	if len(f.at()) != 1 || budget(g) != 1 {
		t.Errorf("%d requests, %v tokens", len(f.at()), budget(g))
	}
}

// Seen: azcore repeats whatever error has no NonRetriable method.
func TestOurErrorsAreNotRepeated(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(code(500, "InternalServerError"))
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries, p.BreakerThreshold = 3, 1 })
		c := newClient(t, f.inProcess(), g)
		_ = c.get(computePath)
		began := time.Now()
		err := c.get(computePath)
		_ = as[*cloudpace.CircuitOpenError](t, err)
		if n := g.Summary(nil).Totals.Rejected; n != 1 || time.Since(began) != 0 {
			t.Errorf("refused %d times in %v", n, time.Since(began))
		}
	})
}

// S6.3: the breaker is asked before every retry.
func TestS6_3OpenBreakerEndsRetries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(code(500, "InternalServerError"))
		g := governor(t, func(p *cloudpace.Provider) { p.BreakerThreshold = 1 })
		c := newClient(t, f.inProcess(), g)
		done := make(chan error)
		go func() { done <- c.get(computePath) }()
		time.Sleep(10 * time.Millisecond)
		scope, _ := cloudpace.ParseScope(computeScope)
		call, err := g.Begin(t.Context(), scope)
		if err != nil {
			t.Fatal(err)
		}
		call.End(&verdict.ResponseError{Provider: "azure", StatusCode: 500})
		_ = as[*cloudpace.CircuitOpenError](t, <-done)
		if n := len(f.at()); n != 1 {
			t.Errorf("%d requests", n)
		}
		clean(t, g)
	})
}
