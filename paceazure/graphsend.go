package paceazure

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"

	"github.com/cloudpace/cloudpace/verdict"
)

// send asks for one page, and gives what it was sent under, where the answer is that
// the client hides.
func (g *Graph) send(ctx context.Context, query armresourcegraph.QueryRequest) (armresourcegraph.QueryResponse, *pageContext, error) {
	sent := &pageContext{Context: ctx}
	sent.capture = policy.WithCaptureResponse(context.Background(), &sent.answer)
	sent.leave, _ = ctx.Value(admissionKey{}).(*admission)
	page, err := g.client.Resources(sent, query, nil)
	if sent.callers != nil && sent.answer != nil {
		*sent.callers = sent.answer
	}
	return page.QueryResponse, sent, err
}

// pageContext is what a page is sent under. azcore finds its own settings in it, by
// keys that it keeps to itself: they are known by what azcore's own contexts answer.
type pageContext struct {
	context.Context

	capture context.Context // where azcore leaves the answer
	answer  *http.Response  // its body has been read; nil where there is none
	callers **http.Response // where the caller wants it

	leave *admission // nil where the client is known to be governed
}

// header is the answer's, nil where there is none.
func (c *pageContext) header() http.Header {
	if c.answer == nil {
		return nil
	}
	return c.answer.Header
}

// retrying knows azcore's key of retry options.
var retrying = policy.WithRetryOptions(context.Background(), policy.RetryOptions{})

// Value adds where to leave the answer, and takes throttles out of what azcore
// repeats: those are waited out between pages, with no slot held (S12.3). Which other
// failures a client repeats is not to be seen from outside, so azcore's own numbers
// hold for these, or those of the caller's context. A governed pipeline has numbers
// of its own, and says so.
func (c *pageContext) Value(key any) any {
	v := c.Context.Value(key)
	if mine := c.capture.Value(key); mine != nil {
		c.callers, _ = v.(**http.Response)
		return mine
	}
	if c.leave == nil || retrying.Value(key) == nil || c.leave.governed.Load() {
		return v
	}
	if options, ok := v.(policy.RetryOptions); ok {
		return withoutThrottles(options)
	}
	if options := c.leave.options.Load(); options != nil {
		return withoutThrottles(*options)
	}
	return withoutThrottles(policy.RetryOptions{})
}

// repeated are azcore's own status codes.
var repeated = []int{
	http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
	http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// withoutThrottles are retry options that do not repeat a 429 or 503.
func withoutThrottles(o policy.RetryOptions) policy.RetryOptions {
	if o.StatusCodes == nil {
		o.StatusCodes = repeated
	}
	o.StatusCodes = slices.DeleteFunc(slices.Clone(o.StatusCodes), throttles)
	if should := o.ShouldRetry; should != nil {
		o.ShouldRetry = func(resp *http.Response, err error) bool {
			return (resp == nil || !throttles(resp.StatusCode)) && should(resp, err)
		}
	}
	return o
}

func throttles(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// loginFailed tells failures of a login, which say nothing about Resource Graph: a
// throttled login is not a throttled query (C18). azcore marks them, and the place of
// the mark tells them from the rest. What is inside does not: a login has answers
// of its own. azcore marks an answer whose body broke off too, but then there is an
// answer, and not one that asks for another login.
func loginFailed(err error, answer *http.Response) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		switch err.(type) { //nolint:errorlint // it is the place in the chain that tells
		case *azcore.ResponseError, *final, verdict.Own:
			return false // an answer; what a governed pipeline made of a failure; or cloudpace's own
		case interface{ NonRetriable() }:
			broken := answer != nil && answer.StatusCode != http.StatusUnauthorized || strings.HasPrefix(err.Error(), brokenBody)
			return !broken
		}
	}
	return false
}

// brokenBody begins the text of azcore's error of a body that broke off, whose type
// is not exported. The login in front drops the answer.
const brokenBody = "body download policy: "

// pipeline is what a governed pipeline tells the context of a page.
type pipeline struct {
	governed atomic.Bool                         // it repeats by its own numbers
	options  atomic.Pointer[policy.RetryOptions] // how it would, where the governor is disabled
}
