package pacehttp

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/backoff"
	"github.com/cloudpace/cloudpace/internal/httpbody"
	"github.com/cloudpace/cloudpace/verdict"
)

// peeked is how much of an error's body is read to learn its kind, in bytes.
const peeked = 64 << 10

// Option is an extra of [NewTransport].
type Option func(*transport)

// WithGovernor uses g instead of [cloudpace.Default]. A nil g changes nothing.
func WithGovernor(g *cloudpace.Governor) Option {
	return func(t *transport) {
		if g != nil {
			t.governor = func() *cloudpace.Governor { return g }
		}
	}
}

// NewTransport gives a RoundTripper that governs what it sends through base. A
// nil base is [http.DefaultTransport]. scope tells what a request belongs to; it
// must be safe for concurrent use and must not change the request. A nil scope is
// [HostScope].
//
// Whoever gives base a timeout for the answer's headers should know that waits
// for tokens, slots and back-off lie outside of it, but inside of
// http.Client.Timeout, which counts as the context's deadline.
func NewTransport(base http.RoundTripper, scope func(*http.Request) cloudpace.Scope, opts ...Option) http.RoundTripper {
	t := &transport{base: base, scope: scope, governor: cloudpace.Default}
	if t.base == nil {
		t.base = http.DefaultTransport
	}
	if t.scope == nil {
		t.scope = HostScope
	}
	for _, o := range opts {
		o(t)
	}
	return t
}

// HostScope is the scope of a request that nothing is known about but its host:
// provider "http", the host as account, service "web".
func HostScope(req *http.Request) cloudpace.Scope {
	s := cloudpace.Scope{Provider: "http", Service: "web"}
	if req.URL != nil {
		s.Account = req.URL.Host
	}
	return s
}

type transport struct {
	base     http.RoundTripper
	scope    func(*http.Request) cloudpace.Scope
	governor func() *cloudpace.Governor
}

// CloseIdleConnections reaches base, for http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// RoundTrip sends one request, as often as it takes.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	g, scope := t.governor(), t.scope(req)
	settings := g.Provider(scope.Provider)
	if !settings.Enabled {
		return t.base.RoundTrip(req)
	}
	e := exchange{transport: t, req: req, scope: scope, settings: settings}
	e.deadline = time.Now().Add(settings.Deadline)
	if d, ok := req.Context().Deadline(); ok && d.Before(e.deadline) {
		e.deadline = d
	}
	call, err := g.Begin(req.Context(), scope, cloudpace.Until(e.deadline))
	if err != nil {
		httpbody.Close(req)
		return nil, err
	}
	defer call.Drop()
	e.call = call
	return e.run()
}

// exchange is one request with all its attempts.
type exchange struct {
	*transport
	req      *http.Request
	scope    cloudpace.Scope
	settings cloudpace.Provider
	call     *cloudpace.Call
	deadline time.Time
	slept    time.Duration // the back-off before, for the next
}

func (e *exchange) run() (*http.Response, error) {
	attempt := e.req.WithContext(e.call.Context())
	for n := 1; ; n++ {
		resp, err := e.base.RoundTrip(attempt)
		if resp == nil && err == nil {
			err = errors.New("pacehttp: the base transport returned neither answer nor error")
		}
		if err == nil && resp.StatusCode < 400 {
			e.call.End(nil)
			return resp, nil
		}
		if err == nil {
			err = e.read(resp)
		}
		again, stop := e.next(n, err)
		if stop != nil {
			return e.end(resp, err, stop)
		}
		attempt = again
		httpbody.Drop(resp, 0) // what was not read of it costs more than its connection
	}
}

// read makes an error of an answer, for its kind. The answer stays unread.
func (e *exchange) read(resp *http.Response) error {
	head, _, err := httpbody.PeekWithin(resp, peeked)
	return &verdict.ResponseError{
		Provider: e.scope.Provider, StatusCode: resp.StatusCode, Header: resp.Header, Body: head, Err: err,
	}
}

// next waits for leave to send again after attempt n failed with err, and gives
// the request to send. It returns why there is no other attempt.
func (e *exchange) next(n int, err error) (again *http.Request, stop error) {
	kind := e.call.Failed(err)
	if kind != verdict.Throttled && kind != verdict.Transient {
		return nil, err
	}
	result := verdict.Examine(e.scope.Provider, err)
	if !safe(e.req.Method) && !result.Unprocessed || !httpbody.CanRewind(e.req) || n > e.settings.MaxRetries {
		return nil, err
	}
	e.slept = backoff.Next(backoff.Base, e.settings.MaxBackoff, e.slept)
	wait := max(e.slept, result.Hint)
	if time.Until(e.deadline) < wait {
		return nil, &cloudpace.DeadlineExceededError{Scope: e.scope, RetryAfter: wait, Err: err}
	}
	if stop := e.call.Retry(); stop != nil {
		return nil, stop
	}
	if ended := backoff.Rest(e.req.Context(), wait); ended != nil {
		return nil, fmt.Errorf("cloudpace: %s: %w while waiting to repeat after: %w", e.scope, ended, err)
	}
	// Before the admission: what cannot be sent must not take a token.
	again, broken := httpbody.Rewind(e.call.Context(), e.req)
	if broken != nil {
		return nil, fmt.Errorf("pacehttp: %w, after: %w", broken, err)
	}
	if stop := e.call.Next(e.req.Context()); stop != nil {
		httpbody.Close(again)
		return nil, stop
	}
	return again, nil
}

// end gives the caller what there is: the answer if there is one, else the error
// that ended it. A caller whose context is over wants neither answer nor wait.
func (e *exchange) end(resp *http.Response, err, stop error) (*http.Response, error) {
	e.call.End(stop)
	switch ctx := e.req.Context(); {
	case resp == nil:
		return nil, stop
	case ctx.Err() != nil && stop != err: //nolint:errorlint // asks whether it is the very same error
		httpbody.Drop(resp, 0)
		return nil, ctx.Err()
	}
	return resp, nil
}

// safe tells the methods that may be sent twice.
func safe(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}
