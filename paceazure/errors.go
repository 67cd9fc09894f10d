package paceazure

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// refusal is an error of cloudpace's as callers of the SDK get it: the same text
// and the same error inside. azcore does not repeat it, and a handler of throttling
// that was written for azcore knows it: errors.As finds an *azcore.ResponseError.
type refusal struct{ verdict.Own }

var _ verdict.Own = (*refusal)(nil)

// Unwrap gives the cloudpace error, in which the provider's is.
func (e *refusal) Unwrap() error { return e.Own }

// NonRetriable ends azcore's retry loop.
func (e *refusal) NonRetriable() {}

// As makes an answer of 429 of what reads as throttling and is none of the
// provider's answers to this request: an open circuit, and a retry budget that
// failed connections used up.
func (e *refusal) As(target any) bool {
	into, ok := target.(**azcore.ResponseError)
	if !ok {
		return false
	}
	var (
		open   *cloudpace.CircuitOpenError
		budget *cloudpace.RetryBudgetExhaustedError
		inside *azcore.ResponseError
	)
	switch {
	case errors.As(e.Own, &open):
		*into = tooMany(e.Own, open.RetryAfter)
	case errors.As(e.Own, &budget) && !errors.As(e.Own, &inside):
		*into = tooMany(e.Own, budget.RetryAfter)
	default:
		return false
	}
	return true
}

func tooMany(err error, wait time.Duration) *azcore.ResponseError {
	const code = "TooManyRequests"
	resp := &http.Response{
		StatusCode: http.StatusTooManyRequests,
		Status:     "429 Too Many Requests",
		Header:     http.Header{"X-Ms-Error-Code": {code}},
		Body:       io.NopCloser(strings.NewReader(err.Error())),
	}
	if wait > 0 {
		resp.Header.Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
	return &azcore.ResponseError{StatusCode: resp.StatusCode, ErrorCode: code, RawResponse: resp}
}

// final is any other error that azcore must not repeat.
type final struct{ err error }

func (e *final) Error() string { return e.err.Error() }
func (e *final) Unwrap() error { return e.err }

// NonRetriable ends azcore's retry loop.
func (e *final) NonRetriable() {}

// given is the end of an operation whose answer the caller got. azcore's clients make
// an error of their own of it, and a call around this one has to know that again.
type given struct {
	error
	answer *http.Response
}

func (e *given) Unwrap() error { return e.error }

// RemadeAs tells an error that was made of the answer.
func (e *given) RemadeAs(err error) bool {
	made, ok := err.(*azcore.ResponseError) //nolint:errorlint // each error of a chain is asked about in turn
	return ok && made != nil && made.RawResponse == e.answer
}

// forCaller makes what the governor returned fit for azcore and its callers.
func forCaller(err error) error {
	var own verdict.Own
	if errors.As(err, &own) {
		return &refusal{own}
	}
	return &final{err}
}
