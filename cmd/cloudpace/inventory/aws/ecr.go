package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/ecr/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var repositories = listing(
	func(ctx context.Context, s *site, next *string) (*ecr.DescribeRepositoriesOutput, error) {
		return client(s, ecr.NewFromConfig).DescribeRepositories(ctx, &ecr.DescribeRepositoriesInput{MaxResults: aws.Int32(1000), NextToken: next})
	},
	func(o *ecr.DescribeRepositoriesOutput) ([]types.Repository, *string) {
		return o.Repositories, o.NextToken
	},
	func(_ *site, v types.Repository) inventory.Asset {
		name := aws.ToString(v.RepositoryName)
		return inventory.Asset{Type: "AWS::ECR::Repository", ID: name, Name: name, ARN: aws.ToString(v.RepositoryArn), Properties: inventory.Native(v)}
	},
	detail[types.Repository]{"policy", func(ctx context.Context, s *site, v types.Repository, a *inventory.Asset) error {
		o, err := client(s, ecr.NewFromConfig).GetRepositoryPolicy(ctx, &ecr.GetRepositoryPolicyInput{RepositoryName: v.RepositoryName})
		if hasCode(err, "RepositoryPolicyNotFoundException") {
			a.Add("PolicyText", (*string)(nil))
			return nil
		}
		if err != nil {
			return err
		}
		a.Add("PolicyText", o.PolicyText)
		return nil
	}},
	tagged(func(ctx context.Context, s *site, v types.Repository) (map[string]string, error) {
		o, err := client(s, ecr.NewFromConfig).ListTagsForResource(ctx, &ecr.ListTagsForResourceInput{ResourceArn: v.RepositoryArn})
		if err != nil {
			return nil, err
		}
		return tagsOf(o.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }), nil
	}),
)
