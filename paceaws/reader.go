package paceaws

import (
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cloudpace/cloudpace/verdict"
)

func init() { verdict.Register(read) }

// read tells verdict what one error of the SDK says. verdict walks the chain and
// asks about each error in it: OperationError, around a ResponseError with status
// and headers, around the APIError with code and message.
//
// Codes and messages have plain methods, which verdict reads itself; what is read
// here has no methods, or methods that would mislead.
func read(err error) (*verdict.ResponseError, bool) {
	switch e := err.(type) { //nolint:errorlint // each error of a chain is asked about in turn
	case *smithy.GenericAPIError:
		if e != nil && e.Code == unknownCode {
			return &verdict.ResponseError{Provider: provider, Message: knownMessage(e.Message), Err: err}, true
		}
	case *smithy.DeserializationError:
		if e != nil && len(e.Snapshot) > 0 {
			return &verdict.ResponseError{Provider: provider, Body: e.Snapshot, Err: err}, true
		}
	case interface{ HTTPResponse() *smithyhttp.Response }:
		return readResponse(err, e.HTTPResponse()), true
	}
	return nil, false
}

// unknownCode is what the SDK says when an answer has no code. It is no code, and
// must not stand in the way of the status and the words.
const unknownCode = "UnknownError"

func knownMessage(message string) string {
	if message == unknownCode {
		return ""
	}
	return message
}

// readResponse reads the raw response: both Retry-After and x-amz-retry-after are
// there, and the SDK hands on neither. A transport error is wrapped in a response
// too, with status 0 and no headers; that is no answer.
func readResponse(err error, resp *smithyhttp.Response) *verdict.ResponseError {
	r := &verdict.ResponseError{Provider: provider, Err: err}
	if resp == nil || resp.Response == nil || resp.StatusCode == 0 {
		return r
	}
	r.StatusCode, r.Header = resp.StatusCode, resp.Header
	if b, ok := resp.Body.(*keptBody); ok {
		r.Body = b.kept
	}
	return r
}
