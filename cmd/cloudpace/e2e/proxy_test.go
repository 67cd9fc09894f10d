//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"sync"
	"testing"
	"time"
)

// A proxy stands before moto_server and writes down what passes. It changes
// nothing unless a test gives it a rewrite.
type proxy struct {
	url string

	mu       sync.Mutex
	requests []request
}

// request is one that arrived.
type request struct {
	service, action string
	at              time.Time // when it arrived
}

// credentialScope finds the service a request was signed for.
var credentialScope = regexp.MustCompile(`Credential=[^/]+/\d+/[^/]+/([^/]+)/aws4_request`)

// passing is the key under which a request's context has the request.
type passing struct{}

// rewrite may change a request on its way to moto_server.
type rewrite func(service string, out *http.Request)

// startProxy serves until the test ends. Both functions may be nil; seen is told of each request before it is passed on.
func startProxy(t *testing.T, change rewrite, seen func(request)) *proxy {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := new(proxy)
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // moto puts it into queue addresses
			if change != nil {
				if q, ok := r.In.Context().Value(passing{}).(request); ok {
					change(q.service, r.Out)
				}
			}
		},
		// A client that is stopped by a signal leaves its requests behind.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived := time.Now()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		q := request{at: arrived}
		q.service, q.action = read(r)
		p.mu.Lock()
		p.requests = append(p.requests, q)
		p.mu.Unlock()
		if seen != nil {
			seen(q)
		}
		forward.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), passing{}, q)))
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// read tells what an AWS request asks for: the service by its signature, the
// action by the protocol's place for it ("" where the path says it). The body
// stays readable.
func read(r *http.Request) (service, action string) {
	if m := credentialScope.FindStringSubmatch(r.Header.Get("Authorization")); m != nil {
		service = m[1]
	}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return service, target
	}
	if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		return service, ""
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return service, ""
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return service, ""
	}
	return service, form.Get("Action")
}

// of gives the requests for one service and action, in the order they arrived.
func (p *proxy) of(service, action string) []request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []request
	for _, r := range p.requests {
		if r.service == service && r.action == action {
			out = append(out, r)
		}
	}
	return out
}

// to counts the requests for a service.
func (p *proxy) to(service string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, r := range p.requests {
		if r.service == service {
			n++
		}
	}
	return n
}

// count gives how many requests arrived in all.
func (p *proxy) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.requests)
}
