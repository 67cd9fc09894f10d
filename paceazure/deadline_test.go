package paceazure_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

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

// Seen: a context that is canceled when the policy returns cuts streamed bodies.
// They are not cut by the operation's deadline either.
func TestStreamedBodiesAreNotCut(t *testing.T) {
	const half = 1 << 16
	more := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, half))
		_ = http.NewResponseController(w).Flush()
		<-more
		_, _ = w.Write(make([]byte, half))
	}))
	defer server.Close()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	options := cloudAt(server.URL)
	options.Transport = &http.Client{Transport: tr}
	options.Retry.TryTimeout = 5 * time.Second
	g := governor(t, func(p *cloudpace.Provider) { p.Deadline = 50 * time.Millisecond })
	c := newClient(t, options, g)
	req, err := runtime.NewRequest(t.Context(), "GET", server.URL+computePath)
	if err != nil {
		t.Fatal(err)
	}
	runtime.SkipBodyDownload(req)
	resp, err := c.Pipeline().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	clean(t, g) // no slot while it is read
	time.AfterFunc(100*time.Millisecond, func() { close(more) })
	n, err := io.Copy(io.Discard, resp.Body)
	if n != 2*half || err != nil {
		t.Errorf("read %d bytes: %v", n, err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
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
