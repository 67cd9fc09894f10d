package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var scalingGroups = listing(
	func(ctx context.Context, s *site, next *string) (*autoscaling.DescribeAutoScalingGroupsOutput, error) {
		return client(s, autoscaling.NewFromConfig).DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{
			MaxRecords: aws.Int32(100), NextToken: next,
		})
	},
	func(o *autoscaling.DescribeAutoScalingGroupsOutput) ([]types.AutoScalingGroup, *string) {
		return o.AutoScalingGroups, o.NextToken
	},
	func(_ *site, v types.AutoScalingGroup) inventory.Asset {
		name := aws.ToString(v.AutoScalingGroupName)
		return inventory.Asset{
			Type: "AWS::AutoScaling::AutoScalingGroup", ID: name, Name: name, ARN: aws.ToString(v.AutoScalingGroupARN),
			Tags:       tagsOf(v.Tags, func(t types.TagDescription) (*string, *string) { return t.Key, t.Value }),
			Properties: inventory.Native(v),
		}
	},
)

// Launch configurations cannot have tags.
var launchConfigurations = listing(
	func(ctx context.Context, s *site, next *string) (*autoscaling.DescribeLaunchConfigurationsOutput, error) {
		return client(s, autoscaling.NewFromConfig).DescribeLaunchConfigurations(ctx, &autoscaling.DescribeLaunchConfigurationsInput{
			MaxRecords: aws.Int32(100), NextToken: next,
		})
	},
	func(o *autoscaling.DescribeLaunchConfigurationsOutput) ([]types.LaunchConfiguration, *string) {
		return o.LaunchConfigurations, o.NextToken
	},
	func(_ *site, v types.LaunchConfiguration) inventory.Asset {
		name := aws.ToString(v.LaunchConfigurationName)
		if aws.ToString(v.UserData) != "" {
			hide(&v.UserData) // the script of an instance's first start
		}
		return inventory.Asset{
			Type: "AWS::AutoScaling::LaunchConfiguration", ID: name, Name: name, ARN: aws.ToString(v.LaunchConfigurationARN),
			Properties: inventory.Native(v),
		}
	},
)
