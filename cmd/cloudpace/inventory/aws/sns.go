package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var topics = listing(
	func(ctx context.Context, s *site, next *string) (*sns.ListTopicsOutput, error) {
		return client(s, sns.NewFromConfig).ListTopics(ctx, &sns.ListTopicsInput{NextToken: next})
	},
	func(o *sns.ListTopicsOutput) ([]types.Topic, *string) { return o.Topics, o.NextToken },
	func(_ *site, v types.Topic) inventory.Asset {
		arn := aws.ToString(v.TopicArn)
		name := arn[strings.LastIndexByte(arn, ':')+1:]
		return inventory.Asset{Type: "AWS::SNS::Topic", ID: name, Name: name, ARN: arn, Properties: inventory.Native(v)}
	},
	detail[types.Topic]{"attributes", func(ctx context.Context, s *site, v types.Topic, a *inventory.Asset) error {
		o, err := client(s, sns.NewFromConfig).GetTopicAttributes(ctx, &sns.GetTopicAttributesInput{TopicArn: v.TopicArn})
		if hasCode(err, "NotFound") {
			// Not for all services: S3's client makes this code of any 404.
			return inventory.ErrGone
		}
		if err != nil {
			return err
		}
		a.Add("Attributes", o.Attributes)
		return nil
	}},
	tagged(func(ctx context.Context, s *site, v types.Topic) (map[string]string, error) {
		o, err := client(s, sns.NewFromConfig).ListTagsForResource(ctx, &sns.ListTagsForResourceInput{ResourceArn: v.TopicArn})
		if err != nil {
			return nil, err
		}
		return tagsOf(o.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }), nil
	}),
)
