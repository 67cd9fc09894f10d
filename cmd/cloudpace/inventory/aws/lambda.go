package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var functions = listing(
	func(ctx context.Context, s *site, next *string) (*lambda.ListFunctionsOutput, error) {
		return client(s, lambda.NewFromConfig).ListFunctions(ctx, &lambda.ListFunctionsInput{MaxItems: aws.Int32(50), Marker: next})
	},
	func(o *lambda.ListFunctionsOutput) ([]types.FunctionConfiguration, *string) {
		return o.Functions, o.NextMarker
	},
	func(s *site, f types.FunctionConfiguration) inventory.Asset {
		name := aws.ToString(f.FunctionName)
		// Environment variables are where people put passwords; an inventory needs
		// their names at most.
		if f.Environment != nil {
			f.Environment = &types.EnvironmentResponse{Variables: hidden(f.Environment.Variables), Error: f.Environment.Error}
		}
		return inventory.Asset{
			Type: "AWS::Lambda::Function", ID: name, Name: name, ARN: aws.ToString(f.FunctionArn), Properties: inventory.Native(f),
		}
	},
	detail[types.FunctionConfiguration]{"tags", func(ctx context.Context, s *site, f types.FunctionConfiguration, a *inventory.Asset) error {
		o, err := client(s, lambda.NewFromConfig).ListTags(ctx, &lambda.ListTagsInput{Resource: f.FunctionArn})
		if err != nil {
			return err
		}
		a.Tags = read(o.Tags)
		return nil
	}},
)
