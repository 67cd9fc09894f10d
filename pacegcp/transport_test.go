package pacegcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/api/cloudresourcemanager/v3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacegcp"
	"github.com/cloudpace/cloudpace/verdict"
)

const (
	restURL   = "https://cloudresourcemanager.googleapis.com/v3/projects/example-1"
	restScope = "gcp/projects/example-1/*/cloudresourcemanager"

	restThrottle = `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"slow","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"30s"}]}}`
	restDaily    = `{"error":{"code":403,"message":"Daily Limit Exceeded","errors":[{"domain":"usageLimits","reason":"dailyLimitExceeded"}]}}`
	restRate     = `{"error":{"code":403,"message":"slow","errors":[{"domain":"usageLimits","reason":"rateLimitExceeded"}]}}`
	restDenied   = `{"error":{"code":403,"message":"no","errors":[{"domain":"global","reason":"forbidden"}]}}`
)

// web is Google's front for REST, as a transport in a bubble and a handler elsewhere.
type web struct {
	start  time.Time
	answer func(n int, req *http.Request) (code int, body string, hang bool)

	mu   sync.Mutex
	seen []time.Duration
	last *http.Request
}

func newWeb(answer func(n int, req *http.Request) (int, string, bool)) *web {
	return &web{start: time.Now(), answer: answer}
}

// answers gives one after the other, and the last for ever: code, body, code, body.
func answers(pairs ...any) *web {
	return newWeb(func(n int, _ *http.Request) (int, string, bool) {
		i := 2 * min(n-1, len(pairs)/2-1)
		code, _ := pairs[i].(int)
		body, _ := pairs[i+1].(string)
		return code, body, code == 0
	})
}

func (w *web) take(req *http.Request) (code int, body string, hang bool) {
	w.mu.Lock()
	w.seen = append(w.seen, time.Since(w.start))
	w.last = req.Clone(context.Background())
	n := len(w.seen)
	w.mu.Unlock()
	return w.answer(n, req)
}

func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
		_ = req.Body.Close()
	}
	code, body, hang := w.take(req)
	if hang {
		<-req.Context().Done()
		return nil, context.Cause(req.Context())
	}
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

func (w *web) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	code, body, _ := w.take(req)
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(code)
	_, _ = io.WriteString(rw, body)
}

func (w *web) times() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]time.Duration(nil), w.seen...)
}

// ask sends one request and reads its answer.
func ask(t testing.TB, rt http.RoundTripper, method, url, body string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: rt}).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func TestS13_4_RESTRequestsAreGoverned(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 1 })
		w := answers(200, `{}`)
		rt := pacegcp.NewTransport(w, pacegcp.WithGovernor(g))
		for range 3 {
			if code, body, err := ask(t, rt, "GET", restURL, ""); code != 200 || body != `{}` || err != nil {
				t.Fatal(code, body, err)
			}
		}
		if at := w.times(); at[2] != 2*time.Second {
			t.Errorf("requests at %v, want one a second", at)
		}
		if n := numbers(t, g, restScope); n.Calls != 3 || slots(g, parent) != 0 {
			t.Errorf("%+v", n.Totals)
		}
	})
}

// D01, D05, S13.4: throttling is repeated after its hint, by whatever code it comes; what
// no wait mends is returned as it is.
func TestS13_4_RESTAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		code      int
		body      string
		requests  int
		second    time.Duration // not before
		throttled int
	}{
		"429 with RetryInfo":    {429, restThrottle, 2, 30 * time.Second, 1},
		"403 rateLimitExceeded": {403, restRate, 2, time.Second, 1},
		"503":                   {503, "", 2, time.Second, 1},
		"500":                   {500, "", 2, time.Second, 0},
		"403 forbidden":         {403, restDenied, 1, 0, 0},
		"403 daily":             {403, restDaily, 1, 0, 0},
		"404":                   {404, "", 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := governor(t, unpaced)
				w := answers(c.code, c.body, 200, `{}`)
				code, body, err := ask(t, pacegcp.NewTransport(w, pacegcp.WithGovernor(g)), "GET", restURL, "")
				at := w.times()
				if err != nil || len(at) != c.requests || at[len(at)-1] < c.second {
					t.Fatalf("requests at %v, %v", at, err)
				}
				if c.requests == 1 && (code != c.code || body != c.body) {
					t.Errorf("the caller gets %d %q", code, body)
				}
				if n := numbers(t, g, restScope); n.Throttled != c.throttled {
					t.Errorf("%+v", n.Totals)
				}
			})
		})
	}
}

func TestS7_6_TheLastAnswerIsReturned(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxRetries = 2 })
		w := answers(503, "a", 503, "b", 503, "c")
		ctx, ledger := cloudpace.WithLedger(t.Context())
		req, err := http.NewRequestWithContext(ctx, "PUT", restURL, strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := pacegcp.NewTransport(w, pacegcp.WithGovernor(g)).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 503 || string(body) != "c" || len(w.times()) != 3 {
			t.Errorf("%d %q after %d requests", resp.StatusCode, body, len(w.times()))
		}
		if n := numbers(t, g, restScope); n.GaveUp != 1 || !ledger.Degraded() {
			t.Errorf("%+v, ledger %q", n.Totals, ledger)
		}
	})
}

func TestS7_5_UnsafeRequestsOverREST(t *testing.T) {
	for _, c := range []struct {
		method, url string
		code, want  int
	}{
		{"POST", restURL, 500, 1},
		{"POST", restURL, 429, 2},
		{"PATCH", restURL, 503, 1},
		{"POST", restURL + ":getIamPolicy", 500, 2}, // a read
		{"POST", restURL + ":setIamPolicy", 500, 1},
		{"DELETE", restURL, 500, 2},
	} {
		bubble(t, func(t *testing.T) {
			g := governor(t, unpaced)
			w := answers(c.code, "", 200, "")
			if _, _, err := ask(t, pacegcp.NewTransport(w, pacegcp.WithGovernor(g)), c.method, c.url, "{}"); err != nil || len(w.times()) != c.want {
				t.Errorf("%s %s after %d: %d requests, want %d (%v)", c.method, c.url, c.code, len(w.times()), c.want, err)
			}
		})
	}
}

func TestS13_6_ARESTReadThatHangsIsCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		w := answers(0, "", 200, "{}")
		code, _, err := ask(t, pacegcp.NewTransport(w, pacegcp.WithGovernor(g)), "GET", restURL, "")
		if at := w.times(); err != nil || code != 200 || len(at) != 2 || at[1] < 61*time.Second || at[1] > 62*time.Second {
			t.Errorf("%d, %v, requests at %v", code, err, at)
		}
		w = answers(0, "")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, "GET", restURL, nil)
		resp, err := pacegcp.NewTransport(w, pacegcp.WithGovernor(g)).RoundTrip(req)
		if !errors.Is(err, context.DeadlineExceeded) || len(w.times()) != 1 {
			t.Errorf("the caller's own end: %v, %v", resp, err)
		}
	})
}

// A body that is read for longer than an attempt may take to begin is not cut.
func TestS13_6_ALongBodyIsNotCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		var ctx context.Context
		rt := pacegcp.NewTransport(roundTrip(func(req *http.Request) (*http.Response, error) {
			ctx = req.Context()
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(&slow{ctx: ctx, n: 10})}, nil
		}), pacegcp.WithGovernor(g))
		if _, body, err := ask(t, rt, "GET", restURL, ""); len(body) != 10 || err != nil {
			t.Errorf("%q, %v", body, err)
		}
		if ctx.Err() == nil {
			t.Error("the attempt's context outlives its body")
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// slow gives a byte in 30 s, as long as its context lasts, like a connection.
type slow struct {
	ctx context.Context
	n   int
}

func (s *slow) Read(p []byte) (int, error) {
	if s.n--; s.n < 0 {
		return 0, io.EOF
	}
	time.Sleep(30 * time.Second)
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return copy(p, "x"), nil
}

// S13.5: the quota project is charged and sent, unless the request names one itself.
func TestS13_5_TheQuotaProjectOfRESTRequests(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 1 })
		w := answers(200, `{}`)
		rt := pacegcp.NewTransport(w, pacegcp.WithGovernor(g), pacegcp.WithQuotaProject(quota))
		for _, p := range []string{"a", "b", "c"} {
			req, _ := http.NewRequestWithContext(t.Context(), "GET", "https://cloudresourcemanager.googleapis.com/v3/projects/"+p, nil)
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if req.Header.Get("X-Goog-User-Project") != "" {
				t.Error("the caller's request was changed")
			}
		}
		if at := w.times(); at[2] != 2*time.Second {
			t.Errorf("requests at %v: three projects share the quota project's one a second", at)
		}
		if h := w.last.Header.Get("X-Goog-User-Project"); h != quota {
			t.Errorf("sent %q", h)
		}
		req, _ := http.NewRequestWithContext(t.Context(), "GET", restURL, nil)
		req.Header.Set("X-Goog-User-Project", "other")
		before := time.Now()
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if h := w.last.Header.Get("X-Goog-User-Project"); h != "other" || time.Since(before) != 0 {
			t.Errorf("sent %q after %v", h, time.Since(before))
		}
	})
}

// The services of google.golang.org/api over a real server, with their own errors, and
// within a Do that does not repeat what was repeated (S5.4).
func TestS13_4_ServicesOfTheAPIModule(t *testing.T) {
	w := newWeb(func(n int, req *http.Request) (int, string, bool) {
		switch {
		case strings.HasSuffix(req.URL.Path, "/denied"):
			return 403, restDenied, false
		case n == 1:
			return 503, "", false
		}
		return 200, `{"name":"projects/1","projectId":"example-1"}`, false
	})
	server := httptest.NewServer(w)
	defer server.Close()
	g := governor(t)
	rt := pacegcp.NewTransport(server.Client().Transport, pacegcp.WithGovernor(g))
	service, err := cloudresourcemanager.NewService(t.Context(), option.WithHTTPClient(&http.Client{Transport: rt}), option.WithEndpoint(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	p, err := service.Projects.Get("projects/example-1").Context(t.Context()).Do()
	if err != nil || p.ProjectId != "example-1" || len(w.times()) != 2 {
		t.Fatalf("%+v, %v, %d requests", p, err, len(w.times()))
	}
	scope := cloudpace.Scope{Provider: "gcp", Account: parent, Service: "job"}
	before := len(w.times())
	err = cloudpace.Do(t.Context(), scope, func(ctx context.Context) error {
		_, err := service.Projects.Get("projects/denied").Context(ctx).Do()
		return err
	}, cloudpace.WithGovernor(g))
	var api *googleapi.Error
	if !errors.As(err, &api) || verdict.Classify(err) != verdict.Fatal || len(w.times()) != before+1 {
		t.Errorf("%v", err)
	}
}

// S5.4: a Do around a REST client knows the answer again that the client has repeated.
func TestS5_4_ADoAroundARESTService(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxRetries, p.MaxConcurrency = 2, 1 })
		w := answers(429, "")
		service, err := cloudresourcemanager.NewService(t.Context(), option.WithHTTPClient(&http.Client{Transport: pacegcp.NewTransport(w, pacegcp.WithGovernor(g))}))
		if err != nil {
			t.Fatal(err)
		}
		scope := cloudpace.Scope{Provider: "gcp", Account: parent, Service: "job"}
		err = cloudpace.Do(t.Context(), scope, func(ctx context.Context) error {
			_, err := service.Projects.Get(parent).Context(ctx).Do()
			return err
		}, cloudpace.WithGovernor(g))
		if n := len(w.times()); n != 3 || err == nil {
			t.Errorf("%d requests, want 1 + 2 retries (%v)", n, err)
		}
	})
}

func TestS6_3_AnOpenCircuitOverREST(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.BreakerThreshold, p.MaxRetries = 1, 0 })
		w := answers(503, "")
		rt := pacegcp.NewTransport(w, pacegcp.WithGovernor(g))
		_, _, _ = ask(t, rt, "GET", restURL, "")
		_, _, err := ask(t, rt, "GET", restURL, "")
		var open *cloudpace.CircuitOpenError
		if !errors.As(err, &open) || len(w.times()) != 1 {
			t.Errorf("%v, %d requests", err, len(w.times()))
		}
	})
}

func TestS9_3_DisabledTheTransportPassesOn(t *testing.T) {
	g := governor(t, func(p *cloudpace.Provider) { p.Enabled = false })
	w := answers(503, "")
	code, _, err := ask(t, pacegcp.NewTransport(w, pacegcp.WithGovernor(g)), "GET", restURL, "")
	if code != 503 || err != nil || len(w.times()) != 1 {
		t.Errorf("%d, %v, %d requests", code, err, len(w.times()))
	}
}

// S13.6: a listing paces the SDK's REST clients too, which send without the context that
// they are given: one that hangs is left behind.
func TestS13_6_AListingOverREST(t *testing.T) {
	w := answers(200, `{"assets":[{"name":"1"}],"nextPageToken":"a"}`, 429, "", 200, `{"assets":[{"name":"2"}]}`)
	server := httptest.NewServer(w)
	defer server.Close()
	g := governor(t)
	c, err := asset.NewRESTClient(t.Context(), option.WithHTTPClient(server.Client()), option.WithEndpoint(server.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := list(t.Context(), c, g)
	if err != nil || len(got) != 2 || len(w.times()) != 3 {
		t.Fatalf("%v, %v, %d requests", got, err, len(w.times()))
	}
	if n := numbers(t, g, listScope); n.Calls != 3 || n.Throttled != 1 {
		t.Errorf("%+v", n)
	}
}

func TestS13_6_ARESTListingThatHangsIsLeftBehind(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		release := make(chan struct{})
		var n atomic.Int32
		rt := roundTrip(func(req *http.Request) (*http.Response, error) {
			if n.Add(1) == 1 {
				<-release
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"assets":[{"name":"1"}]}`)), Request: req}, nil
		})
		c, err := asset.NewRESTClient(t.Context(), option.WithHTTPClient(&http.Client{Transport: rt}))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		got, err := collect(pacegcp.ListAssets(t.Context(), c, &assetpb.ListAssetsRequest{Parent: parent}, pacegcp.WithGovernor(g)))
		if d := time.Since(start); err != nil || len(got) != 1 || d < 61*time.Second || d > 62*time.Second {
			t.Errorf("%v, %v after %v", got, err, d)
		}
		close(release)
	})
}
