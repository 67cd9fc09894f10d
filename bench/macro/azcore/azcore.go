// Package azcore makes the calls of a scenario through a pipeline of the Azure SDK for
// Go and its retry policy.
package azcore

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/cloudpace/cloudpace/bench/macro"
	"github.com/cloudpace/cloudpace/internal/scenario"
)

const address = "https://management.azure.com/subscriptions/00000000-0000-0000-0000-000000000000/resources"

// New is the pipeline with the retry policy's defaults: three retries, 800 ms and up.
func New(_ scenario.Scenario, server *macro.Server) (macro.Client, error) {
	pipeline := runtime.NewPipeline("bench", "v1.0.0", runtime.PipelineOptions{}, &policy.ClientOptions{Transport: transport{server}})
	return func(ctx context.Context) error {
		req, err := runtime.NewRequest(ctx, http.MethodGet, address)
		if err != nil {
			return err
		}
		resp, err := pipeline.Do(req)
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if !runtime.HasStatusCode(resp, http.StatusOK) {
			return runtime.NewResponseError(resp)
		}
		var page struct{ Value []struct{ ID string } }
		if err := runtime.UnmarshalAsJSON(resp, &page); err != nil {
			return err
		}
		if len(page.Value) != 1 {
			return errors.New("not the server's page")
		}
		return nil
	}, nil
}

// transport is the server as a transport of HTTP requests.
type transport struct{ server *macro.Server }

const (
	page       = `{"value":[{"id":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/a"}]}`
	throttling = `{"error":{"code":"SubscriptionRequestsThrottled","message":"Number of requests for the subscription exceeded the limit."}}`
)

func (t transport) Do(r *http.Request) (*http.Response, error) {
	a := t.server.Attempt()
	resp := &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}},
	}
	body := page
	if !a.OK {
		body, resp.StatusCode = throttling, http.StatusTooManyRequests
		if a.RetryAfter > 0 {
			resp.Header.Set("Retry-After", strconv.Itoa(int(a.RetryAfter.Seconds())))
		}
	}
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return resp, nil
}
