package paceazure_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"go.uber.org/goleak"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceazure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	subscription = "00000000-0000-0000-0000-000000000001"
	computePath  = "/subscriptions/" + subscription + "/providers/Microsoft.Compute/virtualMachines"
	computeScope = "azure/" + subscription + "/*/compute"
	graphPath    = "/providers/Microsoft.ResourceGraph/resources"
)

// answer is one thing the fake cloud does: an answer, a failed connection, or
// nothing until the request is given up.
type answer struct {
	status int
	header http.Header
	body   string
	err    error
	hang   bool
}

func ok() answer { return answer{status: 200, body: `{"value":[]}`} }

// say is an answer with headers, given as name, value, name, value.
func say(status int, body string, pairs ...string) answer {
	a := answer{status: status, body: body, header: http.Header{}}
	for i := 0; i < len(pairs); i += 2 {
		a.header.Add(pairs[i], pairs[i+1])
	}
	return a
}

func code(status int, code string, pairs ...string) answer {
	return say(status, `{"error":{"code":"`+code+`","message":"no"}}`, pairs...)
}

func retryAfter(status int, value string) answer {
	return code(status, "TooManyRequests", "Retry-After", value)
}

// arrival is a request as the fake cloud saw it.
type arrival struct {
	at           time.Duration
	method, path string
	body, auth   string
}

// fake is a cloud that answers as it is told. It is a transport of azcore's for
// bubbles, where time is virtual, and the handler of a real server elsewhere.
type fake struct {
	start  time.Time
	handle func(n int, a arrival) answer // n counts from 1

	mu   sync.Mutex
	seen []arrival
}

func newFake(handle func(n int, a arrival) answer) *fake {
	return &fake{start: time.Now(), handle: handle}
}

// script answers in turn; the last answer repeats.
func script(answers ...answer) *fake {
	return newFake(func(n int, _ arrival) answer { return answers[min(n, len(answers))-1] })
}

func (f *fake) arrive(req *http.Request) answer {
	a := arrival{method: req.Method, path: req.URL.Path, auth: req.Header.Get("Authorization")}
	if req.Body != nil {
		b, _ := io.ReadAll(req.Body)
		a.body = string(b)
	}
	f.mu.Lock()
	a.at = time.Since(f.start)
	f.seen = append(f.seen, a)
	n := len(f.seen)
	f.mu.Unlock()
	return f.handle(n, a)
}

// Do is azcore's transport.
func (f *fake) Do(req *http.Request) (*http.Response, error) {
	a := f.arrive(req)
	if a.hang {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if a.err != nil {
		return nil, a.err
	}
	header := a.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Header: header, Request: req,
		Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: int64(len(a.body)),
	}, nil
}

// ServeHTTP is the real server.
func (f *fake) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a := f.arrive(req)
	if a.hang {
		<-req.Context().Done()
		return
	}
	if a.err != nil {
		panic(http.ErrAbortHandler) // the connection breaks
	}
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

func (f *fake) arrivals() []arrival {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]arrival(nil), f.seen...)
}

// at gives when the requests came.
func (f *fake) at() (list []time.Duration) {
	for _, a := range f.arrivals() {
		list = append(list, a.at)
	}
	return list
}

// inProcess are options for clients of the fake without a network.
func (f *fake) inProcess() *arm.ClientOptions {
	o := cloudAt("http://arm.example.com")
	o.Transport = f
	return o
}

// loopback are options for clients of the fake as a real server.
func (f *fake) loopback(t testing.TB) *arm.ClientOptions {
	t.Helper()
	server := httptest.NewServer(f)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	o := cloudAt(server.URL)
	o.Transport = &http.Client{Transport: transport}
	return o
}

func cloudAt(url string) *arm.ClientOptions {
	return &arm.ClientOptions{ClientOptions: policy.ClientOptions{
		InsecureAllowCredentialWithHTTP: true,
		Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: url, Audience: "https://management.example.com"},
		}},
	}}
}

// login is a credential that always works.
type login struct{}

func (login) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "token", ExpiresOn: time.Now().Add(24 * time.Hour)}, nil
}

// governor has the built-in settings, Azure's changed.
func governor(t testing.TB, change func(*cloudpace.Provider)) *cloudpace.Governor {
	t.Helper()
	cfg := cloudpace.DefaultConfig()
	if change != nil {
		p := cfg.Providers["azure"]
		change(&p)
		cfg.Providers["azure"] = p
	}
	g, err := cloudpace.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// client is a governed client of Resource Manager, as the arm packages have inside.
type client struct {
	t testing.TB
	*arm.Client
}

func newClient(t testing.TB, options *arm.ClientOptions, g *cloudpace.Governor) client {
	t.Helper()
	return bareClient(t, paceazure.ClientOptions(options, paceazure.WithGovernor(g)))
}

func bareClient(t testing.TB, options *arm.ClientOptions) client {
	t.Helper()
	c, err := arm.NewClient("test", "v1.0.0", login{}, options)
	if err != nil {
		t.Fatal(err)
	}
	return client{t, c}
}

// send sends one request and makes an error of a bad answer, as generated clients do.
func (c client) send(ctx context.Context, method, path, body string) (*http.Response, error) {
	req, err := runtime.NewRequest(ctx, method, runtime.JoinPaths(c.Endpoint(), path))
	if err != nil {
		c.t.Fatal(err)
	}
	if body != "" {
		if err := req.SetBody(streamingBody(body), "application/json"); err != nil {
			c.t.Fatal(err)
		}
	}
	resp, err := c.Pipeline().Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 400 {
		return nil, runtime.NewResponseError(resp)
	}
	return resp, nil
}

func (c client) get(path string) error {
	_, err := c.send(c.t.Context(), "GET", path, "")
	return err
}

type nopCloser struct{ io.ReadSeeker }

func (nopCloser) Close() error { return nil }

func streamingBody(s string) io.ReadSeekCloser { return nopCloser{strings.NewReader(s)} }

// bubble runs f in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }

func as[T error](t testing.TB, err error) (e T) {
	t.Helper()
	if !errors.As(err, &e) {
		t.Fatalf("%T is not in %T: %v", e, err, err)
	}
	return e
}

func scopeStats(t testing.TB, g *cloudpace.Governor, scope string) cloudpace.ScopeSummary {
	t.Helper()
	for _, s := range g.Summary(nil).Scopes {
		if s.Scope == scope {
			return s
		}
	}
	t.Fatalf("no numbers of %s in %+v", scope, g.Summary(nil).Scopes)
	return cloudpace.ScopeSummary{}
}

// clean fails when anything is still held.
func clean(t testing.TB, g *cloudpace.Governor) {
	t.Helper()
	for _, b := range g.Snapshot().Bulkheads {
		if b.InUse != 0 || b.Waiting != 0 {
			t.Errorf("slots of %s: %d in use, %d waiting", b.Account, b.InUse, b.Waiting)
		}
	}
}

// noRetries are options without a governor and without retries.
func noRetries(f *fake, t testing.TB) *arm.ClientOptions {
	o := f.loopback(t)
	o.Retry.MaxRetries = -1
	return o
}
