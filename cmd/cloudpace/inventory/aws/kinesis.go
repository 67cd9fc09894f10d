package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kinesis"
	"github.com/aws/aws-sdk-go-v2/service/kinesis/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// afterName marks a token that is the name a page ended with.
const afterName = "\n"

var streams = listing(
	func(ctx context.Context, s *site, next *string) (*kinesis.ListStreamsOutput, error) {
		in := &kinesis.ListStreamsInput{Limit: aws.Int32(100), NextToken: next}
		if name, ok := strings.CutPrefix(aws.ToString(next), afterName); ok {
			in.NextToken, in.ExclusiveStartStreamName = nil, &name
		}
		return client(s, kinesis.NewFromConfig).ListStreams(ctx, in)
	},
	func(o *kinesis.ListStreamsOutput) ([]string, *string) {
		next := o.NextToken
		if n := len(o.StreamNames); next == nil && n > 0 {
			next = aws.String(afterName + o.StreamNames[n-1])
		}
		return o.StreamNames, more(aws.ToBool(o.HasMoreStreams), next)
	},
	func(s *site, name string) inventory.Asset {
		return inventory.Asset{Type: "AWS::Kinesis::Stream", ID: name, Name: name, ARN: s.arn("kinesis", "", "stream/"+name)}
	},
	detail[string]{"description", func(ctx context.Context, s *site, name string, a *inventory.Asset) error {
		o, err := client(s, kinesis.NewFromConfig).DescribeStreamSummary(ctx, &kinesis.DescribeStreamSummaryInput{StreamName: &name})
		if err != nil {
			return err
		}
		a.Properties = inventory.Native(o.StreamDescriptionSummary)
		return nil
	}},
	tagged(func(ctx context.Context, s *site, name string) (map[string]string, error) {
		tags, err := rest(ctx, s, func(ctx context.Context, s *site, next *string) (*kinesis.ListTagsForStreamOutput, error) {
			return client(s, kinesis.NewFromConfig).ListTagsForStream(ctx, &kinesis.ListTagsForStreamInput{StreamName: &name, ExclusiveStartTagKey: next})
		}, func(o *kinesis.ListTagsForStreamOutput) ([]types.Tag, *string) {
			var last *string
			if n := len(o.Tags); n > 0 {
				last = o.Tags[n-1].Key
			}
			return o.Tags, more(aws.ToBool(o.HasMoreTags), last)
		})
		return tagsOf(tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }), err
	}),
)
