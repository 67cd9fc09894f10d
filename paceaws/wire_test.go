package paceaws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

func bare(status int, contentType, body string) answer {
	return answer{status: status, header: map[string]string{"Content-Type": contentType}, body: body}
}

// What real clients make of answers, and what is made of that.
func TestS2_AnswersThroughTheSDK(t *testing.T) {
	t.Parallel()
	type clients struct {
		sts *sts.Client
		ec2 *ec2.Client
		iam *iam.Client
		s3  *s3.Client
	}
	asSTS := func(ctx context.Context, c clients) error { return whoAmI(ctx, c.sts) }
	asEC2 := func(ctx context.Context, c clients) error {
		_, err := c.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})
		return err
	}
	asIAM := func(ctx context.Context, c clients) error {
		_, err := c.iam.ListUsers(ctx, &iam.ListUsersInput{})
		return err
	}
	head := func(ctx context.Context, c clients) error {
		_, err := c.s3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
		return err
	}
	list := func(ctx context.Context, c clients) error {
		_, err := c.s3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String("b")})
		return err
	}
	copyObject := func(ctx context.Context, c clients) error {
		_, err := c.s3.CopyObject(ctx, &s3.CopyObjectInput{Bucket: aws.String("b"), Key: aws.String("k"), CopySource: aws.String("b/a")})
		return err
	}
	deleteSubnet := func(ctx context.Context, c clients) error {
		_, err := c.ec2.DeleteSubnet(ctx, &ec2.DeleteSubnetInput{SubnetId: aws.String("subnet-1")})
		return err
	}
	ec2Fault := func(status int, code string) answer {
		return bare(status, "text/xml", "<Response><Errors><Error><Code>"+code+"</Code><Message>Request limit exceeded.</Message></Error></Errors><RequestID>r</RequestID></Response>")
	}
	s3Fault := func(status int, code, message string) answer {
		return bare(status, "application/xml", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>"+code+"</Code><Message>"+message+"</Message></Error>")
	}
	const page = "<!DOCTYPE html><html><head><title>%s</title></head><body><h1>%s</h1></body></html>"
	for _, test := range []struct {
		name   string
		answer answer
		call   func(context.Context, clients) error
		kind   verdict.Kind
		status int
	}{
		{"a code with a 400", throttle(), asSTS, verdict.Throttled, 400},
		{"EC2's limit comes with 503: codes before status", ec2Fault(503, "RequestLimitExceeded"), asEC2, verdict.Throttled, 503},
		{"B01: EC2 throttled, with 502", ec2Fault(502, "EC2ThrottledException"), asEC2, verdict.Throttled, 502},
		{"503 that says it is unavailable", fault(503, "ServiceUnavailable", "busy"), asSTS, verdict.Transient, 503},
		{"B02: PriorRequestNotComplete", fault(400, "PriorRequestNotComplete", "wait"), asIAM, verdict.Throttled, 400},
		{"B05: a limit of things", fault(409, "LimitExceeded", "Cannot exceed quota for UsersPerAccount: 5000"), asIAM, verdict.Fatal, 409},
		{"B05: a limit of the rate", fault(400, "LimitExceeded", "Rate of requests too high"), asIAM, verdict.Throttled, 400},
		{"B10: a conflict that passes", fault(409, "ConcurrentModification", "again"), asIAM, verdict.Transient, 409},
		{"denied", forbidden(), asSTS, verdict.Fatal, 403},

		{"plain text with 400", bare(400, "text/plain", "Rate exceeded"), asSTS, verdict.Throttled, 400},
		{"plain text with 403, EC2", bare(403, "text/plain", "Rate exceeded"), asEC2, verdict.Throttled, 403},
		{"plain text with 400, S3", bare(400, "text/plain", "Rate exceeded"), list, verdict.Throttled, 400},
		{"a page with 400", bare(400, "text/html", fmt.Sprintf(page, "Too Many Requests", "Rate exceeded")), asIAM, verdict.Throttled, 400},
		{"a page with 403, broken XML", bare(403, "text/html", "<html><body>Too many requests<br>Slow down</html>"), asEC2, verdict.Throttled, 403},
		{"a page that says no", bare(403, "text/html", fmt.Sprintf(page, "Forbidden", "You have been blocked")), asSTS, verdict.Fatal, 403},
		{"plain text with 429", bare(429, "text/plain", "hm"), asSTS, verdict.Throttled, 429},
		{"plain text with 502", bare(502, "text/plain", "bad gateway"), asSTS, verdict.Transient, 502},
		{"XML without a code, with 503", bare(503, "text/xml", "<x/>"), asSTS, verdict.Throttled, 503},
		{"a log-in page with 200", bare(200, "text/html", fmt.Sprintf(page, "Log in", "Please log in")), asSTS, verdict.Fatal, 200},
		{"a log-in page that EC2's client takes for no subnets", bare(200, "text/html", fmt.Sprintf(page, "Log in", "Please log in")), asEC2, verdict.Fatal, 200},
		{"a log-in page that S3's client takes for no objects", bare(200, "text/html; charset=utf-8", fmt.Sprintf(page, "Log in", "Please log in")), list, verdict.Fatal, 200},
		{"a log-in page where nothing is expected", bare(200, "text/html", fmt.Sprintf(page, "Log in", "Please log in")), deleteSubnet, verdict.Fatal, 200},
		{"a page with 200 that says it is throttling", bare(200, "text/html", fmt.Sprintf(page, "Slow down", "Rate exceeded")), asEC2, verdict.Throttled, 200},

		{"B19: HEAD with 503 has no body", answer{status: 503}, head, verdict.Throttled, 503},
		{"B19: SlowDown", s3Fault(503, "SlowDown", "Please reduce your request rate."), list, verdict.Throttled, 503},
		{"a throttle inside a 200", s3Fault(200, "SlowDown", "Please reduce your request rate."), copyObject, verdict.Throttled, 500},
		{"an error inside a 200", s3Fault(200, "InternalError", "We encountered an internal error."), copyObject, verdict.Transient, 500},

		{"a connection that is cut", answer{err: io.EOF}, asSTS, verdict.Transient, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, always(test.answer))
			g := governor(t, maxRetries(0), provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1000, 1000 }))
			cfg := c.installed(t, g)
			err := test.call(t.Context(), clients{sts.NewFromConfig(cfg), ec2.NewFromConfig(cfg), iam.NewFromConfig(cfg),
				s3.NewFromConfig(cfg, pathStyle)})
			if err == nil {
				t.Fatal("no error")
			}
			r := verdict.Examine("", err) // the provider is read from the error
			if r.Kind != test.kind || r.Status != test.status {
				t.Errorf("%v with status %d, want %v with %d: %s (%s)", r.Kind, r.Status, test.kind, test.status, r.Reason, err)
			}
			answered := test.status != 0 && !strings.HasPrefix(test.name, "a log-in page")
			equal(t, "answered", verdict.ProviderAnswer(err), answered)
			n := totals(g, "")
			equal(t, "throttled", n.Throttled, count(test.kind == verdict.Throttled))
			equal(t, "transient errors", n.TransientErrors, count(test.kind == verdict.Transient))
			slowed := len(g.Summary(nil).Slowed)
			equal(t, "slowed", slowed, count(test.kind == verdict.Throttled))
		})
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Errors that did not come from a governed client are read too, and odd ones do
// no harm.
func TestReader(t *testing.T) {
	t.Parallel()
	response := func(status int, body io.ReadCloser, header http.Header) *smithyhttp.Response {
		r := response(status)
		r.Body, r.Header = body, header
		return r
	}
	wrap := func(r *smithyhttp.Response, err error) error {
		return &smithy.OperationError{ServiceID: "X", OperationName: "Y", Err: &awshttp.ResponseError{
			ResponseError: &smithyhttp.ResponseError{Response: r, Err: err}, RequestID: "r"}}
	}
	generic := func(code, message string) error { return &smithy.GenericAPIError{Code: code, Message: message} }
	for _, test := range []struct {
		name string
		err  error
		kind verdict.Kind
	}{
		{"no response", wrap(nil, errors.New("x")), verdict.Fatal},
		{"an empty response", wrap(&smithyhttp.Response{}, errors.New("x")), verdict.Fatal},
		{"status 0", wrap(response(0, http.NoBody, nil), errors.New("x")), verdict.Fatal},
		{"no body", wrap(response(429, nil, nil), generic("UnknownError", "UnknownError")), verdict.Throttled},
		{"unknown with words", wrap(response(400, nil, nil), generic("UnknownError", "Rate exceeded")), verdict.Throttled},
		{"a snapshot", wrap(response(400, nil, nil), &smithy.DeserializationError{Err: errors.New("x"), Snapshot: []byte("Rate exceeded")}), verdict.Throttled},
		{"no snapshot", wrap(response(400, nil, nil), &smithy.DeserializationError{Err: errors.New("x")}), verdict.Fatal},
		{"a nil error", (*smithy.GenericAPIError)(nil), verdict.Fatal},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := verdict.Examine("", test.err)
			if r.Kind != test.kind {
				t.Errorf("%v, want %v: %s", r.Kind, test.kind, r.Reason)
			}
		})
	}
	if _, ok := read(errors.New("x")); ok {
		t.Error("read a stranger's error")
	}
	hint, ok := verdict.RetryAfter(wrap(response(503, nil, http.Header{"X-Amz-Retry-After": {"1500"}}), generic("SlowDown", "x")))
	if !ok || hint != 1500*time.Millisecond {
		t.Errorf("hint %v, %v", hint, ok)
	}
}

func response(status int) *smithyhttp.Response {
	return &smithyhttp.Response{Response: &http.Response{StatusCode: status}}
}

func TestBodyIsKeptBounded(t *testing.T) {
	t.Parallel()
	body := "Rate exceeded. " + strings.Repeat("x", 100<<10)
	b := &keptBody{ReadCloser: io.NopCloser(strings.NewReader(body)), room: keptOfError}
	all, err := io.ReadAll(b)
	if err != nil || string(all) != body {
		t.Fatal("the body was changed")
	}
	equal(t, "kept", string(b.kept), body[:keptOfError])
}

// The body is kept beneath the SDK's own logging of bodies, which replaces it.
func TestBodyIsKeptWhileBodiesAreLogged(t *testing.T) {
	t.Parallel()
	c := serve(t, always(bare(400, "text/plain", "Rate exceeded")))
	g := governor(t, maxRetries(0))
	cfg := c.installed(t, g)
	cfg.ClientLogMode = aws.LogResponseWithBody | aws.LogRequestWithBody
	err := whoAmI(t.Context(), sts.NewFromConfig(cfg))
	equal(t, "kind", verdict.Classify(err), verdict.Throttled)
}

// What the caller of S3 reads is the connection's own body, pages too.
func TestBodyOfAnObjectIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := serve(t, always(bare(200, "text/html", "<html>Rate exceeded</html>")))
	client := s3.NewFromConfig(c.installed(t, governor(t)), pathStyle)
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Body.Close()
	if _, ok := out.Body.(*keptBody); ok {
		t.Error("the object's body is recorded")
	}
	if all, err := io.ReadAll(out.Body); err != nil || string(all) != "<html>Rate exceeded</html>" {
		t.Errorf("%q, %v", all, err)
	}
}

// An empty answer under a page's header is an answer.
func TestAnEmptyAnswerThatIsCalledAPage(t *testing.T) {
	t.Parallel()
	for body, page := range map[string]bool{
		`<?xml version="1.0"?><DescribeSubnetsResponse><subnetSet/></DescribeSubnetsResponse>`: false,
		"": false,
		"\xef\xbb\xbf \n<!DOCTYPE HTML><HTML></HTML>":                                 true,
		`<?xml version="1.0"?><!-- proxy --><html xmlns="http://www.w3.org/"></html>`: true,
	} {
		c := serve(t, always(bare(200, "text/html", body)))
		_, err := ec2.NewFromConfig(c.installed(t, governor(t))).DescribeSubnets(t.Context(), nil)
		equal(t, body, err != nil, page)
	}
}

// Seen: GetObject returns at the headers; the slot is back before the body is
// read.
func TestS10_4_GetObjectEndsAtTheHeaders(t *testing.T) {
	t.Parallel()
	c := serve(t, always(bare(200, "binary/octet-stream", strings.Repeat("x", 1<<20))))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxConcurrency = 1 }))
	client := s3.NewFromConfig(c.installed(t, g), pathStyle)
	var bodies []io.ReadCloser
	for range 3 {
		out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")})
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, out.Body)
		equal(t, "slots in use", slotsInUse(g), 0)
	}
	for _, b := range bodies {
		n, err := io.Copy(io.Discard, b)
		if n != 1<<20 || err != nil {
			t.Error(n, err)
		}
		b.Close()
	}
	equal(t, "calls", totals(g, "aws/"+account+"/us-east-1/s3").Calls, 3)
}

// Seen: presign stacks have no "Retry".
func TestS10_7_PresigningTakesNothing(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MinRPS = 0.001, 1, 0.001 }))
	log := &strings.Builder{}
	cfg := c.installed(t, g, WithLogger(debugTo(log)))
	for range 5 {
		if _, err := sts.NewPresignClient(sts.NewFromConfig(cfg)).PresignGetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}); err != nil {
			t.Fatal(err)
		}
		presign := s3.NewPresignClient(s3.NewFromConfig(cfg))
		if _, err := presign.PresignGetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")}); err != nil {
			t.Fatal(err)
		}
		if _, err := presign.PresignPostObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("b"), Key: aws.String("k")}); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "sent", c.sent(), 0)
	equal(t, "calls", totals(g, "").Calls, 0)
	equal(t, "buckets", len(g.Snapshot().Buckets), 0)
	equal(t, "log", log.String(), "")
}

// Operations that presign another one on the way (EC2's copy of a snapshot
// between regions) are one call.
func TestS10_7_PresigningInsideACall(t *testing.T) {
	t.Parallel()
	c := serve(t, always(answer{status: 200, body: "<CopySnapshotResponse><snapshotId>snap-1</snapshotId></CopySnapshotResponse>"}))
	g := governor(t)
	_, err := ec2.NewFromConfig(c.installed(t, g)).CopySnapshot(t.Context(), &ec2.CopySnapshotInput{
		SourceRegion: aws.String("eu-west-1"), SourceSnapshotId: aws.String("snap-0")})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(c.log()[0].body, "PresignedUrl=") {
		t.Error("nothing was presigned")
	}
	equal(t, "calls", totals(g, "").Calls, 1)
	equal(t, "sent", c.sent(), 1)
}

func TestS10_7_FailedValidationCostsNothing(t *testing.T) {
	t.Parallel()
	c := serve(t, always(identity()))
	g := governor(t)
	client := sts.NewFromConfig(c.installed(t, g))
	_, err := client.AssumeRole(t.Context(), &sts.AssumeRoleInput{})
	_ = wants[*smithy.InvalidParamsError](t, ptr(err))
	equal(t, "calls", totals(g, "").Calls, 0)
	equal(t, "buckets", len(g.Snapshot().Buckets), 0)
}

// ptr finds the SDK's validation error, which is a value.
func ptr(err error) error {
	var v smithy.InvalidParamsError
	if errors.As(err, &v) {
		return &v
	}
	return err
}

// Seen: GetRawResponse(md) == nil when nothing was sent. A refusal leaves the
// metadata of the last attempt in place for those who look at it.
func TestS10_3_MetadataOfTheLastAttempt(t *testing.T) {
	t.Parallel()
	c := serve(t, always(throttle()))
	g := governor(t, provide(func(p *cloudpace.Provider) { p.RetryBudget = 0 }))
	var raw any
	client := sts.NewFromConfig(c.installed(t, g), func(o *sts.Options) {
		o.Retryer = retry.AddWithMaxBackoffDelay(retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 9 }), time.Millisecond)
		o.RetryMaxAttempts = 9
		o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
			return s.Initialize.Add(middleware.InitializeMiddlewareFunc("look", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
				middleware.InitializeOutput, middleware.Metadata, error,
			) {
				out, md, err := next.HandleInitialize(ctx, in)
				raw = awsmiddleware.GetRawResponse(md)
				return out, md, err
			}), middleware.Before)
		})
	})
	_ = wants[*cloudpace.RetryBudgetExhaustedError](t, whoAmI(t.Context(), client))
	if r, ok := raw.(*smithyhttp.Response); !ok || r.StatusCode != 400 {
		t.Errorf("raw response: %v", raw)
	}
}
