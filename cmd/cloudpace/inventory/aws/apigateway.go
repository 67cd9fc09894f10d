package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigateway/types"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	v2 "github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

func askRestAPIs(ctx context.Context, s *site, next *string) (*apigateway.GetRestApisOutput, error) {
	return client(s, apigateway.NewFromConfig).GetRestApis(ctx, &apigateway.GetRestApisInput{Limit: aws.Int32(500), Position: next})
}

func takeRestAPIs(o *apigateway.GetRestApisOutput) ([]types.RestApi, *string) {
	return o.Items, o.Position
}

var restAPIs = listing(
	askRestAPIs, takeRestAPIs,
	func(s *site, v types.RestApi) inventory.Asset {
		return s.apiAsset("AWS::ApiGateway::RestApi", "/restapis/"+aws.ToString(v.Id), aws.ToString(v.Id), aws.ToString(v.Name), v.Tags, v)
	},
)

// The stages of a REST API are few, and no pages.
var restStages = nested(
	askRestAPIs, takeRestAPIs,
	func(v types.RestApi) string { return "stages of " + aws.ToString(v.Id) },
	func(ctx context.Context, s *site, v types.RestApi, _ *string) (*apigateway.GetStagesOutput, error) {
		return client(s, apigateway.NewFromConfig).GetStages(ctx, &apigateway.GetStagesInput{RestApiId: v.Id})
	},
	func(o *apigateway.GetStagesOutput) ([]types.Stage, *string) { return o.Item, nil },
	func(s *site, u under[types.RestApi, types.Stage]) inventory.Asset {
		v, api, name := u.item, aws.ToString(u.parent.Id), aws.ToString(u.item.StageName)
		v.Variables = hidden(v.Variables)
		if v.CanarySettings != nil {
			v.CanarySettings.StageVariableOverrides = hidden(v.CanarySettings.StageVariableOverrides)
		}
		return s.apiAsset("AWS::ApiGateway::Stage", "/restapis/"+api+"/stages/"+name, api+"/"+name, name, v.Tags, v)
	},
)

func askHTTPAPIs(ctx context.Context, s *site, next *string) (*apigatewayv2.GetApisOutput, error) {
	return client(s, apigatewayv2.NewFromConfig).GetApis(ctx, &apigatewayv2.GetApisInput{MaxResults: aws.String("500"), NextToken: next})
}

func takeHTTPAPIs(o *apigatewayv2.GetApisOutput) ([]v2.Api, *string) { return o.Items, o.NextToken }

var httpAPIs = listing(
	askHTTPAPIs, takeHTTPAPIs,
	func(s *site, v v2.Api) inventory.Asset {
		return s.apiAsset("AWS::ApiGatewayV2::Api", "/apis/"+aws.ToString(v.ApiId), aws.ToString(v.ApiId), aws.ToString(v.Name), v.Tags, v)
	},
)

var httpStages = nested(
	askHTTPAPIs, takeHTTPAPIs,
	func(v v2.Api) string { return "stages of " + aws.ToString(v.ApiId) },
	func(ctx context.Context, s *site, v v2.Api, next *string) (*apigatewayv2.GetStagesOutput, error) {
		return client(s, apigatewayv2.NewFromConfig).GetStages(ctx, &apigatewayv2.GetStagesInput{
			ApiId: v.ApiId, MaxResults: aws.String("500"), NextToken: next,
		})
	},
	func(o *apigatewayv2.GetStagesOutput) ([]v2.Stage, *string) { return o.Items, o.NextToken },
	func(s *site, u under[v2.Api, v2.Stage]) inventory.Asset {
		v, api, name := u.item, aws.ToString(u.parent.ApiId), aws.ToString(u.item.StageName)
		v.StageVariables = hidden(v.StageVariables)
		return s.apiAsset("AWS::ApiGatewayV2::Stage", "/apis/"+api+"/stages/"+name, api+"/"+name, name, v.Tags, v)
	},
)

// apiAsset is what API Gateway's types have in common: an ARN without account.
func (s *site) apiAsset(typ, resource, id, name string, tags map[string]string, native any) inventory.Asset {
	return inventory.Asset{
		Type: typ, ID: id, Name: name, ARN: s.arn("apigateway", noOwner, resource), Tags: read(tags), Properties: inventory.Native(native),
	}
}
