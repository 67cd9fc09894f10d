package aws_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/verdict"
)

// TestFaults: every fault is, for a client of each protocol, what it is meant to
// be.
func TestFaults(t *testing.T) {
	type want struct {
		code, says string
		status     int
		kind       verdict.Kind
		is         error
	}
	everywhere := func(w want) map[string]want {
		return map[string]want{"ec2": w, "iam": w, "sqs": w, "lambda": w, "s3": w}
	}
	for kind, wanted := range map[sim.FaultKind]map[string]want{
		sim.Reset:        everywhere(want{is: syscall.ECONNRESET, kind: verdict.Transient}),
		sim.Close:        everywhere(want{is: io.EOF, kind: verdict.Transient}),
		sim.Cut:          everywhere(want{is: io.ErrUnexpectedEOF, kind: verdict.Transient}),
		sim.CloseMidBody: everywhere(want{is: io.ErrUnexpectedEOF, kind: verdict.Transient}),
		sim.HTTP500: {
			"ec2": {code: "InternalError", status: 500, kind: verdict.Transient}, "iam": {code: "InternalFailure", status: 500, kind: verdict.Transient},
			"sqs": {code: "InternalFailure", status: 500, kind: verdict.Transient}, "lambda": {code: "InternalFailure", status: 500, kind: verdict.Transient},
			"s3": {code: "InternalError", status: 500, kind: verdict.Transient},
		},
		sim.HTTP503: {
			"ec2": {code: "Unavailable", status: 503}, "iam": {code: "ServiceUnavailable", status: 503, kind: verdict.Transient},
			"sqs": {code: "ServiceUnavailableException", status: 503}, "lambda": {code: "ServiceUnavailableException", status: 503},
			"s3": {code: "ServiceUnavailable", status: 503, kind: verdict.Transient},
		},
		sim.Expired: {
			"ec2": {code: "RequestExpired", status: 400, kind: verdict.Fatal}, "iam": {code: "ExpiredToken", status: 403, kind: verdict.Fatal},
			"sqs": {code: "ExpiredTokenException", status: 400, kind: verdict.Fatal}, "lambda": {code: "ExpiredTokenException", status: 403, kind: verdict.Fatal},
			"s3": {code: "ExpiredToken", status: 400, kind: verdict.Fatal},
		},
		sim.Denied: {
			"ec2": {code: "UnauthorizedOperation", status: 403, says: "ec2:DescribeVpcs", kind: verdict.Fatal}, "iam": {code: "AccessDenied", status: 403, says: "iam:ListRoles", kind: verdict.Fatal},
			"sqs": {code: "AccessDeniedException", status: 400, says: "sqs:ListQueues", kind: verdict.Fatal}, "lambda": {code: "AccessDeniedException", status: 403, kind: verdict.Fatal},
			"s3": {code: "AccessDenied", status: 403, kind: verdict.Fatal},
		},
		sim.DeniedByPolicy: everywhere(want{says: "explicit deny in a service control policy", kind: verdict.Fatal}),
		sim.RegionDisabled: {
			"ec2": {code: "AuthFailure", status: 401, kind: verdict.Fatal}, "iam": {code: "InvalidClientTokenId", status: 403, kind: verdict.Fatal},
			"sqs": {code: "UnrecognizedClientException", status: 400, kind: verdict.Fatal}, "lambda": {code: "UnrecognizedClientException", status: 403, kind: verdict.Fatal},
		},
		sim.Error: everywhere(want{code: "PriorRequestNotComplete", status: 409, says: "still at it", kind: verdict.Throttled}),
		// The clients of XML services take a page for an answer with nothing in it: see
		// TestHTML for those.
		sim.HTML:      {"sqs": {kind: verdict.Fatal}, "lambda": {kind: verdict.Fatal}},
		sim.Truncated: everywhere(want{kind: verdict.Fatal, status: 200}),
	} {
		t.Run(string(kind), func(t *testing.T) {
			p := estate(1000)
			f := sim.Fault{Kind: kind}
			if kind == sim.Error {
				f.Code, f.Status, f.Message = "PriorRequestNotComplete", 409, "still at it"
			}
			p.Faults = []sim.Fault{f}
			c := start(t, p)
			for service, want := range wanted {
				err := calls(t, c)[service]()
				switch {
				case err == nil:
					t.Errorf("%s: no error", service)
				case want.is != nil && !errors.Is(err, want.is):
					t.Errorf("%s: %v, want %v", service, err, want.is)
				case want.code != "" && code(err) != want.code, want.status > 200 && status(err) != want.status, !strings.Contains(err.Error(), want.says):
					t.Errorf("%s: %v, want %+v", service, err, want)
				case want.kind != verdict.OK && verdict.ClassifyFor("aws", err) != want.kind:
					t.Errorf("%s: %v is %s, want %s", service, err, verdict.ClassifyFor("aws", err), want.kind)
				}
			}
			if r := c.server.Report().Totals; r.Faulted[string(kind)] != len(wanted) || r.Asked != len(wanted) {
				t.Errorf("counted %+v", r)
			}
		})
	}
}

// TestHang: the client's own time limit ends it.
func TestHang(t *testing.T) {
	p := estate(100)
	p.Faults = []sim.Fault{{Kind: sim.Hang}}
	c := start(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.ec2.DescribeVpcs(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestHTML: a page with a 200 or another status, which says what it is.
func TestHTML(t *testing.T) {
	for _, c := range []struct{ status, want int }{{0, 200}, {503, 503}} {
		p := estate(100)
		p.Faults = []sim.Fault{{Kind: sim.HTML, Status: c.status}}
		server := start(t, p)
		cfg := server.cfg.Copy()
		seen := false
		cfg.HTTPClient = clientFunc(func(r *http.Request) (*http.Response, error) {
			response, err := server.cfg.HTTPClient.Do(r)
			if err == nil {
				seen = response.StatusCode == c.want && strings.HasPrefix(response.Header.Get("Content-Type"), "text/html")
			}
			return response, err
		})
		server.clients(cfg)
		_ = calls(t, server)["ec2"]() // an error only with the 503
		if !seen {
			t.Errorf("no page with status %d", c.want)
		}
	}
}

// TestWrong: a body that is well formed and something else.
func TestWrong(t *testing.T) {
	p := estate(100)
	p.Faults = []sim.Fault{{Kind: sim.Wrong}}
	c := start(t, p)
	for service, parse := range map[string]func([]byte) error{
		"ec2": func(b []byte) error { return xml.Unmarshal(b, new(struct{})) },
		"sqs": func(b []byte) error { return json.Unmarshal(b, new(any)) },
	} {
		var body []byte
		cfg := c.cfg.Copy()
		cfg.HTTPClient = clientFunc(func(r *http.Request) (*http.Response, error) {
			response, err := c.cfg.HTTPClient.Do(r)
			if err == nil {
				body, err = io.ReadAll(response.Body)
				response.Body = io.NopCloser(strings.NewReader(string(body)))
			}
			return response, err
		})
		c.clients(cfg)
		_ = calls(t, c)[service]() // some clients take it, and find nothing in it
		if len(body) == 0 || parse(body) != nil {
			t.Errorf("%s: %s", service, body)
		}
		c.clients(c.cfg)
	}
}

type clientFunc func(*http.Request) (*http.Response, error)

func (f clientFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

// TestPageFaults: a token that comes again, a page with nothing but a token, and a
// listing that breaks off.
func TestPageFaults(t *testing.T) {
	ctx := t.Context()
	p := estate(0)
	p.Estate.Types = map[string]int{"AWS::EC2::Volume": 95, "AWS::EC2::Snapshot": 95, "AWS::EC2::Subnet": 95, "AWS::SQS::Queue": 95}
	on := func(op string, page int) sim.Match { return sim.Match{Operation: sim.Patterns{op}, Page: page} }
	p.Faults = []sim.Fault{
		{Kind: sim.RepeatToken, Match: on("DescribeVolumes", 3)},
		{Kind: sim.EmptyPage, Match: on("DescribeSnapshots", 2)},
		{Kind: sim.Denied, Match: on("DescribeSubnets", 2)},
		{Kind: sim.EmptyPage, Match: on("ListQueues", 1)},
	}
	c := start(t, p)
	n := aws.Int32(10)

	tokens := map[string]bool{}
	var token *string
	for page := 1; ; page++ {
		o, err := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{MaxResults: n, NextToken: token})
		if err != nil || len(o.Volumes) != 10 {
			t.Fatalf("page %d: %v", page, err)
		}
		if token = o.NextToken; tokens[*token] {
			if page != 3 {
				t.Errorf("the token of page %d was there before, want 3", page)
			}
			break
		}
		tokens[*token] = true
	}

	var sizes []int
	all, pages := collect(t, "snapshots", func(next *string) (*ec2.DescribeSnapshotsOutput, error) {
		return c.ec2.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{MaxResults: n, NextToken: next})
	}, func(o *ec2.DescribeSnapshotsOutput) ([]string, *string) {
		sizes = append(sizes, len(o.Snapshots))
		return make([]string, len(o.Snapshots)), o.NextToken
	})
	if len(all) != 95 || pages != 11 || sizes[0] != 10 || sizes[1] != 0 || sizes[2] != 10 {
		t.Errorf("%d snapshots on %d pages of %v", len(all), pages, sizes)
	}

	first, err := c.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{MaxResults: n})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{MaxResults: n, NextToken: first.NextToken}); code(err) != "UnauthorizedOperation" {
		t.Errorf("the second page: %v", err)
	}

	queues, err := c.sqs.ListQueues(ctx, &sqs.ListQueuesInput{MaxResults: aws.Int32(1000)})
	if err != nil || len(queues.QueueUrls) != 0 || queues.NextToken == nil {
		t.Fatalf("%d queues on the empty page, %v", len(queues.QueueUrls), err)
	}
	queues, err = c.sqs.ListQueues(ctx, &sqs.ListQueuesInput{MaxResults: aws.Int32(1000), NextToken: queues.NextToken})
	if err != nil || len(queues.QueueUrls) != 95 || queues.NextToken != nil {
		t.Errorf("%d queues after the empty page, %v", len(queues.QueueUrls), err)
	}
	if r := c.server.Report().Totals; r.Faulted["repeat_token"] != 1 || r.Faulted["empty_page"] != 2 || r.Faulted["denied"] != 1 {
		t.Errorf("counted %+v", r)
	}
}

// TestItemFault: a fault on one thing leaves the others alone.
func TestItemFault(t *testing.T) {
	p := estate(3000)
	p.Faults = []sim.Fault{{Kind: sim.Denied, Match: sim.Match{Item: sim.Patterns{"*/*-00001"}}}}
	c := start(t, p)
	n := 0
	for name := range c.server.Estate().IDs(sim.Place{Account: account, Region: region}, "AWS::SQS::Queue") {
		_, err := c.sqs.ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: aws.String(c.url + "/" + account + "/" + name)})
		if (err != nil) != strings.HasSuffix(name, "-00001") {
			t.Errorf("%s: %v", name, err)
		}
		n++
	}
	if n < 3 {
		t.Errorf("%d queues", n)
	}
}
