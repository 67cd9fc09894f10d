package paceaws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"go.uber.org/goleak"

	"github.com/cloudpace/cloudpace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const account = "111122223333"

// answer is what the cloud says to one request.
type answer struct {
	status int
	header map[string]string
	body   string
	err    error         // of the connection; only an inProcess cloud has it
	delay  time.Duration // before the answer
}

// request is one request as it arrived.
type request struct {
	*http.Request
	body string
	at   time.Time
}

// operation is the query API's name of what is asked for.
func (r request) operation() string {
	_, after, _ := strings.Cut(r.body, "Action=")
	name, _, _ := strings.Cut(after, "&")
	return name
}

// cloud answers AWS requests: as a real server on loopback, or as an HTTP client
// of the SDK inside a synctest bubble, where real connections do not work.
type cloud struct {
	url    string
	client *http.Client
	reply  func(n int, r request) answer // n counts from 1

	mu       sync.Mutex
	requests []request
}

// serve starts a real server.
func serve(t testing.TB, reply func(n int, r request) answer) *cloud {
	t.Helper()
	c := &cloud{reply: reply}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := c.take(r)
		if a.delay > 0 {
			select {
			case <-time.After(a.delay):
			case <-r.Context().Done():
			}
		}
		if a.err != nil { // cut the connection
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
			return
		}
		for k, v := range a.header {
			w.Header().Set(k, v)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body) // a client that has gone is part of some tests
	}))
	transport := &http.Transport{}
	c.url, c.client = srv.URL, &http.Client{Transport: transport}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		srv.Close()
	})
	return c
}

// inProcess makes a cloud without sockets.
func inProcess(reply func(n int, r request) answer) *cloud {
	c := &cloud{url: "http://cloud.test", reply: reply}
	c.client = &http.Client{Transport: c}
	return c
}

func (c *cloud) RoundTrip(r *http.Request) (*http.Response, error) {
	a := c.take(r)
	if a.delay > 0 {
		select {
		case <-time.After(a.delay):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	header := http.Header{}
	for k, v := range a.header {
		header.Set(k, v)
	}
	return &http.Response{
		StatusCode: a.status, Header: header, Request: r, ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: int64(len(a.body)),
	}, nil
}

func (c *cloud) take(r *http.Request) answer {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body.Close()
	}
	c.mu.Lock()
	req := request{Request: r, body: string(body), at: time.Now()}
	c.requests = append(c.requests, req)
	n := len(c.requests)
	c.mu.Unlock()
	return c.reply(n, req)
}

func (c *cloud) sent() int { return len(c.log()) }

func (c *cloud) log() []request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]request(nil), c.requests...)
}

// config is a config for the cloud, without anything of ours.
func (c *cloud) config() aws.Config {
	return aws.Config{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(c.url),
		HTTPClient:   c.client,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "secret"}, nil
		}),
	}
}

// installed is a config for the cloud, governed.
func (c *cloud) installed(t testing.TB, g *cloudpace.Governor, opts ...Option) aws.Config {
	t.Helper()
	cfg := c.config()
	install(t, &cfg, g, opts...)
	return cfg
}

func install(t testing.TB, cfg *aws.Config, g *cloudpace.Governor, opts ...Option) {
	t.Helper()
	if err := Install(cfg, append([]Option{Account(account), WithGovernor(g)}, opts...)...); err != nil {
		t.Fatalf("Install: %v", err)
	}
}

// fast shortens the SDK's back-off and leaves everything else of its retryer, and
// of ours, in place.
func fast(o *sts.Options) { o.Retryer = retry.AddWithMaxBackoffDelay(o.Retryer, time.Millisecond) }

// governor is one that paces nothing that a test does not slow down itself.
func governor(t testing.TB, change ...func(*cloudpace.Config, *cloudpace.Provider)) *cloudpace.Governor {
	t.Helper()
	g, err := cloudpace.New(configuration(change...))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func configuration(change ...func(*cloudpace.Config, *cloudpace.Provider)) cloudpace.Config {
	conf := cloudpace.DefaultConfig()
	p := conf.Provider("aws")
	p.MaxRPS, p.Burst, p.Services = 1e6, 1e6, nil
	p.BreakerThreshold = 1000
	for _, f := range change {
		f(&conf, &p)
	}
	providers := map[string]cloudpace.Provider{}
	for name, other := range conf.Providers {
		providers[name] = other
	}
	providers["aws"] = p
	conf.Providers = providers
	return conf
}

func maxRetries(n int) func(*cloudpace.Config, *cloudpace.Provider) {
	return func(c *cloudpace.Config, _ *cloudpace.Provider) { c.AWS.MaxRetries = n }
}

func provide(f func(*cloudpace.Provider)) func(*cloudpace.Config, *cloudpace.Provider) {
	return func(_ *cloudpace.Config, p *cloudpace.Provider) { f(p) }
}

// Answers of a query API.

func identity() answer {
	return answer{status: 200, header: map[string]string{"Content-Type": "text/xml"}, body: `<GetCallerIdentityResponse><GetCallerIdentityResult>` +
		`<Arn>arn:aws:iam::111122223333:user/u</Arn><UserId>U</UserId><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`}
}

func fault(status int, code, message string) answer {
	return answer{status: status, header: map[string]string{"Content-Type": "text/xml"}, body: fmt.Sprintf(
		`<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r</RequestId></ErrorResponse>`, code, message)}
}

func throttle() answer  { return fault(400, "Throttling", "Rate exceeded") }
func broken() answer    { return fault(500, "InternalFailure", "try later") }
func forbidden() answer { return fault(403, "AccessDenied", "not you") }

func (a answer) with(name, value string) answer {
	h := map[string]string{name: value}
	for k, v := range a.header {
		h[k] = v
	}
	a.header = h
	return a
}

func always(a answer) func(int, request) answer { return func(int, request) answer { return a } }

// then answers with each in turn, and with the last from then on.
func then(answers ...answer) func(int, request) answer {
	return func(n int, _ request) answer { return answers[min(n, len(answers))-1] }
}

func whoAmI(ctx context.Context, c *sts.Client, opts ...func(*sts.Options)) error {
	_, err := c.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}, opts...)
	return err
}

// totals are the numbers of one service scope, or of all with "".
func totals(g *cloudpace.Governor, scope string) cloudpace.Totals {
	s := g.Summary(nil)
	if scope == "" {
		return s.Totals
	}
	for _, sc := range s.Scopes {
		if sc.Scope == scope {
			return sc.Totals
		}
	}
	return cloudpace.Totals{}
}

func slotsInUse(g *cloudpace.Governor) int {
	n := 0
	for _, b := range g.Snapshot().Bulkheads {
		n += b.InUse
	}
	return n
}

func budget(g *cloudpace.Governor) float64 {
	for _, b := range g.Snapshot().Budgets {
		if b.Provider == "aws" {
			return b.Tokens
		}
	}
	return -1
}

func leaf(g *cloudpace.Governor, scope string) (cloudpace.BucketState, bool) {
	for _, b := range g.Snapshot().Buckets {
		if b.Level == "leaf" && b.Scope == scope {
			return b, true
		}
	}
	return cloudpace.BucketState{}, false
}

// wants fails unless the error has one of the type, and gives it.
func wants[T error](t testing.TB, err error) T {
	t.Helper()
	var target T
	if !errors.As(err, &target) {
		t.Fatalf("error is %v, want a %T in it", err, target)
	}
	return target
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// slow makes every back-off of the SDK's this long.
func slow(d time.Duration) func(*sts.Options) {
	return func(o *sts.Options) { o.Retryer = delayed{asV2(o.Retryer), d} }
}

type delayed struct {
	aws.RetryerV2
	delay time.Duration
}

func (r delayed) RetryDelay(int, error) (time.Duration, error) { return r.delay, nil }

func debugTo(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
