package aws_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/schemas"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"
	"go.uber.org/goleak"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simaws "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	account = "111122223333"
	region  = "us-east-1"
)

// cloud is a server on a loopback socket and the SDK's clients for it.
type cloud struct {
	server *sim.Server
	url    string
	cfg    aws.Config

	ec2     *ec2.Client
	iam     *iam.Client
	lambda  *lambda.Client
	s3      *s3.Client
	sqs     *sqs.Client
	sts     *sts.Client
	tagging *resourcegroupstaggingapi.Client
}

// start serves until the test ends. The clients send everything once.
func start(t *testing.T, p sim.Profile, options ...sim.Option) *cloud {
	t.Helper()
	server, err := sim.New(simaws.New(), p, options...)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	transport := &wholeBodies{http.Transport{MaxIdleConnsPerHost: 64}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	c := &cloud{server: server, url: "http://" + listener.Addr().String()}
	c.cfg = aws.Config{
		Region: region, BaseEndpoint: &c.url, HTTPClient: &http.Client{Transport: transport},
		Credentials: credentials.NewStaticCredentialsProvider(simaws.AccessKey(account), "simulated", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
	}
	c.clients(c.cfg)
	return c
}

// wholeBodies sends bodies from memory. The SDK closes a request's body as soon as
// there are headers of the answer, and net/http may still be looking whether the
// body has ended; then it closes the connection under the answer. Only a server as
// near and quick as this one shows it.
type wholeBodies struct{ http.Transport }

func (w *wholeBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return w.Transport.RoundTrip(r)
}

// clients makes the clients anew, of a config that was changed.
func (c *cloud) clients(cfg aws.Config) {
	c.ec2, c.iam, c.lambda, c.sqs, c.sts = ec2.NewFromConfig(cfg), iam.NewFromConfig(cfg), lambda.NewFromConfig(cfg), sqs.NewFromConfig(cfg), sts.NewFromConfig(cfg)
	c.s3 = s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
	c.tagging = resourcegroupstaggingapi.NewFromConfig(cfg, func(o *resourcegroupstaggingapi.Options) {
		o.Protocol = awsjson.New11(schemas.ResourceGroupsTaggingAPI_20170126)
	})
}

// estate is a profile with no quotas: tests that list are not about them.
func estate(assets int) sim.Profile {
	p := sim.Default(simaws.New())
	p.Quotas = nil
	p.Estate = sim.EstateConfig{Accounts: sim.ExampleAccounts(2), Regions: []string{region, "eu-west-1"}, Assets: assets}
	return p
}

func ids[T any](list []T, id func(T) *string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = aws.ToString(id(v))
	}
	return out
}

// collect follows a listing to its end and gives the ids and the number of pages.
func collect[O any](t *testing.T, what string, page func(next *string) (*O, error), take func(*O) ([]string, *string)) (all []string, pages int) {
	t.Helper()
	var next *string
	for {
		o, err := page(next)
		if err != nil {
			t.Fatalf("%s, page %d: %v", what, pages+1, err)
		}
		pages++
		found, token := take(o)
		all = append(all, found...)
		if aws.ToString(token) == "" {
			return all, pages
		}
		if next = token; pages > 1000 {
			t.Fatalf("%s does not end", what)
		}
	}
}

// compare holds what was listed against the estate, in order.
func (c *cloud) compare(t *testing.T, kind string, global bool, listed []string, pages int) {
	t.Helper()
	p := sim.Place{Account: account, Region: region}
	if global {
		p.Region = ""
	}
	want := slices.Collect(c.server.Estate().IDs(p, kind))
	if !slices.Equal(listed, want) {
		t.Errorf("%s: listed %d, the estate has %d\nlisted %.300q\nwanted %.300q", kind, len(listed), len(want), listed, want)
	}
	if pages < 3 {
		t.Errorf("%s: %d things on %d pages, want several pages", kind, len(want), pages)
	}
}

// TestListings: what the SDK's clients list page by page is the estate, in every
// protocol.
func TestListings(t *testing.T) {
	ctx := t.Context()
	p := estate(0)
	p.Estate.Types = map[string]int{}
	for _, k := range simaws.New().Kinds() {
		p.Estate.Types[k.Name] = 123
	}
	c := start(t, p)
	n := aws.Int32(50)
	check := func(kind string, global bool) func(all []string, pages int) {
		return func(all []string, pages int) { t.Helper(); c.compare(t, kind, global, all, pages) }
	}
	check("AWS::EC2::Instance", false)(collect(t, "instances", func(next *string) (*ec2.DescribeInstancesOutput, error) {
		return c.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{MaxResults: n, NextToken: next})
	}, func(o *ec2.DescribeInstancesOutput) (list []string, next *string) {
		for _, r := range o.Reservations {
			list = append(list, ids(r.Instances, func(i ec2types.Instance) *string { return i.InstanceId })...)
		}
		return list, o.NextToken
	}))
	check("AWS::EC2::Volume", false)(collect(t, "volumes", func(next *string) (*ec2.DescribeVolumesOutput, error) {
		return c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{MaxResults: n, NextToken: next})
	}, func(o *ec2.DescribeVolumesOutput) ([]string, *string) {
		return ids(o.Volumes, func(v ec2types.Volume) *string { return v.VolumeId }), o.NextToken
	}))
	check("AWS::EC2::Snapshot", false)(collect(t, "snapshots", func(next *string) (*ec2.DescribeSnapshotsOutput, error) {
		return c.ec2.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{OwnerIds: []string{"self"}, MaxResults: n, NextToken: next})
	}, func(o *ec2.DescribeSnapshotsOutput) ([]string, *string) {
		return ids(o.Snapshots, func(v ec2types.Snapshot) *string { return v.SnapshotId }), o.NextToken
	}))
	check("AWS::EC2::Image", false)(collect(t, "images", func(next *string) (*ec2.DescribeImagesOutput, error) {
		return c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}, MaxResults: n, NextToken: next})
	}, func(o *ec2.DescribeImagesOutput) ([]string, *string) {
		return ids(o.Images, func(v ec2types.Image) *string { return v.ImageId }), o.NextToken
	}))
	check("AWS::EC2::VPC", false)(collect(t, "vpcs", func(next *string) (*ec2.DescribeVpcsOutput, error) {
		return c.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{MaxResults: n, NextToken: next})
	}, func(o *ec2.DescribeVpcsOutput) ([]string, *string) {
		return ids(o.Vpcs, func(v ec2types.Vpc) *string { return v.VpcId }), o.NextToken
	}))
	check("AWS::EC2::Subnet", false)(collect(t, "subnets", func(next *string) (*ec2.DescribeSubnetsOutput, error) {
		return c.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{MaxResults: n, NextToken: next})
	}, func(o *ec2.DescribeSubnetsOutput) ([]string, *string) {
		return ids(o.Subnets, func(v ec2types.Subnet) *string { return v.SubnetId }), o.NextToken
	}))
	check("AWS::EC2::SecurityGroup", false)(collect(t, "security groups", func(next *string) (*ec2.DescribeSecurityGroupsOutput, error) {
		return c.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{MaxResults: n, NextToken: next})
	}, func(o *ec2.DescribeSecurityGroupsOutput) ([]string, *string) {
		return ids(o.SecurityGroups, func(v ec2types.SecurityGroup) *string { return v.GroupId }), o.NextToken
	}))
	check("AWS::S3::Bucket", true)(collect(t, "buckets", func(next *string) (*s3.ListBucketsOutput, error) {
		return c.s3.ListBuckets(ctx, &s3.ListBucketsInput{MaxBuckets: n, ContinuationToken: next})
	}, func(o *s3.ListBucketsOutput) (list []string, next *string) {
		for _, b := range o.Buckets {
			if aws.ToString(b.BucketRegion) == "" {
				t.Errorf("bucket %s has no region", aws.ToString(b.Name))
			}
			list = append(list, aws.ToString(b.Name))
		}
		return list, o.ContinuationToken
	}))
	check("AWS::SQS::Queue", false)(collect(t, "queues", func(next *string) (*sqs.ListQueuesOutput, error) {
		return c.sqs.ListQueues(ctx, &sqs.ListQueuesInput{MaxResults: n, NextToken: next})
	}, func(o *sqs.ListQueuesOutput) (list []string, next *string) {
		for _, u := range o.QueueUrls {
			list = append(list, u[len(c.url+"/"+account+"/"):])
		}
		return list, o.NextToken
	}))
	check("AWS::Lambda::Function", false)(collect(t, "functions", func(next *string) (*lambda.ListFunctionsOutput, error) {
		return c.lambda.ListFunctions(ctx, &lambda.ListFunctionsInput{Marker: next})
	}, func(o *lambda.ListFunctionsOutput) (list []string, next *string) {
		for _, f := range o.Functions {
			list = append(list, aws.ToString(f.FunctionName))
		}
		return list, o.NextMarker
	}))
	check("AWS::IAM::Role", true)(collect(t, "roles", func(next *string) (*iam.ListRolesOutput, error) {
		return c.iam.ListRoles(ctx, &iam.ListRolesInput{MaxItems: n, Marker: next})
	}, func(o *iam.ListRolesOutput) (list []string, next *string) {
		for _, r := range o.Roles {
			list = append(list, aws.ToString(r.RoleName))
		}
		return list, marker(o.IsTruncated, o.Marker)
	}))
	check("AWS::IAM::User", true)(collect(t, "users", func(next *string) (*iam.ListUsersOutput, error) {
		return c.iam.ListUsers(ctx, &iam.ListUsersInput{MaxItems: n, Marker: next})
	}, func(o *iam.ListUsersOutput) (list []string, next *string) {
		for _, u := range o.Users {
			list = append(list, aws.ToString(u.UserName))
		}
		return list, marker(o.IsTruncated, o.Marker)
	}))
	check("AWS::IAM::Group", true)(collect(t, "groups", func(next *string) (*iam.ListGroupsOutput, error) {
		return c.iam.ListGroups(ctx, &iam.ListGroupsInput{MaxItems: n, Marker: next})
	}, func(o *iam.ListGroupsOutput) (list []string, next *string) {
		for _, g := range o.Groups {
			list = append(list, aws.ToString(g.GroupName))
		}
		return list, marker(o.IsTruncated, o.Marker)
	}))
	check("AWS::IAM::ManagedPolicy", true)(collect(t, "policies", func(next *string) (*iam.ListPoliciesOutput, error) {
		return c.iam.ListPolicies(ctx, &iam.ListPoliciesInput{Scope: "Local", MaxItems: n, Marker: next})
	}, func(o *iam.ListPoliciesOutput) (list []string, next *string) {
		for _, p := range o.Policies {
			list = append(list, aws.ToString(p.PolicyName))
		}
		return list, marker(o.IsTruncated, o.Marker)
	}))
	if r := c.server.Report().Totals; r.Errors != 0 || r.Throttled != 0 {
		t.Errorf("counted %+v", r)
	}
}

func marker(truncated bool, m *string) *string {
	if truncated {
		return m
	}
	return nil
}

// TestIdentity: whose keys they are is in their id; a role's keys are of the
// role's account; a key of nobody is refused.
func TestIdentity(t *testing.T) {
	ctx := t.Context()
	c := start(t, estate(100))
	who := func(key string) (string, error) {
		cfg := c.cfg.Copy()
		cfg.Credentials = credentials.NewStaticCredentialsProvider(key, "x", "")
		o, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil)
		if err != nil {
			return "", err
		}
		return aws.ToString(o.Account), nil
	}
	for key, want := range map[string]string{"AKIA444455556666EXAM": "444455556666", "AKIA111122223333EXAM": account, "testing": account} {
		if got, err := who(key); err != nil || got != want {
			t.Errorf("%s is a key of %q, %v; want %s", key, got, err, want)
		}
	}
	if _, err := who("AKIA999999999999EXAM"); code(err) != "InvalidClientTokenId" || status(err) != http.StatusForbidden {
		t.Errorf("a key of nobody: %v", err)
	}
	o, err := c.sts.AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::444455556666:role/path/Audit"), RoleSessionName: aws.String("me")})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := who(*o.Credentials.AccessKeyId); err != nil || got != "444455556666" || o.Credentials.Expiration.Before(time.Now()) {
		t.Errorf("the role's key is of %q, %v, until %s", got, err, o.Credentials.Expiration)
	}
	if _, err := c.sts.AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String("arn:aws:iam::999999999999:role/Audit"), RoleSessionName: aws.String("me")}); code(err) != "AccessDenied" {
		t.Errorf("a role in an account that is not there: %v", err)
	}
	cfg := c.cfg.Copy()
	cfg.Credentials = aws.AnonymousCredentials{}
	if _, err := ec2.NewFromConfig(cfg).DescribeVpcs(ctx, nil); code(err) != "MissingAuthenticationToken" || status(err) != http.StatusForbidden {
		t.Errorf("without a signature: %v", err)
	}
	regions, err := c.ec2.DescribeRegions(ctx, nil)
	if err != nil || len(regions.Regions) != 2 {
		t.Errorf("%d regions, %v", len(regions.Regions), err)
	}
}

// throttled is what the SDK itself makes of an error.
func throttled(err error) bool {
	return retry.ThrottleErrorCode{Codes: retry.DefaultThrottleErrorCodes}.IsErrorThrottle(err) == aws.TrueTernary
}
