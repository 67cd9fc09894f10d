package pacedatabricks

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"time"

	"github.com/cloudpace/cloudpace/internal/httpbody"
	"github.com/cloudpace/cloudpace/verdict"
)

// failure is what became of an attempt that is not to be returned as it is.
type failure struct {
	err      error          // for the governor and the caller
	resp     *http.Response // unread, nil where there is no answer
	message  string         // the server's
	proposed time.Duration

	again      bool // a repeatable command may be repeated
	unrun      bool // it is proved that the command was not run, so any may
	connection bool // the connection failed, which is logged
	usual      bool // … as networks do
}

// failedConnection judges an attempt without an answer, or whose answer broke off.
func (x *exchange) failedConnection(err error) *failure {
	f := &failure{err: err, proposed: x.retry.DelayDefault}
	if stop := x.watch.stopped.Load(); stop != nil {
		// net/http's own error says that the request was cancelled, or that there is no
		// body.
		f.err = stop
		f.connection, f.usual, f.again, f.unrun = true, true, true, x.watch.unwritten(stop)
		return f
	}
	r := verdict.Examine(provider, err)
	var errno syscall.Errno
	numbered := errors.As(err, &errno)
	late := errors.Is(err, context.DeadlineExceeded) // of somebody between us and the network: ours is not over
	f.connection = r.Network || numbered || late
	// An errno that is none of the network's is trouble of this machine that may pass,
	// as when it is out of file descriptors.
	f.again = r.Network && r.Kind == verdict.Transient || numbered && !r.Network || late
	f.usual = r.Usual || late
	f.unrun = f.again && (r.Network && r.Unprocessed || x.watch.neverSent())
	return f
}

// answered judges an answer that is no success.
func (x *exchange) answered(resp *http.Response) *failure {
	head, _, broken := httpbody.Peek(resp, peeked)
	full := &verdict.ResponseError{Provider: provider, StatusCode: resp.StatusCode, Header: resp.Header, Body: head, Err: broken}
	r := verdict.Examine(provider, full)
	f := &failure{resp: resp, proposed: x.retry.DelayDefault}
	f.message = x.quotable(&r)
	// What goes into numbers and errors is what was read from the body, which may
	// quote the statement.
	f.err = &verdict.ResponseError{
		Provider: provider, StatusCode: resp.StatusCode, Header: resp.Header, Code: r.Code, Message: f.message, Err: broken,
	}
	if f.message == r.Message {
		f.err = full
	}
	told := len(resp.Header.Values("Retry-After")) > 0
	switch {
	case r.HasHint:
		f.proposed = r.Hint
	case told:
		f.proposed = 0 // it cannot be read
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		f.again, f.unrun = true, told
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		f.again = true
	default:
		f.again = r.Kind == verdict.Throttled // by its code, where a proxy has lost the status
	}
	return f
}

const (
	provider = "databricks"
	// peeked is how much of an error's body is read to learn its kind, in bytes.
	peeked = 64 << 10
	// buffered is how much of the answer to a repeatable command is read within the
	// attempt, in bytes, so that one which breaks off is asked for again.
	buffered = 1 << 20
)
