package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/schemas"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

func (s *site) tagging() *resourcegroupstaggingapi.Client {
	return client(s, resourcegroupstaggingapi.NewFromConfig, func(o *resourcegroupstaggingapi.Options) {
		// The SDK prefers CBOR, which emulators and proxies do not read yet; the
		// service speaks both.
		o.Protocol = awsjson.New11(schemas.ResourceGroupsTaggingAPI_20170126)
	})
}

// sweep reads what has or had tags, less what other tasks of the run list.
func sweep(ctx context.Context, s *site, out *inventory.Output) error {
	page := func(ctx context.Context, token string) ([]types.ResourceTagMapping, string, error) {
		in := &resourcegroupstaggingapi.GetResourcesInput{ResourcesPerPage: aws.Int32(100)}
		if token != "" {
			in.PaginationToken = &token
		}
		o, err := s.tagging().GetResources(ctx, in)
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
