package aws_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simaws "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

func status(err error) int {
	var response *awshttp.ResponseError
	if errors.As(err, &response) {
		return response.HTTPStatusCode()
	}
	return 0
}

// TestRelations: what things say of each other is there, and agrees from both
// sides.
func TestRelations(t *testing.T) {
	ctx := t.Context()
	p := estate(0)
	p.Estate.Types = map[string]int{
		"AWS::EC2::Instance": 30, "AWS::EC2::Volume": 50, "AWS::EC2::VPC": 3, "AWS::EC2::Subnet": 12, "AWS::EC2::SecurityGroup": 9,
		"AWS::EC2::Image": 40, "AWS::EC2::Snapshot": 60,
	}
	c := start(t, p)
	e, here := c.server.Estate(), sim.Place{Account: account, Region: region}
	has := func(kind string, id *string) {
		t.Helper()
		if !slices.Contains(slices.Collect(e.IDs(here, kind)), aws.ToString(id)) {
			t.Errorf("%s is no %s of the estate", aws.ToString(id), kind)
		}
	}
	subnets, err := c.ec2.DescribeSubnets(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	inVPC, blocks := map[string]string{}, map[string]bool{}
	for _, s := range subnets.Subnets {
		has("AWS::EC2::VPC", s.VpcId)
		inVPC[*s.SubnetId] = *s.VpcId
		if blocks[*s.CidrBlock] {
			t.Errorf("two subnets have %s", *s.CidrBlock)
		}
		blocks[*s.CidrBlock] = true
	}
	volumes, err := c.ec2.DescribeVolumes(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	attached := map[string]string{}
	for _, v := range volumes.Volumes {
		for _, a := range v.Attachments {
			attached[*a.InstanceId] = *v.VolumeId + *v.AvailabilityZone
		}
	}
	instances, err := c.ec2.DescribeInstances(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range instances.Reservations {
		i := r.Instances[0]
		has("AWS::EC2::Image", i.ImageId)
		has("AWS::EC2::SecurityGroup", i.SecurityGroups[0].GroupId)
		if inVPC[*i.SubnetId] != *i.VpcId {
			t.Errorf("%s is in %s of %s, which is in %s", *i.InstanceId, *i.SubnetId, *i.VpcId, inVPC[*i.SubnetId])
		}
		if disk := *i.BlockDeviceMappings[0].Ebs.VolumeId + *i.Placement.AvailabilityZone; attached[*i.InstanceId] != disk {
			t.Errorf("%s has %s, which says %s", *i.InstanceId, disk, attached[*i.InstanceId])
		}
	}
	images, err := c.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Owners: []string{"self"}})
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for _, i := range images.Images {
		has("AWS::EC2::Snapshot", i.BlockDeviceMappings[0].Ebs.SnapshotId)
		o, err := c.ec2.DescribeImageAttribute(ctx, &ec2.DescribeImageAttributeInput{ImageId: i.ImageId, Attribute: "launchPermission"})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range o.LaunchPermissions {
			shared++
			if aws.ToString(l.UserId) == account {
				t.Errorf("%s is shared with its own account", *i.ImageId)
			}
		}
	}
	if shared == 0 || shared == len(images.Images) {
		t.Errorf("%d of %d images are shared", shared, len(images.Images))
	}
}

// TestDetails: what can be asked about one thing, for every service that has such
// a question; and what is said about a thing that is not there.
func TestDetails(t *testing.T) {
	ctx := t.Context()
	c := start(t, estate(3000))
	e, here := c.server.Estate(), sim.Place{Account: account, Region: region}
	tagged := map[string]map[string]string{} // ARN -> tags, as the details have them
	for url := range e.IDs(here, "AWS::SQS::Queue") {
		url = c.url + "/" + account + "/" + url
		a, err := c.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{"All"}})
		if err != nil {
			t.Fatal(err)
		}
		o, err := c.sqs.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &url})
		if err != nil {
			t.Fatal(err)
		}
		tagged[a.Attributes["QueueArn"]] = o.Tags
	}
	functions, err := c.lambda.ListFunctions(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range functions.Functions {
		o, err := c.lambda.ListTags(ctx, &lambda.ListTagsInput{Resource: f.FunctionArn})
		if err != nil {
			t.Fatal(err)
		}
		tagged[*f.FunctionArn] = o.Tags
	}
	buckets, err := c.s3.ListBuckets(ctx, &s3.ListBucketsInput{MaxBuckets: aws.Int32(1000)})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := 0
	for _, b := range buckets.Buckets {
		where, err := c.s3.GetBucketLocation(ctx, &s3.GetBucketLocationInput{Bucket: b.Name})
		if err != nil || *b.BucketRegion != strings.Replace(string(where.LocationConstraint)+"$", "$", "", 1) && (*b.BucketRegion != region || where.LocationConstraint != "") {
			t.Errorf("%s is in %s, and in %q, %v", *b.Name, *b.BucketRegion, where.LocationConstraint, err)
		}
		o, err := c.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: b.Name})
		if *b.BucketRegion != region {
			elsewhere++
			if status(err) != http.StatusMovedPermanently {
				t.Errorf("%s in %s answers in %s: %v", *b.Name, *b.BucketRegion, region, err)
			}
			continue
		}
		tags := map[string]string{}
		switch {
		case code(err) == "NoSuchTagSet":
		case err != nil:
			t.Error(err)
		default:
			for _, tag := range o.TagSet {
				tags[*tag.Key] = *tag.Value
			}
		}
		tagged["arn:aws:s3:::"+*b.Name] = tags
		head, err := c.s3.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: b.Name})
		if err != nil || aws.ToString(head.BucketRegion) != region {
			t.Errorf("HEAD %s: %v", *b.Name, err)
		}
	}
	if elsewhere == 0 {
		t.Error("all buckets are in one region")
	}
	compareTagged(t, c, tagged)

	_, imageErr := c.ec2.DescribeImageAttribute(ctx, &ec2.DescribeImageAttributeInput{ImageId: aws.String("ami-00123456789abcdef"), Attribute: "launchPermission"})
	_, roleErr := c.iam.ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: aws.String("app-99999")})
	_, functionErr := c.lambda.ListTags(ctx, &lambda.ListTagsInput{Resource: aws.String("arn:aws:lambda:us-east-1:111122223333:function:api-99999")})
	_, queueErr := c.sqs.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: aws.String(c.url + "/" + account + "/orders-99999")})
	_, bucketErr := c.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: aws.String("logs-99999")})
	_, volumeErr := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{VolumeIds: []string{"vol-00123456789abcdef"}})
	for want, err := range map[string]error{
		"InvalidAMIID.NotFound": imageErr, "NoSuchEntity": roleErr, "ResourceNotFoundException": functionErr,
		"QueueDoesNotExist": queueErr, "NoSuchBucket": bucketErr, "InvalidVolume.NotFound": volumeErr,
	} {
		if code(err) != want {
			t.Errorf("want %s, got %v", want, err)
		}
	}
}

// compareTagged: the tagging API has the same tags as the services, and nothing
// without tags.
func compareTagged(t *testing.T, c *cloud, tagged map[string]map[string]string) {
	t.Helper()
	found := map[string]map[string]string{}
	arns, _ := collect(t, "tagged", func(next *string) (*resourcegroupstaggingapi.GetResourcesOutput, error) {
		return c.tagging.GetResources(t.Context(), &resourcegroupstaggingapi.GetResourcesInput{PaginationToken: next})
	}, func(o *resourcegroupstaggingapi.GetResourcesOutput) (list []string, next *string) {
		for _, m := range o.ResourceTagMappingList {
			tags := map[string]string{}
			for _, tag := range m.Tags {
				tags[*tag.Key] = *tag.Value
			}
			found[*m.ResourceARN] = tags
			list = append(list, *m.ResourceARN)
		}
		return list, o.PaginationToken
	})
	if len(found) != len(arns) {
		t.Errorf("%d of %d ARNs are there twice", len(arns)-len(found), len(arns))
	}
	untagged := 0
	for arn, tags := range tagged {
		if len(tags) == 0 {
			untagged++
		}
		if got := found[arn]; len(got) != len(tags) || got["Name"] != tags["Name"] || got["team"] != tags["team"] {
			t.Errorf("%s has the tags %v, and %v in the tagging API", arn, tags, got)
		}
	}
	if untagged == 0 || len(found) < len(tagged)-untagged {
		t.Errorf("%d of %d have no tags; the tagging API has %d", untagged, len(tagged), len(found))
	}
}

// TestPages: sizes out of bounds and tokens that were not given out are refused
// with the service's code.
func TestPages(t *testing.T) {
	ctx := t.Context()
	c := start(t, estate(5000))
	for _, size := range []int32{4, 1001, 0, -1} {
		if _, err := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{MaxResults: aws.Int32(size)}); code(err) != "InvalidParameterValue" {
			t.Errorf("MaxResults %d: %v", size, err)
		}
	}
	if _, err := c.sqs.ListQueues(ctx, &sqs.ListQueuesInput{MaxResults: aws.Int32(1001)}); code(err) != "InvalidParameterValueException" {
		t.Errorf("MaxResults 1001: %v", err)
	}
	o, err := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{MaxResults: aws.Int32(5)})
	if err != nil {
		t.Fatal(err)
	}
	// Of another listing, of another region, and changed.
	_, err1 := c.ec2.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{MaxResults: aws.Int32(5), NextToken: o.NextToken})
	_, err2 := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{MaxResults: aws.Int32(5), NextToken: o.NextToken}, func(o *ec2.Options) { o.Region = "eu-west-1" })
	_, err3 := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{MaxResults: aws.Int32(5), NextToken: aws.String("a" + (*o.NextToken)[1:])})
	_, err4 := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{MaxResults: aws.Int32(5), NextToken: aws.String("2")})
	for i, err := range []error{err1, err2, err3, err4} {
		if code(err) != "InvalidNextToken" {
			t.Errorf("%d: %v", i, err)
		}
	}
	if _, err := c.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{NextToken: o.NextToken}); err != nil {
		t.Errorf("the token itself: %v", err)
	}
}

// TestNotModelled: a listing that the table does not have is empty, unless the
// profile is strict; what changes things is refused in any case.
func TestNotModelled(t *testing.T) {
	ctx := t.Context()
	for _, strict := range []bool{false, true} {
		p := estate(100)
		p.Strict = strict
		c := start(t, p)
		_, err1 := c.ec2.DescribeNatGateways(ctx, nil)
		_, err2 := c.lambda.ListLayers(ctx, nil)
		_, err3 := c.iam.ListServerCertificates(ctx, nil)
		_, err4 := c.tagging.GetTagKeys(ctx, nil)
		for i, err := range []error{err1, err2, err3, err4} {
			if strict && status(err) != http.StatusNotImplemented || !strict && err != nil {
				t.Errorf("strict %v, listing %d: %v", strict, i, err)
			}
		}
		if _, err := c.ec2.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.0.0.0/16")}); code(err) != "NotImplemented" {
			t.Errorf("strict %v, CreateVpc: %v", strict, err)
		}
	}
	if n := len(simaws.Operations()); n < 30 {
		t.Errorf("%d operations are modelled", n)
	}
}

// TestCBOR: the SDK's own choice of protocol for the tagging API, with its
// listing, its throttle and its denial.
func TestCBOR(t *testing.T) {
	ctx := t.Context()
	p := estate(3000)
	c := start(t, p)
	list := func(client *resourcegroupstaggingapi.Client) []string {
		arns, pages := collect(t, "tagged", func(next *string) (*resourcegroupstaggingapi.GetResourcesOutput, error) {
			return client.GetResources(ctx, &resourcegroupstaggingapi.GetResourcesInput{ResourcesPerPage: aws.Int32(100), PaginationToken: next})
		}, func(o *resourcegroupstaggingapi.GetResourcesOutput) (list []string, next *string) {
			for _, m := range o.ResourceTagMappingList {
				list = append(list, *m.ResourceARN+*m.Tags[0].Value)
			}
			return list, o.PaginationToken
		})
		if pages < 3 {
			t.Errorf("%d pages", pages)
		}
		return arns
	}
	if inJSON, inCBOR := list(c.tagging), list(resourcegroupstaggingapi.NewFromConfig(c.cfg)); !slices.Equal(inJSON, inCBOR) {
		t.Errorf("%d in JSON, %d in CBOR", len(inJSON), len(inCBOR))
	}
	p.Quotas = []sim.Quota{{Burst: 1, Rate: 0.001}}
	p.Faults = []sim.Fault{{Kind: sim.Denied, After: 1}}
	c = start(t, p)
	client := resourcegroupstaggingapi.NewFromConfig(c.cfg)
	if _, err := client.GetResources(ctx, nil); err != nil {
		t.Error(err)
	}
	if _, err := client.GetResources(ctx, nil); code(err) != "ThrottledException" || !throttled(err) {
		t.Errorf("beyond the quota: %v", err)
	}
	p.Quotas = nil
	p.Faults[0].After = 0
	c = start(t, p)
	if _, err := resourcegroupstaggingapi.NewFromConfig(c.cfg).GetResources(ctx, nil); code(err) != "AccessDeniedException" {
		t.Errorf("denied: %v", err)
	}
}
