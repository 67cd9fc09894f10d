package aws

import (
	"cmp"
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	logs "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var logGroups = listing(
	func(ctx context.Context, s *site, next *string) (*cloudwatchlogs.DescribeLogGroupsOutput, error) {
		return client(s, cloudwatchlogs.NewFromConfig).DescribeLogGroups(ctx, &cloudwatchlogs.DescribeLogGroupsInput{Limit: aws.Int32(50), NextToken: next})
	},
	func(o *cloudwatchlogs.DescribeLogGroupsOutput) ([]logs.LogGroup, *string) {
		return o.LogGroups, o.NextToken
	},
	func(_ *site, v logs.LogGroup) inventory.Asset {
		name := aws.ToString(v.LogGroupName)
		return inventory.Asset{Type: "AWS::Logs::LogGroup", ID: name, Name: name, ARN: logGroupARN(v), Properties: inventory.Native(v)}
	},
	tagged(func(ctx context.Context, s *site, v logs.LogGroup) (map[string]string, error) {
		o, err := client(s, cloudwatchlogs.NewFromConfig).ListTagsForResource(ctx, &cloudwatchlogs.ListTagsForResourceInput{
			ResourceArn: aws.String(logGroupARN(v)),
		})
		if err != nil {
			return nil, err
		}
		return o.Tags, nil
	}),
)

// logGroupARN gives the ARN as everybody else writes it: the other one that there
// is means the streams in it.
func logGroupARN(v logs.LogGroup) string {
	return cmp.Or(aws.ToString(v.LogGroupArn), strings.TrimSuffix(aws.ToString(v.Arn), ":*"))
}

// alarm is one of the kinds that a page of alarms has.
type alarm struct {
	typ       string
	name, arn *string
	native    any
}

func (s *site) cloudwatch() *cloudwatch.Client {
	return client(s, cloudwatch.NewFromConfig, func(o *cloudwatch.Options) {
		// As for the tagging API: the SDK prefers CBOR.
		o.Protocol = awsjson.New10(schemas.GraniteServiceVersion20100801)
	})
}

var alarms = listing(
	func(ctx context.Context, s *site, next *string) (*cloudwatch.DescribeAlarmsOutput, error) {
		return s.cloudwatch().DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
			// Only metric alarms come unasked.
			AlarmTypes: types.AlarmType("").Values(), MaxRecords: aws.Int32(100), NextToken: next,
		})
	},
	func(o *cloudwatch.DescribeAlarmsOutput) (list []alarm, next *string) {
		for _, v := range o.MetricAlarms {
			list = append(list, alarm{"AWS::CloudWatch::Alarm", v.AlarmName, v.AlarmArn, v})
		}
		for _, v := range o.CompositeAlarms {
			list = append(list, alarm{"AWS::CloudWatch::CompositeAlarm", v.AlarmName, v.AlarmArn, v})
		}
		for _, v := range o.LogAlarms {
			list = append(list, alarm{"AWS::CloudWatch::LogAlarm", v.AlarmName, v.AlarmArn, v})
		}
		return list, o.NextToken
	},
	func(_ *site, v alarm) inventory.Asset {
		name := aws.ToString(v.name)
		return inventory.Asset{Type: v.typ, ID: name, Name: name, ARN: aws.ToString(v.arn), Properties: inventory.Native(v.native)}
	},
	tagged(func(ctx context.Context, s *site, v alarm) (map[string]string, error) {
		o, err := s.cloudwatch().ListTagsForResource(ctx, &cloudwatch.ListTagsForResourceInput{ResourceARN: v.arn})
		if err != nil {
			return nil, err
		}
		return tagsOf(o.Tags, func(t types.Tag) (*string, *string) { return t.Key, t.Value }), nil
	}),
)
