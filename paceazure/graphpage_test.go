package paceazure_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceazure"
	"github.com/cloudpace/cloudpace/verdict"
)

// empty answers every query with no rows.
func empty(int, arrival) answer { return page(1, 0, 0, "", false) }

// S12.1: 3 queries a second and 15 at once, whatever the subscriptions.
func TestS12_1QuotaIsTheCallers(t *testing.T) {
	both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
		cloud.handle = empty
		g := governor(t, nil)
		reader := graph(g)
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() {
				if _, err := read(t.Context(), reader, resources()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		at := cloud.at()
		if at[14] != 0 || at[15] == 0 || at[29] != 5*time.Second {
			t.Errorf("sent at %v", at)
		}
		if n := scopeStats(t, g, graphText); n.Calls != 30 {
			t.Errorf("%+v", n)
		}
	})
}

// S12.2: a page of a governed client takes one token, whoever made the client, and
// so does a page that is asked for again.
func TestS12_2OneTokenForAPage(t *testing.T) {
	for _, from := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			cloud := script(page(1, 1, 3, "t1", false), code(500, "InternalServerError"), page(2, 1, 3, "t2", false), page(3, 1, 3, "", false))
			g := governor(t, func(p *cloudpace.Provider) {
				p.Services = map[string]cloudpace.Service{"resourcegraph": {MaxRPS: 0.1, Burst: 15}}
				p.MaxConcurrency = 1
			})
			graph := governedGraph(t, cloud.inProcess(), g)
			if from {
				client, err := armresourcegraph.NewClient(login{}, paceazure.ClientOptions(cloud.inProcess(), paceazure.WithGovernor(g)))
				if err != nil {
					t.Fatal(err)
				}
				graph = paceazure.GraphFrom(client, paceazure.WithGovernor(g))
			}
			ids, err := read(t.Context(), graph, resources())
			if err != nil {
				t.Fatal(err)
			}
			wantRows(t, ids, 3)
			// Four requests, and some recovery of the bucket in less than a second.
			if b := leaf(t, g, graphText); b.Tokens < 11 || b.Tokens > 11.1 {
				t.Errorf("%v tokens left of 15", b.Tokens)
			}
			if n := scopeStats(t, g, graphText); n.Calls != 4 || n.Retries != 1 {
				t.Errorf("%+v", n)
			}
			clean(t, g)
		})
	}
}

// S12.2: a 429 that comes out of the pipeline is final. It is recorded once and not
// asked for again.
func TestS12_2PipelineHasTheLastWord(t *testing.T) {
	for _, from := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			cloud := script(code(429, "RateLimiting"))
			g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries = 2 })
			graph := governedGraph(t, cloud.inProcess(), g)
			if from {
				client, err := armresourcegraph.NewClient(login{}, paceazure.ClientOptions(cloud.inProcess(), paceazure.WithGovernor(g)))
				if err != nil {
					t.Fatal(err)
				}
				graph = paceazure.GraphFrom(client, paceazure.WithGovernor(g))
			}
			ctx, ledger := cloudpace.WithLedger(t.Context())
			_, err := read(ctx, graph, resources())
			if as[*azcore.ResponseError](t, err).StatusCode != 429 {
				t.Error(err)
			}
			if n := scopeStats(t, g, graphText); len(cloud.at()) != 3 || n.Calls != 3 || n.Throttled != 3 || n.GaveUp != 1 || !ledger.Degraded() {
				t.Errorf("%d requests, %+v, %s", len(cloud.at()), n, ledger)
			}
			if b := g.Snapshot().Breakers[0]; b.Failures != 1 {
				t.Errorf("%+v", b)
			}
			clean(t, g)
		})
	}
}

// An admission is spent once, and only on what it was made for: a governed pipeline
// of another governor admits for itself.
func TestS12_2AdmissionOfAnotherGovernor(t *testing.T) {
	cloud := newFake(empty)
	one, other := governor(t, nil), governor(t, nil)
	client, err := armresourcegraph.NewClient(login{}, paceazure.ClientOptions(cloud.loopback(t), paceazure.WithGovernor(other)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(t.Context(), paceazure.GraphFrom(client, paceazure.WithGovernor(one)), resources()); err != nil {
		t.Fatal(err)
	}
	for _, g := range []*cloudpace.Governor{one, other} {
		if n := scopeStats(t, g, graphText); n.Calls != 1 {
			t.Errorf("%+v", n)
		}
		clean(t, g)
	}
}

// S12.3: a page of a client of another make is asked for again after 2, 4, 8, 16
// and 30 s, each time as a new call with a new token; then the query is given up.
func TestS12_3ThrottledPagesAreAskedForAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cloud := script(code(429, "RateLimiting"))
		g := governor(t, func(p *cloudpace.Provider) { p.Adaptive = false; p.RetryBudget = 10 })
		ctx, ledger := cloudpace.WithLedger(t.Context())
		_, err := read(ctx, foreignGraph(t, cloud.inProcess(), g), resources())
		if as[*azcore.ResponseError](t, err).StatusCode != 429 {
			t.Error(err)
		}
		at := cloud.at()
		for i, want := range []time.Duration{0, 2, 6, 14, 30, 60} {
			if len(at) != 6 || at[i] < want*time.Second || at[i] > want*time.Second+500*time.Millisecond {
				t.Fatalf("sent at %v", at)
			}
		}
		if n := scopeStats(t, g, graphText); n.Calls != 6 || n.Retries != 5 || n.Throttled != 6 || n.GaveUp != 1 || !ledger.Degraded() {
			t.Errorf("%+v, %s", n, ledger)
		}
		if budget(g) != 7 { // two retries are free
			t.Errorf("%v tokens left", budget(g))
		}
		if b := g.Snapshot().Breakers[0]; b.Failures != 1 {
			t.Errorf("%+v", b)
		}
		clean(t, g)
	})
}

// S12.3: the configured number of retries, and one page's retries are not another's.
func TestS12_3RetriesAreCountedForEachPage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		no := code(429, "RateLimiting")
		cloud := script(no, page(1, 1, 3, "t1", false), no, page(2, 1, 3, "t2", false), no, no)
		g := governor(t, nil)
		cfg := g.Config()
		cfg.Azure.GraphMaxRetries = 1
		if err := g.Configure(cfg); err != nil {
			t.Fatal(err)
		}
		ids, err := read(t.Context(), foreignGraph(t, cloud.inProcess(), g), resources())
		wantRows(t, ids, 2)
		missing := as[*paceazure.IncompleteError](t, err)
		if len(cloud.at()) != 6 || missing.SkipToken != "t2" || missing.Total != 3 {
			t.Errorf("%d requests, %+v", len(cloud.at()), missing)
		}
	})
}

// S12.3: a hint is waited out by the paused bucket; with the governor off by a longer
// back-off, of 300 s at most; and beyond the deadline it ends the query at once.
func TestS12_3Hints(t *testing.T) {
	for _, tc := range []struct {
		hint string
		off  bool
		want time.Duration // 0: given up at once
	}{
		{"50", false, 50 * time.Second},
		{"400", false, 400 * time.Second},
		{"1000", false, 0},
		{"1", false, 2 * time.Second},
		{"50", true, 50 * time.Second},
		{"400", true, 300 * time.Second},
		{"1", true, 2 * time.Second},
	} {
		bubble(t, func(t *testing.T) {
			cloud := script(code(429, "RateLimiting", "Retry-After", tc.hint), page(1, 1, 1, "", false))
			g := governor(t, func(p *cloudpace.Provider) { p.Enabled = !tc.off })
			ids, err := read(t.Context(), foreignGraph(t, cloud.inProcess(), g), resources())
			at := cloud.at()
			if tc.want == 0 {
				late := as[*cloudpace.DeadlineExceededError](t, err)
				if len(at) != 1 || time.Since(cloud.start) != 0 || late.RetryAfter != 1000*time.Second || verdict.Classify(err) != verdict.Throttled {
					t.Errorf("sent at %v, %v", at, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantRows(t, ids, 1)
			if len(at) != 2 || at[1] < tc.want || at[1] > tc.want+500*time.Millisecond {
				t.Errorf("hint %s, off %t: sent at %v", tc.hint, tc.off, at)
			}
			if !tc.off {
				if b := leaf(t, g, graphText); b.LowestRPS != 1.5 {
					t.Errorf("hint %s: %+v", tc.hint, b)
				}
			}
		})
	}
}

// S12.3: only throttles are asked for again here; the rest is the client's own
// business. The breaker is asked for each page.
func TestS12_3OtherFailuresAndTheBreaker(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cloud := script(page(1, 1, 2, "t1", false), code(500, "InternalServerError"))
		g := governor(t, func(p *cloudpace.Provider) { p.BreakerThreshold = 1 })
		graph := foreignGraph(t, cloud.inProcess(), g)
		once := policy.WithRetryOptions(t.Context(), policy.RetryOptions{MaxRetries: -1})
		_, err := read(once, graph, resources())
		if as[*azcore.ResponseError](t, err).StatusCode != 500 || len(cloud.at()) != 2 {
			t.Errorf("%d requests, %v", len(cloud.at()), err)
		}
		_, err = read(t.Context(), graph, resources())
		if open := as[*cloudpace.CircuitOpenError](t, err); len(cloud.at()) != 2 || open.Scope.String() != graphText {
			t.Errorf("%d requests, %v", len(cloud.at()), err)
		}
		clean(t, g)
	})
}

// The caller's end during a back-off ends the query.
func TestS12_3CallersEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cloud := script(code(429, "RateLimiting"))
		g := governor(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		_, err := read(ctx, foreignGraph(t, cloud.inProcess(), g), resources())
		if !errors.Is(err, context.Canceled) || time.Since(cloud.start) != 5*time.Second || len(cloud.at()) != 2 {
			t.Errorf("after %v: %v", time.Since(cloud.start), err)
		}
		if b := g.Snapshot().Breakers[0]; b.Failures != 0 {
			t.Errorf("%+v", b)
		}
		clean(t, g)
	})
}

// S11.5 reaches clients of another make too, over a real connection.
func TestS12_3QuotaHeadersOfForeignPages(t *testing.T) {
	cloud := script(page(1, 1, 2, "t1", false, "x-ms-user-quota-remaining", "0", "x-ms-user-quota-resets-after", "00:00:00.4"), page(2, 1, 2, "", false))
	g := governor(t, nil)
	ids, err := read(t.Context(), foreignGraph(t, cloud.loopback(t), g), resources())
	if err != nil {
		t.Fatal(err)
	}
	wantRows(t, ids, 2)
	if at := cloud.at(); at[1]-at[0] < 390*time.Millisecond {
		t.Errorf("sent at %v", at)
	}
}

// What is read from azcore's error, from whatever client (DESIGN: readers).
func TestReaderOfAzcoreErrors(t *testing.T) {
	f := script(code(429, "RetryableErrorDueToAnotherOperation", "Retry-After", "4"))
	err := bareClient(t, noRetries(f, t)).get(computePath)
	r := verdict.Examine("", err)
	if r.Kind != verdict.Transient || r.Hint != 4*time.Second || r.Status != 429 || !r.Answered || r.Message != "no" {
		t.Errorf("%+v", r)
	}
	for name, err := range map[string]error{
		"nil":           (*azcore.ResponseError)(nil),
		"without reply": &azcore.ResponseError{StatusCode: 503},
		"without body":  &azcore.ResponseError{StatusCode: 503, RawResponse: &http.Response{StatusCode: 503}},
	} {
		want := verdict.Throttled
		if name == "nil" {
			want = verdict.Fatal
		}
		if k := verdict.Classify(err); k != want {
			t.Errorf("%s: %v", name, k)
		}
	}
}
