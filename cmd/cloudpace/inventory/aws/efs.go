package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/efs"
	"github.com/aws/aws-sdk-go-v2/service/efs/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var fileSystems = listing(
	func(ctx context.Context, s *site, next *string) (*efs.DescribeFileSystemsOutput, error) {
		return client(s, efs.NewFromConfig).DescribeFileSystems(ctx, &efs.DescribeFileSystemsInput{MaxItems: aws.Int32(100), Marker: next})
	},
	func(o *efs.DescribeFileSystemsOutput) ([]types.FileSystemDescription, *string) {
		return o.FileSystems, o.NextMarker
	},
	func(s *site, v types.FileSystemDescription) inventory.Asset {
		id := aws.ToString(v.FileSystemId)
		return inventory.Asset{
			Type: "AWS::EFS::FileSystem", ID: id, Name: aws.ToString(v.Name), ARN: s.arn("elasticfilesystem", aws.ToString(v.OwnerId), "file-system/"+id),
			Tags:       tagsOf(v.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }),
			Properties: inventory.Native(v),
		}
	},
	detail[types.FileSystemDescription]{"mount_targets", func(ctx context.Context, s *site, v types.FileSystemDescription, a *inventory.Asset) error {
		if v.NumberOfMountTargets == 0 {
			return nil
		}
		targets, err := rest(ctx, s, func(ctx context.Context, s *site, next *string) (*efs.DescribeMountTargetsOutput, error) {
			return client(s, efs.NewFromConfig).DescribeMountTargets(ctx, &efs.DescribeMountTargetsInput{FileSystemId: v.FileSystemId, Marker: next})
		}, func(o *efs.DescribeMountTargetsOutput) ([]types.MountTargetDescription, *string) {
			return o.MountTargets, o.NextMarker
		})
		if err != nil {
			return err
		}
		a.Add("MountTargets", targets)
		return nil
	}},
)
