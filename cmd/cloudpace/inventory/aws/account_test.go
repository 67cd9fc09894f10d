package aws

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// TestRegions: which are asked, and what is said of the others (F07, F10).
func TestRegions(t *testing.T) {
	denied := fakeaws.Fail(http.StatusForbidden, "UnauthorizedOperation")
	enabled := fakeaws.Text(http.StatusOK, fakeaws.Regions("us-east-1", "eu-west-1", "af-south-1", "cn-north-1"))
	for _, c := range []struct {
		name           string
		asked          []string
		answer         fakeaws.Answer
		requested, not []string
		verified       bool
	}{
		{"all", []string{"all"}, enabled, []string{"af-south-1", "eu-west-1", "us-east-1"}, nil, true},
		{"no word is all", nil, enabled, []string{"af-south-1", "eu-west-1", "us-east-1"}, nil, true},
		{"some (F10)", []string{"us-east-1"}, enabled, []string{"us-east-1"}, []string{"af-south-1", "eu-west-1"}, true},
		{"some, not verified (F07)", []string{"us-east-1"}, denied, []string{"us-east-1"}, nil, false},
		{"all, not verified (F07)", []string{"all"}, denied, partitions[0].regions, partitions[0].optIn, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fakeaws.New(t)
			s.On("ec2.DescribeRegions", c.answer)
			r := open(t, s, c.asked...).Regions
			if !slices.Equal(r.Requested, c.requested) || !slices.Equal(r.NotRequested, c.not) || r.Verified != c.verified {
				t.Errorf("regions %+v", r)
			}
			if c.verified == strings.Contains(r.Note, "unverified") {
				t.Errorf("note %q", r.Note)
			}
		})
	}
}

// TestOpenPartition: an account of another partition is read at its own regions.
func TestOpenPartition(t *testing.T) {
	s := fakeaws.New(t)
	s.On("sts.GetCallerIdentity", fakeaws.Text(http.StatusOK, fakeaws.Identity("aws-cn")))
	s.On("ec2.DescribeRegions", fakeaws.Fail(http.StatusForbidden, "UnauthorizedOperation"))
	a := open(t, s)
	if !slices.Equal(a.Regions.Requested, []string{"cn-north-1", "cn-northwest-1"}) {
		t.Errorf("regions %v", a.Regions.Requested)
	}
	for _, task := range a.Tasks(func(k inventory.Kind) bool { return k.Global }) {
		if task.Region != "aws-cn-global" {
			t.Errorf("%s is in %s", task.Name, task.Region)
		}
	}
	_, err := Open(t.Context(), Options{Endpoint: s.URL, Regions: []string{"us-east-1"}, Governor: governor(t)})
	if err == nil || !strings.Contains(err.Error(), "partition") {
		t.Errorf("a region of another partition: %v", err)
	}
}

// TestEndpointForAll: with an endpoint everything is asked there, whatever the
// environment or the profile has for single services.
func TestEndpointForAll(t *testing.T) {
	for _, c := range []struct {
		name, global string // AWS_ENDPOINT_URL
		one          bool   // AWS_ENDPOINT_URL_SQS and others
		file         bool   // a services section
	}{
		{name: "environment", one: true},
		{name: "environment, all and one", global: "http://127.0.0.1:1", one: true},
		{name: "environment, all", global: "http://127.0.0.1:1"},
		{name: "profile", file: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			elsewhere := fakeaws.New(t)
			s := fakeaws.New(t)
			if c.global != "" {
				t.Setenv("AWS_ENDPOINT_URL", c.global)
			}
			services := []string{"ec2", "iam", "lambda", "resource_groups_tagging_api", "s3", "sqs", "sts"}
			config := "[default]\nservices = local\n[services local]\n"
			for _, service := range services {
				if c.one {
					t.Setenv("AWS_ENDPOINT_URL_"+strings.ToUpper(service), elsewhere.URL)
				}
				config += service + " =\n  endpoint_url = " + elsewhere.URL + "\n"
			}
			if c.file {
				if err := os.WriteFile(os.Getenv("AWS_CONFIG_FILE"), []byte(config), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			records, _ := mapped(t, s, "")
			for _, r := range records {
				if r.Status != inventory.Success {
					t.Errorf("record %+v", r)
				}
			}
			if n := len(elsewhere.Asked("")); n != 0 {
				t.Errorf("%d requests went elsewhere", n)
			}
		})
	}
}

// TestConfiguredEndpoint: without one, those of the environment count, and S3 is
// asked there as at any other endpoint: with the bucket in the path.
func TestConfiguredEndpoint(t *testing.T) {
	s := fakeaws.New(t)
	s.On("s3.ListBuckets", fakeaws.Text(200, "<ListAllMyBucketsResult><Buckets><Bucket><Name>bucket</Name><BucketRegion>us-east-1</BucketRegion></Bucket></Buckets></ListAllMyBucketsResult>"))
	s.On("s3.GetBucketTagging", fakeaws.Fail(404, "NoSuchTagSet"))
	for _, service := range []string{"EC2", "S3", "STS"} {
		// A name, as one cannot put a bucket in front of an address.
		t.Setenv("AWS_ENDPOINT_URL_"+service, strings.Replace(s.URL, "127.0.0.1", "localhost", 1))
	}
	a, err := Open(t.Context(), Options{Regions: []string{"us-east-1"}, Governor: governor(t)})
	if err != nil {
		t.Fatal(err)
	}
	tasks := a.Tasks(func(k inventory.Kind) bool { return k.Name == "s3_buckets" })
	if _, err := inventory.Run(t.Context(), tasks, inventory.Options{Sink: inventory.NewSink(t.TempDir())}); err != nil {
		t.Fatal(err)
	}
	if asked := s.Asked("s3.GetBucketTagging"); len(asked) != 1 || asked[0].Path != "/bucket" {
		t.Errorf("asked %+v, want /bucket", asked)
	}
}

// TestGivenConfig: a configuration that is given is the only one that counts, and
// stays as it was.
func TestGivenConfig(t *testing.T) {
	s := fakeaws.New(t)
	for name, value := range map[string]string{
		"AWS_PROFILE": "none", "AWS_ACCESS_KEY_ID": "theirs", "AWS_REGION": "eu-north-1", "AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_EC2": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	given := aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(s.URL), Credentials: credentials.NewStaticCredentialsProvider("AKIAGIVEN", "secret", ""),
	}
	a, err := Open(t.Context(), Options{Config: &given, Governor: governor(t)})
	if err != nil {
		t.Fatal(err)
	}
	if a.ID != fakeaws.Account || a.cfg.Region != "us-east-1" || len(given.APIOptions) != 0 {
		t.Errorf("account %s, asked in %s; the configuration that was given has %d options now", a.ID, a.cfg.Region, len(given.APIOptions))
	}
	for _, bad := range []aws.Config{{Region: "us-east-1"}, {Credentials: given.Credentials}} {
		if _, err := Open(t.Context(), Options{Config: &bad, Governor: governor(t)}); err == nil {
			t.Errorf("opened %+v", bad)
		}
	}
	for _, o := range []Options{{Config: &given, Profile: "x"}, {Config: &given, Endpoint: s.URL}} {
		if o.Check() == nil {
			t.Errorf("%+v is taken for good", o)
		}
	}
}

// TestAssumeRole: the role's credentials are what everything is read with, and
// the external id is sent along.
func TestAssumeRole(t *testing.T) {
	s := fakeaws.New(t)
	s.On("sts.AssumeRole", fakeaws.Text(http.StatusOK, "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASSUMED</AccessKeyId>"+
		"<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"))
	role := "arn:aws:iam::111122223333:role/Audit"
	if _, err := Open(t.Context(), Options{Endpoint: s.URL, RoleARN: role, ExternalID: "x-1", Governor: governor(t)}); err != nil {
		t.Fatal(err)
	}
	asked := s.Asked("sts.AssumeRole")
	if len(asked) != 1 || asked[0].Form.Get("RoleArn") != role || asked[0].Form.Get("ExternalId") != "x-1" {
		t.Errorf("asked %+v", asked)
	}
}

// TestNoCredentials: which sources were tried and what to do next, before
// anything is sent.
func TestNoCredentials(t *testing.T) {
	s := fakeaws.New(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	for _, c := range []struct {
		profile string
		says    []string
	}{
		{"", []string{"AWS_ACCESS_KEY_ID is not set", "AWS_WEB_IDENTITY_TOKEN_FILE", `profile "default"`, "credentials is not there", "AWS_EC2_METADATA_DISABLED", "Next: "}},
		{"audit", []string{`profile "audit"`, "no such profile", "aws configure --profile audit"}},
	} {
		_, err := Open(t.Context(), Options{Profile: c.profile, Endpoint: s.URL, Governor: governor(t)})
		var none *NoCredentialsError
		if !errors.As(err, &none) {
			t.Fatalf("got %v", err)
		}
		for _, want := range c.says {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("profile %q: the error does not say %q:\n%s", c.profile, want, err)
			}
		}
	}
	if n := len(s.Asked("")); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestBadConfigFile: a file that cannot be read is not "no credentials".
func TestBadConfigFile(t *testing.T) {
	fakeaws.Isolate(t)
	path := os.Getenv("AWS_CONFIG_FILE")
	if err := os.WriteFile(path, []byte("[default]\nretry_mode = sideways\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Governor: governor(t)})
	var none *NoCredentialsError
	if err == nil || errors.As(err, &none) || !strings.Contains(err.Error(), "sideways") {
		t.Errorf("got %v", err)
	}
}

// TestOpenFails: the first question says why it failed, in the words that
// records have for it.
func TestOpenFails(t *testing.T) {
	s := fakeaws.New(t)
	s.On("sts.GetCallerIdentity", fakeaws.Fail(http.StatusForbidden, "ExpiredToken"))
	_, err := Open(t.Context(), Options{Endpoint: s.URL, Governor: governor(t)})
	if err == nil || !strings.Contains(err.Error(), "credentials_expired") {
		t.Errorf("expired: %v", err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	_, err = Open(t.Context(), Options{Endpoint: gone.URL, Governor: governor(t)})
	if err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("nobody there: %v", err)
	}
}

// TestTimeouts: a host that takes no connection is given up within seconds, one
// that is slow to answer is not (F09).
func TestTimeouts(t *testing.T) {
	s := fakeaws.New(t)
	cfg, err := load(t.Context(), Options{Endpoint: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	client, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		t.Fatalf("the client is a %T", cfg.HTTPClient)
	}
	read, _ := client.GetReadTimeout()
	if connect := client.GetDialer().Timeout; connect > 10*time.Second || read < 30*time.Second || client.GetTimeout() != 0 {
		t.Errorf("connecting may take %s, an answer %s, all together %s", connect, read, client.GetTimeout())
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		o    Options
		says string
	}{
		{Options{}, ""},
		{Options{Regions: []string{"all"}}, ""},
		{Options{Regions: []string{"us-east-1", "me-south-1"}, Endpoint: "http://localhost:5000", RoleARN: "arn:aws:iam::111122223333:role/path/x", ExternalID: "y"}, ""},
		{Options{Regions: []string{"all"}, RoleARN: "arn:aws-cn:iam::111122223333:role/x"}, ""},
		{Options{Regions: []string{"us-east-1"}, RoleARN: "arn:aws-cn:iam::111122223333:role/x"}, "in partition aws, role"},
		{Options{Regions: []string{"us-esat-1"}}, `did you mean "us-east-1"?`},
		{Options{Regions: []string{"al"}}, `did you mean "all"?`},
		{Options{Regions: []string{"all", "us-east-1"}}, "alone"},
		{Options{Regions: []string{"us-east-1", "cn-north-1"}}, "partitions"},
		{Options{Endpoint: "localhost:5000"}, "http://localhost:5000"},
		{Options{Endpoint: "ftp://x"}, "ftp://x"},
		{Options{Endpoint: "ftp://me:hunter2@x"}, "ftp://me:xxxxx@x"},
		{Options{Endpoint: "me:hunter2@x:5000"}, "xxxxx@x:5000"},
		{Options{Endpoint: "http://me:hunter2%zz@x"}, "xxxxx@x"},
		{Options{ExternalID: "y"}, "role"},
		{Options{RoleARN: "Audit"}, "Audit"},
		{Options{RoleARN: "arn:aws:iam::111122223333:user/x"}, "user/x"},
	} {
		err := c.o.Check()
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.says)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the password is shown: %s", err)
		}
	}
}
