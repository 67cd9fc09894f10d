package paceaws

import (
	"bytes"
	"errors"
	"reflect"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

var errPage = errors.New("an HTML page instead of the API's answer")

// pageInstead finds an HTML page, of a log-in or a proxy, that the SDK has read as
// an answer with nothing in it: where the protocol is XML it takes any element for
// the root and passes over all it does not know, so that a listing looks empty. It
// gives the error that the SDK should have made of it (S2.2), nil for an answer.
func pageInstead(result any, metadata middleware.Metadata) error {
	resp, ok := awsmiddleware.GetRawResponse(metadata).(*smithyhttp.Response)
	if !ok || resp.Response == nil || !isHTML(resp) {
		return nil
	}
	// The header alone proves nothing: there are emulators that send all XML under it.
	// Nor does the page: one that was asked for is a stream or bytes in the result.
	if body, ok := resp.Body.(*keptBody); !ok || !pageBegins(body.kept) || !blank(result) {
		return nil
	}
	id, _ := awsmiddleware.GetRequestIDMetadata(metadata)
	return &awshttp.ResponseError{
		RequestID:     id,
		ResponseError: &smithyhttp.ResponseError{Response: resp, Err: &smithy.DeserializationError{Err: errPage}},
	}
}

// pageBegins tells whether a body begins as HTML pages do, be they HTML or XHTML.
func pageBegins(body []byte) bool {
	text := strings.ToLower(string(bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))))
	for strings.HasPrefix(text, "<?") || strings.HasPrefix(text, "<!--") {
		_, rest, ok := strings.Cut(text, ">")
		if !ok {
			return false
		}
		text = strings.TrimSpace(rest)
	}
	return strings.HasPrefix(text, "<html") || strings.HasPrefix(text, "<!doctype html")
}

// blank tells whether an operation's output has nothing in it.
func blank(output any) bool {
	v := reflect.ValueOf(output)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return false
	}
	v = v.Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).Name != "ResultMetadata" && !v.Field(i).IsZero() {
			return false
		}
	}
	return true
}
