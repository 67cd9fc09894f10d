package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

func askEKS(ctx context.Context, s *site, next *string) (*eks.ListClustersOutput, error) {
	return client(s, eks.NewFromConfig).ListClusters(ctx, &eks.ListClustersInput{MaxResults: aws.Int32(100), NextToken: next})
}

func takeEKS(o *eks.ListClustersOutput) ([]string, *string) { return o.Clusters, o.NextToken }

var eksClusters = listing(
	askEKS, takeEKS,
	func(s *site, name string) inventory.Asset {
		return inventory.Asset{Type: "AWS::EKS::Cluster", ID: name, Name: name, ARN: s.arn("eks", "", "cluster/"+name)}
	},
	detail[string]{"description", func(ctx context.Context, s *site, name string, a *inventory.Asset) error {
		o, err := client(s, eks.NewFromConfig).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &name})
		if err != nil {
			return err
		}
		if o.Cluster != nil {
			a.Tags, a.Properties = read(o.Cluster.Tags), inventory.Native(o.Cluster)
		}
		return nil
	}},
)

var nodegroups = nested(
	askEKS, takeEKS,
	func(cluster string) string { return "nodegroups of " + cluster },
	func(ctx context.Context, s *site, cluster string, next *string) (*eks.ListNodegroupsOutput, error) {
		return client(s, eks.NewFromConfig).ListNodegroups(ctx, &eks.ListNodegroupsInput{ClusterName: &cluster, MaxResults: aws.Int32(100), NextToken: next})
	},
	func(o *eks.ListNodegroupsOutput) ([]string, *string) { return o.Nodegroups, o.NextToken },
	func(_ *site, u under[string, string]) inventory.Asset {
		// The ARN has a part that only the description tells.
		return inventory.Asset{Type: "AWS::EKS::Nodegroup", ID: u.parent + "/" + u.item, Name: u.item}
	},
	detail[under[string, string]]{"description", func(ctx context.Context, s *site, u under[string, string], a *inventory.Asset) error {
		o, err := client(s, eks.NewFromConfig).DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &u.parent, NodegroupName: &u.item})
		if err != nil {
			return err
		}
		if n := o.Nodegroup; n != nil {
			a.ARN, a.Tags, a.Properties = aws.ToString(n.NodegroupArn), read(n.Tags), inventory.Native(n)
		}
		return nil
	}},
)
