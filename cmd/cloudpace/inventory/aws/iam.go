package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// iamPage is the most that IAM gives at once. Its listings leave tags out, also
// when there are some; nothing has more than 50, so they are one page.
var (
	iamPage = aws.Int32(1000)
	iamTags = aws.Int32(100)
)

var roles = listing(
	func(ctx context.Context, s *site, next *string) (*iam.ListRolesOutput, error) {
		return client(s, iam.NewFromConfig).ListRoles(ctx, &iam.ListRolesInput{MaxItems: iamPage, Marker: next})
	},
	func(o *iam.ListRolesOutput) ([]types.Role, *string) { return o.Roles, more(o.IsTruncated, o.Marker) },
	func(_ *site, v types.Role) inventory.Asset { return iamAsset("AWS::IAM::Role", v.RoleName, v.Arn, v) },
	tagged(func(ctx context.Context, s *site, v types.Role) (map[string]string, error) {
		o, err := client(s, iam.NewFromConfig).ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: v.RoleName, MaxItems: iamTags})
		if err != nil {
			return nil, err
		}
		return tagsOf(o.Tags, iamTag), nil
	}),
)

var users = listing(
	func(ctx context.Context, s *site, next *string) (*iam.ListUsersOutput, error) {
		return client(s, iam.NewFromConfig).ListUsers(ctx, &iam.ListUsersInput{MaxItems: iamPage, Marker: next})
	},
	func(o *iam.ListUsersOutput) ([]types.User, *string) { return o.Users, more(o.IsTruncated, o.Marker) },
	func(_ *site, v types.User) inventory.Asset { return iamAsset("AWS::IAM::User", v.UserName, v.Arn, v) },
	tagged(func(ctx context.Context, s *site, v types.User) (map[string]string, error) {
		o, err := client(s, iam.NewFromConfig).ListUserTags(ctx, &iam.ListUserTagsInput{UserName: v.UserName, MaxItems: iamTags})
		if err != nil {
			return nil, err
		}
		return tagsOf(o.Tags, iamTag), nil
	}),
)

// Groups cannot have tags.
var iamGroups = listing(
	func(ctx context.Context, s *site, next *string) (*iam.ListGroupsOutput, error) {
		return client(s, iam.NewFromConfig).ListGroups(ctx, &iam.ListGroupsInput{MaxItems: iamPage, Marker: next})
	},
	func(o *iam.ListGroupsOutput) ([]types.Group, *string) { return o.Groups, more(o.IsTruncated, o.Marker) },
	func(_ *site, v types.Group) inventory.Asset {
		return iamAsset("AWS::IAM::Group", v.GroupName, v.Arn, v)
	},
)

var policies = listing(
	func(ctx context.Context, s *site, next *string) (*iam.ListPoliciesOutput, error) {
		return client(s, iam.NewFromConfig).ListPolicies(ctx, &iam.ListPoliciesInput{
			Scope: types.PolicyScopeTypeLocal, MaxItems: iamPage, Marker: next,
		})
	},
	func(o *iam.ListPoliciesOutput) ([]types.Policy, *string) {
		return o.Policies, more(o.IsTruncated, o.Marker)
	},
	func(_ *site, v types.Policy) inventory.Asset {
		return iamAsset("AWS::IAM::ManagedPolicy", v.PolicyName, v.Arn, v)
	},
	tagged(func(ctx context.Context, s *site, v types.Policy) (map[string]string, error) {
		o, err := client(s, iam.NewFromConfig).ListPolicyTags(ctx, &iam.ListPolicyTagsInput{PolicyArn: v.Arn, MaxItems: iamTags})
		if err != nil {
			return nil, err
		}
		return tagsOf(o.Tags, iamTag), nil
	}),
)

var instanceProfiles = listing(
	func(ctx context.Context, s *site, next *string) (*iam.ListInstanceProfilesOutput, error) {
		return client(s, iam.NewFromConfig).ListInstanceProfiles(ctx, &iam.ListInstanceProfilesInput{MaxItems: iamPage, Marker: next})
	},
	func(o *iam.ListInstanceProfilesOutput) ([]types.InstanceProfile, *string) {
		return o.InstanceProfiles, more(o.IsTruncated, o.Marker)
	},
	func(_ *site, v types.InstanceProfile) inventory.Asset {
		return iamAsset("AWS::IAM::InstanceProfile", v.InstanceProfileName, v.Arn, v)
	},
	tagged(func(ctx context.Context, s *site, v types.InstanceProfile) (map[string]string, error) {
		o, err := client(s, iam.NewFromConfig).ListInstanceProfileTags(ctx, &iam.ListInstanceProfileTagsInput{
			InstanceProfileName: v.InstanceProfileName, MaxItems: iamTags,
		})
		if err != nil {
			return nil, err
		}
		return tagsOf(o.Tags, iamTag), nil
	}),
)

func iamAsset(typ string, name, arn *string, native any) inventory.Asset {
	return inventory.Asset{
		Type: typ, ID: aws.ToString(name), Name: aws.ToString(name), ARN: aws.ToString(arn), Properties: inventory.Native(native),
	}
}

func iamTag(t types.Tag) (key, value *string) { return t.Key, t.Value }
