package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var stateMachines = listing(
	func(ctx context.Context, s *site, next *string) (*sfn.ListStateMachinesOutput, error) {
		return client(s, sfn.NewFromConfig).ListStateMachines(ctx, &sfn.ListStateMachinesInput{MaxResults: 1000, NextToken: next})
	},
	func(o *sfn.ListStateMachinesOutput) ([]types.StateMachineListItem, *string) {
		return o.StateMachines, o.NextToken
	},
	func(_ *site, v types.StateMachineListItem) inventory.Asset {
		name := aws.ToString(v.Name)
		return inventory.Asset{
			Type: "AWS::StepFunctions::StateMachine", ID: name, Name: name, ARN: aws.ToString(v.StateMachineArn), Properties: inventory.Native(v),
		}
	},
	detail[types.StateMachineListItem]{"description", func(ctx context.Context, s *site, v types.StateMachineListItem, a *inventory.Asset) error {
		// Definitions are programs, with parameters written into them.
		o, err := client(s, sfn.NewFromConfig).DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{
			StateMachineArn: v.StateMachineArn, IncludedData: types.IncludedDataMetadataOnly,
		})
		if err != nil {
			return err
		}
		o.Definition = nil
		a.Properties = inventory.Native(o)
		return nil
	}},
	tagged(func(ctx context.Context, s *site, v types.StateMachineListItem) (map[string]string, error) {
		o, err := client(s, sfn.NewFromConfig).ListTagsForResource(ctx, &sfn.ListTagsForResourceInput{ResourceArn: v.StateMachineArn})
		if err != nil {
			return nil, err
		}
		return tagsOf(o.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }), nil
	}),
)
