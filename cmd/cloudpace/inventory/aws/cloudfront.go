package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront"
	"github.com/aws/aws-sdk-go-v2/service/cloudfront/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var distributions = listing(
	func(ctx context.Context, s *site, next *string) (*cloudfront.ListDistributionsOutput, error) {
		return client(s, cloudfront.NewFromConfig).ListDistributions(ctx, &cloudfront.ListDistributionsInput{MaxItems: aws.Int32(100), Marker: next})
	},
	func(o *cloudfront.ListDistributionsOutput) ([]types.DistributionSummary, *string) {
		if o.DistributionList == nil {
			return nil, nil
		}
		return o.DistributionList.Items, more(aws.ToBool(o.DistributionList.IsTruncated), o.DistributionList.NextMarker)
	},
	func(_ *site, v types.DistributionSummary) inventory.Asset {
		if v.Origins != nil {
			for _, origin := range v.Origins.Items {
				if origin.CustomHeaders == nil {
					continue
				}
				for i := range origin.CustomHeaders.Items {
					// By such a header an origin knows CloudFront: it is a password.
					hide(&origin.CustomHeaders.Items[i].HeaderValue)
				}
			}
		}
		return inventory.Asset{
			Type: "AWS::CloudFront::Distribution", ID: aws.ToString(v.Id), Name: aws.ToString(v.DomainName), ARN: aws.ToString(v.ARN),
			Properties: inventory.Native(v),
		}
	},
	tagged(func(ctx context.Context, s *site, v types.DistributionSummary) (map[string]string, error) {
		o, err := client(s, cloudfront.NewFromConfig).ListTagsForResource(ctx, &cloudfront.ListTagsForResourceInput{Resource: v.ARN})
		if err != nil || o.Tags == nil {
			return nil, err
		}
		return tagsOf(o.Tags.Items, func(t types.Tag) (*string, *string) { return t.Key, t.Value }), nil
	}),
)
