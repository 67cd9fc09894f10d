package verdict

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
)

func TestKindString(t *testing.T) {
	for kind, want := range map[Kind]string{OK: "ok", Throttled: "throttled", Transient: "transient", Fatal: "fatal", Canceled: "canceled", 7: "kind(7)", -1: "kind(-1)"} {
		if got := kind.String(); got != want {
			t.Errorf("Kind(%d) = %q, want %q", int(kind), got, want)
		}
	}
}

func TestS2_1_Context(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want Kind
	}{
		{"nil", nil, OK},
		{"canceled", context.Canceled, Canceled},
		{"canceled, wrapped", fmt.Errorf("list: %w", context.Canceled), Canceled},
		{"deadline", context.DeadlineExceeded, Transient},
		{"deadline, wrapped", fmt.Errorf("list: %w", context.DeadlineExceeded), Transient},
		{"canceled around the last answer", &ResponseError{StatusCode: 429, Err: context.Canceled}, Canceled},
		{"canceled beside the last answer", errors.Join(&ResponseError{StatusCode: 429}, context.Canceled), Canceled},
		{"deadline around the last answer", errors.Join(context.DeadlineExceeded, &ResponseError{StatusCode: 429}), Throttled},
	} {
		r := Examine("", c.err)
		if r.Kind != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, r.Kind, r.Reason, c.want)
		}
		if r.Network {
			t.Errorf("%s: taken for a failure of the connection", c.name)
		}
	}
	if r := Examine("", context.DeadlineExceeded); r.Answered || r.Unprocessed || r.Own {
		t.Errorf("deadline alone: %+v", r)
	}
}

// S2.3, S2.4, S2.5: what a status means without a code.
func TestS2_3_Status(t *testing.T) {
	want := map[int]Kind{
		200: OK, 202: OK, 204: OK, 301: OK, 304: OK,
		400: Fatal, 401: Fatal, 403: Fatal, 404: Fatal, 408: Transient, 409: Fatal, 412: Fatal, 413: Fatal, 425: Fatal, 429: Throttled, 451: Fatal, 499: Fatal,
		500: Transient, 501: Fatal, 502: Transient, 503: Throttled, 504: Transient, 505: Fatal, 529: Transient, 599: Transient, 600: Fatal,
	}
	for _, provider := range []string{"", "aws", "azure", "gcp", "acme"} {
		for status, kind := range want {
			r := Examine(provider, &ResponseError{StatusCode: status})
			if r.Kind != kind {
				t.Errorf("%q %d: %v (%s), want %v", provider, status, r.Kind, r.Reason, kind)
			}
			if !r.Answered {
				t.Errorf("%q %d: not answered", provider, status)
			}
		}
	}
}

func TestS2_2_CodeBeforeStatusBeforeText(t *testing.T) {
	for _, c := range []struct {
		name, provider string
		err            error
		want           Kind
	}{
		{"code before status", "aws", &ResponseError{StatusCode: 403, Code: "ThrottlingException"}, Throttled},
		{"EC2's throttle has a 503", "aws", &ResponseError{StatusCode: 503, Code: "RequestLimitExceeded"}, Throttled},
		{"transient code with a 429", "azure", &ResponseError{StatusCode: 429, Code: "AnotherOperationInProgress"}, Transient},
		{"AWS's ServiceUnavailable", "aws", &ResponseError{StatusCode: 503, Code: "ServiceUnavailable"}, Transient},
		{"Azure's ServiceUnavailable", "azure", &ResponseError{StatusCode: 503, Code: "ServiceUnavailable"}, Throttled},
		{"nobody's ServiceUnavailable", "", &ResponseError{StatusCode: 503, Code: "ServiceUnavailable"}, Throttled},
		{"the error names its provider", "", &ResponseError{Provider: "aws", StatusCode: 503, Code: "ServiceUnavailable"}, Transient},
		{"the caller's word on the provider counts", "azure", &ResponseError{Provider: "aws", StatusCode: 503, Code: "ServiceUnavailable"}, Throttled},
		{"another provider's code decides nothing", "azure", &ResponseError{StatusCode: 400, Code: "ProvisionedThroughputExceededException"}, Fatal},
		{"unknown code: the status", "aws", &ResponseError{StatusCode: 429, Code: "WhoKnows"}, Throttled},
		{"unknown code: the status, 400", "aws", &ResponseError{StatusCode: 400, Code: "WhoKnows", Message: "Rate exceeded"}, Fatal},
		{"unknown code and no status: the words", "aws", &ResponseError{Code: "WhoKnows", Message: "Rate exceeded"}, Throttled},
		{"status before words", "", &ResponseError{StatusCode: 404, Message: "too many requests were made to find it"}, Fatal},
		{"words alone", "", errors.New("upstream said: Too Many Requests"), Throttled},
		{"words alone, throttl", "", errors.New("request was Throttled"), Throttled},
		{"words alone, slow down", "", errors.New("please slow down"), Throttled},
		{"words alone, rate exceeded", "", errors.New("Rate exceeded"), Throttled},
		{"no word of it", "", errors.New("parse config: unexpected token"), Fatal},
		{"all providers agree", "", &ResponseError{StatusCode: 400, Code: "SlowDown"}, Throttled},
		{"a provider beyond the four", "acme", &ResponseError{StatusCode: 400, Code: "SlowDown"}, Throttled},
		{"respelled by a proxy", "gcp", &ResponseError{Code: "ResourceExhausted"}, Throttled},
		{"a namespace and a tail in the field", "aws", &ResponseError{StatusCode: 400, Code: "com.amazonaws.ecs#ThrottlingException:http://internal.amazon.com/"}, Throttled},
	} {
		if r := Examine(c.provider, c.err); r.Kind != c.want {
			t.Errorf("%s: %v (%s), want %v", c.name, r.Kind, r.Reason, c.want)
		}
	}
}

func TestS2_2_WordsAsBody(t *testing.T) {
	const page = "<!DOCTYPE html><html><head><title>Too Many Requests</title><style>h1 {color: red}</style></head><body><h1>429 Too Many Requests</h1></body></html>"
	for _, c := range []struct {
		name        string
		status      int
		body        string
		want        Kind
		unprocessed bool
	}{
		{"plain text", 400, "Rate exceeded", Throttled, true},
		{"plain text, 403", 403, "Rate exceeded\n", Throttled, true},
		{"plain text, 502", 502, "Slow Down", Throttled, true},
		{"a sentence", 403, "Too many requests, please try again later.", Throttled, true},
		{"throttled", 400, "Request was throttled.", Throttled, true},
		{"a page", 403, page, Throttled, true},
		{"a JSON string", 400, `"Rate exceeded"`, Throttled, true},
		{"JSON without a code", 400, `{"message":"Too Many Requests"}`, Throttled, true},
		{"in a 200", 200, "Rate exceeded", Throttled, false},
		{"says more", 403, "Access denied. Too many requests from blocked networks.", Fatal, false},
		{"a page that says more", 403, "<html><h1>Forbidden</h1><p>Slow down? Ask your administrator.</p></html>", Fatal, false},
		{"fillers alone", 403, "Please try again later", Fatal, false},
		{"JSON with a code", 400, `{"__type":"ValidationException","message":"Too Many Requests"}`, Fatal, false},
		{"nothing", 403, "", Fatal, false},
	} {
		r := Examine("aws", &ResponseError{StatusCode: c.status, Body: []byte(c.body)})
		if r.Kind != c.want || r.Unprocessed != c.unprocessed {
			t.Errorf("%s: %v, unprocessed %v (%s), want %v, %v", c.name, r.Kind, r.Unprocessed, r.Reason, c.want, c.unprocessed)
		}
	}
}

func TestS2_2_HTMLWhereAnAPIAnswers(t *testing.T) {
	const login = "\n<!doctype html>\n<html><title>Sign in</title><body>Sign in to continue</body></html>"
	for _, c := range []struct {
		name     string
		err      *ResponseError
		want     Kind
		answered bool
	}{
		{"log-in page", &ResponseError{StatusCode: 200, Body: []byte(login)}, Fatal, false},
		{"BOM before it", &ResponseError{StatusCode: 200, Body: []byte("\xef\xbb\xbf<HTML>hello")}, Fatal, false},
		{"by content type", &ResponseError{StatusCode: 200, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte("<p>Sign in")}, Fatal, false},
		{"the SDK choked on it", &ResponseError{StatusCode: 200, Header: http.Header{"Content-Type": {"text/html"}}, Err: errors.New("invalid character '<'")}, Fatal, false},
		{"JSON", &ResponseError{StatusCode: 200, Body: []byte(`{"value":[]}`)}, OK, true},
		{"an error page keeps its status", &ResponseError{StatusCode: 502, Body: []byte(login)}, Transient, true},
	} {
		r := Examine("azure", c.err)
		if r.Kind != c.want || r.Answered != c.answered {
			t.Errorf("%s: %v, answered %v (%s)", c.name, r.Kind, r.Answered, r.Reason)
		}
		if c.want == Fatal && r.Reason != "protocol: an HTML page with status 200 where an API answers" {
			t.Errorf("%s: reason %q", c.name, r.Reason)
		}
	}
}

func TestS2_5_Answered(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"nil", nil, false},
		{"denied", &ResponseError{StatusCode: 403}, true},
		{"a gRPC status", &ResponseError{Provider: "gcp", Code: "NOT_FOUND"}, true},
		{"a local gRPC status", &ResponseError{Provider: "gcp", Code: "UNAVAILABLE", Err: Local(errors.New("no connection"))}, false},
		{"local", errors.New("no such profile"), false},
		{"no status, no code", &ResponseError{Err: errors.New("request send failed")}, false},
		{"a proxy's 407", &ResponseError{StatusCode: 407}, false},
		{"words alone", errors.New("rate exceeded"), false},
	} {
		if got := ProviderAnswer(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// S2.5: a 2xx with an error in it is no success.
func TestS2_5_ErrorInsideA200(t *testing.T) {
	for _, c := range []struct {
		name string
		err  *ResponseError
		want Kind
	}{
		{"cannot be decoded", &ResponseError{StatusCode: 200, Err: errors.New("unexpected type")}, Fatal},
		{"a code nobody knows", &ResponseError{StatusCode: 200, Code: "OperationFailed"}, Fatal},
		{"a failed operation", &ResponseError{StatusCode: 200, Body: []byte(`{"status":"Failed","error":{"code":"QuotaExceeded","message":"no"}}`)}, Fatal},
		{"a failed operation, throttled", &ResponseError{StatusCode: 200, Body: []byte(`{"status":"Failed","error":{"code":"TooManyRequests"}}`)}, Throttled},
		{"code is data", &ResponseError{StatusCode: 200, Body: []byte(`{"code":"TooManyRequests","message":"rate exceeded"}`)}, OK},
	} {
		r := Examine("azure", c.err)
		if r.Kind != c.want || !r.Answered || r.Unprocessed {
			t.Errorf("%s: %+v, want %v", c.name, r, c.want)
		}
	}
}

func TestS7_5_Unprocessed(t *testing.T) {
	hint := http.Header{"Retry-After": {"1"}}
	for _, c := range []struct {
		name, provider string
		err            *ResponseError
		want           bool
	}{
		{"throttled by code", "aws", &ResponseError{StatusCode: 400, Code: "Throttling"}, true},
		{"a 429", "azure", &ResponseError{StatusCode: 429}, true},
		{"a 429 of a lock", "azure", &ResponseError{StatusCode: 429, Code: "RetryableErrorDueToAnotherOperation"}, true},
		{"a bare 503", "azure", &ResponseError{StatusCode: 503}, false},
		{"a 503 with a hint", "azure", &ResponseError{StatusCode: 503, Header: hint}, true},
		{"a transient 503 with a hint", "aws", &ResponseError{StatusCode: 503, Code: "ServiceUnavailable", Header: hint}, true},
		{"a 503 with a hint that cannot be read", "azure", &ResponseError{StatusCode: 503, Header: http.Header{"Retry-After": {"soon"}}}, false},
		{"a 500 with a hint", "aws", &ResponseError{StatusCode: 500, Header: hint}, false},
		{"UNAVAILABLE", "gcp", &ResponseError{Code: "UNAVAILABLE"}, false},
		{"RESOURCE_EXHAUSTED", "gcp", &ResponseError{Code: "RESOURCE_EXHAUSTED"}, true},
		{"a throttle met while it ran", "aws", &ResponseError{StatusCode: 400, Code: "ClientException", Message: "Received throttling error"}, false},
		{"a throttle met while it ran, Lambda", "aws", &ResponseError{StatusCode: 400, Code: "InvalidParameterValueException", Message: "EC2 Error Code: RequestLimitExceeded."}, false},
		{"inside a 200", "aws", &ResponseError{StatusCode: 200, Code: "SlowDown"}, false},
		{"denied", "aws", &ResponseError{StatusCode: 403, Code: "AccessDenied"}, false},
	} {
		if r := Examine(c.provider, c.err); r.Unprocessed != c.want {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}
