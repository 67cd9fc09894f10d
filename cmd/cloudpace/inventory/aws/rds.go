package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// rdsPage is the most that RDS gives at once.
var rdsPage = aws.Int32(100)

var dbInstances = listing(
	func(ctx context.Context, s *site, next *string) (*rds.DescribeDBInstancesOutput, error) {
		return client(s, rds.NewFromConfig).DescribeDBInstances(ctx, &rds.DescribeDBInstancesInput{MaxRecords: rdsPage, Marker: next})
	},
	func(o *rds.DescribeDBInstancesOutput) ([]types.DBInstance, *string) { return o.DBInstances, o.Marker },
	func(_ *site, v types.DBInstance) inventory.Asset {
		if v.PendingModifiedValues != nil {
			hide(&v.PendingModifiedValues.MasterUserPassword)
		}
		return rdsAsset("AWS::RDS::DBInstance", v.DBInstanceIdentifier, v.DBInstanceArn, v.TagList, v)
	},
)

var dbClusters = listing(
	func(ctx context.Context, s *site, next *string) (*rds.DescribeDBClustersOutput, error) {
		return client(s, rds.NewFromConfig).DescribeDBClusters(ctx, &rds.DescribeDBClustersInput{MaxRecords: rdsPage, Marker: next})
	},
	func(o *rds.DescribeDBClustersOutput) ([]types.DBCluster, *string) { return o.DBClusters, o.Marker },
	func(_ *site, v types.DBCluster) inventory.Asset {
		if v.PendingModifiedValues != nil {
			hide(&v.PendingModifiedValues.MasterUserPassword)
		}
		return rdsAsset("AWS::RDS::DBCluster", v.DBClusterIdentifier, v.DBClusterArn, v.TagList, v)
	},
)

// Without a type asked for, RDS lists the account's own snapshots, automated and
// manual.
var dbSnapshots = listing(
	func(ctx context.Context, s *site, next *string) (*rds.DescribeDBSnapshotsOutput, error) {
		return client(s, rds.NewFromConfig).DescribeDBSnapshots(ctx, &rds.DescribeDBSnapshotsInput{MaxRecords: rdsPage, Marker: next})
	},
	func(o *rds.DescribeDBSnapshotsOutput) ([]types.DBSnapshot, *string) { return o.DBSnapshots, o.Marker },
	func(_ *site, v types.DBSnapshot) inventory.Asset {
		return rdsAsset("AWS::RDS::DBSnapshot", v.DBSnapshotIdentifier, v.DBSnapshotArn, v.TagList, v)
	},
)

var dbClusterSnapshots = listing(
	func(ctx context.Context, s *site, next *string) (*rds.DescribeDBClusterSnapshotsOutput, error) {
		return client(s, rds.NewFromConfig).DescribeDBClusterSnapshots(ctx, &rds.DescribeDBClusterSnapshotsInput{MaxRecords: rdsPage, Marker: next})
	},
	func(o *rds.DescribeDBClusterSnapshotsOutput) ([]types.DBClusterSnapshot, *string) {
		return o.DBClusterSnapshots, o.Marker
	},
	func(_ *site, v types.DBClusterSnapshot) inventory.Asset {
		return rdsAsset("AWS::RDS::DBClusterSnapshot", v.DBClusterSnapshotIdentifier, v.DBClusterSnapshotArn, v.TagList, v)
	},
)

var dbSubnetGroups = listing(
	func(ctx context.Context, s *site, next *string) (*rds.DescribeDBSubnetGroupsOutput, error) {
		return client(s, rds.NewFromConfig).DescribeDBSubnetGroups(ctx, &rds.DescribeDBSubnetGroupsInput{MaxRecords: rdsPage, Marker: next})
	},
	func(o *rds.DescribeDBSubnetGroupsOutput) ([]types.DBSubnetGroup, *string) {
		return o.DBSubnetGroups, o.Marker
	},
	func(_ *site, v types.DBSubnetGroup) inventory.Asset {
		a := rdsAsset("AWS::RDS::DBSubnetGroup", v.DBSubnetGroupName, v.DBSubnetGroupArn, nil, v)
		a.Tags = nil
		return a
	},
	tagged(func(ctx context.Context, s *site, v types.DBSubnetGroup) (map[string]string, error) {
		o, err := client(s, rds.NewFromConfig).ListTagsForResource(ctx, &rds.ListTagsForResourceInput{ResourceName: v.DBSubnetGroupArn})
		if err != nil {
			return nil, err
		}
		return tagsOf(o.TagList, rdsTag), nil
	}),
)

func rdsAsset(typ string, id, arn *string, tags []types.Tag, native any) inventory.Asset {
	return inventory.Asset{
		Type: typ, ID: aws.ToString(id), Name: aws.ToString(id), ARN: aws.ToString(arn),
		Tags: tagsOf(tags, rdsTag), Properties: inventory.Native(native),
	}
}

func rdsTag(t types.Tag) (key, value *string) { return t.Key, t.Value }
