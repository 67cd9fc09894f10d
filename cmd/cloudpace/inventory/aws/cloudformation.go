package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// Named no stack, CloudFormation lists those that are not deleted.
var stacks = listing(
	func(ctx context.Context, s *site, next *string) (*cloudformation.DescribeStacksOutput, error) {
		return client(s, cloudformation.NewFromConfig).DescribeStacks(ctx, &cloudformation.DescribeStacksInput{NextToken: next})
	},
	func(o *cloudformation.DescribeStacksOutput) ([]types.Stack, *string) { return o.Stacks, o.NextToken },
	func(_ *site, v types.Stack) inventory.Asset {
		// Only parameters that say so are kept secret by CloudFormation, and what a
		// stack puts out of them is not.
		for i := range v.Parameters {
			hide(&v.Parameters[i].ParameterValue)
			hide(&v.Parameters[i].ResolvedValue)
		}
		for i := range v.Outputs {
			hide(&v.Outputs[i].OutputValue)
		}
		name := aws.ToString(v.StackName)
		return inventory.Asset{
			Type: "AWS::CloudFormation::Stack", ID: name, Name: name, ARN: aws.ToString(v.StackId),
			Tags:       tagsOf(v.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }),
			Properties: inventory.Native(v),
		}
	},
)
