package pacedatabricks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/cloudpace/cloudpace/internal/databricks"
	"github.com/cloudpace/cloudpace/internal/httpbody"
	"github.com/cloudpace/cloudpace/verdict"
)

// failure is what became of an attempt that is not to be returned as it is.
type failure struct {
	err      error          // for the governor and the caller
	resp     *http.Response // unread, nil where there is no answer
	message  string         // the server's
	hint     time.Duration  // the server's, 0 without one
	proposed time.Duration  // for the sleep
	outcome  databricks.Outcome

	throttled  bool
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
		f.connection, f.usual = true, true
		f.outcome = databricks.Outcome{Broken: true, Unsent: x.watch.unwritten(stop)}
		return f
	}
	if proxyRefused(err) {
		f.err = &net.OpError{Op: "proxyconnect", Err: err}
		f.connection = true
		f.outcome = databricks.Outcome{Broken: true, Unsent: true}
		return f
	}
	r := verdict.Examine(provider, err)
	var errno syscall.Errno
	numbered := errors.As(err, &errno)
	late := errors.Is(err, context.DeadlineExceeded) // of somebody between us and the network: ours is not over
	f.connection = r.Network || numbered || late
	// An errno that is none of the network's is trouble of this machine that may pass,
	// as when it is out of file descriptors.
	f.outcome.Broken = r.Network && r.Kind == verdict.Transient || numbered && !r.Network || late
	f.outcome.Unsent = f.outcome.Broken && (r.Network && r.Unprocessed || x.watch.neverSent())
	f.usual = r.Usual || late
	return f
}

// proxyRefused tells the errors that net/http makes of a proxy's refusal to connect:
// the text of its status and nothing else. Nothing was sent then.
func proxyRefused(err error) bool {
	switch err.Error() {
	case "Bad Gateway", "Service Unavailable", "Gateway Timeout", "Too Many Requests":
		return true
	}
	return false
}

// answered judges an answer that is no success.
func (x *exchange) answered(resp *http.Response) *failure {
	head, _, broken := httpbody.Peek(resp, peeked)
	full := &verdict.ResponseError{Provider: provider, StatusCode: resp.StatusCode, Header: resp.Header, Body: head, Err: broken}
	r := verdict.Examine(provider, full)
	f := &failure{resp: resp, err: full, hint: r.Hint, proposed: x.retry.DelayDefault, message: x.quotable(&r)}
	if f.message != r.Message {
		// Numbers and errors get what may be told, not the body that says more.
		f.err = &verdict.ResponseError{
			Provider: provider, StatusCode: resp.StatusCode, Header: resp.Header, Code: r.Code, Message: f.message, Err: broken,
		}
	}
	told := len(resp.Header.Values("Retry-After")) > 0
	switch {
	case r.HasHint:
		f.proposed = r.Hint
	case told:
		f.proposed = 0 // it cannot be read
	}
	f.throttled = r.Kind == verdict.Throttled
	f.outcome = databricks.Outcome{Status: resp.StatusCode, Told: told, Passes: passes(resp.StatusCode, r.Kind)}
	return f
}

// passes tells whether an answer's code or message says that it will pass, where its
// status does not: a throttle whose status a proxy has lost, a warehouse that is
// starting.
func passes(status int, kind verdict.Kind) bool {
	return kind == verdict.Throttled ||
		kind == verdict.Transient && verdict.ClassifyFor(provider, &verdict.ResponseError{StatusCode: status}) == verdict.Fatal
}

// lost finds a throttle of the REST API behind a status that says success (H01).
func (x *exchange) lost(resp *http.Response) *failure {
	if x.command.Service == "sql" || !bytes.Contains(x.kept.data, []byte(`"error_code"`)) {
		return nil
	}
	var answer struct {
		Code string `json:"error_code"` // a failed statement has its own further down
	}
	if json.Unmarshal(x.kept.data, &answer) != nil {
		return nil
	}
	err := &verdict.ResponseError{Provider: provider, StatusCode: resp.StatusCode, Code: answer.Code, Header: resp.Header}
	if verdict.ClassifyFor(provider, err) != verdict.Throttled {
		return nil
	}
	return &failure{
		err: err, resp: resp, message: answer.Code, proposed: x.retry.DelayDefault, throttled: true,
		outcome: databricks.Outcome{Status: resp.StatusCode, Passes: true},
	}
}

const (
	provider = "databricks"
	// peeked is how much of an error's body is read to learn its kind, in bytes.
	peeked = 64 << 10
	// buffered is how much of the answer to a repeatable command is read within the
	// attempt, in bytes, so that one which breaks off is asked for again.
	buffered = 1 << 20
)
