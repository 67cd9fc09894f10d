package pacegcp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/api/googleapi"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// rest is an answer of a REST API as googleapi makes an error of it.
func rest(code int, body string, header ...string) error {
	resp := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(header); i += 2 {
		resp.Header.Set(header[i], header[i+1])
	}
	return googleapi.CheckResponse(resp)
}

// withDetails is a status as the server sends it.
func withDetails(code codes.Code, details ...protoadapt.MessageV1) error {
	return fails(code, details...).err
}

func perDay() protoadapt.MessageV1 {
	return &errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{{Subject: "project:1", Description: "List requests per day"}}}
}

func TestWhatGooglesErrorsMean(t *testing.T) {
	usage := func(reason string) string {
		return `{"error":{"code":403,"message":"no","errors":[{"domain":"usageLimits","reason":"` + reason + `"}]}}`
	}
	for name, c := range map[string]struct {
		err      error
		kind     verdict.Kind
		answered bool
		says     string // part of the reason
		hint     time.Duration
	}{
		"D01 rateLimitExceeded":       {rest(403, usage("rateLimitExceeded")), verdict.Throttled, true, "", 0},
		"D01 userRateLimitExceeded":   {rest(403, usage("userRateLimitExceeded")), verdict.Throttled, true, "", 0},
		"D01 forbidden":               {rest(403, usage("forbidden")), verdict.Fatal, true, "permission denied", 0},
		"D01 insufficientPermissions": {rest(403, usage("insufficientPermissions")), verdict.Fatal, true, "permission denied", 0},
		"S13.4 quotaExceeded":         {rest(403, usage("quotaExceeded")), verdict.Fatal, true, "a quota is used up", 0},
		"S13.4 dailyLimitExceeded":    {rest(403, usage("dailyLimitExceeded")), verdict.Fatal, true, "daily", 0},
		"S13.4 accessNotConfigured":   {rest(403, usage("accessNotConfigured")), verdict.Fatal, true, "disabled", 0},
		"S13.4 RATE_LIMIT_EXCEEDED": {rest(403, `{"error":{"code":403,"status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"RATE_LIMIT_EXCEEDED"}]}}`),
			verdict.Throttled, true, "", 0},
		"D02 the message alone": {rest(403, `{"error":{"code":403,"message":"Quota exceeded for quota group 'ReadGroup' and limit 'Read requests per 100 seconds'"}}`), verdict.Fatal, true, "", 0},
		"D05 REST":              {rest(429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"53.5s"}]}}`), verdict.Throttled, true, "", 53500 * time.Millisecond},
		"D05 REST, -1s":         {rest(429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"-1s"}]}}`), verdict.Throttled, true, "", 0},
		"D05 gRPC":              {withDetails(codes.ResourceExhausted, retryIn(53500*time.Millisecond)), verdict.Throttled, true, "", 53500 * time.Millisecond},
		"D05 gRPC, 0s":          {withDetails(codes.ResourceExhausted, retryIn(0)), verdict.Throttled, true, "", 0},
		"D05 gRPC, -1s":         {withDetails(codes.ResourceExhausted, retryIn(-time.Second)), verdict.Throttled, true, "", 0},
		"D05 gRPC, nanoseconds": {withDetails(codes.ResourceExhausted, retryIn(53*time.Second+1)), verdict.Throttled, true, "", 53*time.Second + 1},
		"REST, Retry-After":     {rest(429, "", "Retry-After", "7"), verdict.Throttled, true, "", 7 * time.Second},
		"REST, 503":             {rest(503, "<html>"), verdict.Throttled, true, "", 0},
		"REST, 500":             {rest(500, ""), verdict.Transient, true, "", 0},
		"REST, 404":             {rest(404, ""), verdict.Fatal, true, "", 0},
		"a daily quota":         {withDetails(codes.ResourceExhausted, perDay()), verdict.Fatal, true, "daily", 0},
		"a daily quota, by its limit": {withDetails(codes.ResourceExhausted, info("RATE_LIMIT_EXCEEDED", "quota_limit", "ListAssetsPerDayPerProject")),
			verdict.Fatal, true, "daily", 0},
		"the message size":  {status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)"), verdict.Fatal, true, "too large", 0},
		"D07 disabled":      {withDetails(codes.PermissionDenied, info("SERVICE_DISABLED", "consumer", "projects/77", "service", "cloudasset.googleapis.com")), verdict.Fatal, true, "projects/77", 0},
		"denied":            {withDetails(codes.PermissionDenied, info("IAM_PERMISSION_DENIED")), verdict.Fatal, true, "permission denied", 0},
		"an unknown reason": {withDetails(codes.ResourceExhausted, info("SOMETHING_NEW")), verdict.Throttled, true, "", 0},
		"UNAVAILABLE":       {status.Error(codes.Unavailable, "The service is currently unavailable."), verdict.Throttled, true, "server", 0},
		"made locally":      {status.Error(codes.Unavailable, "transport is closing"), verdict.Transient, false, "locally", 0},
		"INTERNAL":          {status.Error(codes.Internal, "no"), verdict.Transient, true, "", 0},
		"UNKNOWN":           {status.Error(codes.Unknown, "no"), verdict.Fatal, true, "", 0},
		"a code of no name": {status.Error(codes.Code(99), "no"), verdict.Fatal, true, "", 0},
		"a status OK":       {okError{}, verdict.Fatal, false, "", 0},
		"no status":         {errors.New("no"), verdict.Fatal, false, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			for form, err := range map[string]error{
				"itself":    c.err,
				"wrapped":   fmt.Errorf("listing: %w", c.err),
				"of gax":    gaxed(c.err),
				"of both":   googleapied(c.err),
				"gax twice": gaxed(gaxed(c.err)),
			} {
				r := verdict.Examine("", err)
				if r.Kind != c.kind || r.Answered != c.answered || !strings.Contains(r.Reason, c.says) {
					t.Errorf("%s: %v, answered %v, %q", form, r.Kind, r.Answered, r.Reason)
				}
				if hint, ok := verdict.RetryAfter(err); hint != c.hint || ok != (c.hint > 0) {
					t.Errorf("%s: hint %v, %v", form, hint, ok)
				}
			}
		})
	}
}

// gaxed is an error as a generated client returns it.
func gaxed(err error) error {
	if e, ok := apierror.FromError(err); ok {
		return e
	}
	return err
}

// googleapied is one as google.golang.org/api's services return it.
func googleapied(err error) error {
	var e *googleapi.Error
	if !errors.As(err, &e) {
		return err
	}
	copied := *e
	if api, ok := apierror.ParseError(&copied, false); ok {
		copied.Wrap(api)
	}
	return &copied
}

// okError has a status that is none.
type okError struct{}

func (okError) Error() string              { return "odd" }
func (okError) GRPCStatus() *status.Status { return nil }

// Malformed details hide neither the status nor the details beside them, and a flood of
// them is bounded.
func TestMalformedDetailsHideNothing(t *testing.T) {
	retry, err := anypb.New(&errdetails.RetryInfo{RetryDelay: durationpb.New(9 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	p := &spb.Status{Code: int32(codes.ResourceExhausted), Message: "no", Details: []*anypb.Any{
		nil,
		{},
		{TypeUrl: "type.googleapis.com/google.rpc.RetryInfo", Value: []byte{0xff, 0xff}},
		{TypeUrl: "google.rpc.ErrorInfo", Value: []byte(strings.Repeat("x", 1<<20))},
		{TypeUrl: "type.googleapis.com/no.such.Type", Value: []byte("?")},
		{TypeUrl: "type.googleapis.com/google.rpc.RetryInfo", Value: func() []byte { // 400,000 years
			b, _ := anypb.New(&errdetails.RetryInfo{RetryDelay: &durationpb.Duration{Seconds: 1 << 43}})
			return b.GetValue()
		}()},
		retry,
	}}
	for range 10000 {
		p.Details = append(p.Details, retry)
	}
	r := verdict.Examine("gcp", status.FromProto(p).Err())
	if r.Kind != verdict.Throttled || r.Hint != 9*time.Second {
		t.Errorf("%+v", r)
	}
}

// S13.4, D08: an UNAVAILABLE that the library made is transient and slows nothing; one
// that the server sent is throttling, in whatever words, with headers or without.
func TestS13_4_WhoMadeTheUNAVAILABLE(t *testing.T) {
	words := status.Error(codes.Unavailable, "transport is closing") // as a proxy passes it on
	for name, c := range map[string]struct {
		answer reply
		rate   float64
	}{
		"in trailers":              {fails(codes.Unavailable), 5},
		"in the library's words":   {reply{err: words}, 5},
		"with headers before":      {reply{err: status.Error(codes.Unavailable, "overloaded"), header: true}, 5},
		"with trailers of its own": {reply{err: words, header: true, trail: metadata.Pairs("x-debug", "1")}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := governor(t)
				if err := getFeed(long(t), inMemory(t, script(c.answer, reply{})).governed(t, g)); err != nil {
					t.Fatal(err)
				}
				if n := numbers(t, g, listScope); n.Throttled != 1 || n.LowestRPS != c.rate {
					t.Errorf("%+v", n)
				}
			})
		})
	}
}

func TestD08_TheFirstCallAfterIdleFindsItsConnectionClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t)
		e := inMemory(t, script(reply{}))
		c := e.governed(t, g)
		if err := getFeed(long(t), c); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Minute)
		e.cut() // a load balancer has forgotten the connection
		e.refuse.Store(2)
		if err := getFeed(long(t), c); err != nil {
			t.Fatal(err)
		}
		n := numbers(t, g, listScope)
		if n.Throttled != 0 || n.LowestRPS != 0 || n.TransientErrors == 0 {
			t.Errorf("%+v, want transient errors and no cut", n)
		}
	})
}

// A connection that breaks while the answer is awaited is nobody's throttle, and over a
// real socket it is repeated likewise.
func TestD08_OverARealSocket(t *testing.T) {
	g := governor(t)
	var e *endpoint
	f := newFake(func(n int, _ arrival) reply {
		if n == 1 {
			e.cut()
			return reply{after: 100 * time.Millisecond}
		}
		return page("", "1")
	})
	e = loopback(t, f)
	got, err := list(t.Context(), e.governed(t, g), g)
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if n := numbers(t, g, listScope); n.Throttled != 0 || n.TransientErrors != 1 || n.Calls != 2 {
		t.Errorf("%+v", n)
	}
}

// A page of a proxy came from the network: what stands between asks for less.
func TestS13_4_AProxysPage(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Protocols: &protocols, ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusServiceUnavailable)
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries = 0 })
	f := script(reply{})
	e := loopback(t, f)
	e.dial = func(ctx context.Context, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", l.Addr().String())
	}
	if err := getFeed(long(t), e.governed(t, g)); err == nil {
		t.Fatal("no error")
	}
	if n := numbers(t, g, listScope); n.Throttled != 1 {
		t.Errorf("%+v", n)
	}
}

// The trailer by which a server forbids a retry is heard (gRFC A6).
func TestS2_7_PushbackInTheTrailers(t *testing.T) {
	for value, want := range map[string]int{"-1": 1, "2500": 2} {
		bubble(t, func(t *testing.T) {
			g := governor(t, unpaced)
			r := throttled()
			r.trail = metadata.Pairs("grpc-retry-pushback-ms", value)
			f := script(r, reply{})
			_ = getFeed(long(t), inMemory(t, f).governed(t, g))
			if at := f.times(); len(at) != want || want == 2 && at[1] < 2500*time.Millisecond {
				t.Errorf("pushback %s: requests at %v", value, at)
			}
		})
	}
}
