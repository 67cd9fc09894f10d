package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	"github.com/aws/aws-sdk-go-v2/service/elasticache/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var cacheClusters = listing(
	func(ctx context.Context, s *site, next *string) (*elasticache.DescribeCacheClustersOutput, error) {
		return client(s, elasticache.NewFromConfig).DescribeCacheClusters(ctx, &elasticache.DescribeCacheClustersInput{
			MaxRecords: aws.Int32(100), Marker: next, ShowCacheNodeInfo: aws.Bool(true),
		})
	},
	func(o *elasticache.DescribeCacheClustersOutput) ([]types.CacheCluster, *string) {
		return o.CacheClusters, o.Marker
	},
	func(_ *site, v types.CacheCluster) inventory.Asset {
		id := aws.ToString(v.CacheClusterId)
		return inventory.Asset{Type: "AWS::ElastiCache::CacheCluster", ID: id, Name: id, ARN: aws.ToString(v.ARN), Properties: inventory.Native(v)}
	},
	detail[types.CacheCluster]{"tags", func(ctx context.Context, s *site, v types.CacheCluster, a *inventory.Asset) error {
		return cacheTags(ctx, s, v.CacheClusterStatus, v.ARN, a)
	}},
)

var replicationGroups = listing(
	func(ctx context.Context, s *site, next *string) (*elasticache.DescribeReplicationGroupsOutput, error) {
		return client(s, elasticache.NewFromConfig).DescribeReplicationGroups(ctx, &elasticache.DescribeReplicationGroupsInput{
			MaxRecords: aws.Int32(100), Marker: next,
		})
	},
	func(o *elasticache.DescribeReplicationGroupsOutput) ([]types.ReplicationGroup, *string) {
		return o.ReplicationGroups, o.Marker
	},
	func(_ *site, v types.ReplicationGroup) inventory.Asset {
		id := aws.ToString(v.ReplicationGroupId)
		return inventory.Asset{Type: "AWS::ElastiCache::ReplicationGroup", ID: id, Name: id, ARN: aws.ToString(v.ARN), Properties: inventory.Native(v)}
	},
	detail[types.ReplicationGroup]{"tags", func(ctx context.Context, s *site, v types.ReplicationGroup, a *inventory.Asset) error {
		return cacheTags(ctx, s, v.Status, v.ARN, a)
	}},
)

// cacheTags asks only for tags of what is available. Of the rest ElastiCache says
// that it is "either not present or not available", which is no reason to leave
// it out; its tags stay unread.
func cacheTags(ctx context.Context, s *site, status, arn *string, a *inventory.Asset) error {
	if aws.ToString(status) != "available" {
		return nil
	}
	o, err := client(s, elasticache.NewFromConfig).ListTagsForResource(ctx, &elasticache.ListTagsForResourceInput{ResourceName: arn})
	if err != nil {
		return err
	}
	a.Tags = tagsOf(o.TagList, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
	return nil
}
