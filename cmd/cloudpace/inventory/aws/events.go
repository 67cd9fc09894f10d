package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

func askBuses(ctx context.Context, s *site, next *string) (*eventbridge.ListEventBusesOutput, error) {
	return client(s, eventbridge.NewFromConfig).ListEventBuses(ctx, &eventbridge.ListEventBusesInput{Limit: aws.Int32(100), NextToken: next})
}

func takeBuses(o *eventbridge.ListEventBusesOutput) ([]types.EventBus, *string) {
	return o.EventBuses, o.NextToken
}

var eventBuses = listing(
	askBuses, takeBuses,
	func(_ *site, v types.EventBus) inventory.Asset {
		name := aws.ToString(v.Name)
		return inventory.Asset{Type: "AWS::Events::EventBus", ID: name, Name: name, ARN: aws.ToString(v.Arn), Properties: inventory.Native(v)}
	},
	tagged(func(ctx context.Context, s *site, v types.EventBus) (map[string]string, error) {
		return eventTags(ctx, s, v.Arn)
	}),
)

var eventRules = nested(
	askBuses, takeBuses,
	func(v types.EventBus) string { return "rules of " + aws.ToString(v.Name) },
	func(ctx context.Context, s *site, v types.EventBus, next *string) (*eventbridge.ListRulesOutput, error) {
		return client(s, eventbridge.NewFromConfig).ListRules(ctx, &eventbridge.ListRulesInput{EventBusName: v.Name, Limit: aws.Int32(100), NextToken: next})
	},
	func(o *eventbridge.ListRulesOutput) ([]types.Rule, *string) { return o.Rules, o.NextToken },
	func(_ *site, u under[types.EventBus, types.Rule]) inventory.Asset {
		name, bus := aws.ToString(u.item.Name), aws.ToString(u.parent.Name)
		id := name
		if bus != "default" {
			id = bus + "/" + name // as in its ARN; a name is a bus's own
		}
		return inventory.Asset{Type: "AWS::Events::Rule", ID: id, Name: name, ARN: aws.ToString(u.item.Arn), Properties: inventory.Native(u.item)}
	},
	detail[under[types.EventBus, types.Rule]]{"targets", func(ctx context.Context, s *site, u under[types.EventBus, types.Rule], a *inventory.Asset) error {
		list, err := rest(ctx, s, func(ctx context.Context, s *site, next *string) (*eventbridge.ListTargetsByRuleOutput, error) {
			return client(s, eventbridge.NewFromConfig).ListTargetsByRule(ctx, &eventbridge.ListTargetsByRuleInput{
				EventBusName: u.parent.Name, Rule: u.item.Name, Limit: aws.Int32(100), NextToken: next,
			})
		}, func(o *eventbridge.ListTargetsByRuleOutput) ([]types.Target, *string) { return o.Targets, o.NextToken })
		if err != nil {
			return err
		}
		// What is sent to them, and with which headers, is not kept.
		for i, t := range list {
			list[i] = types.Target{Id: t.Id, Arn: t.Arn, RoleArn: t.RoleArn, DeadLetterConfig: t.DeadLetterConfig}
		}
		a.Add("Targets", list)
		return nil
	}},
	tagged(func(ctx context.Context, s *site, u under[types.EventBus, types.Rule]) (map[string]string, error) {
		return eventTags(ctx, s, u.item.Arn)
	}),
)

func eventTags(ctx context.Context, s *site, arn *string) (map[string]string, error) {
	o, err := client(s, eventbridge.NewFromConfig).ListTagsForResource(ctx, &eventbridge.ListTagsForResourceInput{ResourceARN: arn})
	if err != nil {
		return nil, err
	}
	return tagsOf(o.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }), nil
}
