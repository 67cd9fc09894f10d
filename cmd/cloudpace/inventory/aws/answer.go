package aws

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var (
	errNoBody = errors.New("the answer has no body, where the API always sends one")
	errOther  = errors.New("the answer has nothing in it of what the API promises")
)

// insist is an API option: an answer of 200 is an error when it has no body, or
// when the SDK has found nothing in it. The SDK passes over what it does not know,
// so what a broken proxy sends would be a listing with nothing in it. The id of
// each answer is noted.
func insist(stack *middleware.Stack) error {
	const deserializer = "OperationDeserializer"
	if _, ok := stack.Deserialize.Get(deserializer); !ok {
		return nil // nothing reads an answer here: presigning
	}
	return errors.Join(
		stack.Deserialize.Insert(bodyHook{}, deserializer, middleware.After),
		stack.Deserialize.Insert(resultHook{}, deserializer, middleware.Before),
	)
}

// bodyHook stands before the SDK's deserializer sees an answer.
type bodyHook struct{}

var _ middleware.DeserializeMiddleware = bodyHook{}

func (bodyHook) ID() string { return "cloudpace:body-promised" }

func (bodyHook) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	resp, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok || resp.Response == nil {
		return out, metadata, err
	}
	inventory.Answered(ctx, cmp.Or(resp.Header.Get("X-Amzn-Requestid"), resp.Header.Get("X-Amz-Request-Id")))
	request, ok := in.Request.(*smithyhttp.Request)
	if resp.StatusCode/100 != 2 || !ok || request.Method == http.MethodHead {
		return out, metadata, nil
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, headSize))
	if len(head) == 0 && err == nil {
		return out, metadata, &smithy.DeserializationError{Err: errNoBody}
	}
	// What reading met, the SDK meets as well.
	resp.Body = &begun{ReadCloser: resp.Body, rest: head, err: err}
	// Others put bodies of their own around this one.
	metadata.Set(headKey{}, beginning{head, formOf(request, awsmiddleware.GetServiceID(ctx))})
	return out, metadata, nil
}

type headKey struct{}

// beginning is that of an answer, and what it has to be.
type beginning struct {
	head []byte
	form form
}

type form int

const (
	xmlForm form = iota
	jsonForm
	cborForm
)

// formOf tells by the request in which form the answer comes. What the answer says
// of itself proves nothing.
func formOf(r *smithyhttp.Request, serviceID string) form {
	switch media := r.Header.Get("Content-Type"); {
	case strings.HasPrefix(media, "application/x-www-form-urlencoded"):
		return xmlForm
	case strings.HasPrefix(media, "application/cbor"):
		return cborForm
	}
	switch serviceID {
	case "S3", "S3 Control", "Route 53", "CloudFront":
		return xmlForm
	}
	return jsonForm
}

// headSize is enough of an answer to see what kind of thing it is.
const headSize = 512

// begun is a body whose beginning was read.
type begun struct {
	io.ReadCloser
	rest []byte // of the beginning
	err  error
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.rest) > 0 {
		n := copy(p, b.rest)
		b.rest = b.rest[n:]
		return n, nil
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.ReadCloser.Read(p)
}

// resultHook sees what the SDK's deserializer has made of an answer.
type resultHook struct{}

var _ middleware.DeserializeMiddleware = resultHook{}

func (resultHook) ID() string { return "cloudpace:result-promised" }

func (resultHook) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	middleware.DeserializeOutput, middleware.Metadata, error,
) {
	out, metadata, err := next.HandleDeserialize(ctx, in)
	b, ok := metadata.Get(headKey{}).(beginning)
	if err != nil || !ok {
		return out, metadata, err
	}
	names, blank := members(out.Result)
	if blank && (b.form == jsonForm && describesOne(out.Result) || !promised(b, awsmiddleware.GetOperationName(ctx), names)) {
		return out, metadata, &smithy.DeserializationError{Err: errOther}
	}
	return out, metadata, nil
}

// members gives the names of an operation's output, and whether it has nothing in
// any of them.
func members(output any) (names []string, blank bool) {
	v := reflect.ValueOf(output)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, false
	}
	v = v.Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Name == "ResultMetadata" || !f.IsExported() {
			continue
		}
		if !hollow(v.Field(i)) {
			return nil, false
		}
		names = append(names, f.Name)
	}
	return names, true
}

// describesOne tells whether an operation's output is about one thing: then it is
// never without it.
func describesOne(output any) bool {
	t := reflect.TypeOf(output).Elem()
	for i := range t.NumField() {
		if f := t.Field(i).Type; f.Kind() == reflect.Pointer && f.Elem().Kind() == reflect.Struct {
			return true
		}
	}
	return false
}

// hollow tells whether a value has nothing in it, also where that is a structure
// that stands for the whole body.
func hollow(v reflect.Value) bool {
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return v.IsZero()
	}
	v = v.Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		if empty := f.Kind() == reflect.Slice && f.Len() == 0; !empty && !f.IsZero() {
			return false
		}
	}
	return true
}

// promised tells whether the beginning of an answer, in which the SDK has found
// nothing, is one of the operation's all the same: one that says that nothing
// exists by leaving things out.
func promised(b beginning, operation string, names []string) bool {
	known := func(name string) bool {
		for _, n := range names {
			// API Gateway writes its Items as "item".
			if strings.EqualFold(name, n) || strings.EqualFold(name+"s", n) {
				return true
			}
		}
		return false
	}
	head := bytes.TrimSpace(bytes.TrimPrefix(b.head, []byte("\xef\xbb\xbf")))
	switch {
	case b.form == cborForm:
		return true // its maps say of themselves what they are
	case len(head) == 0:
		return false
	case b.form == jsonForm && head[0] == '{':
		d := json.NewDecoder(bytes.NewReader(head))
		_, _ = d.Token() // the brace
		for n := 0; ; n++ {
			t, err := d.Token()
			key, isKey := t.(string)
			if !isKey || err != nil {
				return n == 0 && err == nil // {} leaves all out
			}
			if known(key) {
				return true
			}
			if d.Decode(new(json.RawMessage)) != nil {
				return false
			}
		}
	case b.form == xmlForm && head[0] == '<':
		d := xml.NewDecoder(bytes.NewReader(head))
		for {
			t, err := d.Token()
			if err != nil {
				return false
			}
			if e, ok := t.(xml.StartElement); ok && (known(e.Name.Local) ||
				e.Name.Local == operation+"Response" || e.Name.Local == operation+"Result") {
				return true
			}
		}
	}
	return false
}
