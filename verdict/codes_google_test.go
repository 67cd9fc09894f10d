package verdict

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"syscall"
	"testing"
)

// With gRPC the status is a name. One that no code decides is fatal whatever words
// stand in the message; only UNKNOWN, which says that there was no status, leaves
// it to them.
func TestS2_2_GRPCStatusBeforeWords(t *testing.T) {
	const words = "Invalid value for throttlingPolicy: rate exceeded, slow down, too many requests"
	for number, name := range rpcCodes {
		want := Fatal
		switch name {
		case "OK", "UNKNOWN", "RESOURCE_EXHAUSTED", "UNAVAILABLE":
			want = Throttled
		case "DEADLINE_EXCEEDED", "INTERNAL":
			want = Transient
		case "CANCELLED":
			want = Canceled
		}
		for _, provider := range []string{"gcp", ""} {
			errs := map[string]*ResponseError{
				"code":     {Code: name, Message: words},
				"envelope": {Body: []byte(`{"error":{"status":"` + name + `","message":"` + words + `"}}`)},
			}
			if number > 0 {
				errs["number"] = &ResponseError{Body: []byte(`{"code":` + strconv.Itoa(number) + `,"message":"` + words + `"}`)}
			}
			for form, err := range errs {
				r := Examine(provider, err)
				if r.Kind != want {
					t.Errorf("%q, %s as %s: %v (%s), want %v", provider, name, form, r.Kind, r.Reason, want)
				}
				if want == Fatal && (r.Code != name || !r.Answered) {
					t.Errorf("%q, %s as %s: %+v", provider, name, form, r)
				}
			}
		}
		r := Examine("acme", &ResponseError{Provider: "gcp", Code: name, Message: words})
		if r.Kind != want {
			t.Errorf("acme, a status that its reader calls Google's, %s: %v (%s), want %v", name, r.Kind, r.Reason, want)
		}
	}
	for _, c := range []struct {
		name, provider string
		err            error
		want           Kind
	}{
		{"a code of another kind stays silent", "gcp", &ResponseError{Code: "SOMETHING_NEW", Message: words}, Throttled},
		{"the status behind such a code", "gcp", &ResponseError{Code: "SOMETHING_NEW", Body: []byte(`{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"` + words + `"}}`)}, Fatal},
		{"a known reason before it", "gcp", &ResponseError{Code: "INVALID_ARGUMENT", Body: []byte(`{"code":3,"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED"}]}`)}, Throttled},
		{"respelled", "gcp", &ResponseError{Code: "InvalidArgument", Message: words}, Fatal},
		{"the HTTP status before it", "gcp", &ResponseError{StatusCode: 503, Code: "INVALID_ARGUMENT", Message: words}, Throttled},
		{"made around a failed connection", "gcp", &ResponseError{Code: "UNAUTHENTICATED", Message: words, Err: syscall.ECONNRESET}, Transient},
		{"beside somebody's clock", "gcp", &ResponseError{Code: "FAILED_PRECONDITION", Message: words, Err: context.DeadlineExceeded}, Fatal},
		{"Azure has no such names", "azure", &ResponseError{Code: "NOT_FOUND", Message: words}, Throttled},
		{"no code at all", "gcp", errors.New(words), Throttled},
	} {
		if r := Examine(c.provider, c.err); r.Kind != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, r.Kind, r.Reason, c.want)
		}
	}
}

// Google's REST APIs repeat the HTTP status in the body, so it is known where the
// answer's own was lost.
func TestS2_2_StatusInTheBody(t *testing.T) {
	for status, want := range map[int]Kind{400: Fatal, 404: Fatal, 408: Transient, 429: Throttled, 500: Transient, 503: Throttled} {
		for _, provider := range []string{"gcp", ""} {
			r := Examine(provider, &ResponseError{Body: []byte(`{"error":{"code":` + strconv.Itoa(status) + `,"message":"Invalid value for throttlingPolicy"}}`)})
			if r.Kind != want || !r.Answered || r.Unprocessed {
				t.Errorf("%q %d: %+v, want %v", provider, status, r, want)
			}
		}
	}
	if r := Examine("gcp", &ResponseError{StatusCode: 404, Body: []byte(`{"error":{"code":503}}`)}); r.Kind != Fatal {
		t.Errorf("the answer's own status counts: %+v", r)
	}
}

// Codes are read per provider: google.rpc.Code's words and numbers are anybody's, so
// they count for another provider only where gRPC is spoken.
func TestS2_2_GRPCCodesOfOtherProviders(t *testing.T) {
	const typed = `"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"X"}]`
	trailers := http.Header{"Grpc-Status": {"14"}}
	for _, c := range []struct {
		name   string
		status int
		code   string
		header http.Header
		body   string
		named  Kind // of a provider beyond the four
		nobody Kind // of an error that names none
	}{
		{"UNAVAILABLE's number", 400, "", nil, `{"code":14,"message":"bad field"}`, Fatal, Fatal},
		{"RESOURCE_EXHAUSTED's number", 400, "", nil, `{"code":8,"message":"bad field"}`, Fatal, Fatal},
		{"INTERNAL's number", 400, "", nil, `{"code":13,"message":"bad field"}`, Fatal, Fatal},
		{"a number in an error", 400, "", nil, `{"error":{"code":14,"message":"bad field"}}`, Fatal, Fatal},
		{"a number and details without types", 400, "", nil, `{"code":14,"message":"m","details":[{"field":"name"}]}`, Fatal, Fatal},
		{"CANCELLED's number alone", 0, "", nil, `{"code":1,"message":"no such user"}`, Fatal, Canceled},
		{"a word", 400, "", nil, `{"error":"internal"}`, Fatal, Fatal},
		{"a word in capitals", 400, "", nil, `{"error":"INTERNAL"}`, Fatal, Fatal},
		{"a word, without status", 0, "", nil, `{"error":"internal"}`, Fatal, Fatal},
		{"a word as code", 400, "", nil, `{"error":{"code":"UNAVAILABLE"}}`, Fatal, Fatal},
		{"a word as code at the top", 400, "", nil, `{"code":"unavailable","message":"no longer for sale"}`, Fatal, Fatal},
		{"a word as status", 400, "", nil, `{"error":{"status":"UNAVAILABLE"}}`, Fatal, Fatal},
		{"a word in the field", 400, "DEADLINE_EXCEEDED", nil, ``, Fatal, Fatal},
		{"a reason", 400, "", nil, `{"error":{"errors":[{"reason":"internal"}]}}`, Fatal, Fatal},
		{"a status that agrees with another number", 400, "", nil, `{"error":{"code":400,"status":"UNAVAILABLE"}}`, Fatal, Fatal},

		{"typed details", 400, "", nil, `{"code":14,"message":"m",` + typed + `}`, Throttled, Throttled},
		{"typed details in an error", 400, "", nil, `{"error":{"code":13,"message":"m",` + typed + `}}`, Transient, Transient},
		{"gRPC's trailers", 0, "UNAVAILABLE", trailers, ``, Throttled, Throttled},
		{"gRPC's content type", 0, "UNAVAILABLE", http.Header{"Content-Type": {"application/grpc+proto"}}, ``, Throttled, Throttled},
		{"Google's envelope", 400, "", nil, `{"error":{"code":500,"message":"m","status":"INTERNAL"}}`, Transient, Transient},
		{"a list around it", 400, "", nil, `[{"error":{"code":500,"message":"m","status":"INTERNAL"}}]`, Transient, Transient},
		{"a gateway's", 503, "", nil, `{"code":13,"message":"m","details":[]}`, Throttled, Transient},
		{"a gateway's, whose status fits", 500, "", nil, `{"code":13,"message":"m","details":[]}`, Transient, Transient},
		{"a gateway's, whose status was lost", 0, "", nil, `{"code":13,"message":"m","details":[]}`, Transient, Transient},
		{"a gRPC status that names no provider", 0, "INTERNAL", nil, ``, Fatal, Transient},
		{"google.rpc.Status", 0, "", nil, `{"code":14,"message":"m"}`, Fatal, Throttled},
		{"google.longrunning.Operation", 200, "", nil, `{"name":"operations/1","done":true,"error":{"code":14,"message":"m"}}`, Throttled, Throttled},
	} {
		err := ResponseError{StatusCode: c.status, Code: c.code, Header: c.header, Body: []byte(c.body)}
		if r := Examine("", &err); r.Kind != c.nobody {
			t.Errorf("%s: %v (%s), want %v", c.name, r.Kind, r.Reason, c.nobody)
		}
		if r := Examine("github", &err); r.Kind != c.named {
			t.Errorf("%s, by the caller's word: %v (%s), want %v", c.name, r.Kind, r.Reason, c.named)
		}
		err.Provider = "github"
		if r := Examine("", &err); r.Kind != c.named {
			t.Errorf("%s, by the error's word: %v (%s), want %v", c.name, r.Kind, r.Reason, c.named)
		}
	}
	// What the number means for Google it means with any status.
	if r := Examine("gcp", &ResponseError{StatusCode: 400, Body: []byte(`{"code":14,"message":"m"}`)}); r.Kind != Throttled {
		t.Errorf("gcp: %+v", r)
	}
}

// A quota per day is told apart from one per minute, since nothing helps before the day
// is over; what is no quota is neither.
func TestDailyQuota(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&ResponseError{Code: "RESOURCE_EXHAUSTED", Message: "Quota exceeded for quota metric 'Queries' and limit 'Queries per day'"}, true},
		{&ResponseError{Code: "RESOURCE_EXHAUSTED", Message: "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute'"}, false},
		{&ResponseError{Code: "RESOURCE_EXHAUSTED", Message: "received message larger than max"}, false},
		{&ResponseError{StatusCode: 403, Body: []byte(`{"error":{"code":403,"errors":[{"reason":"dailyLimitExceeded"}]}}`)}, true},
		{&ResponseError{StatusCode: 403, Body: []byte(`{"error":{"code":403,"errors":[{"reason":"quotaExceeded"}]}}`)}, false},
		{&ResponseError{StatusCode: 403, Body: []byte(`{"error":{"code":403,"message":"daily","errors":[{"reason":"forbidden"}]}}`)}, false},
		{errors.New("a daily quota is used up"), false},
		{nil, false},
	} {
		if r := Examine("gcp", c.err); r.Daily != c.want {
			t.Errorf("%v: daily %v (%s)", c.err, r.Daily, r.Reason)
		}
	}
}
