package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var roles = listing(
	func(ctx context.Context, s *site, next *string) (*iam.ListRolesOutput, error) {
		return s.iam.ListRoles(ctx, &iam.ListRolesInput{MaxItems: aws.Int32(1000), Marker: next})
	},
	func(o *iam.ListRolesOutput) ([]types.Role, *string) {
		if !o.IsTruncated {
			return o.Roles, nil
		}
		return o.Roles, o.Marker
	},
	func(s *site, r types.Role) inventory.Asset {
		name := aws.ToString(r.RoleName)
		return inventory.Asset{Type: "AWS::IAM::Role", ID: name, Name: name, ARN: aws.ToString(r.Arn), Properties: inventory.Native(r)}
	},
	// ListRoles leaves tags out, also when there are some.
	detail[types.Role]{"tags", func(ctx context.Context, s *site, r types.Role, a *inventory.Asset) error {
		// A role has 50 tags at most, so they are one page.
		o, err := s.iam.ListRoleTags(ctx, &iam.ListRoleTagsInput{RoleName: r.RoleName, MaxItems: aws.Int32(100)})
		if err != nil {
			return err
		}
		a.Tags = make(map[string]string, len(o.Tags))
		for _, t := range o.Tags {
			a.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
		}
		return nil
	}},
)
