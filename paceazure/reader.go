package paceazure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cloudpace/cloudpace/verdict"
)

func init() { verdict.Register(read) }

// read tells verdict what azcore's error says, whether it comes from a governed
// client or not.
func read(err error) (*verdict.ResponseError, bool) {
	e, ok := err.(*azcore.ResponseError) //nolint:errorlint // each error of a chain is asked about in turn
	if !ok || e == nil {
		return nil, false
	}
	r := &verdict.ResponseError{Provider: provider, StatusCode: e.StatusCode, Code: e.ErrorCode, Err: err}
	if resp := e.RawResponse; resp != nil {
		r.Header = resp.Header
		// azcore reads the bodies of errors and keeps them. Its Payload would rewind
		// what somebody else may be reading, so it is asked for the bytes alone.
		if kept, ok := resp.Body.(interface{ Bytes() []byte }); ok {
			r.Body = kept.Bytes()
		}
	}
	return r, true
}
