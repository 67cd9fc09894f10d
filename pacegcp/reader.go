package pacegcp

import (
	"encoding/json"
	"errors"
	"strings"

	"google.golang.org/api/googleapi"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/cloudpace/cloudpace/verdict"
)

func init() { verdict.Register(read) }

// read tells verdict what the errors of Google's libraries say, whether they come
// from governed clients or not: gRPC statuses, googleapi's errors, and gax's APIError
// around either.
func read(err error) (*verdict.ResponseError, bool) {
	switch e := err.(type) { //nolint:errorlint // each error of a chain is asked about in turn
	case nil:
		return nil, false
	case *failure:
		return e.response(), true
	case *googleapi.Error:
		return readREST(e)
	case *refusal:
		return nil, false // cloudpace's own
	}
	if u := (*unrepeatable)(nil); errors.As(err, &u) {
		return nil, false // its status is for gax alone; the provider's is inside
	}
	if n := httpCode(err); n > 0 {
		// gax has made a status of an HTTP answer. That is inside, or around, and says
		// more; without it the number is all there is.
		if r, ok := err.(interface{ Unwrap() error }); ok && r.Unwrap() != nil {
			return nil, false
		}
		return &verdict.ResponseError{Provider: provider, StatusCode: n, Err: err}, true
	}
	if r := responseOf(statusOf(err)); r != nil {
		r.Err = err
		return r, true
	}
	return nil, false
}

func readREST(e *googleapi.Error) (*verdict.ResponseError, bool) {
	if e == nil {
		return nil, false
	}
	r := &verdict.ResponseError{
		Provider: provider, StatusCode: e.Code, Message: e.Message, Header: e.Header, Body: []byte(e.Body), Err: e,
	}
	if e.Body == "" && len(e.Errors) > 0 {
		r.Code = e.Errors[0].Reason
	}
	return r, true
}

// responseOf makes a response of a status, nil where it is none. A status OK inside an
// error is an error without a code.
func responseOf(st *status.Status) *verdict.ResponseError {
	if st == nil || st.Code() == codes.OK {
		return nil
	}
	return &verdict.ResponseError{
		Provider: provider,
		Code:     nameOf(st.Code()),
		Message:  st.Message(),
		Body:     bodyOf(st),
	}
}

// nameOf is a code as google.rpc.Code writes it. Those from 17 on have no name, and
// gRPC says to take them for UNKNOWN.
func nameOf(c codes.Code) string {
	if name, ok := code.Code_name[int32(min(c, 1<<20))]; ok {
		return name
	}
	return "UNKNOWN"
}

// most is how much of the details is read, in bytes of JSON: verdict reads the first
// 64 KiB of a body.
const most = 48 << 10

// bodyOf is the JSON form of a status with its details. A detail that cannot be read,
// or whose type is none of those that verdict asks for, is left out: it must not hide
// the others.
func bodyOf(st *status.Status) []byte {
	details := st.Proto().GetDetails()
	if len(details) == 0 {
		return nil
	}
	var kept []json.RawMessage
	size := 0
	for _, d := range details {
		text, ok := detail(d)
		if !ok || size+len(text) > most {
			continue
		}
		size += len(text)
		kept = append(kept, text)
	}
	body, err := json.Marshal(struct {
		Code    int               `json:"code"`
		Details []json.RawMessage `json:"details"`
	}{int(st.Code()), kept})
	if err != nil {
		return nil
	}
	return body
}

// detail is one detail as JSON.
func detail(d *anypb.Any) (json.RawMessage, bool) {
	name := d.GetTypeUrl()
	switch name[strings.LastIndexByte(name, '/')+1:] {
	case "google.rpc.ErrorInfo", "google.rpc.RetryInfo", "google.rpc.QuotaFailure":
	default:
		return nil, false
	}
	if len(d.GetValue()) > most {
		return nil, false
	}
	text, err := protojson.Marshal(d)
	if err != nil {
		return nil, false
	}
	return text, true
}
