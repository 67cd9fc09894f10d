package aws

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

func askClusters(ctx context.Context, s *site, next *string) (*ecs.ListClustersOutput, error) {
	return client(s, ecs.NewFromConfig).ListClusters(ctx, &ecs.ListClustersInput{MaxResults: aws.Int32(100), NextToken: next})
}

func takeClusters(o *ecs.ListClustersOutput) ([]string, *string) { return o.ClusterArns, o.NextToken }

var clusters = listing(
	askClusters,
	groups(100, takeClusters, itself, func(ctx context.Context, s *site, arns []string) (map[string]types.Cluster, error) {
		o, err := client(s, ecs.NewFromConfig).DescribeClusters(ctx, &ecs.DescribeClustersInput{
			Clusters: arns, Include: []types.ClusterField{types.ClusterFieldConfigurations, types.ClusterFieldSettings, types.ClusterFieldTags},
		})
		if err != nil {
			return nil, err
		}
		found := make(map[string]types.Cluster, len(o.Clusters))
		for _, c := range o.Clusters {
			found[aws.ToString(c.ClusterArn)] = c
		}
		return found, failures(o.Failures)
	}),
	func(_ *site, g grouped[string, types.Cluster]) inventory.Asset {
		return ecsAsset("AWS::ECS::Cluster", g.item)
	},
	detail[grouped[string, types.Cluster]]{"description", func(ctx context.Context, s *site, g grouped[string, types.Cluster], a *inventory.Asset) error {
		c, err := g.found(ctx, s)
		if err != nil {
			return err
		}
		a.Tags, a.Properties = tagsOf(c.Tags, ecsTag), inventory.Native(c)
		return nil
	}},
)

// A service is listed and described in its cluster, ten at a time.
var services = nested(
	askClusters, takeClusters,
	func(cluster string) string { return "services of " + path.Base(cluster) },
	func(ctx context.Context, s *site, cluster string, next *string) (*servicesOf, error) {
		o, err := client(s, ecs.NewFromConfig).ListServices(ctx, &ecs.ListServicesInput{Cluster: &cluster, MaxResults: aws.Int32(100), NextToken: next})
		return &servicesOf{cluster, o}, err
	},
	func(o *servicesOf) ([]grouped[string, types.Service], *string) {
		return groups(10, func(o *servicesOf) ([]string, *string) { return o.ServiceArns, o.NextToken }, itself, o.describe)(o)
	},
	func(_ *site, u under[string, grouped[string, types.Service]]) inventory.Asset {
		a := ecsAsset("AWS::ECS::Service", u.item.item)
		a.ID = path.Base(u.parent) + "/" + a.Name // a name is a cluster's own
		return a
	},
	detail[under[string, grouped[string, types.Service]]]{"description", func(ctx context.Context, s *site, u under[string, grouped[string, types.Service]], a *inventory.Asset) error {
		v, err := u.item.found(ctx, s)
		if err != nil {
			return err
		}
		v.Events = nil // a hundred lines about the last hours
		for _, d := range v.Deployments {
			if d.ServiceConnectConfiguration != nil {
				hideLogOptions(d.ServiceConnectConfiguration.LogConfiguration)
			}
		}
		a.Tags, a.Properties = tagsOf(v.Tags, ecsTag), inventory.Native(v)
		return nil
	}},
)

// servicesOf is a page of the services of a cluster.
type servicesOf struct {
	cluster string
	*ecs.ListServicesOutput
}

func (p *servicesOf) describe(ctx context.Context, s *site, arns []string) (map[string]types.Service, error) {
	o, err := client(s, ecs.NewFromConfig).DescribeServices(ctx, &ecs.DescribeServicesInput{
		Cluster: &p.cluster, Services: arns, Include: []types.ServiceField{types.ServiceFieldTags},
	})
	if err != nil {
		return nil, err
	}
	found := make(map[string]types.Service, len(o.Services))
	for _, v := range o.Services {
		found[aws.ToString(v.ServiceArn)] = v
	}
	return found, failures(o.Failures)
}

var taskDefinitions = listing(
	func(ctx context.Context, s *site, next *string) (*ecs.ListTaskDefinitionsOutput, error) {
		return client(s, ecs.NewFromConfig).ListTaskDefinitions(ctx, &ecs.ListTaskDefinitionsInput{MaxResults: aws.Int32(100), NextToken: next})
	},
	func(o *ecs.ListTaskDefinitionsOutput) ([]string, *string) { return o.TaskDefinitionArns, o.NextToken },
	func(_ *site, arn string) inventory.Asset { return ecsAsset("AWS::ECS::TaskDefinition", arn) },
	detail[string]{"description", func(ctx context.Context, s *site, arn string, a *inventory.Asset) error {
		o, err := client(s, ecs.NewFromConfig).DescribeTaskDefinition(ctx, &ecs.DescribeTaskDefinitionInput{
			TaskDefinition: &arn, Include: []types.TaskDefinitionField{types.TaskDefinitionFieldTags},
		})
		if err != nil {
			return err
		}
		if o.TaskDefinition != nil {
			for i := range o.TaskDefinition.ContainerDefinitions {
				hideInContainer(&o.TaskDefinition.ContainerDefinitions[i])
			}
			for _, v := range o.TaskDefinition.Volumes {
				if d := v.DockerVolumeConfiguration; d != nil {
					d.DriverOpts = hidden(d.DriverOpts)
				}
			}
			a.Properties = inventory.Native(o.TaskDefinition)
		}
		a.Tags = tagsOf(o.Tags, ecsTag)
		return nil
	}},
)

// hideInContainer takes out where people put passwords. What is under Secrets
// stays: it names them, and has none.
func hideInContainer(c *types.ContainerDefinition) {
	for i := range c.Environment {
		hide(&c.Environment[i].Value)
	}
	hideLogOptions(c.LogConfiguration)
	if c.FirelensConfiguration != nil {
		c.FirelensConfiguration.Options = hidden(c.FirelensConfiguration.Options)
	}
}

// hideLogOptions leaves the options of CloudWatch Logs, which say where logs are.
// Those of other drivers have tokens among them.
func hideLogOptions(c *types.LogConfiguration) {
	if c == nil {
		return
	}
	for key := range c.Options {
		if !strings.HasPrefix(key, "awslogs-") {
			c.Options[key] = notKept
		}
	}
}

// failures makes an error of what a description says it could not do. What is
// missing is no failure: it is gone.
func failures(list []types.Failure) error {
	for _, f := range list {
		if reason := aws.ToString(f.Reason); reason != "MISSING" {
			return fmt.Errorf("%s: %s %s", aws.ToString(f.Arn), reason, aws.ToString(f.Detail))
		}
	}
	return nil
}

func ecsAsset(typ, arn string) inventory.Asset {
	name := path.Base(arn)
	return inventory.Asset{Type: typ, ID: name, Name: name, ARN: arn}
}

func ecsTag(t types.Tag) (key, value *string) { return t.Key, t.Value }

func itself(key string) string { return key }
