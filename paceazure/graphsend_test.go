package paceazure_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceazure"
)

// graphFrom makes a Graph of a client with these options as they are.
func graphFrom(t testing.TB, cred azcore.TokenCredential, options *arm.ClientOptions, g *cloudpace.Governor) *paceazure.Graph {
	t.Helper()
	client, err := armresourcegraph.NewClient(cred, options)
	if err != nil {
		t.Fatal(err)
	}
	return paceazure.GraphFrom(client, paceazure.WithGovernor(g))
}

// S12.3: a client of another make has azcore's retries, and yet a throttled page is
// sent six times and no more, each time with a token, and no slot is held between.
// So it is with a client of ours while the governor is disabled.
func TestS12_3ThrottlesAreNotTheClients(t *testing.T) {
	mine := func(*http.Response, error) bool { return true }
	for name, tc := range map[string]struct {
		status int
		ours   bool
		retry  policy.RetryOptions // of the client
		ctx    *policy.RetryOptions
	}{
		"default":                 {status: 429},
		"unavailable":             {status: 503},
		"rules of the client":     {status: 429, retry: policy.RetryOptions{MaxRetries: 7, ShouldRetry: mine}},
		"rules of the context":    {status: 429, ctx: &policy.RetryOptions{MaxRetries: 7, StatusCodes: []int{429, 503}}},
		"own rule of the context": {status: 503, ctx: &policy.RetryOptions{ShouldRetry: mine}},
		"disabled":                {status: 429, ours: true},
		"disabled, its own rules": {status: 429, ours: true, retry: policy.RetryOptions{ShouldRetry: mine}},
	} {
		bubble(t, func(t *testing.T) {
			cloud := script(code(tc.status, "RateLimiting", "Retry-After", "1"))
			g := governor(t, func(p *cloudpace.Provider) { p.Enabled, p.RetryBudget = !tc.ours, 10 })
			options := cloud.inProcess()
			options.Retry = tc.retry
			if tc.ours {
				options = paceazure.ClientOptions(options, paceazure.WithGovernor(g))
			}
			graph := graphFrom(t, login{}, options, g)
			ctx := t.Context()
			if tc.ctx != nil {
				ctx = policy.WithRetryOptions(ctx, *tc.ctx)
			}
			done := make(chan error)
			go func() {
				_, err := read(ctx, graph, resources())
				done <- err
			}()
			time.Sleep(time.Second)
			clean(t, g)
			if err := <-done; as[*azcore.ResponseError](t, err).StatusCode != tc.status {
				t.Errorf("%s: %v", name, err)
			}
			if n := len(cloud.at()); n != 6 {
				t.Errorf("%s: %d requests", name, n)
			}
			if tc.ours {
				return
			}
			if n := scopeStats(t, g, graphText); n.Calls != 6 || n.Throttled != 6 {
				t.Errorf("%s: %+v", name, n)
			}
		})
	}
}

// S12.3: what else fails is repeated by the client, as azcore does by default, as the
// caller's context says, or as the client's options say if these are ours.
func TestS12_3OtherFailuresAreTheClients(t *testing.T) {
	for name, tc := range map[string]struct {
		ctx  *policy.RetryOptions
		ours bool
		want int
	}{
		"default":  {nil, false, 4},
		"context":  {&policy.RetryOptions{MaxRetries: 1}, false, 2},
		"disabled": {nil, true, 3},
	} {
		bubble(t, func(t *testing.T) {
			cloud := script(code(500, "InternalServerError"))
			g := governor(t, func(p *cloudpace.Provider) { p.Enabled = !tc.ours })
			options := cloud.inProcess()
			if tc.ours {
				options.Retry.MaxRetries = 2
				options = paceazure.ClientOptions(options, paceazure.WithGovernor(g))
			}
			ctx := t.Context()
			if tc.ctx != nil {
				ctx = policy.WithRetryOptions(ctx, *tc.ctx)
			}
			_, err := read(ctx, graphFrom(t, login{}, options, g), resources())
			if as[*azcore.ResponseError](t, err).StatusCode != 500 || len(cloud.at()) != tc.want {
				t.Errorf("%s: %d requests, %v", name, len(cloud.at()), err)
			}
		})
	}
}

// S12.3: a hint beyond the caller's deadline ends the query at once.
func TestS12_3HintBeyondTheCallersDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cloud := script(code(429, "RateLimiting", "Retry-After", "50"))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := read(ctx, foreignGraph(t, cloud.inProcess(), governor(t, nil)), resources())
		if late := as[*cloudpace.DeadlineExceededError](t, err); late.RetryAfter != 50*time.Second || time.Since(cloud.start) != 0 {
			t.Errorf("after %v: %v", time.Since(cloud.start), err)
		}
	})
}

// S12.2: the retries of a governed client stay its own when a page of it is sent.
func TestS12_2GovernedPagesKeepTheirRetries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cloud := script(code(429, "RateLimiting"), code(500, "InternalServerError"), code(503, "ServerBusy"),
			code(500, "InternalServerError"), code(429, "RateLimiting"), page(1, 1, 1, "", false))
		g := governor(t, nil)
		graph := graphFrom(t, login{}, paceazure.ClientOptions(cloud.inProcess(), paceazure.WithGovernor(g)), g)
		ids, err := read(t.Context(), graph, resources())
		if err != nil {
			t.Fatal(err)
		}
		wantRows(t, ids, 1)
		if n := scopeStats(t, g, graphText); n.Calls != 6 || n.Retries != 5 {
			t.Errorf("%+v", n)
		}
	})
}

// answeringLogin fails with an answer of its own, as a credential over azcore does.
type answeringLogin struct{}

func (answeringLogin) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, &azcore.ResponseError{StatusCode: 429, ErrorCode: "TooManyRequests"}
}

// C18: a login that is throttled is not a throttled query, whatever its error has in it.
func TestC18ThrottledLoginOfAForeignClient(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cloud := newFake(empty)
		g := governor(t, nil)
		ctx, ledger := cloudpace.WithLedger(t.Context())
		_, err := read(ctx, graphFrom(t, answeringLogin{}, cloud.inProcess(), g), resources())
		if as[*azcore.ResponseError](t, err).StatusCode != 429 || len(cloud.at()) != 0 || time.Since(cloud.start) != 0 {
			t.Errorf("%d requests after %v: %v", len(cloud.at()), time.Since(cloud.start), err)
		}
		if b := leaf(t, g, graphText); b.RPS != b.MaxRPS {
			t.Errorf("slowed to %v rps", b.RPS)
		}
		if n := g.Summary(nil).Totals; n.Throttled+n.GaveUp != 0 || g.Snapshot().Breakers[0].Failures != 0 || ledger.Degraded() {
			t.Errorf("%+v, %+v, %s", n, g.Snapshot().Breakers[0], ledger)
		}
		clean(t, g)
	})
}

// breaking is a server whose first answer breaks off within its body.
func breaking(t testing.TB, status int, pairs ...string) (options *arm.ClientOptions, sent *atomic.Int32) {
	t.Helper()
	sent = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if sent.Add(1) > 1 {
			_, _ = w.Write([]byte(`{"count":0,"data":[]}`))
			return
		}
		w.Header().Set("Content-Length", "100")
		for i := 0; i < len(pairs); i += 2 {
			w.Header().Set(pairs[i], pairs[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"data":`))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	tr := &http.Transport{}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		server.Close()
	})
	options = cloudAt(server.URL)
	options.Transport = &http.Client{Transport: copying{tr}}
	return options, sent
}

// S12.3: azcore marks a page whose body breaks off as it marks a failed login. It
// is a failure of the service all the same.
func TestS12_3BrokenPageOfAForeignClient(t *testing.T) {
	for _, cred := range []azcore.TokenCredential{login{}, nil} {
		options, sent := breaking(t, 200)
		g := governor(t, nil)
		ctx, ledger := cloudpace.WithLedger(t.Context())
		_, err := read(ctx, graphFrom(t, cred, options, g), resources())
		if err == nil || sent.Load() != 1 {
			t.Errorf("%d requests, %v", sent.Load(), err)
		}
		if n := scopeStats(t, g, graphText); n.TransientErrors != 1 || g.Snapshot().Breakers[0].Failures != 1 || !ledger.Degraded() {
			t.Errorf("%+v, %+v, %s", n, g.Snapshot().Breakers[0], ledger)
		}
		clean(t, g)
	}
}

// The caller's own policy.WithCaptureResponse has the answer too.
func TestGraphLeavesTheAnswerToTheCaller(t *testing.T) {
	both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
		cloud.handle = script(page(1, 0, 0, "", false, "x-ms-request-id", "seven")).handle
		var answer *http.Response
		_, err := read(policy.WithCaptureResponse(t.Context(), &answer), graph(governor(t, nil)), resources())
		if err != nil || answer == nil || answer.Header.Get("x-ms-request-id") != "seven" {
			t.Errorf("%v, %v", answer, err)
		}
	})
}

// copying sends copies of bodies. net/http may look into a body until a moment after
// an answer that comes before it is read, and azcore rewinds it then to send it again.
type copying struct{ next http.RoundTripper }

func (c copying) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return c.next.RoundTrip(r)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_ = r.Body.Close()
	r = r.Clone(r.Context())
	r.Body, r.GetBody = io.NopCloser(bytes.NewReader(text)), nil
	return c.next.RoundTrip(r)
}
