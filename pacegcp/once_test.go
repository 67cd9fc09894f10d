package pacegcp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"
	"github.com/googleapis/gax-go/v2"
	"github.com/googleapis/gax-go/v2/apierror"
	"golang.org/x/net/http2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacegcp"
	"github.com/cloudpace/cloudpace/verdict"
)

// eager repeats whatever gax knows to repeat, for both of the methods that the tests
// call.
func eager(c *asset.Client) *asset.Client {
	again := gax.WithRetry(func() gax.Retryer {
		return gax.OnCodes([]codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Internal}, gax.Backoff{Initial: time.Second})
	})
	c.CallOptions.GetFeed = append(c.CallOptions.GetFeed, again)
	c.CallOptions.CreateFeed = append(c.CallOptions.CreateFeed, again)
	return c
}

// S2.7, E23: a server that asks not to be called again is not, by gax either.
func TestS2_7_PushbackEndsACall(t *testing.T) {
	for name, call := range map[string]func(context.Context, *asset.Client) error{"a read": getFeed, "a write": createFeed} {
		bubble(t, func(t *testing.T) {
			g := governor(t, unpaced)
			no := fails(codes.Unavailable, info("BUSY", "service", "x"))
			no.trail = metadata.Pairs("grpc-retry-pushback-ms", "-1")
			f := script(no)
			err := call(long(t), eager(inMemory(t, f).governed(t, g)))
			if n := len(f.arrivals()); n != 1 {
				t.Errorf("%s: %d requests after the server said: do not repeat", name, n)
			}
			var api *apierror.APIError
			if !errors.As(err, &api) || api.GRPCStatus().Code() != codes.FailedPrecondition || api.Metadata()["service"] != "x" {
				t.Errorf("%s: %v", name, err)
			}
			if r := verdict.Examine("gcp", err); r.Kind != verdict.Throttled || !r.NoRepeat || !r.Answered {
				t.Errorf("%s: it reads as %+v", name, r)
			}
			if n := numbers(t, g, listScope); n.Throttled != 1 || n.GaveUp != 1 {
				t.Errorf("%s: %+v", name, n.Totals)
			}
		})
	}
}

// S7.5: a stream that the server resets is no proof that the request was not carried
// out, though gRPC gives it the code of a throttle.
func TestS7_5_AWriteWhoseStreamIsResetIsSentOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	arrived := make(chan struct{}, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go resets(c, arrived)
		}
	}()
	g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxRetries = 1 })
	e := &endpoint{dial: func(ctx context.Context, addr string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	}}
	e.options = plainOptions("passthrough:///"+l.Addr().String(), e)
	err = createFeed(long(t), e.governed(t, g))
	if len(arrived) != 1 || status.Code(err) != codes.ResourceExhausted {
		t.Errorf("the write arrived %d times: %v", len(arrived), err)
	}
	if n := numbers(t, g, listScope); n.Throttled != 1 || n.Retries != 0 {
		t.Errorf("%+v", n.Totals)
	}
}

// resets takes each request in, and resets its stream.
func resets(c net.Conn, arrived chan<- struct{}) {
	defer c.Close()
	_, _ = io.ReadFull(c, make([]byte, len(http2.ClientPreface)))
	f := http2.NewFramer(c, c)
	_ = f.WriteSettings()
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = f.WriteSettingsAck()
			}
		case *http2.PingFrame:
			_ = f.WritePing(true, frame.Data)
		case *http2.DataFrame:
			if frame.StreamEnded() {
				arrived <- struct{}{}
				_ = f.WriteRSTStream(frame.StreamID, http2.ErrCodeEnhanceYourCalm)
			}
		}
	}
}

// S7.5: what was never connected was never sent, and a write may be sent then.
func TestS7_5_AWriteThatWasNeverSentIsRepeated(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		f := script(reply{})
		e := inMemory(t, f)
		e.refuse.Store(1)
		if err := createFeed(long(t), e.governed(t, g)); err != nil || len(f.arrivals()) != 1 {
			t.Errorf("%v, %d requests", err, len(f.arrivals()))
		}
		if n := numbers(t, g, listScope); n.TransientErrors != 1 || n.Retries != 1 || n.Throttled != 0 {
			t.Errorf("%+v", n.Totals)
		}
	})
}

// A request that cannot be encoded is no event of the service, and is not tried again.
func TestS2_5_ARequestThatCannotBeEncoded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.BreakerThreshold = 1 })
		f := script(reply{})
		c := eager(inMemory(t, f).governed(t, g))
		_, err := c.GetFeed(long(t), &assetpb.GetFeedRequest{Name: parent + "/feeds/\xff"})
		if r := verdict.Examine("gcp", err); r.Kind != verdict.Fatal || r.Answered {
			t.Errorf("%v: %+v", err, r)
		}
		_, err = collect(pacegcp.ListAssets(t.Context(), c, &assetpb.ListAssetsRequest{Parent: parent + "/\xff"}, pacegcp.WithGovernor(g)))
		if r := verdict.Examine("gcp", err); r.Kind != verdict.Fatal || r.Answered {
			t.Errorf("a listing, %v: %+v", err, r)
		}
		if n := numbers(t, g, listScope); n.TransientErrors != 0 || n.Retries != 0 || len(g.Summary(nil).Breakers) != 0 {
			t.Errorf("%+v, %+v", n.Totals, g.Summary(nil).Breakers)
		}
	})
}

// A host that does not exist, and a certificate that does not fit, stay so: over gRPC as
// over REST.
func TestS2_5_AHostThatIsWrong(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = quiet()
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	address := server.Listener.Addr().String()
	unknown := func(context.Context, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "example.invalid", IsNotFound: true}
	}
	tcp := func(ctx context.Context, addr string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	}
	for name, c := range map[string]struct {
		dial    func(context.Context, string) (net.Conn, error)
		options []option.ClientOption
	}{
		"no such host": {dial: unknown},
		"not trusted": {dial: tcp, options: []option.ClientOption{
			option.WithGRPCDialOption(grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{ServerName: "example.com"})))}},
		"no TLS": {dial: func(ctx context.Context, _ string) (net.Conn, error) { return tcp(ctx, plain.Listener.Addr().String()) },
			options: []option.ClientOption{
				option.WithGRPCDialOption(grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{ServerName: "example.com"})))}},
	} {
		g := governor(t, unpaced)
		e := &endpoint{dial: c.dial}
		e.options = append(plainOptions("passthrough:///"+address, e), c.options...)
		err := getFeed(long(t), eager(e.governed(t, g)))
		n := numbers(t, g, listScope)
		if r := verdict.Examine("gcp", err); r.Kind != verdict.Fatal || r.Answered || n.Calls != 1 || n.TransientErrors != 0 {
			t.Errorf("%s: %v (%v), %+v", name, err, r.Kind, n.Totals)
		}
	}
}

// E23: the SDK's generated REST clients repeat by themselves what NewTransport has
// repeated. They are told to stop by an error; others get the answer.
func TestE23_RetriesOfRESTClientsDoNotMultiply(t *testing.T) {
	for _, code := range []int{429, 500, 503, 504} {
		bubble(t, func(t *testing.T) {
			g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxRetries, p.BreakerThreshold = 2, 100 })
			w := answers(code, `{"error":{"code":`+http.StatusText(code)+`,"message":"busy"}}`)
			c, err := asset.NewRESTClient(t.Context(), option.WithHTTPClient(&http.Client{Transport: pacegcp.NewTransport(w, pacegcp.WithGovernor(g))}))
			if err != nil {
				t.Fatal(err)
			}
			ctx, ledger := cloudpace.WithLedger(long(t))
			c.CallOptions.GetFeed = append(c.CallOptions.GetFeed, gax.WithRetry(func() gax.Retryer {
				return gax.OnHTTPCodes(gax.Backoff{Initial: time.Second}, 429, 500, 503, 504)
			}))
			err = getFeed(ctx, c)
			if n := len(w.times()); n != 3 {
				t.Errorf("%d: %d requests, want 1 + 2 retries", code, n)
			}
			var (
				budget *cloudpace.RetryBudgetExhaustedError
				answer *verdict.ResponseError
			)
			if !errors.As(err, &budget) || !errors.As(err, &answer) || answer.StatusCode != code || !ledger.Degraded() {
				t.Errorf("%d: %v", code, err)
			}
			if n := numbers(t, g, listScope); n.Calls != 3 || n.Retries != 2 {
				t.Errorf("%d: %+v", code, n.Totals)
			}
		})
	}
	// What ends by itself is the SDK's error.
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		w := answers(404, "")
		c, err := asset.NewRESTClient(t.Context(), option.WithHTTPClient(&http.Client{Transport: pacegcp.NewTransport(w, pacegcp.WithGovernor(g))}))
		if err != nil {
			t.Fatal(err)
		}
		var api *apierror.APIError
		if err := getFeed(long(t), c); !errors.As(err, &api) || api.HTTPCode() != 404 || len(w.times()) != 1 {
			t.Errorf("%v, %d requests", err, len(w.times()))
		}
	})
}

// S5.4: and a Do around such a client knows the error again.
func TestS5_4_ADoAroundAGeneratedRESTClient(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxRetries = 2 })
		w := answers(503, "")
		c, err := asset.NewRESTClient(t.Context(), option.WithHTTPClient(&http.Client{Transport: pacegcp.NewTransport(w, pacegcp.WithGovernor(g))}))
		if err != nil {
			t.Fatal(err)
		}
		scope := cloudpace.Scope{Provider: "gcp", Account: parent, Service: "job"}
		err = cloudpace.Do(long(t), scope, func(ctx context.Context) error { return getFeed(ctx, c) }, cloudpace.WithGovernor(g))
		if n := len(w.times()); n != 3 || err == nil {
			t.Errorf("%d requests, want 1 + 2 retries (%v)", n, err)
		}
	})
}

// E21, S7.6: a body that cannot be sent twice is sent once, and the answer is what the
// caller gets, with nothing waited for or paid.
func TestE21_ABodyThatCannotBeRewound(t *testing.T) {
	broken := errors.New("the file is gone")
	for name, getBody := range map[string]func() (io.ReadCloser, error){
		"no GetBody":      nil,
		"GetBody failing": func() (io.ReadCloser, error) { return nil, broken },
	} {
		for _, method := range []string{"POST", "PUT"} {
			bubble(t, func(t *testing.T) {
				g := governor(t, unpaced)
				w := answers(429, restThrottle, 200, "{}")
				req, err := http.NewRequestWithContext(t.Context(), method, restURL, io.NopCloser(strings.NewReader("once")))
				if err != nil {
					t.Fatal(err)
				}
				req.GetBody = getBody
				resp, err := pacegcp.NewTransport(w, pacegcp.WithGovernor(g)).RoundTrip(req)
				if err != nil || resp.StatusCode != 429 || len(w.times()) != 1 || time.Since(w.start) != 0 {
					t.Fatalf("%s, %s: %v, %v after %v and %d requests", name, method, resp, err, time.Since(w.start), len(w.times()))
				}
				if body, err := io.ReadAll(resp.Body); string(body) != restThrottle || err != nil {
					t.Errorf("%s, %s: %q, %v", name, method, body, err)
				}
				if n := numbers(t, g, restScope); n.Calls != 1 || n.Retries != 0 || n.Throttled != 1 || slots(g, parent) != 0 {
					t.Errorf("%s, %s: %+v", name, method, n.Totals)
				}
			})
		}
	}
}

// A body that was made for an attempt that is not sent is closed.
func TestS7_6_ABodyThatIsNotSentIsClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.RetryBudget = 0 })
		var opened, closed int
		body := func() (io.ReadCloser, error) {
			opened++
			return &counted{strings.NewReader("text"), &closed}, nil
		}
		first, _ := body()
		req, err := http.NewRequestWithContext(t.Context(), "PUT", restURL, first)
		if err != nil {
			t.Fatal(err)
		}
		req.GetBody = body
		w := answers(503, "")
		resp, err := pacegcp.NewTransport(w, pacegcp.WithGovernor(g)).RoundTrip(req)
		if err != nil || len(w.times()) != 3 || opened != 4 || closed != opened {
			t.Errorf("%v, %v: %d requests, %d bodies, %d closed", resp, err, len(w.times()), opened, closed)
		}
	})
}

type counted struct {
	io.Reader
	closed *int
}

func (c *counted) Close() error { *c.closed++; return nil }

// A read by POST is one whose name is known: a query may run an agent.
func TestS7_5_AQueryOverRESTIsNoRead(t *testing.T) {
	for url, want := range map[string]int{
		"https://us-central1-aiplatform.googleapis.com/v1/projects/example-1/locations/us-central1/reasoningEngines/1:query": 1,
		"https://cloudasset.googleapis.com/v1/projects/example-1:queryAssets":                                                2,
		"https://storage.googleapis.com/storage/v1/b/a/o/src/copyTo/b/b/o/dst%3Aget":                                         1,
	} {
		bubble(t, func(t *testing.T) {
			w := answers(500, "", 200, "{}")
			_, _, err := ask(t, pacegcp.NewTransport(w, pacegcp.WithGovernor(governor(t, unpaced))), "POST", url, "{}")
			if n := len(w.times()); n != want {
				t.Errorf("%s: %d requests, want %d (%v)", url, n, want, err)
			}
		})
	}
}

// An error whose body stalls is judged by its status after 10 s, and costs no more.
func TestAnErrorOverRESTWhoseBodyStalls(t *testing.T) {
	for method, want := range map[string]int{"GET": 3, "POST": 1} {
		bubble(t, func(t *testing.T) {
			g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxRetries = 2 })
			n := 0
			rt := pacegcp.NewTransport(roundTrip(func(req *http.Request) (*http.Response, error) {
				n++
				r, w := io.Pipe()
				go func() { _, _ = io.WriteString(w, "busy") }()
				return &http.Response{StatusCode: 500, Header: http.Header{}, Body: r}, nil
			}), pacegcp.WithGovernor(g))
			req, err := http.NewRequestWithContext(t.Context(), method, restURL, nil)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			resp, err := rt.RoundTrip(req)
			if err != nil || resp.StatusCode != 500 || n != want || time.Since(start) > time.Duration(want)*12*time.Second {
				t.Fatalf("%s: %v, %v after %v and %d requests", method, resp, err, time.Since(start), n)
			}
			if body, err := io.ReadAll(resp.Body); string(body) != "busy" || err == nil {
				t.Errorf("%s: %q, %v", method, body, err)
			}
		})
	}
}
