package pacegcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/api/googleapi"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/cloudpace/cloudpace/verdict"
)

// A status comes from the wire with details of any kind.
func FuzzStatus(f *testing.F) {
	f.Add(8, "no", "type.googleapis.com/google.rpc.RetryInfo", []byte{0x0a, 0x02, 0x08, 0x09})
	f.Add(7, "no", "google.rpc.ErrorInfo", []byte{0xff})
	f.Add(14, "transport is closing", "", []byte(nil))
	f.Add(-1, "", "/", []byte{0})
	f.Fuzz(func(t *testing.T, code int, message, typeURL string, value []byte) {
		p := &spb.Status{Code: int32(code), Message: message, Details: []*anypb.Any{{TypeUrl: typeURL, Value: value}}}
		err := status.FromProto(p).Err()
		if err == nil {
			return
		}
		for _, form := range []error{err, &failure{err: err}, &failure{err: err, local: true, trailer: metadata.Pairs("a", message)}} {
			r := verdict.Examine(provider, form)
			if r.Kind == verdict.OK {
				t.Errorf("%v reads as OK", form)
			}
			if r.Hint < 0 {
				t.Errorf("%v: hint %v", form, r.Hint)
			}
			if err := (&ListingError{Err: form}); !strings.Contains(err.Error(), strings.TrimSpace(form.Error())) {
				t.Errorf("%q does not have %q", err, form)
			}
		}
		if st := statusOf(err); st != nil {
			if body := bodyOf(st); body != nil && !json.Valid(body) {
				t.Errorf("not JSON: %q", body)
			}
			if len(bodyOf(st)) > most+1<<10 {
				t.Errorf("%d bytes of details", len(bodyOf(st)))
			}
		}
		raw, _ := proto.Marshal(p)
		var again spb.Status
		if proto.Unmarshal(raw, &again) == nil && again.GetCode() != 0 {
			_ = forCaller(status.FromProto(&again).Err()).Error()
		}
	})
}

// What a REST answer says, from whatever stands before the API.
func FuzzRESTError(f *testing.F) {
	f.Add(403, `{"error":{"code":403,"errors":[{"reason":"rateLimitExceeded"}]}}`)
	f.Add(429, `[{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}}]`)
	f.Add(503, `<html>`)
	f.Add(0, ``)
	f.Fuzz(func(t *testing.T, code int, body string) {
		err := googleapi.CheckResponseWithBody(&http.Response{StatusCode: code, Header: http.Header{}}, []byte(body))
		if err == nil {
			return
		}
		if r := verdict.Examine("", err); r.Hint < 0 || r.Kind == verdict.OK && code >= 400 {
			t.Errorf("%d %q: %+v", code, body, r)
		}
		_ = (&ListingError{Err: err}).Error()
	})
}

// Names come from callers and from answers.
func FuzzScope(f *testing.F) {
	for _, s := range []string{"", "projects/p", "//h/organizations/1/x", "projects//", "a=b&c=projects%2Fp", "projects/example.com:p:get", "x.googleapis.com", "-", "us-.googleapis.com"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		account := accountIn(a)
		if account != "" && (strings.Count(account, "/") != 1 || !strings.Contains(a, account) || strings.HasSuffix(account, "/")) {
			t.Errorf("%q: %q", a, account)
		}
		for _, host := range []string{a, a + ".googleapis.com"} {
			if s := serviceOf(host, b); strings.ContainsAny(s, "/") {
				t.Errorf("%q, %q: %q", host, b, s)
			}
		}
		ctx := metadata.NewOutgoingContext(context.Background(), metadata.Pairs("x-goog-request-params", b))
		if s, _ := (&wiring{}).scopeOf(ctx, a, b, nil); s.Provider != provider {
			t.Errorf("%+v", s)
		}
		for _, path := range []string{a, "/" + a} {
			req := &http.Request{Method: "POST", URL: &url.URL{Scheme: "https", Host: "x.googleapis.com", Path: path, RawQuery: b}}
			if s := restScope(req); s.Provider != provider || s.Service == "" {
				t.Errorf("%q: %+v", path, s)
			}
			restSafe(req)
		}
		if w := word(a); w != "" && strings.ContainsAny(w, " ;|&$`\n\"'\\<>()") {
			t.Errorf("%q may not stand in a command", w)
		}
	})
}
