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
		return client(s, sqs.NewFromConfig).ListQueues(ctx, &sqs.ListQueuesInput{MaxResults: aws.Int32(1000), NextToken: next})
	},
	func(o *sqs.ListQueuesOutput) ([]string, *string) { return o.QueueUrls, o.NextToken },
	func(s *site, url string) inventory.Asset {
		name := path.Base(url)
		a := inventory.Asset{Type: "AWS::SQS::Queue", ID: name, Name: name, ARN: s.arn("sqs", "", name)}
		a.Add("QueueUrl", url)
		return a
	},
	detail[string]{"attributes", func(ctx context.Context, s *site, url string, a *inventory.Asset) error {
		o, err := client(s, sqs.NewFromConfig).GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
		})
		if err != nil {
			return err
		}
		a.Add("Attributes", o.Attributes)
		return nil
	}},
	detail[string]{"tags", func(ctx context.Context, s *site, url string, a *inventory.Asset) error {
		o, err := client(s, sqs.NewFromConfig).ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &url})
		if err != nil {
			return err
		}
		a.Tags = read(o.Tags)
		return nil
	}},
)
