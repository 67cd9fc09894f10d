package paceazure

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// decide reports a failed attempt and settles whether another follows, which is
// then paid for. An attempt that nothing follows is not charged (S11.4). It returns
// why cloudpace ends the operation, if it does.
func (op *operation) decide(raw *http.Request, resp *http.Response, err error) (stop error) {
	kind := op.call.Failed(op.failed)
	r := verdict.Examine(provider, op.failed)
	op.notBefore = time.Time{}
	if r.HasHint && (kind == verdict.Throttled || kind == verdict.Transient) {
		op.notBefore = time.Now().Add(r.Hint)
	}
	if op.status == http.StatusUnauthorized && op.aged && !op.renewed {
		// The token may have ended in our queue. azcore has thrown it away, and nothing
		// was carried out.
		op.again, op.renewed = true, true
		return nil
	}
	op.barred = !safe(raw) && !r.Unprocessed
	if op.barred || !op.repeats(resp, err, kind) || op.retries >= op.wiring.retries {
		return nil
	}
	if d, _ := op.Deadline(); op.notBefore.After(d) {
		// azcore would sleep until its context ends.
		return &cloudpace.DeadlineExceededError{Scope: op.scope, RetryAfter: r.Hint, Err: op.failed}
	}
	if err := op.pay(); err != nil {
		return err
	}
	op.again = true
	if inner, ok := op.failed.(interface {
		NonRetriable()
		Unwrap() error
	}); ok && r.Network {
		// azcore marks a body that broke off, unless the method is GET, PUT or DELETE.
		// A read by POST may be repeated all the same.
		op.failed = inner.Unwrap()
	}
	return nil
}

// pay pays for one more attempt.
func (op *operation) pay() error {
	if err := op.call.Retry(); err != nil {
		op.stop = err
		return err
	}
	op.retries++
	return nil
}

// repeats tells by its outcome whether an attempt should be repeated. Where the
// options that were extended have rules of their own, those decide.
func (op *operation) repeats(resp *http.Response, err error, kind verdict.Kind) bool {
	// They are asked as azcore asks: a body that broke off comes as an answer and an
	// error, and status codes say nothing of errors.
	if op.origin.ShouldRetry != nil || op.origin.StatusCodes != nil && err == nil {
		return op.insists(resp, err)
	}
	return kind == verdict.Throttled || kind == verdict.Transient
}

// insists tells whether the extended options' own rules repeat an outcome.
func (w *wiring) insists(resp *http.Response, err error) bool {
	if w.origin.ShouldRetry != nil {
		return w.origin.ShouldRetry(resp, err)
	}
	return resp != nil && slices.Contains(w.origin.StatusCodes, resp.StatusCode)
}

// safe tells requests that may be sent twice (S11.7): those whose method says so,
// and reads by POST.
func safe(req *http.Request) bool {
	switch strings.ToUpper(req.Method) {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete:
		return true
	case http.MethodPost:
		return readsByPost(req.URL.Path)
	}
	return false
}

// readsByPost: Resource Graph's queries, and actions named query or list… (listKeys,
// listUsages).
func readsByPost(path string) bool {
	path = strings.TrimRight(path, "/")
	action := path[strings.LastIndexByte(path, '/')+1:]
	return strings.EqualFold(action, "query") ||
		len(action) >= 4 && strings.EqualFold(action[:4], "list") ||
		strings.EqualFold(action, "resources") && namespace(path) == graph
}

// shouldRetry is what azcore's loop asks about an outcome that may be repeated.
// The attempt policy has decided it, and has paid.
func (w *wiring) shouldRetry(resp *http.Response, err error) bool {
	if resp == nil {
		// Errors that nothing follows are marked. This one is to be repeated, or comes
		// from another policy, which never reached the governor.
		return w.origin.ShouldRetry == nil || w.origin.ShouldRetry(nil, err)
	}
	op, ok := operationOf(resp)
	if !ok {
		return w.insists(resp, nil)
	}
	if !op.again {
		return false
	}
	// azcore would wait as long as the answer says, if it can read it, and give up
	// where that is longer than the longest back-off. The answer is about to be
	// dropped; the wait is ours.
	resp.Header = resp.Header.Clone()
	for _, h := range []string{"Retry-After", "Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
		resp.Header.Del(h)
	}
	return true
}

func operationOf(resp *http.Response) (*operation, bool) {
	if resp.Request == nil {
		return nil, false
	}
	op, ok := resp.Request.Context().Value(operationKey{}).(*operation)
	return op, ok
}
