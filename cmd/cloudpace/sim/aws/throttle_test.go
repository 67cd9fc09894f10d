package aws_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simaws "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
	"github.com/cloudpace/cloudpace/verdict"
)

// calls asks something of every service that there is a client for.
func calls(t *testing.T, c *cloud) map[string]func() error {
	t.Helper()
	ctx := t.Context()
	return map[string]func() error{
		"ec2":                      func() error { _, err := c.ec2.DescribeVpcs(ctx, nil); return err },
		"sts":                      func() error { _, err := c.sts.GetCallerIdentity(ctx, nil); return err },
		"iam":                      func() error { _, err := c.iam.ListRoles(ctx, nil); return err },
		"lambda":                   func() error { _, err := c.lambda.ListFunctions(ctx, nil); return err },
		"s3":                       func() error { _, err := c.s3.ListBuckets(ctx, nil); return err },
		"sqs":                      func() error { _, err := c.sqs.ListQueues(ctx, nil); return err },
		"resourcegroupstaggingapi": func() error { _, err := c.tagging.GetResources(ctx, nil); return err },
	}
}

// TestThrottles: each protocol's throttle is understood as one, by the SDK and by
// cloudpace.
func TestThrottles(t *testing.T) {
	p := estate(1000)
	p.Quotas = []sim.Quota{{Burst: 1, Rate: 0.001}}
	c := start(t, p)
	for service, want := range map[string]struct {
		code   string
		status int
	}{
		"ec2":                      {"RequestLimitExceeded", http.StatusServiceUnavailable},
		"sts":                      {"Throttling", http.StatusBadRequest},
		"iam":                      {"Throttling", http.StatusBadRequest},
		"lambda":                   {"TooManyRequestsException", http.StatusTooManyRequests},
		"s3":                       {"SlowDown", http.StatusServiceUnavailable},
		"sqs":                      {"RequestThrottled", http.StatusBadRequest},
		"resourcegroupstaggingapi": {"ThrottledException", http.StatusBadRequest},
	} {
		ask := calls(t, c)[service]
		if err := ask(); err != nil {
			t.Errorf("%s, within the quota: %v", service, err)
		}
		err := ask()
		if code(err) != want.code || status(err) != want.status {
			t.Errorf("%s, beyond the quota: %v; want %s and %d", service, err, want.code, want.status)
		}
		if !throttled(err) {
			t.Errorf("%s: the SDK does not take %v for a throttle", service, err)
		}
		if kind := verdict.ClassifyFor("aws", err); kind != verdict.Throttled {
			t.Errorf("%s: cloudpace takes %v for %s", service, err, kind)
		}
	}
	if r := c.server.Report().Totals; r.Asked != 14 || r.Served != 7 || r.Throttled != 7 {
		t.Errorf("counted %+v", r)
	}
}

// TestThrottledHead: HEAD is refused with a status alone.
func TestThrottledHead(t *testing.T) {
	p := estate(1000)
	p.Quotas = []sim.Quota{{Match: sim.Match{Operation: sim.Patterns{"HeadBucket"}}, Burst: 1, Rate: 0.001}}
	c := start(t, p)
	var bucket string
	for bucket = range c.server.Estate().IDs(sim.Place{Account: account}, "AWS::S3::Bucket") {
		break
	}
	for i, want := range []int{0, http.StatusServiceUnavailable} {
		_, err := c.s3.HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: &bucket})
		if status(err) != want {
			t.Errorf("HEAD %d: %v, want status %d", i, err, want)
		}
		if want != 0 && verdict.ClassifyFor("aws", err) != verdict.Throttled {
			t.Errorf("cloudpace does not take %v for a throttle", err)
		}
	}
}

// TestRetryAfter: Lambda documents a hint and sends it; others send the one that
// a profile gives them.
func TestRetryAfter(t *testing.T) {
	p := estate(1000)
	p.Quotas = []sim.Quota{
		{Match: sim.Match{Service: sim.Patterns{"lambda"}}, Burst: 1, Rate: 0.25},
		{Match: sim.Match{Service: sim.Patterns{"sqs"}}, Burst: 1, Rate: 0.25, RetryAfter: 7},
		{Burst: 1, Rate: 0.25},
	}
	c := start(t, p)
	for service, want := range map[string]time.Duration{"lambda": 4 * time.Second, "sqs": 7 * time.Second, "ec2": 0} {
		ask := calls(t, c)[service]
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		err := ask()
		var response *awshttp.ResponseError
		if !errors.As(err, &response) {
			t.Fatalf("%s: %v", service, err)
		}
		hint, _ := verdict.RetryAfter(&verdict.ResponseError{Provider: "aws", StatusCode: response.HTTPStatusCode(), Header: response.Response.Header})
		if hint != want {
			t.Errorf("%s: a hint of %s, want %s", service, hint, want)
		}
	}
}

// TestClasses: what EC2 is asked without paging has a smaller bucket of its own.
func TestClasses(t *testing.T) {
	ctx := t.Context()
	p := sim.Default(simaws.New())
	p.Estate.Assets = 10
	p.Speed = 0.001 // nothing comes back while the test runs
	c := start(t, p)
	count := func(most int, ask func() error) (passed int) {
		for range most {
			switch err := ask(); {
			case err == nil || code(err) == "NotImplemented":
				passed++
			case code(err) != "RequestLimitExceeded":
				t.Fatal(err)
			}
		}
		return passed
	}
	five := aws.Int32(5)
	for name, c := range map[string]struct {
		want int
		ask  func() error
	}{
		"unpaginated": {50, func() error { _, err := c.ec2.DescribeVolumes(ctx, nil); return err }},
		"paginated": {100, func() error {
			_, err := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{MaxResults: five})
			return err
		}},
		"without a smaller bucket": {100, func() error { _, err := c.ec2.DescribeVpcs(ctx, nil); return err }},
		"mutating":                 {50, func() error { _, err := c.ec2.CreateVpc(ctx, &ec2.CreateVpcInput{}); return err }},
		"a row of its own": {5, func() error {
			_, err := c.ec2.StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: []string{"i-1"}})
			return err
		}},
	} {
		if got := count(110, c.ask); got != c.want {
			t.Errorf("%s: %d of 110 passed, want %d", name, got, c.want)
		}
	}
	// Lambda's operations share one bucket.
	for i := range 15 {
		if _, err := c.lambda.ListFunctions(ctx, nil); err != nil {
			t.Errorf("call %d of Lambda: %v", i, err)
		}
	}
	if _, err := c.lambda.ListTags(ctx, &lambda.ListTagsInput{Resource: aws.String("arn:aws:lambda:us-east-1:111122223333:function:api-1")}); code(err) != "TooManyRequestsException" {
		t.Errorf("another operation of Lambda: %v", err)
	}
}

// TestSDKGetsThrough: with the SDK's own retries, throttles of a full bucket are
// waited out.
func TestSDKGetsThrough(t *testing.T) {
	p := estate(100)
	p.Quotas = []sim.Quota{{Burst: 2, Rate: 20}}
	c := start(t, p)
	cfg := c.cfg.Copy()
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = 10, 300*time.Millisecond })
	}
	c.clients(cfg)
	for i := range 6 {
		if _, err := c.ec2.DescribeVpcs(t.Context(), nil); err != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if r := c.server.Report().Totals; r.Served != 6 || r.Throttled == 0 {
		t.Errorf("counted %+v", r)
	}
}
