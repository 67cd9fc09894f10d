package aws

import "github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"

func iamList(op, set, id string, names ...string) string {
	list := ""
	for _, n := range names {
		list += "<member><" + id + ">" + n + "</" + id + "><Arn>arn:aws:iam::111122223333:" + map[string]string{
			"UserName": "user", "GroupName": "group", "PolicyName": "policy", "InstanceProfileName": "instance-profile",
		}[id] + "/" + n + "</Arn></member>"
	}
	more := "<IsTruncated>false</IsTruncated>"
	if len(names) == 1 {
		more = "<IsTruncated>true</IsTruncated><Marker>m</Marker>"
	}
	return q(op, "<"+set+">"+list+"</"+set+">"+more)
}

// iamService has one on its first page, and on the second one that is denied and
// one that is gone.
func iamService(task, op, set, id, tagOp string) service {
	c := service{
		task: task, on: map[string]fakeaws.Answer{"iam." + op: fakeaws.Pages(iamList(op, set, id, "one"), iamList(op, set, id, "bad", "gone"))},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad untagged -tags", "one {env:test}"},
	}
	if tagOp == "" {
		c.record, c.assets = "SUCCESS, 3 assets", []string{"bad untagged", "gone untagged", "one untagged"}
		return c
	}
	c.on["iam."+tagOp] = about(q(tagOp, "<Tags><member><Key>env</Key><Value>test</Value></member></Tags><IsTruncated>false</IsTruncated>"), "bad", denied, "gone", fakeaws.Fail(404, "NoSuchEntity"))
	return c
}

var otherServices = []service{
	iamService("iam_users", "ListUsers", "Users", "UserName", "ListUserTags"),
	iamService("iam_groups", "ListGroups", "Groups", "GroupName", ""),
	iamService("iam_policies", "ListPolicies", "Policies", "PolicyName", "ListPolicyTags"),
	iamService("iam_instance_profiles", "ListInstanceProfiles", "InstanceProfiles", "InstanceProfileName", "ListInstanceProfileTags"),
	{
		task: "efs_file_systems",
		on: map[string]fakeaws.Answer{
			"elasticfilesystem.GET /2015-02-01/file-systems": fakeaws.Pages(
				`{"FileSystems":[{"FileSystemId":"fs-1","OwnerId":"111122223333","NumberOfMountTargets":2,"Name":"home","Tags":[{"Key":"Name","Value":"home"}]}],"NextMarker":"m"}`,
				`{"FileSystems":[{"FileSystemId":"fs-2","NumberOfMountTargets":0,"Tags":[]},{"FileSystemId":"fs-bad","NumberOfMountTargets":1,"Tags":[]},{"FileSystemId":"fs-gone","NumberOfMountTargets":1}]}`),
			"elasticfilesystem.GET /2015-02-01/mount-targets": about(`{"MountTargets":[{"MountTargetId":"mt-1"}],"NextMarker":"m"}`,
				"fs-bad", denied, "fs-gone", gone("FileSystemNotFound"), "Marker=m", text(`{"MountTargets":[{"MountTargetId":"mt-2"}]}`)),
		},
		record: "PARTIAL access_denied, 3 assets, 1 vanished, 1 incomplete", assets: []string{"fs-1 {Name:home}", "fs-2", "fs-bad -mount_targets"},
		has: []string{`"MountTargets":[{"MountTargetId":"mt-1"},{"MountTargetId":"mt-2"}]`},
	},
	{
		task: "autoscaling_groups",
		on: map[string]fakeaws.Answer{"autoscaling.DescribeAutoScalingGroups": fakeaws.Pages(
			q("DescribeAutoScalingGroups", `<AutoScalingGroups><member><AutoScalingGroupName>one</AutoScalingGroupName><AutoScalingGroupARN>arn:aws:autoscaling:us-east-1:111122223333:autoScalingGroup:1-2:autoScalingGroupName/one</AutoScalingGroupARN>
				<Tags><member><Key>env</Key><Value>test</Value></member></Tags></member></AutoScalingGroups><NextToken>t</NextToken>`),
			q("DescribeAutoScalingGroups", `<AutoScalingGroups><member><AutoScalingGroupName>two</AutoScalingGroupName></member></AutoScalingGroups>`))},
		record: "SUCCESS, 2 assets", assets: []string{"one {env:test}", "two"},
	},
	{
		task: "autoscaling_launch_configurations",
		on: map[string]fakeaws.Answer{"autoscaling.DescribeLaunchConfigurations": fakeaws.Pages(
			q("DescribeLaunchConfigurations", `<LaunchConfigurations><member><LaunchConfigurationName>one</LaunchConfigurationName><UserData>`+secret+`</UserData></member></LaunchConfigurations><NextToken>t</NextToken>`),
			q("DescribeLaunchConfigurations", `<LaunchConfigurations><member><LaunchConfigurationName>two</LaunchConfigurationName><UserData></UserData></member></LaunchConfigurations>`))},
		record: "SUCCESS, 2 assets", assets: []string{"one untagged", "two untagged"}, has: []string{`"UserData":"(not kept)"`, `"UserData":""`},
	},
	{
		task: "cloudformation_stacks",
		on: map[string]fakeaws.Answer{"cloudformation.DescribeStacks": fakeaws.Pages(
			q("DescribeStacks", `<Stacks><member><StackName>one</StackName><StackId>arn:aws:cloudformation:us-east-1:111122223333:stack/one/1-2</StackId>
				<Parameters><member><ParameterKey>Password</ParameterKey><ParameterValue>`+secret+`</ParameterValue></member></Parameters>
				<Outputs><member><OutputKey>Token</OutputKey><OutputValue>`+secret+`</OutputValue></member></Outputs>
				<Tags><member><Key>env</Key><Value>test</Value></member></Tags></member></Stacks><NextToken>t</NextToken>`),
			q("DescribeStacks", `<Stacks><member><StackName>two</StackName></member></Stacks>`))},
		record: "SUCCESS, 2 assets", assets: []string{"one {env:test}", "two"},
		has: []string{`{"ParameterKey":"Password","ParameterValue":"(not kept)"}`, `{"OutputKey":"Token","OutputValue":"(not kept)"}`},
	},
	{
		task: "cloudtrail_trails",
		on: map[string]fakeaws.Answer{
			"cloudtrail.DescribeTrails": text(`{"trailList":[{"Name":"one","TrailARN":"arn:aws:cloudtrail:us-east-1:111122223333:trail/one"},{"Name":"bad","TrailARN":"arn:aws:cloudtrail:us-east-1:111122223333:trail/bad"},{"Name":"gone","TrailARN":"arn:aws:cloudtrail:us-east-1:111122223333:trail/gone"}]}`),
			"cloudtrail.ListTags":       text(`{"ResourceTagList":[{"ResourceId":"arn:aws:cloudtrail:us-east-1:111122223333:trail/one","TagsList":[{"Key":"env","Value":"test"}]}]}`),
			"cloudtrail.GetTrailStatus": about(`{"IsLogging":false}`, "bad", denied, "gone", gone("TrailNotFoundException")),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad -status", "one {env:test}"}, has: []string{`"IsLogging":false`},
	},
	{
		task: "cloudwatch_alarms",
		on: map[string]fakeaws.Answer{
			"monitoring.DescribeAlarms": fakeaws.Pages(
				`{"MetricAlarms":[{"AlarmName":"one","AlarmArn":"arn:aws:cloudwatch:us-east-1:111122223333:alarm:one"}],"CompositeAlarms":[{"AlarmName":"both","AlarmArn":"arn:aws:cloudwatch:us-east-1:111122223333:alarm:both"}],"NextToken":"t"}`,
				`{"MetricAlarms":[{"AlarmName":"bad","AlarmArn":"arn:aws:cloudwatch:us-east-1:111122223333:alarm:bad"},{"AlarmName":"gone","AlarmArn":"arn:aws:cloudwatch:us-east-1:111122223333:alarm:gone"}]}`),
			"monitoring.ListTagsForResource": about(`{"Tags":[{"Key":"env","Value":"test"}]}`, "bad", denied, "gone", gone("ResourceNotFoundException")),
		},
		record: "PARTIAL access_denied, 3 assets, 1 vanished, 1 incomplete", assets: []string{"bad untagged -tags", "both {env:test}", "one {env:test}"}, has: []string{"AWS::CloudWatch::CompositeAlarm"},
	},
	{
		task: "logs_groups",
		on: map[string]fakeaws.Answer{
			"logs.DescribeLogGroups": fakeaws.Pages(
				`{"logGroups":[{"logGroupName":"/aws/one","arn":"arn:aws:logs:us-east-1:111122223333:log-group:/aws/one:*"}],"nextToken":"t"}`,
				`{"logGroups":[{"logGroupName":"bad","logGroupArn":"arn:aws:logs:us-east-1:111122223333:log-group:bad"},{"logGroupName":"gone","arn":"arn:aws:logs:us-east-1:111122223333:log-group:gone:*"}]}`),
			"logs.ListTagsForResource": about(`{"tags":{"env":"test"}}`, "bad", denied, "gone", gone("ResourceNotFoundException"), "*", fakeaws.Fail(400, "InvalidParameterException")),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"/aws/one {env:test}", "bad untagged -tags"}, has: []string{`"arn":"arn:aws:logs:us-east-1:111122223333:log-group:/aws/one"`},
	},
	{
		task: "ssm_parameters",
		on: map[string]fakeaws.Answer{
			"ssm.DescribeParameters":  fakeaws.Pages(`{"Parameters":[{"Name":"/app/one","Type":"SecureString"}],"NextToken":"t"}`, `{"Parameters":[{"Name":"bad"},{"Name":"gone"}]}`),
			"ssm.ListTagsForResource": about(`{"TagList":[{"Key":"env","Value":"test"}]}`, "bad", denied, "gone", gone("InvalidResourceId")),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"/app/one {env:test}", "bad untagged -tags"}, has: []string{"111122223333:parameter/app/one", "111122223333:parameter/bad"},
	},
	{
		task: "events_buses",
		on: map[string]fakeaws.Answer{
			"events.ListEventBuses":      fakeaws.Pages(`{"EventBuses":[{"Name":"default","Arn":"arn:aws:events:us-east-1:111122223333:event-bus/default"}],"NextToken":"t"}`, `{"EventBuses":[{"Name":"bad","Arn":"arn:aws:events:us-east-1:111122223333:event-bus/bad"},{"Name":"gone","Arn":"arn:aws:events:us-east-1:111122223333:event-bus/gone"}]}`),
			"events.ListTagsForResource": about(`{"Tags":[]}`, "bad", denied, "gone", gone("ResourceNotFoundException")),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad untagged -tags", "default"},
	},
	{
		task: "events_rules",
		on: map[string]fakeaws.Answer{
			"events.ListEventBuses": text(`{"EventBuses":[{"Name":"default"},{"Name":"custom"},{"Name":"bad"},{"Name":"gone"}]}`),
			"events.ListRules": about("", `:"default"`, fakeaws.Pages(`{"Rules":[{"Name":"r","Arn":"arn:aws:events:us-east-1:111122223333:rule/r"}]}`),
				"custom", text(`{"Rules":[{"Name":"r","Arn":"arn:aws:events:us-east-1:111122223333:rule/custom/r"},{"Name":"lost","Arn":"arn:aws:events:us-east-1:111122223333:rule/custom/lost"}]}`),
				"bad", denied, "gone", gone("ResourceNotFoundException")),
			"events.ListTargetsByRule":   about(`{"Targets":[{"Id":"1","Arn":"arn:aws:sqs:us-east-1:111122223333:q","Input":"`+secret+`","HttpParameters":{"HeaderParameters":{"Authorization":"`+secret+`"}}}]}`, "lost", gone("ResourceNotFoundException")),
			"events.ListTagsForResource": text(`{"Tags":[{"Key":"env","Value":"test"}]}`),
		},
		record: "PARTIAL access_denied, 2 assets, 2 vanished", assets: []string{"custom/r {env:test}", "r {env:test}"}, has: []string{`"Targets":[{"Arn":"arn:aws:sqs:us-east-1:111122223333:q","Id":"1"}]`},
	},
	{
		task: "kinesis_streams",
		on: map[string]fakeaws.Answer{
			"kinesis.ListStreams": func(r fakeaws.Request) (int, string) {
				return about(`{"StreamNames":["one"],"HasMoreStreams":true}`, `"ExclusiveStartStreamName":"one"`, text(`{"StreamNames":["bad"],"HasMoreStreams":true,"NextToken":"t"}`),
					`"NextToken":"t"`, text(`{"StreamNames":["gone"],"HasMoreStreams":false}`))(r)
			},
			"kinesis.DescribeStreamSummary": about(`{"StreamDescriptionSummary":{"OpenShardCount":1}}`, "bad", denied, "gone", gone("ResourceNotFoundException")),
			"kinesis.ListTagsForStream":     about(`{"Tags":[{"Key":"a","Value":"1"}],"HasMoreTags":true}`, "ExclusiveStartTagKey", text(`{"Tags":[{"Key":"b","Value":"2"}],"HasMoreTags":false}`)),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad {a:1 b:2} -description", "one {a:1 b:2}"}, has: []string{`"OpenShardCount":1`, "arn:aws:kinesis:us-east-1:111122223333:stream/one"},
	},
	{
		task: "sns_topics",
		on: map[string]fakeaws.Answer{
			"sns.ListTopics": fakeaws.Pages(
				q("ListTopics", "<Topics><member><TopicArn>arn:aws:sns:us-east-1:111122223333:one</TopicArn></member></Topics><NextToken>t</NextToken>"),
				q("ListTopics", "<Topics><member><TopicArn>arn:aws:sns:us-east-1:111122223333:bad</TopicArn></member><member><TopicArn>arn:aws:sns:us-east-1:111122223333:gone</TopicArn></member></Topics>")),
			"sns.GetTopicAttributes":  about(q("GetTopicAttributes", "<Attributes><entry><key>Owner</key><value>111122223333</value></entry></Attributes>"), "gone", fakeaws.Fail(404, "NotFound")),
			"sns.ListTagsForResource": about(q("ListTagsForResource", "<Tags><member><Key>env</Key><Value>test</Value></member></Tags>"), "bad", denied),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad untagged -tags", "one {env:test}"}, has: []string{`"Attributes":{"Owner":"111122223333"}`},
	},
	{
		task: "stepfunctions_state_machines",
		on: map[string]fakeaws.Answer{
			"states.ListStateMachines": fakeaws.Pages(
				`{"stateMachines":[{"name":"one","stateMachineArn":"arn:aws:states:us-east-1:111122223333:stateMachine:one"}],"nextToken":"t"}`,
				`{"stateMachines":[{"name":"bad","stateMachineArn":"arn:aws:states:us-east-1:111122223333:stateMachine:bad"},{"name":"gone","stateMachineArn":"arn:aws:states:us-east-1:111122223333:stateMachine:gone"}]}`),
			"states.DescribeStateMachine": about(`{"status":"ACTIVE","definition":"`+secret+`"}`, "bad", denied, "gone", gone("StateMachineDoesNotExist")),
			"states.ListTagsForResource":  text(`{"tags":[{"key":"env","value":"test"}]}`),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad {env:test} -description", "one {env:test}"}, has: []string{`"Status":"ACTIVE"`},
	},
	{
		task: "acm_certificates",
		on: map[string]fakeaws.Answer{
			"acm.ListCertificates": about(`{"CertificateSummaryList":[]}`, `"NextToken":"t"`, text(`{"CertificateSummaryList":[{"CertificateArn":"arn:aws:acm:us-east-1:111122223333:certificate/bad"},{"CertificateArn":"arn:aws:acm:us-east-1:111122223333:certificate/gone"}]}`),
				// Only those asked for are listed.
				"EC_secp521r1", text(`{"CertificateSummaryList":[{"CertificateArn":"arn:aws:acm:us-east-1:111122223333:certificate/one","DomainName":"example.com"}],"NextToken":"t"}`)),
			"acm.DescribeCertificate":    about(`{"Certificate":{"KeyAlgorithm":"EC_secp521r1"}}`, "bad", denied, "gone", gone("ResourceNotFoundException")),
			"acm.ListTagsForCertificate": text(`{"Tags":[{"Key":"env","Value":"test"}]}`),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad {env:test} -description", "one {env:test}"}, has: []string{`"name":"example.com"`, `"KeyAlgorithm":"EC_secp521r1"`},
	},
	{
		task: "kms_keys",
		on: map[string]fakeaws.Answer{
			"kms.ListKeys":         fakeaws.Pages(`{"Keys":[{"KeyId":"one","KeyArn":"arn:aws:kms:us-east-1:111122223333:key/one"}],"Truncated":true,"NextMarker":"m"}`, `{"Keys":[{"KeyId":"bad"},{"KeyId":"gone"}],"Truncated":false}`),
			"kms.DescribeKey":      about(`{"KeyMetadata":{"KeyId":"one","KeyManager":"CUSTOMER"}}`, "gone", gone("NotFoundException")),
			"kms.ListResourceTags": about(`{"Tags":[{"TagKey":"env","TagValue":"test"}],"Truncated":false}`, "bad", denied),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad untagged -tags", "one {env:test}"}, has: []string{`"KeyManager":"CUSTOMER"`},
	},
	{
		// A service that says there is more, and not where, has not told all.
		task: "kms_aliases",
		on: map[string]fakeaws.Answer{"kms.ListAliases": about(`{"Aliases":[{"AliasName":"alias/one","AliasArn":"arn:aws:kms:us-east-1:111122223333:alias/one"}],"Truncated":true}`,
			`"Marker"`, gone("InvalidMarkerException"))},
		record: "PARTIAL protocol, 1 assets", assets: []string{"alias/one untagged"},
	},
	{
		task: "secretsmanager_secrets",
		on: map[string]fakeaws.Answer{
			"secretsmanager.ListSecrets": fakeaws.Pages(
				`{"SecretList":[{"Name":"one","ARN":"arn:aws:secretsmanager:us-east-1:111122223333:secret:one-a1","Tags":[{"Key":"env","Value":"test"}],"ExternalSecretRotationMetadata":[{"Key":"k","Value":"`+secret+`"}]}],"NextToken":"t"}`,
				`{"SecretList":[{"Name":"two","DeletedDate":1700000000}]}`),
			"secretsmanager.GetSecretValue": text(`{"SecretString":"` + secret + `"}`),
		},
		record: "SUCCESS, 2 assets", assets: []string{"one {env:test}", "two"},
	},
}
