package aws

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// TestTable: what the rest relies on about the rows.
func TestTable(t *testing.T) {
	names, types := map[string]bool{}, map[string]bool{}
	for _, k := range Kinds() {
		if k.Name == "" || k.Family == "" || k.Service == "" || names[k.Name] {
			t.Errorf("row %+v lacks something, or its name is taken", k)
		}
		names[k.Name] = true
		for _, typ := range k.Types {
			if types[typ] {
				t.Errorf("%s is listed by two tasks: it would be counted twice", typ)
			}
			types[typ] = true
		}
	}
	if len(names) < 48 {
		t.Errorf("%d tasks, want at least 48", len(names))
	}
}

// TestS15_4GlobalOnce: global services are read once per account, whatever the
// number of regions.
func TestS15_4GlobalOnce(t *testing.T) {
	s := fakeaws.New(t)
	a := open(t, s, "us-east-1", "eu-west-1", "eu-central-1")
	var tasks []inventory.Task
	want := 0
	for _, k := range Kinds() {
		if want++; !k.Global {
			want += 2
		}
	}
	for _, task := range a.Tasks(func(inventory.Kind) bool { return true }) {
		if task.Global && task.Region != "aws-global" {
			t.Errorf("%s is in %s", task.Name, task.Region)
		}
		tasks = append(tasks, task)
	}
	if len(tasks) != want {
		t.Errorf("%d tasks, want %d", len(tasks), want)
	}
	if _, err := inventory.Run(t.Context(), tasks, inventory.Options{Sink: inventory.NewSink(t.TempDir())}); err != nil {
		t.Fatal(err)
	}
	for op, want := range map[string]int{"iam.ListRoles": 1, "s3.ListBuckets": 1, "ec2.DescribeVpcs": 3, "sqs.ListQueues": 3} {
		if got := len(s.Asked(op)); got != want {
			t.Errorf("%s was asked %d times, want %d", op, got, want)
		}
	}
}

// TestS15_4TokenFromSDK: a token that comes again ends a listing as PARTIAL,
// through the real client.
func TestS15_4TokenFromSDK(t *testing.T) {
	s := fakeaws.New(t)
	s.On("ec2.DescribeVpcs", fakeaws.Pages(
		fakeaws.List("DescribeVpcs", "vpcSet", "again", "<vpcId>vpc-1</vpcId>"),
		fakeaws.List("DescribeVpcs", "vpcSet", "again", "<vpcId>vpc-2</vpcId>"),
	))
	records, assets := mapped(t, s, "ec2_vpcs")
	if r := records[0]; r.Status != inventory.Partial || r.Reason != inventory.Truncated || len(assets) != 2 {
		t.Errorf("record %+v with %d assets, want PARTIAL truncated with 2", r, len(assets))
	}
	if n := len(s.Asked("ec2.DescribeVpcs")); n != 2 {
		t.Errorf("asked %d times, want 2", n)
	}
}

// TestS15_2PageBeforeError: the pages before an error are kept.
func TestS15_2PageBeforeError(t *testing.T) {
	s := fakeaws.New(t)
	s.On("ec2.DescribeSubnets", fakeaws.Sequence(
		fakeaws.Text(http.StatusOK, fakeaws.List("DescribeSubnets", "subnetSet", "next", "<subnetId>subnet-1</subnetId>")),
		fakeaws.Fail(http.StatusForbidden, "UnauthorizedOperation"),
	))
	records, assets := mapped(t, s, "ec2_subnets")
	if r := records[0]; r.Status != inventory.Partial || r.Reason != inventory.AccessDenied || len(assets) != 1 {
		t.Errorf("record %+v with %d assets, want PARTIAL access_denied with 1", r, len(assets))
	}
}

// TestS15_1Reasons: what the services answer, and what the record says of it.
func TestS15_1Reasons(t *testing.T) {
	for _, c := range []struct {
		name, op, task string
		answer         fakeaws.Answer
		want           inventory.Reason
	}{
		{"EC2 throttles with a 503", "ec2.DescribeVpcs", "ec2_vpcs", fakeaws.Fail(503, "RequestLimitExceeded"), inventory.Throttled},
		{"a proxy throttles", "lambda.GET /2015-03-31/functions", "lambda_functions", fakeaws.Text(429, "Rate exceeded"), inventory.Throttled},
		{"EC2 denies (F03)", "ec2.DescribeVpcs", "ec2_vpcs", fakeaws.Fail(403, "UnauthorizedOperation"), inventory.AccessDenied},
		{"SQS denies", "sqs.ListQueues", "sqs_queues", fakeaws.Fail(400, "AccessDeniedException"), inventory.AccessDenied},
		{"IAM denies", "iam.ListRoles", "iam_roles", fakeaws.Fail(403, "AccessDenied"), inventory.AccessDenied},
		{"S3 denies", "s3.ListBuckets", "s3_buckets", fakeaws.Fail(403, "AccessDenied"), inventory.AccessDenied},
		{"EC2 expires", "ec2.DescribeVpcs", "ec2_vpcs", fakeaws.Fail(400, "RequestExpired"), inventory.CredentialsExpired},
		{"IAM expires", "iam.ListRoles", "iam_roles", fakeaws.Fail(403, "ExpiredToken"), inventory.CredentialsExpired},
		{"tagging expires", "tagging.GetResources", "tagging_sweep", fakeaws.Fail(400, "ExpiredTokenException"), inventory.CredentialsExpired},
		{"an emulator's page", "ec2.DescribeVpcs", "ec2_vpcs", fakeaws.Text(500, "<!doctype html>\n<html lang=en>\n<title>500 Internal Server Error</title>\n<p>no</p>"), inventory.NotSupported},
		{"an emulator's page for JSON", "sqs.ListQueues", "sqs_queues", fakeaws.Text(500, "<!doctype html><title>500</title>"), inventory.NotSupported},
		{"an emulator's 404", "tagging.GetResources", "tagging_sweep", fakeaws.Text(404, "<html>Not yet implemented</html>"), inventory.NotSupported},
		{"an emulator's code", "lambda.GET /2015-03-31/functions", "lambda_functions", fakeaws.Fail(501, "NotImplemented"), inventory.NotSupported},
		{"EC2 does not know it", "ec2.DescribeVpcs", "ec2_vpcs", fakeaws.Fail(400, "InvalidAction"), inventory.NotSupported},
		{"a log-in page", "sqs.ListQueues", "sqs_queues", fakeaws.Text(200, "<html>Sign in</html>"), inventory.Protocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fakeaws.New(t)
			s.On(c.op, c.answer)
			records, assets := mapped(t, s, c.task)
			if r := records[0]; r.Status != inventory.Failed || r.Reason != c.want || r.Error == "" || len(assets) != 0 {
				t.Errorf("record %+v, want FAILED %s", r, c.want)
			}
		})
	}
}

func TestInstances(t *testing.T) {
	s := fakeaws.New(t)
	one := "<instancesSet><item><instanceId>i-1</instanceId><instanceType>t3.micro</instanceType><ebsOptimized>false</ebsOptimized>" +
		"<tagSet><item><key>Name</key><value>web</value></item><item><key>env</key><value>a&lt;b</value></item></tagSet></item></instancesSet>"
	s.On("ec2.DescribeInstances", fakeaws.Text(200, fakeaws.List("DescribeInstances", "reservationSet", "", one)))
	_, assets := mapped(t, s, "ec2_instances")
	if len(assets) != 1 {
		t.Fatalf("%d assets", len(assets))
	}
	a := assets[0]
	if a.Provider != "aws" || a.Account != fakeaws.Account || a.Region != "us-east-1" || a.Type != "AWS::EC2::Instance" || a.ID != "i-1" ||
		a.ARN != "arn:aws:ec2:us-east-1:111122223333:instance/i-1" || a.Name != "web" || a.Tags["env"] != "a<b" || a.Task != "ec2_instances" || a.Time.IsZero() {
		t.Errorf("asset %+v", a)
	}
	if got, want := string(a.Properties), `{"EbsOptimized":false,"InstanceId":"i-1","InstanceType":"t3.micro","Tags":[{"Key":"Name","Value":"web"},{"Key":"env","Value":"a<b"}]}`; got != want {
		t.Errorf("properties\n got %s\nwant %s", got, want)
	}
}

// TestImages: the fan-out asks once for each image. One that is throttled is
// kept without its launch permissions (F15), one that is gone is left out
// (S15.3), one that is not available is nobody's to launch.
func TestImages(t *testing.T) {
	s := fakeaws.New(t)
	items := []string{"<imageId>ami-ok</imageId>", "<imageId>ami-slow</imageId>", "<imageId>ami-gone</imageId>", "<imageId>ami-off</imageId>"}
	s.On("ec2.DescribeImages", fakeaws.Text(200, fakeaws.List("DescribeImages", "imagesSet", "", items...)))
	s.On("ec2.DescribeImageAttribute", func(r fakeaws.Request) (int, string) {
		switch r.Form.Get("ImageId") {
		case "ami-slow":
			return fakeaws.Fail(503, "RequestLimitExceeded")(r)
		case "ami-gone":
			return fakeaws.Fail(400, "InvalidAMIID.NotFound")(r)
		case "ami-off":
			return fakeaws.Fail(400, "InvalidAMIID.Unavailable")(r)
		}
		return 200, "<DescribeImageAttributeResponse><launchPermission><item><userId>444455556666</userId></item></launchPermission></DescribeImageAttributeResponse>"
	})
	records, assets := mapped(t, s, "ec2_images")
	if r := records[0]; r.Status != inventory.Partial || r.Reason != inventory.Throttled || r.Details != 4 || r.Vanished != 1 || r.Incomplete != 1 || r.Assets != 3 {
		t.Errorf("record %+v", r)
	}
	got := map[string]string{}
	for _, a := range assets {
		got[a.ID] = fmt.Sprintf("%s %v", a.Properties, a.Missing)
	}
	for id, want := range map[string]string{
		"ami-ok":   `{"ImageId":"ami-ok","LaunchPermissions":[{"UserId":"444455556666"}]} map[]`,
		"ami-slow": `{"ImageId":"ami-slow"} map[launch_permissions:throttled]`,
		"ami-off":  `{"ImageId":"ami-off","LaunchPermissions":[]} map[]`,
	} {
		if got[id] != want {
			t.Errorf("%s\n got %s\nwant %s", id, got[id], want)
		}
	}
}

// TestBuckets: a bucket is asked where it is, "no tags" is data (F19), and one
// that denies the question is kept.
func TestBuckets(t *testing.T) {
	s := fakeaws.New(t)
	s.On("s3.ListBuckets", fakeaws.Text(200, "<ListAllMyBucketsResult><Buckets>"+
		"<Bucket><Name>tagged</Name><BucketRegion>eu-west-1</BucketRegion></Bucket>"+
		"<Bucket><Name>old</Name></Bucket><Bucket><Name>private</Name><BucketRegion>us-east-1</BucketRegion></Bucket></Buckets></ListAllMyBucketsResult>"))
	s.On("s3.GetBucketLocation", fakeaws.Text(200, "<LocationConstraint>EU</LocationConstraint>"))
	s.On("s3.GetBucketTagging", func(r fakeaws.Request) (int, string) {
		switch {
		case strings.Contains(r.Path, "private"):
			return fakeaws.Fail(403, "AccessDenied")(r)
		case strings.Contains(r.Path, "old"):
			return fakeaws.Fail(404, "NoSuchTagSet")(r)
		}
		return 200, "<Tagging><TagSet><Tag><Key>env</Key><Value>test</Value></Tag></TagSet></Tagging>"
	})
	records, assets := mapped(t, s, "s3_buckets")
	if r := records[0]; r.Status != inventory.Partial || r.Reason != inventory.AccessDenied || r.Assets != 3 || r.Incomplete != 1 || r.Details != len(s.Asked("s3."))-1 {
		t.Errorf("record %+v after %d questions about buckets", r, len(s.Asked("s3."))-1)
	}
	got := map[string]string{}
	for _, a := range assets {
		got[a.ID] = fmt.Sprintf("%s %s %v %v", a.Region, a.ARN, a.Tags, a.Tags != nil)
	}
	for id, want := range map[string]string{
		"tagged":  "eu-west-1 arn:aws:s3:::tagged map[env:test] true",
		"old":     "eu-west-1 arn:aws:s3:::old map[] true",
		"private": "us-east-1 arn:aws:s3:::private map[] false",
	} {
		if got[id] != want {
			t.Errorf("%s: got %s, want %s", id, got[id], want)
		}
	}
	if n := len(s.Asked("s3.GetBucketLocation")); n != 1 {
		t.Errorf("%d buckets were asked where they are, want the 1 that did not say", n)
	}
	for _, r := range s.Asked("s3.GetBucketTagging") {
		if strings.Contains(r.Path, "tagged") && r.Region != "eu-west-1" {
			t.Errorf("the bucket in eu-west-1 was asked in %s", r.Region)
		}
	}
}

func TestQueuesRolesFunctions(t *testing.T) {
	s := fakeaws.New(t)
	s.On("sqs.ListQueues", fakeaws.Pages(`{"QueueUrls":["https://sqs/111122223333/one"],"NextToken":"t"}`, `{"QueueUrls":["https://sqs/111122223333/gone"]}`))
	s.On("sqs.GetQueueAttributes", func(r fakeaws.Request) (int, string) {
		if strings.Contains(r.Body, "gone") {
			return fakeaws.Fail(400, "QueueDoesNotExist")(r)
		}
		return 200, `{"Attributes":{"VisibilityTimeout":"30"}}`
	})
	s.On("sqs.ListQueueTags", fakeaws.Text(200, `{"Tags":{"env":"test"}}`))
	s.On("iam.ListRoles", fakeaws.Pages(
		"<ListRolesResponse><ListRolesResult><Roles><member><RoleName>a</RoleName><Arn>arn:aws:iam::111122223333:role/a</Arn></member></Roles><IsTruncated>true</IsTruncated><Marker>m</Marker></ListRolesResult></ListRolesResponse>",
		"<ListRolesResponse><ListRolesResult><Roles><member><RoleName>b</RoleName></member></Roles><IsTruncated>false</IsTruncated></ListRolesResult></ListRolesResponse>"))
	s.On("iam.ListRoleTags", fakeaws.Text(200, "<ListRoleTagsResponse><ListRoleTagsResult><Tags/><IsTruncated>false</IsTruncated></ListRoleTagsResult></ListRoleTagsResponse>"))
	s.On("lambda.GET /2015-03-31/functions", fakeaws.Text(200, `{"Functions":[{"FunctionName":"f","FunctionArn":"arn:aws:lambda:us-east-1:111122223333:function:f","CodeSize":7,"Environment":{"Variables":{"PASSWORD":"hunter2"}}}]}`))
	s.On("lambda.GET /2017-03-31/tags/*", fakeaws.Text(200, `{"Tags":{"env":"test"}}`))
	records, assets := mapped(t, s, "")
	for _, r := range records {
		if r.Status != inventory.Success {
			t.Errorf("record %+v", r)
		}
	}
	var got []string
	for _, a := range assets {
		got = append(got, fmt.Sprintf("%s %s %s %v %s", a.Type, a.Region, a.ID, a.Tags, a.Properties))
	}
	slices.Sort(got)
	want := []string{
		`AWS::IAM::Role aws-global a map[] {"Arn":"arn:aws:iam::111122223333:role/a","RoleName":"a"}`,
		`AWS::IAM::Role aws-global b map[] {"RoleName":"b"}`,
		`AWS::Lambda::Function us-east-1 f map[env:test] {"CodeSize":7,"Environment":{"Variables":{"PASSWORD":"(not kept)"}},"FunctionArn":"arn:aws:lambda:us-east-1:111122223333:function:f","FunctionName":"f"}`,
		`AWS::SQS::Queue us-east-1 one map[env:test] {"QueueUrl":"https://sqs/111122223333/one","Attributes":{"VisibilityTimeout":"30"}}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("assets\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// TestSweep: the sweep finds what no other task lists, leaves out what one does,
// and takes everything when it runs alone.
func TestSweep(t *testing.T) {
	s := fakeaws.New(t)
	s.On("tagging.GetResources", fakeaws.Pages(
		`{"PaginationToken":"t","ResourceTagMappingList":[{"ResourceARN":"arn:aws:ec2:us-east-1:111122223333:vpc/vpc-1","Tags":[{"Key":"Name","Value":"net"}]}]}`,
		`{"PaginationToken":"","ResourceTagMappingList":[{"ResourceARN":"arn:aws:workspaces:us-east-1:111122223333:workspace/ws-1","Tags":[]}]}`))
	records, assets := mapped(t, s, "")
	if len(assets) != 1 || assets[0].Type != "AWS::WorkSpaces::Workspace" || assets[0].Task != "tagging_sweep" || assets[0].Tags == nil {
		t.Errorf("assets %+v, want the workspace", assets)
	}
	if r := records[len(records)-1]; r.Task != "tagging_sweep" || r.Elsewhere != 1 || r.Assets != 1 || r.Pages != 2 {
		t.Errorf("record %+v", r)
	}
	s = fakeaws.New(t)
	s.On("tagging.GetResources", fakeaws.Text(200, `{"ResourceTagMappingList":[{"ResourceARN":"arn:aws:ec2:us-east-1:111122223333:vpc/vpc-1","Tags":[{"Key":"Name","Value":"net"}]}]}`))
	if _, assets = mapped(t, s, "tagging_sweep"); len(assets) != 1 || assets[0].Type != "AWS::EC2::VPC" || assets[0].ID != "vpc-1" || assets[0].Name != "net" {
		t.Errorf("alone it found %+v, want the VPC", assets)
	}
}

// TestSweepRegions: what belongs to no region is in none; a bucket is where it was
// found, as its ARN does not say.
func TestSweepRegions(t *testing.T) {
	s := fakeaws.New(t)
	var list []string
	want := map[string]string{
		"arn:aws:cloudfront::111122223333:distribution/D1": "aws-global", "arn:aws:iam::111122223333:policy/p": "aws-global",
		"arn:aws:route53:::hostedzone/Z1": "aws-global", "arn:aws:s3:::bucket": "us-east-1",
		"arn:aws:sns:eu-west-1:111122223333:topic": "eu-west-1", "no arn": "us-east-1",
	}
	for arn := range want {
		list = append(list, `{"ResourceARN":"`+arn+`","Tags":[]}`)
	}
	s.On("tagging.GetResources", fakeaws.Text(200, `{"ResourceTagMappingList":[`+strings.Join(list, ",")+`]}`))
	_, assets := mapped(t, s, "tagging_sweep")
	if len(assets) != len(want) {
		t.Errorf("%d assets, want %d", len(assets), len(want))
	}
	for _, a := range assets {
		if a.Region != want[a.ARN] {
			t.Errorf("%s is in %s, want %s", a.ARN, a.Region, want[a.ARN])
		}
	}
}

func TestParseARN(t *testing.T) {
	for arn, want := range map[string]resource{
		"arn:aws:ec2:us-east-1:1:instance/i-1":                                  {"AWS::EC2::Instance", "i-1", "us-east-1"},
		"arn:aws:s3:::a-bucket":                                                 {"AWS::S3::Bucket", "a-bucket", ""},
		"arn:aws:sqs:eu-west-1:1:queue":                                         {"AWS::SQS::Queue", "queue", "eu-west-1"},
		"arn:aws:lambda:us-east-1:1:function:f":                                 {"AWS::Lambda::Function", "f", "us-east-1"},
		"arn:aws:iam::1:role/path/name":                                         {"AWS::IAM::Role", "path/name", ""},
		"arn:aws:rds:us-east-1:1:db:mine":                                       {"AWS::RDS::DBInstance", "mine", "us-east-1"},
		"arn:aws:apigateway:us-east-1::/restapis/abc":                           {"AWS::ApiGateway::RestApi", "abc", "us-east-1"},
		"arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/classic":         {"AWS::ElasticLoadBalancing::LoadBalancer", "classic", "us-east-1"},
		"arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/app/name/abcdef": {"AWS::ElasticLoadBalancingV2::LoadBalancer", "app/name/abcdef", "us-east-1"},
		"arn:aws:apigateway:us-east-1::/restapis/abc/stages/prod":               {"AWS::ApiGateway::Stage", "abc/stages/prod", "us-east-1"},
		"arn:aws:kinesis:us-east-1:1:stream/s/consumer/c:1":                     {"AWS::Kinesis::StreamConsumer", "s/consumer/c:1", "us-east-1"},
		"arn:aws:workspaces:us-east-1:1:directory/d-1":                          {"workspaces:directory", "d-1", "us-east-1"},
		"arn:aws:newservice:us-east-1:1:thing":                                  {"newservice", "thing", "us-east-1"},
		"no arn":                                                                {"unknown", "no arn", ""},
	} {
		if got := parseARN(arn); got != want {
			t.Errorf("parseARN(%q) = %+v, want %+v", arn, got, want)
		}
	}
}
