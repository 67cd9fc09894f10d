package aws

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// F06: a region that is not enabled is SKIPPED, region_disabled, and the others go
// on. Where the account says which are enabled, it is not even asked.
func TestF06RegionDisabled(t *testing.T) {
	refuse := func(status int, code string) fakeaws.Answer {
		return func(r fakeaws.Request) (int, string) {
			if r.Region == "me-south-1" {
				return fakeaws.Fail(status, code)(r)
			}
			return http.StatusOK, fakeaws.List("DescribeVpcs", "vpcSet", "", "<vpcId>vpc-1</vpcId>")
		}
	}
	read := func(s *fakeaws.Server) map[string]inventory.Record {
		t.Helper()
		a := open(t, s, "us-east-1", "me-south-1")
		tasks := a.Tasks(func(k inventory.Kind) bool { return k.Name == "ec2_vpcs" })
		records, err := inventory.Run(t.Context(), tasks, inventory.Options{Sink: inventory.NewSink(t.TempDir())})
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]inventory.Record{}
		for _, r := range records {
			by[r.Region] = r
		}
		return by
	}
	denied := fakeaws.Fail(http.StatusForbidden, "UnauthorizedOperation")

	t.Run("the account says so", func(t *testing.T) {
		s := fakeaws.New(t)
		s.On("ec2.DescribeVpcs", refuse(401, "AuthFailure"))
		by := read(s)
		if r := by["me-south-1"]; r.Status != inventory.Skipped || r.Reason != inventory.RegionDisabled || len(s.Asked("ec2.DescribeVpcs")) != 1 {
			t.Errorf("%+v, asked %d times", r, len(s.Asked("ec2.DescribeVpcs")))
		}
		if r := by["us-east-1"]; r.Status != inventory.Success || r.Assets != 1 {
			t.Errorf("%+v", r)
		}
	})
	for code, status := range map[string]int{"AuthFailure": 401, "UnrecognizedClientException": 400, "InvalidClientTokenId": 403} {
		t.Run("the region says "+code, func(t *testing.T) {
			s := fakeaws.New(t)
			s.On("ec2.DescribeRegions", denied)
			s.On("ec2.DescribeVpcs", refuse(status, code))
			by := read(s)
			if r := by["me-south-1"]; r.Status != inventory.Skipped || r.Reason != inventory.RegionDisabled || !strings.Contains(r.Error, code) {
				t.Errorf("%+v", r)
			}
			if r := by["us-east-1"]; r.Status != inventory.Success {
				t.Errorf("%+v", r)
			}
			if n := len(s.Asked("ec2.DescribeVpcs")); n != 2 {
				t.Errorf("asked %d times, want once each", n)
			}
		})
	}
	t.Run("the credentials are not good anywhere", func(t *testing.T) {
		s := fakeaws.New(t)
		s.On("ec2.DescribeRegions", denied)
		s.On("ec2.DescribeVpcs", refuse(401, "AuthFailure"))
		s.On("sts.GetCallerIdentity", fakeaws.Sequence(fakeaws.Text(http.StatusOK, fakeaws.Identity("aws")), fakeaws.Fail(403, "InvalidClientTokenId")))
		if r := read(s)["me-south-1"]; r.Status != inventory.Failed || r.Reason != inventory.CredentialsExpired {
			t.Errorf("%+v", r)
		}
	})
}

// F08: an organization's policy is told from missing permissions.
func TestF08DeniedByPolicy(t *testing.T) {
	s := fakeaws.New(t)
	s.On("ec2.DescribeVpcs", fakeaws.Text(http.StatusForbidden, "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>"+
		"User: arn:aws:sts::111122223333:assumed-role/Audit/me is not authorized to perform: ec2:DescribeVpcs with an explicit deny in a service control policy"+
		"</Message></Error></Errors><RequestID>1</RequestID></Response>"))
	records, _ := mapped(t, s, "ec2_vpcs")
	if r := records[0]; r.Status != inventory.Failed || r.Reason != inventory.DeniedByPolicy {
		t.Errorf("%+v", r)
	}
}

// F14: the record has the id of the answer.
func TestF14RequestIDOfTheSDK(t *testing.T) {
	records, _ := mapped(t, fakeaws.New(t), "sqs_queues")
	if records[0].RequestID != "sqs.ListQueues-1" {
		t.Errorf("%+v", records[0])
	}
}
