package aws

import (
	"context"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

func askZones(ctx context.Context, s *site, next *string) (*route53.ListHostedZonesOutput, error) {
	return client(s, route53.NewFromConfig).ListHostedZones(ctx, &route53.ListHostedZonesInput{MaxItems: aws.Int32(100), Marker: next})
}

func takeZones(o *route53.ListHostedZonesOutput) ([]types.HostedZone, *string) {
	return o.HostedZones, more(o.IsTruncated, o.NextMarker)
}

// zoneID gives what is left of "/hostedzone/Z123".
func zoneID(z types.HostedZone) string { return path.Base(aws.ToString(z.Id)) }

var hostedZones = listing(
	askZones,
	groups(10, takeZones, zoneID, func(ctx context.Context, s *site, ids []string) (map[string]map[string]string, error) {
		o, err := client(s, route53.NewFromConfig).ListTagsForResources(ctx, &route53.ListTagsForResourcesInput{
			ResourceType: types.TagResourceTypeHostedzone, ResourceIds: ids,
		})
		if err != nil {
			return nil, err
		}
		found := make(map[string]map[string]string, len(o.ResourceTagSets))
		for _, set := range o.ResourceTagSets {
			found[aws.ToString(set.ResourceId)] = tagsOf(set.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
		}
		return found, nil
	}),
	func(s *site, g grouped[types.HostedZone, map[string]string]) inventory.Asset {
		return inventory.Asset{
			Type: "AWS::Route53::HostedZone", ID: g.key, Name: aws.ToString(g.item.Name),
			ARN: "arn:" + s.partition + ":route53:::hostedzone/" + g.key, Properties: inventory.Native(g.item),
		}
	},
	batchTags[types.HostedZone](),
)

// Record sets have neither ARN nor tags.
var recordSets = nested(
	askZones, takeZones,
	func(z types.HostedZone) string { return "record sets of " + zoneID(z) },
	func(ctx context.Context, s *site, z types.HostedZone, next *string) (*route53.ListResourceRecordSetsOutput, error) {
		in := &route53.ListResourceRecordSetsInput{HostedZoneId: z.Id, MaxItems: aws.Int32(300)}
		if next != nil {
			// What comes next is told by name, type and, among sets of the same two,
			// identifier.
			from := strings.Split(*next, "\n")
			in.StartRecordName, in.StartRecordType = &from[0], types.RRType(from[1])
			if from[2] != "" {
				in.StartRecordIdentifier = &from[2]
			}
		}
		return client(s, route53.NewFromConfig).ListResourceRecordSets(ctx, in)
	},
	func(o *route53.ListResourceRecordSetsOutput) ([]types.ResourceRecordSet, *string) {
		from := strings.Join([]string{aws.ToString(o.NextRecordName), string(o.NextRecordType), aws.ToString(o.NextRecordIdentifier)}, "\n")
		return o.ResourceRecordSets, more(o.IsTruncated, &from)
	},
	func(_ *site, u under[types.HostedZone, types.ResourceRecordSet]) inventory.Asset {
		r := u.item
		id := zoneID(u.parent) + "/" + aws.ToString(r.Name) + "/" + string(r.Type)
		if r.SetIdentifier != nil {
			id += "/" + *r.SetIdentifier
		}
		return inventory.Asset{Type: "AWS::Route53::RecordSet", ID: id, Name: aws.ToString(r.Name), Properties: inventory.Native(r)}
	},
)
