package aws

import (
	"cmp"
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	params "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// Values are asked for nowhere, neither here nor of parameters.
var secrets = listing(
	func(ctx context.Context, s *site, next *string) (*secretsmanager.ListSecretsOutput, error) {
		return client(s, secretsmanager.NewFromConfig).ListSecrets(ctx, &secretsmanager.ListSecretsInput{
			// Those to be deleted are still there, and can be had back.
			IncludePlannedDeletion: aws.Bool(true), MaxResults: aws.Int32(100), NextToken: next,
		})
	},
	func(o *secretsmanager.ListSecretsOutput) ([]types.SecretListEntry, *string) {
		return o.SecretList, o.NextToken
	},
	func(_ *site, v types.SecretListEntry) inventory.Asset {
		for i := range v.ExternalSecretRotationMetadata {
			hide(&v.ExternalSecretRotationMetadata[i].Value)
		}
		name := aws.ToString(v.Name)
		return inventory.Asset{
			Type: "AWS::SecretsManager::Secret", ID: name, Name: name, ARN: aws.ToString(v.ARN),
			Tags:       tagsOf(v.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }),
			Properties: inventory.Native(v),
		}
	},
)

var parameters = listing(
	func(ctx context.Context, s *site, next *string) (*ssm.DescribeParametersOutput, error) {
		return client(s, ssm.NewFromConfig).DescribeParameters(ctx, &ssm.DescribeParametersInput{MaxResults: aws.Int32(50), NextToken: next})
	},
	func(o *ssm.DescribeParametersOutput) ([]params.ParameterMetadata, *string) {
		return o.Parameters, o.NextToken
	},
	func(s *site, v params.ParameterMetadata) inventory.Asset {
		name := aws.ToString(v.Name)
		// In ARNs a name begins with one slash, whether it does or not.
		arn := cmp.Or(aws.ToString(v.ARN), s.arn("ssm", "", "parameter/"+strings.TrimPrefix(name, "/")))
		return inventory.Asset{Type: "AWS::SSM::Parameter", ID: name, Name: name, ARN: arn, Properties: inventory.Native(v)}
	},
	tagged(func(ctx context.Context, s *site, v params.ParameterMetadata) (map[string]string, error) {
		o, err := client(s, ssm.NewFromConfig).ListTagsForResource(ctx, &ssm.ListTagsForResourceInput{
			ResourceType: params.ResourceTypeForTaggingParameter, ResourceId: v.Name,
		})
		if err != nil {
			return nil, err
		}
		return tagsOf(o.TagList, func(t params.Tag) (*string, *string) { return t.Key, t.Value }), nil
	}),
)
