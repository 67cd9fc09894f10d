package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// DescribeTrails has no pages: an account has five trails in a region at most.
// Shadow trails are those whose home is another region, or another account.
var trails = listing(
	func(ctx context.Context, s *site, _ *string) (*cloudtrail.DescribeTrailsOutput, error) {
		return client(s, cloudtrail.NewFromConfig).DescribeTrails(ctx, &cloudtrail.DescribeTrailsInput{IncludeShadowTrails: aws.Bool(false)})
	},
	groups(20, func(o *cloudtrail.DescribeTrailsOutput) ([]types.Trail, *string) { return o.TrailList, nil },
		func(v types.Trail) string { return aws.ToString(v.TrailARN) }, trailTags),
	func(_ *site, g grouped[types.Trail, map[string]string]) inventory.Asset {
		name := aws.ToString(g.item.Name)
		return inventory.Asset{Type: "AWS::CloudTrail::Trail", ID: name, Name: name, ARN: g.key, Properties: inventory.Native(g.item)}
	},
	batchTags[types.Trail](),
	detail[grouped[types.Trail, map[string]string]]{"status", func(ctx context.Context, s *site, g grouped[types.Trail, map[string]string], a *inventory.Asset) error {
		o, err := client(s, cloudtrail.NewFromConfig).GetTrailStatus(ctx, &cloudtrail.GetTrailStatusInput{Name: g.item.TrailARN})
		if err != nil {
			return err
		}
		a.Add("IsLogging", o.IsLogging) // the rest changes with every delivery
		return nil
	}},
)

func trailTags(ctx context.Context, s *site, arns []string) (map[string]map[string]string, error) {
	list, err := rest(ctx, s, func(ctx context.Context, s *site, next *string) (*cloudtrail.ListTagsOutput, error) {
		return client(s, cloudtrail.NewFromConfig).ListTags(ctx, &cloudtrail.ListTagsInput{ResourceIdList: arns, NextToken: next})
	}, func(o *cloudtrail.ListTagsOutput) ([]types.ResourceTag, *string) {
		return o.ResourceTagList, o.NextToken
	})
	found := make(map[string]map[string]string, len(list))
	for _, t := range list {
		found[aws.ToString(t.ResourceId)] = tagsOf(t.TagsList, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
	}
	return found, err
}
