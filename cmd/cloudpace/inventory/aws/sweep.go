package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// sweep reads what has or had tags, less what other tasks of the run list.
func sweep(ctx context.Context, s *site, out *inventory.Output) error {
	page := func(ctx context.Context, token string) ([]types.ResourceTagMapping, string, error) {
		in := &resourcegroupstaggingapi.GetResourcesInput{ResourcesPerPage: aws.Int32(100)}
		if token != "" {
			in.PaginationToken = &token
		}
		o, err := s.tagging.GetResources(ctx, in)
		if err != nil {
			return nil, "", err
		}
		var rest []types.ResourceTagMapping
		for _, m := range o.ResourceTagMappingList {
			if s.listed[parseARN(aws.ToString(m.ResourceARN)).typ] {
				out.Elsewhere()
				continue
			}
			rest = append(rest, m)
		}
		return rest, aws.ToString(o.PaginationToken), nil
	}
	return inventory.Walk(ctx, out, page, func(m types.ResourceTagMapping) inventory.Asset {
		r := parseARN(aws.ToString(m.ResourceARN))
		if r.region == "" && r.typ != "unknown" && r.typ != "AWS::S3::Bucket" {
			// It belongs to no region; a bucket's ARN only does not say which one.
			r.region = partitionNamed(s.partition).global
		}
		a := inventory.Asset{
			Region: r.region, Type: r.typ, ID: r.id, ARN: aws.ToString(m.ResourceARN), Tags: make(map[string]string, len(m.Tags)),
		}
		for _, t := range m.Tags {
			a.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
		}
		a.Name = a.Tags["Name"]
		return a
	})
}
