package paceazure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/httpbody"
)

// operationPolicy stands before azcore's retry loop: it knows when an operation
// begins and when it is over for good (S11.8).
type operationPolicy struct{ *wiring }

var _ policy.Policy = (*operationPolicy)(nil)

// Do runs one operation: a request with its retries.
func (p *operationPolicy) Do(req *policy.Request) (*http.Response, error) {
	raw := req.Raw()
	ctx := raw.Context()
	settings := p.governor.Provider(provider)
	if a, ok := ctx.Value(admissionKey{}).(*admission); ok {
		a.governed.Store(settings.Enabled)
		a.options.Store(&p.origin)
	}
	if !settings.Enabled {
		// It may have been on when the options were made, and the loop has our numbers;
		// or when this very request was sent before.
		req.SetOperationValue((*operation)(nil))
		return req.WithContext(ungoverned{ctx, p.alone}).Next()
	}
	op := &operation{
		wiring: p.wiring,
		scope:  scopeOf(raw.URL.Path),
		limit:  limit{parent: ctx, values: ctx, deadline: time.Now().Add(settings.Deadline)},
	}
	req.SetOperationValue(op)
	// The context is put into the request as it is, because a copy of the request
	// would cost two allocations, and is taken out again: whoever called may send the
	// request once more, as the registration of resource providers does.
	*raw = *raw.WithContext(op)
	defer func() { *raw = *raw.WithContext(ctx) }()
	defer op.drop() // covers panics
	return op.end(req.Next())
}

// operation is one request with its retries. As a context it is the caller's with
// the operation's deadline, and under it what is sent knows the governed call.
type operation struct {
	*wiring
	limit
	scope cloudpace.Scope
	call  *cloudpace.Call // nil until the first attempt is admitted

	// Of the attempt that was reported last.
	failed    error         // nil after a success
	entered   *http.Request // as azcore's loop or the login gave it
	notBefore time.Time
	status    int
	again     bool // another attempt is decided on and, after a failure, paid for
	barred    bool // it may have been carried out, and must not be twice

	said    error // the provider's last answer since a success, or what failed where there is none
	retries int   // attempts decided on after the first
	stop    error // why no further attempt is made, where cloudpace decided it
	aged    bool  // the wait for the last admission was longer than tokens are sure to live
	renewed bool  // a login was repeated for that
	ended   bool
}

type operationKey struct{}

// Value knows the operation itself, besides what the limit knows.
func (op *operation) Value(key any) any {
	if _, ok := key.(operationKey); ok {
		return op
	}
	return op.limit.Value(key)
}

// drop gives everything back after a panic.
func (op *operation) drop() {
	if op.ended {
		return
	}
	if op.call != nil {
		op.call.Drop()
	}
	op.release()
}

// end says what the operation came to. azcore gives an answer of any status with a
// nil error, or an error.
func (op *operation) end(resp *http.Response, err error) (*http.Response, error) {
	if err != nil && op.stop == nil && op.passed() {
		// azcore knows only that the context ended. What the provider said last is
		// the better half of the story (S11.6).
		op.stop = &cloudpace.DeadlineExceededError{Scope: op.scope, Err: op.said}
	}
	callers := op.parent.Err() != nil // it is the caller who ended it
	switch {
	case op.stop != nil && err != nil:
		op.finish(op.stop)
		if !callers {
			err = forCaller(op.stop)
		}
	case err == nil && op.failed == nil:
		op.finish(nil)
	case err == nil:
		op.finish(&given{op.failed, resp})
	case callers:
		op.finish(err)
	case op.failed != nil && errors.Is(err, op.failed):
		op.finish(op.failed)
	case op.call != nil:
		// Another policy failed between two attempts, as a login does. That says
		// nothing about the service that was called.
		op.call.Drop()
	}
	if err != nil && callers && op.said != nil && !errors.Is(op.said, err) && !errors.Is(err, op.said) {
		err = fmt.Errorf("%w, after: %w", err, op.said) // likewise
	}
	op.ended = true
	if err != nil {
		discard(resp)
		op.release()
		return nil, err
	}
	op.hand(resp)
	return resp, nil
}

func (op *operation) finish(err error) {
	if op.call != nil {
		op.call.End(err)
	}
}

// hand lets the operation's context go. A body that is still to be read needs it to
// its end; from here on no deadline of ours cuts it.
func (op *operation) hand(resp *http.Response) {
	if !streams(resp) || !op.detach() {
		op.release()
		return
	}
	resp.Body = httpbody.AtEnd(resp.Body, op.release)
}

// streams tells a body that is still to be read from one that azcore has buffered.
func streams(resp *http.Response) bool {
	_, buffered := resp.Body.(io.Seeker)
	return !buffered && resp.Body != nil && resp.Body != http.NoBody
}

func discard(resp *http.Response) {
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
}

var _ context.Context = (*operation)(nil)
