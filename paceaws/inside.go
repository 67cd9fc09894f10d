package paceaws

import (
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cloudpace/cloudpace/verdict"
)

// tellsInside tells whether a service's answers of 200 may say that part of the
// work was throttled: Cloud Control's progress events, and S3's list of the
// objects that it did not delete.
func tellsInside(id, operation string) bool {
	return id == "CloudControl" || id == "S3" && operation == "DeleteObjects"
}

// succeeded looks into a success that may tell of a throttle. The caller gets it as
// it is, and nothing is sent again; but the scope is slowed as by any throttle.
func (op *operation) succeeded(metadata middleware.Metadata) {
	resp, ok := awsmiddleware.GetRawResponse(metadata).(*smithyhttp.Response)
	if !ok || resp.Response == nil {
		return
	}
	body, ok := resp.Body.(*keptBody)
	if !ok {
		return
	}
	told := &verdict.ResponseError{Provider: provider, StatusCode: resp.StatusCode, Header: resp.Header, Body: body.kept}
	if verdict.Classify(told) == verdict.Throttled {
		op.call.Failed(told)
	}
}
