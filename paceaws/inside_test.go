package paceaws

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/cloudpace/cloudpace"
)

// B08: a throttle inside a 200 is the caller's success, and slows the scope all
// the same.
func TestS2_ThrottlesInsideASuccess(t *testing.T) {
	t.Parallel()
	progress := func(status, code, message string) answer {
		return bare(200, "application/x-amz-json-1.0", `{"ProgressEvent":{"TypeName":"AWS::EC2::VPC","OperationStatus":"`+status+
			`","ErrorCode":"`+code+`","StatusMessage":"`+message+`"}}`)
	}
	deleted := func(code string) answer {
		return bare(200, "application/xml", `<DeleteResult><Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>`+code+`</Code><Message>m</Message></Error></DeleteResult>`)
	}
	for _, test := range []struct {
		name   string
		answer answer
		s3     bool
		slowed bool
	}{
		{"a throttled event", progress("FAILED", "Throttling", "Rate exceeded"), false, true},
		{"hidden behind a general code", progress("FAILED", "GeneralServiceException", "Rate exceeded"), false, true},
		{"another failure", progress("FAILED", "NotFound", "no such VPC"), false, false},
		{"an event under way", progress("IN_PROGRESS", "", "Rate exceeded"), false, false},
		{"an object that was not deleted", deleted("SlowDown"), true, true},
		{"an object that may not be deleted", deleted("AccessDenied"), true, false},
		{"nothing said", answer{status: 200}, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := serve(t, always(test.answer))
			g := governor(t, provide(func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1000, 1000 }))
			cfg := c.installed(t, g)
			scope := "aws/" + account + "/us-east-1/cloudcontrol"
			if test.s3 {
				scope = s3Scope
				out, err := s3.NewFromConfig(cfg, pathStyle).DeleteObjects(t.Context(), &s3.DeleteObjectsInput{
					Bucket: aws.String("b"), Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: aws.String("a")}}}})
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "what the caller gets", len(out.Deleted), count(test.answer.body != ""))
			} else {
				out, err := cloudcontrol.NewFromConfig(cfg).GetResourceRequestStatus(t.Context(),
					&cloudcontrol.GetResourceRequestStatusInput{RequestToken: aws.String("t")})
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "what the caller gets", *out.ProgressEvent.TypeName, "AWS::EC2::VPC")
			}
			n := totals(g, scope)
			equal(t, "sent", c.sent(), 1)
			equal(t, "calls", n.Calls, 1)
			equal(t, "throttled", n.Throttled, count(test.slowed))
			equal(t, "gave up", n.GaveUp, 0)
			equal(t, "failures", breakerState(g).Failures, 0)
			equal(t, "slots in use", slotsInUse(g), 0)
			b, _ := leaf(g, scope)
			equal(t, "slowed", b.RPS < 1000, test.slowed)
		})
	}
}
