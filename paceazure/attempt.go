package paceazure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/backoff"
)

// attemptPolicy stands inside azcore's retry loop and behind the login, so nothing
// is held while a token is fetched: each HTTP request is admitted and reported here
// (S11.2).
type attemptPolicy struct{ *wiring }

var _ policy.Policy = (*attemptPolicy)(nil)

// finders are reused, since a pointer that azcore's reflection fills escapes.
var finders = sync.Pool{New: func() any { return new(*operation) }}

// find gives the operation that a request is part of. It travels with the request
// and not with its context, which the requests of logins and registrations inherit.
func find(req *policy.Request) *operation {
	f := finders.Get().(**operation)
	defer finders.Put(f)
	req.OperationValue(f)
	op := *f
	*f = nil
	return op
}

// Do sends one attempt.
func (p *attemptPolicy) Do(req *policy.Request) (*http.Response, error) {
	op := find(req)
	if op == nil || op.wiring != p.wiring {
		return req.Next() // the governor is disabled
	}
	began := time.Now()
	limit, limited := op.within(req.Raw().Context(), began)
	if limited && limit <= 0 {
		return nil, context.DeadlineExceeded // before anything is sent, as in a slow login
	}
	if err := op.admit(req.Raw()); err != nil {
		return nil, forCaller(err)
	}
	op.again, op.aged, op.entered = false, time.Since(began) > tokenMargin, req.Raw()
	var resp *http.Response
	var err error
	if limited {
		resp, err = op.send(req, limit)
	} else {
		resp, err = req.Next()
	}
	if err == nil && (resp.Request == nil || resp.Request.Context().Value(operationKey{}) != op) {
		// A transport of the user's own, which may leave it empty. The decision whether
		// to repeat finds the operation there.
		resp.Request = req.Raw()
	}
	return op.report(req.Raw(), resp, err)
}

// tokenMargin is how long a token is sure to live after the login gave it: azcore
// fetches another when less than five minutes are left.
const tokenMargin = 5*time.Minute - 5*time.Second

// admit waits for leave to send. It returns an error of cloudpace's, or the
// context's.
func (op *operation) admit(raw *http.Request) error {
	switch {
	case op.stop != nil:
		return op.stop
	case op.call == nil:
		return op.begin()
	case op.again, op.status == http.StatusUnauthorized && op.entered == raw:
		// Paid for; or the login answers a challenge within azcore's one try, and
		// nothing was carried out.
	case op.failed == nil:
		// Another policy failed after a success, or the rules of the call's context want
		// it repeated. The first retries after a success cost nothing.
		if !safe(raw) {
			return fmt.Errorf("cloudpace: %s: not sent again after an answer of %d", op.scope, op.status)
		}
		op.retries++
	case op.barred && op.status != http.StatusUnauthorized:
		// The caller's context has retry options of its own, and its loop goes on.
		return op.failed
	default:
		if err := op.pay(); err != nil { // likewise
			return err
		}
	}
	if wait := time.Until(op.notBefore); wait > 0 {
		if err := backoff.Rest(op, wait); err != nil {
			return err
		}
	}
	if err := op.call.Next(op.parent); err != nil {
		op.stop = err
		return err
	}
	return nil
}

// begin admits the first attempt, or spends an admission that was made for it.
func (op *operation) begin() error {
	if a, ok := op.parent.Value(admissionKey{}).(*admission); ok && a.spend(op.governor, op.scope) {
		op.call = a.call // op.parent is under its context already
		return nil
	}
	call, err := op.governor.Begin(op.parent, op.scope, cloudpace.Until(op.deadline))
	if err != nil {
		op.stop = err
		return err
	}
	op.call = call
	op.under(call.Context())
	return nil
}

// report tells the governor what came back, and decides what follows.
func (op *operation) report(raw *http.Request, resp *http.Response, err error) (*http.Response, error) {
	if err != nil && resp != nil && resp.StatusCode >= http.StatusBadRequest {
		// The body broke off, and is not needed to know a throttle by its status.
		resp.Body, err = http.NoBody, nil
		if resp.Request == nil {
			resp.Request = raw
		}
	}
	if err == nil && resp.StatusCode < http.StatusBadRequest {
		op.status, op.failed, op.said = resp.StatusCode, nil, nil
		told(op.call, op.scope, resp.Header)
		op.call.Succeeded()
		believe(op.call, op.scope, resp.Header)
		if op.insists(resp, nil) && op.retries < op.wiring.retries {
			op.retries++
			op.again, op.notBefore = true, time.Time{}
		}
		return resp, nil
	}
	if err == nil {
		op.status, op.failed = resp.StatusCode, answered(resp)
		op.said = op.failed
	} else {
		op.status, op.failed = 0, err
		op.keep(err)
	}
	if err != nil && op.passed() {
		op.call.Failed(context.DeadlineExceeded)
		op.stop = &cloudpace.DeadlineExceededError{Scope: op.scope, Err: op.said}
		return nil, forCaller(op.stop)
	}
	if stop := op.decide(raw, resp, err); stop != nil {
		op.stop = stop
		return nil, forCaller(stop)
	}
	switch {
	case err == nil:
		return resp, nil
	case op.again:
		return nil, op.failed
	}
	return nil, &final{err}
}

// keep remembers what failed, unless there is better to tell: an answer, or anything
// but the end of a context.
func (op *operation) keep(err error) {
	var answer *azcore.ResponseError
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if op.said == nil || !ended && !errors.As(op.said, &answer) {
		op.said = err
	}
}

// answered makes an error of an answer. azcore changes an answer that it repeats,
// so the error keeps one of its own; the body, which azcore has read, is shared.
func answered(resp *http.Response) error {
	kept := *resp
	return runtime.NewResponseError(&kept)
}
