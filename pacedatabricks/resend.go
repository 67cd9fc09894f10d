package pacedatabricks

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"

	"github.com/cloudpace/cloudpace/internal/httpbody"
)

// maxResends bounds how often net/http sends one attempt again by itself: over
// connections that turn out to be stale, and after an HTTP/2 server's GOAWAY.
const maxResends = 3

// resendError is a bound that was met. What went wrong before, net/http keeps to
// itself; the connection ended early, whatever it was.
type resendError struct {
	resends int
	unsafe  bool // it was the first, and might have run a command twice
}

func (e *resendError) Error() string {
	if e.unsafe {
		return "the HTTP/2 stream failed, and the request may have been carried out"
	}
	return fmt.Sprintf("net/http sent the request again %d times, over connections that ended before an answer", e.resends)
}

func (*resendError) Unwrap() error { return io.ErrUnexpectedEOF }

// watch is kept on one attempt: what net/http does with it that no caller sees.
// Its callbacks run in goroutines of net/http, also after the attempt.
type watch struct {
	repeatable bool
	resends    atomic.Int32
	asked      atomic.Bool // for a connection
	got        atomic.Bool // one
	sent       atomic.Bool // the request's headers, over one of them
	http2      atomic.Bool
	stopped    atomic.Pointer[resendError]
	hooks      httptrace.ClientTrace
	cancel     context.CancelCauseFunc // only for requests without a body
}

// guard gives the request to send for an attempt, with its resends bounded. For a
// request with a body this is done by its GetBody, which net/http asks before each
// of them; one without is cancelled. The bare poll is spared the rest: the tracing
// is for what may not be sent twice.
func (x *exchange) guard(ctx context.Context, req *http.Request) *http.Request {
	w := &x.first
	if x.watch != nil {
		w = new(watch) // net/http may still look at the one before
	}
	w.repeatable = x.command.Repeatable
	x.watch = w
	hasBody := httpbody.Has(req)
	if !hasBody {
		ctx, w.cancel = context.WithCancelCause(ctx)
	}
	if !hasBody || !w.repeatable {
		ctx = httptrace.WithClientTrace(ctx, w.trace())
	}
	sent := req.WithContext(ctx)
	switch {
	case !w.repeatable && hasIdempotencyKey(req.Header):
		// To net/http a key is leave to repeat whatever may have been carried out, unless
		// there is a body that cannot be had again.
		sent.GetBody = nil
		if !hasBody {
			sent.Body = nothing{}
		}
	case !hasBody || req.GetBody == nil:
	case !w.repeatable && x.http2.Load():
		// Over HTTP/2 net/http also repeats a request whose stream the server ended
		// with PROTOCOL_ERROR, which proves nothing. Without GetBody it says what
		// happened instead, and what proves that nothing was done is read from that.
		// Over HTTP/1.1 it repeats only what was never written.
		sent.GetBody = nil
	default:
		body := req.GetBody
		sent.GetBody = func() (io.ReadCloser, error) {
			if err := w.again(); err != nil {
				return nil, err
			}
			return body()
		}
	}
	return sent
}

// nothing is a body without a byte, that net/http does not know to be one.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }
func (nothing) Close() error             { return nil }

// again counts a resend, or forbids it.
func (w *watch) again() error {
	n := int(w.resends.Add(1))
	e := &resendError{resends: n - 1, unsafe: !w.repeatable && w.http2.Load() && w.sent.Load()}
	if n <= maxResends && !e.unsafe {
		return nil
	}
	w.resends.Add(-1)
	w.stopped.Store(e)
	return e
}

// trace gives the callbacks: all of them for what may not be sent twice.
func (w *watch) trace() *httptrace.ClientTrace {
	w.hooks.GotConn = w.gotConn
	if !w.repeatable {
		w.hooks.GetConn = func(string) { w.asked.Store(true) }
		w.hooks.WroteHeaderField = func(name string, _ []string) {
			if strings.HasPrefix(name, ":") {
				w.http2.Store(true)
			}
			w.sent.Store(true)
		}
	}
	return &w.hooks
}

func (w *watch) gotConn(httptrace.GotConnInfo) {
	if w.got.Swap(true) && w.cancel != nil {
		if err := w.again(); err != nil {
			w.cancel(err)
		}
	}
}

// neverSent tells that no connection was had to send the request over. It needs
// the trace, and a base that is net/http's.
func (w *watch) neverSent() bool { return w.asked.Load() && !w.got.Load() }

// unwritten tells that every send of the attempt came to nothing before the first
// byte: else net/http would not have tried again what is not to run twice.
func (w *watch) unwritten(stop *resendError) bool { return !stop.unsafe && w.cancel == nil }

// release ends what the attempt holds, once its answer is read or it failed.
func (w *watch) release() {
	if w.cancel != nil {
		w.cancel(nil)
	}
}

// hasIdempotencyKey is net/http's own test: a key without a value is one too.
func hasIdempotencyKey(h http.Header) bool {
	_, key := h["Idempotency-Key"]
	_, x := h["X-Idempotency-Key"]
	return key || x
}
