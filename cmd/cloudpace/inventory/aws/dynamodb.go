package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var tables = listing(
	func(ctx context.Context, s *site, next *string) (*dynamodb.ListTablesOutput, error) {
		return client(s, dynamodb.NewFromConfig).ListTables(ctx, &dynamodb.ListTablesInput{Limit: aws.Int32(100), ExclusiveStartTableName: next})
	},
	func(o *dynamodb.ListTablesOutput) ([]string, *string) { return o.TableNames, o.LastEvaluatedTableName },
	func(s *site, name string) inventory.Asset {
		a := inventory.Asset{Type: "AWS::DynamoDB::Table", ID: name, Name: name, ARN: s.arn("dynamodb", "", "table/"+name)}
		a.Add("TableName", name)
		return a
	},
	detail[string]{"description", func(ctx context.Context, s *site, name string, a *inventory.Asset) error {
		o, err := client(s, dynamodb.NewFromConfig).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			return err
		}
		a.Properties = inventory.Native(o.Table)
		return nil
	}},
	tagged(func(ctx context.Context, s *site, name string) (map[string]string, error) {
		arn := s.arn("dynamodb", "", "table/"+name)
		tags, err := rest(ctx, s, func(ctx context.Context, s *site, next *string) (*dynamodb.ListTagsOfResourceOutput, error) {
			return client(s, dynamodb.NewFromConfig).ListTagsOfResource(ctx, &dynamodb.ListTagsOfResourceInput{ResourceArn: &arn, NextToken: next})
		}, func(o *dynamodb.ListTagsOfResourceOutput) ([]types.Tag, *string) { return o.Tags, o.NextToken })
		return tagsOf(tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }), err
	}),
)
