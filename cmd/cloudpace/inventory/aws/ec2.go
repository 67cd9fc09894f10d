package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// ec2Page is asked for everywhere: EC2 grants unpaginated Describe calls fewer
// tokens than those with MaxResults, and 1,000 is the most it takes.
var ec2Page = aws.Int32(1000)

var instances = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeInstancesOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeInstances(ctx, &ec2.DescribeInstancesInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeInstancesOutput) (list []types.Instance, next *string) {
		for _, r := range o.Reservations {
			list = append(list, r.Instances...)
		}
		return list, o.NextToken
	},
	func(s *site, i types.Instance) inventory.Asset {
		return s.ec2Asset("AWS::EC2::Instance", "instance", "", i.InstanceId, i.Tags, i)
	},
)

var volumes = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeVolumesOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeVolumes(ctx, &ec2.DescribeVolumesInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeVolumesOutput) ([]types.Volume, *string) { return o.Volumes, o.NextToken },
	func(s *site, v types.Volume) inventory.Asset {
		return s.ec2Asset("AWS::EC2::Volume", "volume", "", v.VolumeId, v.Tags, v)
	},
)

var snapshots = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeSnapshotsOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{
			OwnerIds: []string{"self"}, MaxResults: ec2Page, NextToken: next,
		})
	},
	func(o *ec2.DescribeSnapshotsOutput) ([]types.Snapshot, *string) { return o.Snapshots, o.NextToken },
	func(s *site, v types.Snapshot) inventory.Asset {
		return s.ec2Asset("AWS::EC2::Snapshot", "snapshot", noOwner, v.SnapshotId, v.Tags, v)
	},
)

var images = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeImagesOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeImages(ctx, &ec2.DescribeImagesInput{
			Owners: []string{"self"}, IncludeDisabled: aws.Bool(true), MaxResults: ec2Page, NextToken: next,
		})
	},
	func(o *ec2.DescribeImagesOutput) ([]types.Image, *string) { return o.Images, o.NextToken },
	func(s *site, i types.Image) inventory.Asset {
		a := s.ec2Asset("AWS::EC2::Image", "image", noOwner, i.ImageId, i.Tags, i)
		a.Name = aws.ToString(i.Name)
		return a
	},
	detail[types.Image]{"launch_permissions", launchPermissions},
)

// launchPermissions adds who may launch an image: one call for each image, which
// no listing can spare.
func launchPermissions(ctx context.Context, s *site, i types.Image, a *inventory.Asset) error {
	o, err := client(s, ec2.NewFromConfig).DescribeImageAttribute(ctx, &ec2.DescribeImageAttributeInput{
		ImageId: i.ImageId, Attribute: types.ImageAttributeNameLaunchPermission,
	})
	if hasCode(err, "InvalidAMIID.Unavailable") {
		// The image exists, but is disabled or not ready: nobody can launch it.
		a.Add("LaunchPermissions", []types.LaunchPermission{})
		return nil
	}
	if err != nil {
		return err
	}
	a.Add("LaunchPermissions", o.LaunchPermissions)
	return nil
}

var vpcs = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeVpcsOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeVpcs(ctx, &ec2.DescribeVpcsInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeVpcsOutput) ([]types.Vpc, *string) { return o.Vpcs, o.NextToken },
	func(s *site, v types.Vpc) inventory.Asset {
		return s.ec2Asset("AWS::EC2::VPC", "vpc", aws.ToString(v.OwnerId), v.VpcId, v.Tags, v)
	},
)

var subnets = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeSubnetsOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeSubnetsOutput) ([]types.Subnet, *string) { return o.Subnets, o.NextToken },
	func(s *site, v types.Subnet) inventory.Asset {
		return s.ec2Asset("AWS::EC2::Subnet", "subnet", aws.ToString(v.OwnerId), v.SubnetId, v.Tags, v)
	},
)

var securityGroups = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeSecurityGroupsOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeSecurityGroupsOutput) ([]types.SecurityGroup, *string) {
		return o.SecurityGroups, o.NextToken
	},
	func(s *site, g types.SecurityGroup) inventory.Asset {
		a := s.ec2Asset("AWS::EC2::SecurityGroup", "security-group", aws.ToString(g.OwnerId), g.GroupId, g.Tags, g)
		a.Name = aws.ToString(g.GroupName)
		return a
	},
)

var keyPairs = listing(
	func(ctx context.Context, s *site, _ *string) (*ec2.DescribeKeyPairsOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeKeyPairs(ctx, &ec2.DescribeKeyPairsInput{})
	},
	func(o *ec2.DescribeKeyPairsOutput) ([]types.KeyPairInfo, *string) { return o.KeyPairs, nil },
	func(s *site, v types.KeyPairInfo) inventory.Asset {
		a := s.ec2Asset("AWS::EC2::KeyPair", "key-pair", "", v.KeyPairId, v.Tags, v)
		a.Name = aws.ToString(v.KeyName)
		return a
	},
)

var launchTemplates = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeLaunchTemplatesOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{MaxResults: aws.Int32(200), NextToken: next})
	},
	func(o *ec2.DescribeLaunchTemplatesOutput) ([]types.LaunchTemplate, *string) {
		return o.LaunchTemplates, o.NextToken
	},
	func(s *site, v types.LaunchTemplate) inventory.Asset {
		a := s.ec2Asset("AWS::EC2::LaunchTemplate", "launch-template", "", v.LaunchTemplateId, v.Tags, v)
		a.Name = aws.ToString(v.LaunchTemplateName)
		return a
	},
)

// ec2Asset is what EC2's types have in common: the name is the tag of that name.
func (s *site) ec2Asset(typ, resource, owner string, id *string, tags []types.Tag, native any) inventory.Asset {
	a := inventory.Asset{
		Type: typ, ID: aws.ToString(id), ARN: s.arn("ec2", owner, resource+"/"+aws.ToString(id)),
		Tags:       tagsOf(tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }),
		Properties: inventory.Native(native),
	}
	a.Name = a.Tags["Name"]
	return a
}
