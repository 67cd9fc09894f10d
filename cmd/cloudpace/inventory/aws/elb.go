package aws

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing/types"
	elbv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// elbPage is the most that both generations of Elastic Load Balancing give at
// once; of tags they tell those of 20.
var elbPage = aws.Int32(400)

const elbTagged = 20

func askBalancers(ctx context.Context, s *site, next *string) (*elbv2.DescribeLoadBalancersOutput, error) {
	return client(s, elbv2.NewFromConfig).DescribeLoadBalancers(ctx, &elbv2.DescribeLoadBalancersInput{PageSize: elbPage, Marker: next})
}

func takeBalancers(o *elbv2.DescribeLoadBalancersOutput) ([]types.LoadBalancer, *string) {
	return o.LoadBalancers, o.NextMarker
}

var loadBalancers = listing(
	askBalancers,
	groups(elbTagged, takeBalancers, func(v types.LoadBalancer) string { return aws.ToString(v.LoadBalancerArn) }, elbTags),
	func(_ *site, g grouped[types.LoadBalancer, map[string]string]) inventory.Asset {
		name := aws.ToString(g.item.LoadBalancerName)
		return inventory.Asset{Type: "AWS::ElasticLoadBalancingV2::LoadBalancer", ID: name, Name: name, ARN: g.key, Properties: inventory.Native(g.item)}
	},
	batchTags[types.LoadBalancer](),
)

var targetGroups = listing(
	func(ctx context.Context, s *site, next *string) (*elbv2.DescribeTargetGroupsOutput, error) {
		return client(s, elbv2.NewFromConfig).DescribeTargetGroups(ctx, &elbv2.DescribeTargetGroupsInput{PageSize: elbPage, Marker: next})
	},
	groups(elbTagged, func(o *elbv2.DescribeTargetGroupsOutput) ([]types.TargetGroup, *string) {
		return o.TargetGroups, o.NextMarker
	}, func(v types.TargetGroup) string { return aws.ToString(v.TargetGroupArn) }, elbTags),
	func(_ *site, g grouped[types.TargetGroup, map[string]string]) inventory.Asset {
		name := aws.ToString(g.item.TargetGroupName)
		return inventory.Asset{Type: "AWS::ElasticLoadBalancingV2::TargetGroup", ID: name, Name: name, ARN: g.key, Properties: inventory.Native(g.item)}
	},
	batchTags[types.TargetGroup](),
)

var listeners = nested(
	askBalancers, takeBalancers,
	func(v types.LoadBalancer) string { return "listeners of " + aws.ToString(v.LoadBalancerName) },
	func(ctx context.Context, s *site, v types.LoadBalancer, next *string) (*elbv2.DescribeListenersOutput, error) {
		return client(s, elbv2.NewFromConfig).DescribeListeners(ctx, &elbv2.DescribeListenersInput{
			LoadBalancerArn: v.LoadBalancerArn, PageSize: elbPage, Marker: next,
		})
	},
	groups(elbTagged, func(o *elbv2.DescribeListenersOutput) ([]types.Listener, *string) {
		return o.Listeners, o.NextMarker
	}, func(v types.Listener) string { return aws.ToString(v.ListenerArn) }, elbTags),
	func(_ *site, u under[types.LoadBalancer, grouped[types.Listener, map[string]string]]) inventory.Asset {
		v := u.item.item
		for _, action := range v.DefaultActions {
			if c := action.AuthenticateOidcConfig; c != nil {
				hide(&c.ClientSecret)
				c.AuthenticationRequestExtraParams = hidden(c.AuthenticationRequestExtraParams)
			}
		}
		_, id, _ := strings.Cut(u.item.key, ":listener/")
		return inventory.Asset{Type: "AWS::ElasticLoadBalancingV2::Listener", ID: id, ARN: u.item.key, Properties: inventory.Native(v)}
	},
	tagged(func(ctx context.Context, s *site, u under[types.LoadBalancer, grouped[types.Listener, map[string]string]]) (map[string]string, error) {
		return batched(ctx, s, u.item)
	}),
)

func elbTags(ctx context.Context, s *site, arns []string) (map[string]map[string]string, error) {
	o, err := client(s, elbv2.NewFromConfig).DescribeTags(ctx, &elbv2.DescribeTagsInput{ResourceArns: arns})
	if err != nil {
		return nil, err
	}
	found := make(map[string]map[string]string, len(o.TagDescriptions))
	for _, d := range o.TagDescriptions {
		found[aws.ToString(d.ResourceArn)] = tagsOf(d.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value })
	}
	return found, nil
}

var classicBalancers = listing(
	func(ctx context.Context, s *site, next *string) (*elb.DescribeLoadBalancersOutput, error) {
		return client(s, elb.NewFromConfig).DescribeLoadBalancers(ctx, &elb.DescribeLoadBalancersInput{PageSize: elbPage, Marker: next})
	},
	groups(elbTagged, func(o *elb.DescribeLoadBalancersOutput) ([]classic.LoadBalancerDescription, *string) {
		return o.LoadBalancerDescriptions, o.NextMarker
	}, func(v classic.LoadBalancerDescription) string { return aws.ToString(v.LoadBalancerName) },
		func(ctx context.Context, s *site, names []string) (map[string]map[string]string, error) {
			o, err := client(s, elb.NewFromConfig).DescribeTags(ctx, &elb.DescribeTagsInput{LoadBalancerNames: names})
			if err != nil {
				return nil, err
			}
			found := make(map[string]map[string]string, len(o.TagDescriptions))
			for _, d := range o.TagDescriptions {
				found[aws.ToString(d.LoadBalancerName)] = tagsOf(d.Tags, func(t classic.Tag) (*string, *string) { return t.Key, t.Value })
			}
			return found, nil
		}),
	func(s *site, g grouped[classic.LoadBalancerDescription, map[string]string]) inventory.Asset {
		return inventory.Asset{
			Type: "AWS::ElasticLoadBalancing::LoadBalancer", ID: g.key, Name: g.key, ARN: s.arn("elasticloadbalancing", "", "loadbalancer/"+g.key),
			Properties: inventory.Native(g.item),
		}
	},
	batchTags[classic.LoadBalancerDescription](),
)
