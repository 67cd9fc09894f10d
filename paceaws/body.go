package paceaws

import (
	"context"
	"io"
	"net/http"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// bodyHook keeps the beginning of an answer's body that the SDK may not be able
// to read. A load balancer's "Rate exceeded", as plain text or as a page, becomes
// an "UnknownError" or an XML syntax error, and the words that say it is
// throttling are gone.
type bodyHook struct{}

var _ middleware.DeserializeMiddleware = bodyHook{}

func (bodyHook) ID() string { return "cloudpace:body" }

func (bodyHook) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	if resp, ok := out.RawResponse.(*smithyhttp.Response); ok && resp.Response != nil {
		if n := worthKeeping(ctx, resp); n > 0 && resp.Body != nil && resp.Body != http.NoBody {
			resp.Body = &keptBody{ReadCloser: resp.Body, room: n}
		}
	}
	return out, metadata, err
}

// How much is kept of a body, in bytes.
const (
	keptOfError = 8 << 10  // any error document
	keptOfPage  = 1 << 10  // the beginning of any page
	keptInside  = 64 << 10 // of a list of failures; as much as verdict reads
)

// worthKeeping gives how much of a body to keep: of errors, of pages, and of
// successes that may tell of a throttle.
func worthKeeping(ctx context.Context, resp *smithyhttp.Response) int {
	id := awsmiddleware.GetServiceID(ctx)
	switch {
	case resp.StatusCode >= 300:
		return keptOfError
	case resp.StatusCode < 200:
		return 0
	case tellsInside(id, awsmiddleware.GetOperationName(ctx)):
		return keptInside
	case isHTML(resp) && !(id == "S3" && awsmiddleware.GetOperationName(ctx) == "GetObject"):
		return keptOfPage
	}
	return 0
}

// isHTML goes by the header: what a login page or a proxy sends is meant to be
// shown, and says what it is.
func isHTML(resp *smithyhttp.Response) bool {
	media := strings.ToLower(resp.Header.Get("Content-Type"))
	return strings.HasPrefix(media, "text/html") || strings.HasPrefix(media, "application/xhtml")
}

// keptBody remembers the beginning of what was read of a body. It stays reachable
// through the response in the SDK's errors, where the reader looks for it.
type keptBody struct {
	io.ReadCloser
	room int
	kept []byte
}

func (b *keptBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if keep := min(n, b.room); keep > 0 {
		b.kept = append(b.kept, p[:keep]...)
		b.room -= keep
	}
	return n, err
}
