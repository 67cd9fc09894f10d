package pacegcp

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"time"

	"google.golang.org/api/googleapi"
	"google.golang.org/grpc/metadata"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/httpbody"
	"github.com/cloudpace/cloudpace/verdict"
)

// peeked is how much of an error's body is read to learn its kind, in bytes.
const peeked = 64 << 10

// NewTransport gives a RoundTripper that governs the requests of a REST client which it
// sends through base: those of google.golang.org/api's services, with
// option.WithHTTPClient, or any others to Google. A nil base is
// [http.DefaultTransport]; the authorization has to be added by base, or by a transport
// around this one.
//
// The last answer is returned as it is, whatever its status, with its body unread. An
// error is returned where there is no answer, or where cloudpace did not send. And to
// clients that would begin again where cloudpace has given up, which would multiply the
// attempts: the SDK's generated REST clients and those of storage, which say who they are
// in X-Goog-Api-Client, get cloudpace's error then, with the answer in it as a
// *verdict.ResponseError. The body of an error has 10 s to come, and is given up then.
func NewTransport(base http.RoundTripper, opts ...Option) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return &transport{base: base, wiring: newWiring(opts)}
}

type transport struct {
	base http.RoundTripper
	*wiring
}

// CloseIdleConnections reaches base, for http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// RoundTrip sends one request, as often as it takes.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	leave, req := carriedBy(req)
	quotaProject := named(req.Header)
	if quotaProject == "" {
		if quotaProject = t.quotaProject; t.named {
			named := *req // its context and body are the same
			named.Header = named.Header.Clone()
			if named.Header == nil {
				named.Header = http.Header{}
			}
			named.Header.Set(quotaKey, quotaProject)
			req = &named
		}
	}
	scope := restScope(req)
	if leave != nil && leave.spend(t.governor, scope.Operation) {
		return t.admitted(req, leave)
	}
	e := exchange{transport: t, req: req, repeater: repeater{scope: scope, settings: t.governor.Provider(provider)}}
	e.begin(req.Context(), time.Now())
	call, err := t.governor.Begin(req.Context(), scope, cloudpace.Until(e.deadline), cloudpace.FreeTransientRetries(), charged(scope, quotaProject))
	if err != nil {
		httpbody.Close(req)
		return nil, err
	}
	defer call.Drop()
	if !call.Governed() {
		return t.base.RoundTrip(req)
	}
	e.call = call
	return e.run()
}

// named is the quota project that a request names. gax writes the keys of its headers in
// lower case.
func named(h http.Header) string {
	if v := first(metadata.MD(h), quotaKey); v != "" {
		return v
	}
	return h.Get(quotaKey)
}

// admitted sends a page request of a listing, which does all else (S13.6), and ends it
// with the attempt that it is of.
func (t *transport) admitted(req *http.Request, leave *admission) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	context.AfterFunc(leave.attempt, func() { cancel(context.Cause(leave.attempt)) })
	return t.base.RoundTrip(req.WithContext(ctx))
}

// exchange is one request with all its attempts.
type exchange struct {
	*transport
	repeater
	req *http.Request
}

func (e *exchange) run() (*http.Response, error) {
	attempt := e.req.WithContext(e.call.Context())
	for {
		e.sent = time.Now()
		resp, err := e.send(attempt)
		if err == nil && resp.StatusCode < http.StatusBadRequest {
			e.call.End(nil)
			return resp, nil
		}
		if err == nil {
			err = answerOf(resp)
		}
		var next *http.Request
		end := e.again(e.req.Context(), err, restSafe(e.req), func() (err error) {
			next, err = httpbody.Rewind(e.call.Context(), e.req)
			return err
		})
		if end != nil {
			if next != nil {
				httpbody.Close(next)
			}
			return e.finish(resp, end)
		}
		httpbody.Drop(resp, 0) // what was not read of it costs more than its connection
		attempt = next
	}
}

// finish gives the caller what there is: the answer if there is one, else the error
// that ended it. A caller whose context is over wants neither answer nor wait.
func (e *exchange) finish(resp *http.Response, end *stop) (*http.Response, error) {
	if resp == nil {
		e.call.End(end.end)
		return nil, end.give
	}
	if err := e.req.Context().Err(); err != nil {
		e.call.End(&given{end.end, resp.Header})
		httpbody.Drop(resp, 0)
		return nil, err
	}
	var own verdict.Own
	if errors.As(end.give, &own) && repeatsItself(e.req) {
		e.call.End(end.end)
		httpbody.Drop(resp, 0)
		return nil, end.give
	}
	e.call.End(&given{end.end, resp.Header})
	return resp, nil
}

// repeatsItself tells the SDK's clients that would begin a request again after an answer
// that was repeated here for as long as it is worth (E23): those that are generated, by
// gax, and those of storage. They say who they are.
func repeatsItself(req *http.Request) bool {
	for _, name := range []string{"x-goog-api-client", "X-Goog-Api-Client"} {
		for _, v := range req.Header[name] {
			if strings.Contains(v, "gax/") || strings.Contains(v, "gccl-") {
				return true
			}
		}
	}
	return false
}

// send makes one attempt. One that only reads is cut where no headers come; the body of
// an answer is not.
func (e *exchange) send(req *http.Request) (*http.Response, error) {
	if !restReads(req) {
		return e.roundTrip(req)
	}
	long := patience(req.Context())
	if long == 0 {
		return e.roundTrip(req)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(long, func() { cancel(errHung) })
	resp, err := e.roundTrip(req.WithContext(ctx))
	switch {
	case !timer.Stop() && context.Cause(ctx) == errHung: //nolint:errorlint // it is this very value
		httpbody.Drop(resp, 0)
		return nil, errHung
	case err != nil:
		cancel(nil)
		return nil, err
	case resp.Body == nil || resp.Body == http.NoBody:
		cancel(nil)
		return resp, nil
	}
	resp.Body = httpbody.AtEnd(resp.Body, func() { cancel(nil) })
	return resp, nil
}

func (e *exchange) roundTrip(req *http.Request) (*http.Response, error) {
	resp, err := e.base.RoundTrip(req)
	if resp == nil && err == nil {
		err = errors.New("pacegcp: the base transport returned neither answer nor error")
	}
	return resp, err
}

// answerOf makes an error of an answer, for its kind. The answer stays unread.
func answerOf(resp *http.Response) error {
	head, _, err := httpbody.PeekWithin(resp, peeked)
	return &verdict.ResponseError{Provider: provider, StatusCode: resp.StatusCode, Header: resp.Header, Body: head, Err: err}
}

// given is the end of an operation whose answer the caller got. googleapi makes an error
// of its own of that, and a call around this one has to know it again (S5.4).
type given struct {
	error
	header http.Header
}

func (e *given) Unwrap() error { return e.error }

// RemadeAs tells an error that was made of the answer: it has the very same headers.
func (e *given) RemadeAs(err error) bool {
	made, ok := err.(*googleapi.Error) //nolint:errorlint // each error of a chain is asked about in turn
	return ok && made != nil && made.Header != nil &&
		reflect.ValueOf(made.Header).Pointer() == reflect.ValueOf(e.header).Pointer()
}
