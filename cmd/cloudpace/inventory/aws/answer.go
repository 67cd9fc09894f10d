package aws

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var errNoBody = errors.New("the answer has no body, where the API always sends one")

// insist is an API option: the id of each answer is noted, and an answer of 200 without a body is an error. All that
// the tasks ask has one in its answer, also where nothing exists; without it the
// SDK would take what a broken proxy sends for a listing with nothing in it.
func insist(stack *middleware.Stack) error {
	const deserializer = "OperationDeserializer"
	if _, ok := stack.Deserialize.Get(deserializer); !ok {
		return nil // nothing reads an answer here: presigning
	}
	return stack.Deserialize.Insert(bodyHook{}, deserializer, middleware.After)
}

type bodyHook struct{}

var _ middleware.DeserializeMiddleware = bodyHook{}

func (bodyHook) ID() string { return "cloudpace:answered" }

func (bodyHook) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	resp, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok || resp.Response == nil {
		return out, metadata, err
	}
	inventory.Answered(ctx, cmp.Or(resp.Header.Get("X-Amzn-Requestid"), resp.Header.Get("X-Amz-Request-Id")))
	if resp.StatusCode != http.StatusOK {
		return out, metadata, nil
	}
	if request, ok := in.Request.(*smithyhttp.Request); ok && request.Method == http.MethodHead {
		return out, metadata, nil
	}
	var first [1]byte
	switch n, err := io.ReadFull(resp.Body, first[:]); {
	case n == 1:
		resp.Body = &begun{ReadCloser: resp.Body, first: first, left: 1}
	case errors.Is(err, io.EOF):
		return out, metadata, &smithy.DeserializationError{Err: errNoBody}
	}
	return out, metadata, nil // what else reading met, the SDK meets as well
}

// begun is a body of which the first byte was read.
type begun struct {
	io.ReadCloser
	first [1]byte
	left  int
}

func (b *begun) Read(p []byte) (int, error) {
	if b.left == 0 || len(p) == 0 {
		return b.ReadCloser.Read(p)
	}
	b.left = 0
	return copy(p, b.first[:]), nil
}
