package paceazure_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/cloudpace/cloudpace"
)

// streamed sends a request whose answer's body is left to be read, and gives the
// context that it was sent under.
func streamed(t *testing.T, options *arm.ClientOptions, g *cloudpace.Governor, body func(context.Context) io.ReadCloser) (*http.Response, context.Context) {
	t.Helper()
	var sent context.Context
	options.Transport = transport(func(req *http.Request) (*http.Response, error) {
		sent = req.Context()
		sent.Done() // as net/http asks
		return &http.Response{StatusCode: 200, Header: http.Header{}, Request: req, Body: body(sent)}, nil
	})
	c := newClient(t, options, g)
	req, err := runtime.NewRequest(t.Context(), "GET", runtime.JoinPaths(c.Endpoint(), computePath))
	if err != nil {
		t.Fatal(err)
	}
	runtime.SkipBodyDownload(req)
	resp, err := c.Pipeline().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	clean(t, g) // no slot while it is read
	return resp, sent
}

// Seen: a context that is canceled when the policy returns cuts streamed bodies.
// They are not cut by the operation's deadline either.
func TestStreamedBodiesAreNotCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const half = 1 << 16
		g := governor(t, func(p *cloudpace.Provider) { p.Deadline = 5 * time.Second })
		options := cloudAt("http://arm.example.com")
		options.Retry.TryTimeout = time.Minute
		resp, _ := streamed(t, options, g, func(ctx context.Context) io.ReadCloser {
			from, into := io.Pipe()
			go func() {
				_, _ = into.Write(make([]byte, half))
				select { // the second half comes after the operation's deadline
				case <-ctx.Done():
				case <-time.After(10 * time.Second):
					_, _ = into.Write(make([]byte, half))
				}
				_ = into.CloseWithError(ctx.Err())
			}()
			return from
		})
		n, err := io.Copy(io.Discard, resp.Body)
		if n != 2*half || err != nil {
			t.Errorf("read %d bytes: %v", n, err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The context ends when the body is at its end, and also when it is closed before.
func TestStreamedBodiesLetTheContextGo(t *testing.T) {
	for _, tryTime := range []time.Duration{0, time.Minute} {
		for name, over := range map[string]func(io.ReadCloser) error{
			"read":   func(b io.ReadCloser) error { _, err := io.Copy(io.Discard, b); return err },
			"closed": func(b io.ReadCloser) error { return b.Close() },
		} {
			bubble(t, func(t *testing.T) {
				options := cloudAt("http://arm.example.com")
				options.Retry.TryTimeout = tryTime
				resp, ctx := streamed(t, options, governor(t, nil), func(context.Context) io.ReadCloser {
					return io.NopCloser(strings.NewReader("all of it"))
				})
				if ctx.Err() != nil {
					t.Errorf("%s: ended before it is read: %v", name, ctx.Err())
				}
				if err := over(resp.Body); err != nil {
					t.Error(err)
				}
				if ctx.Err() == nil {
					t.Errorf("%s: the context outlives the body", name)
				}
			})
		}
	}
}
