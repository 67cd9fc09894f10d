package aws

import (
	"context"
	"path"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var queues = listing(
	func(ctx context.Context, s *site, next *string) (*sqs.ListQueuesOutput, error) {
		// Without MaxResults there is no token, and the list ends at 1,000.
		return s.sqs.ListQueues(ctx, &sqs.ListQueuesInput{MaxResults: aws.Int32(1000), NextToken: next})
	},
	func(o *sqs.ListQueuesOutput) ([]string, *string) { return o.QueueUrls, o.NextToken },
	func(s *site, url string) inventory.Asset {
		name := path.Base(url)
		a := inventory.Asset{Type: "AWS::SQS::Queue", ID: name, Name: name, ARN: s.arn("sqs", "", name)}
		a.Add("QueueUrl", url)
		return a
	},
	detail[string]{"attributes", func(ctx context.Context, s *site, url string, a *inventory.Asset) error {
		o, err := s.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
		})
		if err != nil {
			return err
		}
		a.Add("Attributes", o.Attributes)
		return nil
	}},
	detail[string]{"tags", func(ctx context.Context, s *site, url string, a *inventory.Asset) error {
		o, err := s.sqs.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &url})
		if err != nil {
			return err
		}
		a.Tags = read(o.Tags)
		return nil
	}},
)

// read makes tags that were read, and are none, an empty map: nil means unread.
func read(tags map[string]string) map[string]string {
	if tags == nil {
		return map[string]string{}
	}
	return tags
}
