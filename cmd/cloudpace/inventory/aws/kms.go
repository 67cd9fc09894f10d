package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/kms/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var keys = listing(
	func(ctx context.Context, s *site, next *string) (*kms.ListKeysOutput, error) {
		return client(s, kms.NewFromConfig).ListKeys(ctx, &kms.ListKeysInput{Limit: aws.Int32(1000), Marker: next})
	},
	func(o *kms.ListKeysOutput) ([]types.KeyListEntry, *string) {
		return o.Keys, more(o.Truncated, o.NextMarker)
	},
	func(_ *site, v types.KeyListEntry) inventory.Asset {
		return inventory.Asset{Type: "AWS::KMS::Key", ID: aws.ToString(v.KeyId), ARN: aws.ToString(v.KeyArn), Properties: inventory.Native(v)}
	},
	detail[types.KeyListEntry]{"description", func(ctx context.Context, s *site, v types.KeyListEntry, a *inventory.Asset) error {
		o, err := client(s, kms.NewFromConfig).DescribeKey(ctx, &kms.DescribeKeyInput{KeyId: v.KeyId})
		if err != nil {
			return err
		}
		a.Properties = inventory.Native(o.KeyMetadata)
		return nil
	}},
	tagged(func(ctx context.Context, s *site, v types.KeyListEntry) (map[string]string, error) {
		tags, err := rest(ctx, s, func(ctx context.Context, s *site, next *string) (*kms.ListResourceTagsOutput, error) {
			return client(s, kms.NewFromConfig).ListResourceTags(ctx, &kms.ListResourceTagsInput{KeyId: v.KeyId, Marker: next})
		}, func(o *kms.ListResourceTagsOutput) ([]types.Tag, *string) {
			return o.Tags, more(o.Truncated, o.NextMarker)
		})
		return tagsOf(tags, func(t types.Tag) (*string, *string) { return t.TagKey, t.TagValue }), err
	}),
)

// Aliases cannot have tags.
var keyAliases = listing(
	func(ctx context.Context, s *site, next *string) (*kms.ListAliasesOutput, error) {
		return client(s, kms.NewFromConfig).ListAliases(ctx, &kms.ListAliasesInput{Limit: aws.Int32(100), Marker: next})
	},
	func(o *kms.ListAliasesOutput) ([]types.AliasListEntry, *string) {
		return o.Aliases, more(o.Truncated, o.NextMarker)
	},
	func(_ *site, v types.AliasListEntry) inventory.Asset {
		name := aws.ToString(v.AliasName)
		return inventory.Asset{Type: "AWS::KMS::Alias", ID: name, Name: name, ARN: aws.ToString(v.AliasArn), Properties: inventory.Native(v)}
	},
)
