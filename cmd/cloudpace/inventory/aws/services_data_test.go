package aws

import (
	"fmt"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
)

var databaseServices = []service{
	{
		task: "rds_instances",
		on: map[string]fakeaws.Answer{"rds.DescribeDBInstances": fakeaws.Pages(
			q("DescribeDBInstances", `<DBInstances><DBInstance><DBInstanceIdentifier>one</DBInstanceIdentifier><DBInstanceArn>arn:aws:rds:us-east-1:111122223333:db:one</DBInstanceArn>
				<PendingModifiedValues><MasterUserPassword>`+secret+`</MasterUserPassword></PendingModifiedValues>
				<MasterUserSecret><SecretArn>arn:aws:secretsmanager:us-east-1:111122223333:secret:rds</SecretArn></MasterUserSecret>
				<TagList><Tag><Key>env</Key><Value>test</Value></Tag></TagList></DBInstance></DBInstances><Marker>m</Marker>`),
			q("DescribeDBInstances", `<DBInstances><DBInstance><DBInstanceIdentifier>two</DBInstanceIdentifier></DBInstance></DBInstances>`))},
		record: "SUCCESS, 2 assets", assets: []string{"one {env:test}", "two"},
		has: []string{`"MasterUserPassword":"(not kept)"`, `"SecretArn":"arn:aws:secretsmanager`},
	},
	{
		task: "rds_clusters",
		on: map[string]fakeaws.Answer{"rds.DescribeDBClusters": fakeaws.Pages(
			q("DescribeDBClusters", `<DBClusters><DBCluster><DBClusterIdentifier>one</DBClusterIdentifier><DBClusterArn>arn:aws:rds:us-east-1:111122223333:cluster:one</DBClusterArn>
				<PendingModifiedValues><MasterUserPassword>`+secret+`</MasterUserPassword></PendingModifiedValues>
				<TagList><Tag><Key>env</Key><Value>test</Value></Tag></TagList></DBCluster></DBClusters><Marker>m</Marker>`),
			q("DescribeDBClusters", `<DBClusters><DBCluster><DBClusterIdentifier>two</DBClusterIdentifier></DBCluster></DBClusters>`))},
		record: "SUCCESS, 2 assets", assets: []string{"one {env:test}", "two"}, has: []string{`"MasterUserPassword":"(not kept)"`},
	},
	{
		task: "rds_snapshots",
		on: map[string]fakeaws.Answer{"rds.DescribeDBSnapshots": fakeaws.Sequence(
			text(q("DescribeDBSnapshots", `<DBSnapshots><DBSnapshot><DBSnapshotIdentifier>one</DBSnapshotIdentifier><DBSnapshotArn>arn:aws:rds:us-east-1:111122223333:snapshot:one</DBSnapshotArn></DBSnapshot></DBSnapshots><Marker>m</Marker>`)),
			fakeaws.Fail(503, "Throttling"))},
		record: "PARTIAL throttled, 1 assets", assets: []string{"one"},
	},
	{
		task: "rds_cluster_snapshots",
		on: map[string]fakeaws.Answer{"rds.DescribeDBClusterSnapshots": fakeaws.Pages(
			q("DescribeDBClusterSnapshots", `<DBClusterSnapshots><DBClusterSnapshot><DBClusterSnapshotIdentifier>one</DBClusterSnapshotIdentifier>
				<DBClusterSnapshotArn>arn:aws:rds:us-east-1:111122223333:cluster-snapshot:one</DBClusterSnapshotArn><TagList><Tag><Key>env</Key><Value>test</Value></Tag></TagList>
				</DBClusterSnapshot></DBClusterSnapshots><Marker>m</Marker>`),
			q("DescribeDBClusterSnapshots", `<DBClusterSnapshots><DBClusterSnapshot><DBClusterSnapshotIdentifier>two</DBClusterSnapshotIdentifier></DBClusterSnapshot></DBClusterSnapshots>`))},
		record: "SUCCESS, 2 assets", assets: []string{"one {env:test}", "two"},
	},
	{
		task: "rds_subnet_groups",
		on: map[string]fakeaws.Answer{
			"rds.DescribeDBSubnetGroups": fakeaws.Pages(
				q("DescribeDBSubnetGroups", `<DBSubnetGroups><DBSubnetGroup><DBSubnetGroupName>one</DBSubnetGroupName><DBSubnetGroupArn>arn:aws:rds:us-east-1:111122223333:subgrp:one</DBSubnetGroupArn></DBSubnetGroup></DBSubnetGroups><Marker>m</Marker>`),
				q("DescribeDBSubnetGroups", `<DBSubnetGroups>
					<DBSubnetGroup><DBSubnetGroupName>bad</DBSubnetGroupName><DBSubnetGroupArn>arn:aws:rds:us-east-1:111122223333:subgrp:bad</DBSubnetGroupArn></DBSubnetGroup>
					<DBSubnetGroup><DBSubnetGroupName>gone</DBSubnetGroupName><DBSubnetGroupArn>arn:aws:rds:us-east-1:111122223333:subgrp:gone</DBSubnetGroupArn></DBSubnetGroup></DBSubnetGroups>`)),
			"rds.ListTagsForResource": about(q("ListTagsForResource", `<TagList><Tag><Key>env</Key><Value>test</Value></Tag></TagList>`), "bad", denied, "gone", gone("DBSubnetGroupNotFoundFault")),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad untagged -tags", "one {env:test}"},
	},
	{
		task: "dynamodb_tables",
		on: map[string]fakeaws.Answer{
			"dynamodb.ListTables":         fakeaws.Pages(`{"TableNames":["one"],"LastEvaluatedTableName":"one"}`, `{"TableNames":["bad","gone"]}`),
			"dynamodb.DescribeTable":      about(`{"Table":{"TableName":"x","ItemCount":0}}`, "bad", denied, "gone", gone("ResourceNotFoundException")),
			"dynamodb.ListTagsOfResource": about(`{"Tags":[{"Key":"a","Value":"1"}],"NextToken":"t"}`, `"NextToken"`, text(`{"Tags":[{"Key":"b","Value":"2"}]}`)),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad {a:1 b:2} -description", "one {a:1 b:2}"}, has: []string{`"ItemCount":0`, `"arn":"arn:aws:dynamodb:us-east-1:111122223333:table/one"`, `"TableName":"bad"`},
	},
	{
		task: "elasticache_clusters",
		on: map[string]fakeaws.Answer{
			"elasticache.DescribeCacheClusters": fakeaws.Pages(
				q("DescribeCacheClusters", `<CacheClusters><CacheCluster><CacheClusterId>one</CacheClusterId><CacheClusterStatus>available</CacheClusterStatus><ARN>arn:aws:elasticache:us-east-1:111122223333:cluster:one</ARN></CacheCluster></CacheClusters><Marker>m</Marker>`),
				q("DescribeCacheClusters", `<CacheClusters><CacheCluster><CacheClusterId>new</CacheClusterId><CacheClusterStatus>creating</CacheClusterStatus><ARN>arn:aws:elasticache:us-east-1:111122223333:cluster:new</ARN></CacheCluster>
					<CacheCluster><CacheClusterId>gone</CacheClusterId><CacheClusterStatus>available</CacheClusterStatus><ARN>arn:aws:elasticache:us-east-1:111122223333:cluster:gone</ARN></CacheCluster></CacheClusters>`)),
			"elasticache.ListTagsForResource": about(q("ListTagsForResource", `<TagList><Tag><Key>env</Key><Value>test</Value></Tag></TagList>`), "new", gone("CacheClusterNotFound"), "gone", gone("CacheClusterNotFound")),
		},
		record: "SUCCESS, 2 assets, 1 vanished", assets: []string{"new untagged", "one {env:test}"},
	},
	{
		task: "elasticache_replication_groups",
		on: map[string]fakeaws.Answer{
			"elasticache.DescribeReplicationGroups": fakeaws.Pages(
				q("DescribeReplicationGroups", `<ReplicationGroups><ReplicationGroup><ReplicationGroupId>one</ReplicationGroupId><Status>available</Status><ARN>arn:aws:elasticache:us-east-1:111122223333:replicationgroup:one</ARN></ReplicationGroup></ReplicationGroups><Marker>m</Marker>`),
				q("DescribeReplicationGroups", `<ReplicationGroups><ReplicationGroup><ReplicationGroupId>bad</ReplicationGroupId><Status>available</Status><ARN>arn:aws:elasticache:us-east-1:111122223333:replicationgroup:bad</ARN></ReplicationGroup></ReplicationGroups>`)),
			"elasticache.ListTagsForResource": about(q("ListTagsForResource", `<TagList/>`), "bad", denied),
		},
		record: "PARTIAL access_denied, 2 assets, 1 incomplete", assets: []string{"bad untagged -tags", "one"},
	},
}

// ecsARN makes one of ECS.
func ecsARN(kind, id string) string {
	return fmt.Sprintf("arn:aws:ecs:us-east-1:111122223333:%s/%s", kind, id)
}

// manyServices is a page of 23 services, for three descriptions.
func manyServices() string {
	var list []string
	for i := range 23 {
		list = append(list, `"`+ecsARN("service", fmt.Sprintf("c/s%02d", i))+`"`)
	}
	return strings.Join(list, ",")
}

var containerServices = []service{
	{
		task: "ecr_repositories",
		on: map[string]fakeaws.Answer{
			"ecr.DescribeRepositories": fakeaws.Pages(
				`{"nextToken":"t","repositories":[{"repositoryName":"team/one","repositoryArn":"arn:aws:ecr:us-east-1:111122223333:repository/team/one"}]}`,
				`{"repositories":[{"repositoryName":"bad","repositoryArn":"arn:aws:ecr:us-east-1:111122223333:repository/bad"},{"repositoryName":"gone","repositoryArn":"arn:aws:ecr:us-east-1:111122223333:repository/gone"}]}`),
			"ecr.GetRepositoryPolicy": about(`{"policyText":"{}"}`, "bad", gone("RepositoryPolicyNotFoundException"), "gone", gone("RepositoryNotFoundException")),
			"ecr.ListTagsForResource": about(`{"tags":[{"Key":"env","Value":"test"}]}`, "bad", denied),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad untagged -tags", "team/one {env:test}"},
		has: []string{`"PolicyText":"{}"`, `"PolicyText":null`},
	},
	{
		task: "ecs_clusters",
		on: map[string]fakeaws.Answer{
			"ecs.ListClusters": fakeaws.Pages(`{"clusterArns":["`+ecsARN("cluster", "one")+`","`+ecsARN("cluster", "gone")+`"],"nextToken":"t"}`, `{"clusterArns":["`+ecsARN("cluster", "bad")+`"]}`),
			"ecs.DescribeClusters": about(`{"clusters":[{"clusterArn":"`+ecsARN("cluster", "one")+`","status":"ACTIVE","tags":[{"key":"env","value":"test"}]}],"failures":[{"arn":"`+ecsARN("cluster", "gone")+`","reason":"MISSING"}]}`,
				"bad", denied),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad untagged -description", "one {env:test}"}, has: []string{`"Status":"ACTIVE"`},
	},
	{
		task: "ecs_services",
		on: map[string]fakeaws.Answer{
			"ecs.ListClusters": fakeaws.Pages(`{"clusterArns":["`+ecsARN("cluster", "c")+`","`+ecsARN("cluster", "bad")+`"],"nextToken":"t"}`, `{"clusterArns":["`+ecsARN("cluster", "gone")+`"]}`),
			"ecs.ListServices": about(`{"serviceArns":[`+manyServices()+`]}`, "cluster/bad", denied, "cluster/gone", gone("ClusterNotFoundException")),
			"ecs.DescribeServices": func(r fakeaws.Request) (int, string) {
				var found []string
				for i := range 23 {
					if arn := ecsARN("service", fmt.Sprintf("c/s%02d", i)); i != 7 && strings.Contains(r.Body, arn) {
						found = append(found, `{"serviceArn":"`+arn+`","events":[{"message":"noise"}],"deployments":[{"serviceConnectConfiguration":{"enabled":true,"logConfiguration":{"logDriver":"splunk","options":{"splunk-token":"`+secret+`"}}}}]}`)
					}
				}
				if n := strings.Count(r.Body, "service/c/"); n > 10 {
					return fakeaws.Fail(400, "InvalidParameterException")(r)
				}
				return 200, `{"services":[` + strings.Join(found, ",") + `]}`
			},
		},
		record: "PARTIAL access_denied, 22 assets, 2 vanished",
		assets: []string{"c/s00", "c/s01", "c/s02", "c/s03", "c/s04", "c/s05", "c/s06", "c/s08", "c/s09", "c/s10", "c/s11", "c/s12", "c/s13", "c/s14", "c/s15", "c/s16", "c/s17", "c/s18", "c/s19", "c/s20", "c/s21", "c/s22"},
		has:    []string{`"splunk-token":"(not kept)"`},
	},
	{
		task: "ecs_task_definitions",
		on: map[string]fakeaws.Answer{
			"ecs.ListTaskDefinitions": fakeaws.Pages(`{"taskDefinitionArns":["`+ecsARN("task-definition", "one:1")+`"],"nextToken":"t"}`, `{"taskDefinitionArns":["`+ecsARN("task-definition", "bad:1")+`"]}`),
			"ecs.DescribeTaskDefinition": about(`{"tags":[{"key":"env","value":"test"}],"taskDefinition":{"family":"one","containerDefinitions":[{"name":"web",
				"environment":[{"name":"PASSWORD","value":"`+secret+`"}],"secrets":[{"name":"TOKEN","valueFrom":"arn:aws:ssm:us-east-1:111122223333:parameter/token"}],
				"logConfiguration":{"logDriver":"splunk","options":{"splunk-token":"`+secret+`","awslogs-group":"web"}},
				"firelensConfiguration":{"type":"fluentd","options":{"key":"`+secret+`"}}}],
				"volumes":[{"name":"v","dockerVolumeConfiguration":{"driver":"nfs","driverOpts":{"o":"`+secret+`"}}}]}}`, "bad", denied),
		},
		record: "PARTIAL access_denied, 2 assets, 1 incomplete", assets: []string{"bad:1 untagged -description", "one:1 {env:test}"},
		has: []string{`{"Name":"PASSWORD","Value":"(not kept)"}`, `"awslogs-group":"web"`, `"ValueFrom":"arn:aws:ssm`},
	},
	{
		task: "eks_clusters",
		on: map[string]fakeaws.Answer{
			"eks.GET /clusters":   fakeaws.Pages(`{"clusters":["one"],"nextToken":"t"}`, `{"clusters":["bad","gone"]}`),
			"eks.GET /clusters/*": about(`{"cluster":{"name":"one","version":"1.33","tags":{"env":"test"}}}`, "bad", denied, "gone", gone("ResourceNotFoundException")),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad untagged -description", "one {env:test}"}, has: []string{`"Version":"1.33"`},
	},
	{
		task: "eks_nodegroups",
		on: map[string]fakeaws.Answer{
			"eks.GET /clusters":                   fakeaws.Pages(`{"clusters":["one"],"nextToken":"t"}`, `{"clusters":["bad","gone"]}`),
			"eks.GET /clusters/one/node-groups":   fakeaws.Pages(`{"nodegroups":["a"],"nextToken":"t"}`, `{"nodegroups":["lost"]}`),
			"eks.GET /clusters/bad/node-groups":   denied,
			"eks.GET /clusters/gone/node-groups":  gone("ResourceNotFoundException"),
			"eks.GET /clusters/one/node-groups/*": about(`{"nodegroup":{"nodegroupArn":"arn:aws:eks:us-east-1:111122223333:nodegroup/one/a/1-2","tags":{"env":"test"}}}`, "lost", gone("ResourceNotFoundException")),
		},
		record: "PARTIAL access_denied, 1 assets, 2 vanished", assets: []string{"one/a {env:test}"}, has: []string{"nodegroup/one/a/1-2"},
	},
}

const elbTagsOfAll = `<TagDescriptions><member><ResourceArn>arn:aws:elasticloadbalancing:us-east-1:111122223333:loadbalancer/app/one/1</ResourceArn><Tags><member><Key>env</Key><Value>test</Value></member></Tags></member>
	<member><ResourceArn>arn:aws:elasticloadbalancing:us-east-1:111122223333:targetgroup/one/1</ResourceArn><Tags><member><Key>env</Key><Value>test</Value></member></Tags></member>
	<member><ResourceArn>arn:aws:elasticloadbalancing:us-east-1:111122223333:listener/app/one/1/2</ResourceArn><Tags><member><Key>env</Key><Value>test</Value></member></Tags></member></TagDescriptions>`

func balancer(name string) string {
	return `<member><LoadBalancerName>` + name + `</LoadBalancerName><LoadBalancerArn>arn:aws:elasticloadbalancing:us-east-1:111122223333:loadbalancer/app/` + name + `/1</LoadBalancerArn></member>`
}

func zone(id string) string {
	return "<HostedZone><Id>/hostedzone/" + id + "</Id><Name>" + strings.ToLower(id) + ".example.</Name></HostedZone>"
}

// zonesPages are two pages of zones.
var zonesPages = fakeaws.Pages(
	"<R><HostedZones>"+zone("Z1")+"</HostedZones><IsTruncated>true</IsTruncated><NextMarker>m</NextMarker></R>",
	"<R><HostedZones>"+zone("Z2")+zone("Z3")+"</HostedZones><IsTruncated>false</IsTruncated></R>")

var networkServices = []service{
	{
		// One of a batch is gone: the service refuses the batch, and the others are
		// asked about one by one.
		task: "elbv2_load_balancers",
		on: map[string]fakeaws.Answer{
			"elbv2.DescribeLoadBalancers": fakeaws.Pages(
				q("DescribeLoadBalancers", "<LoadBalancers>"+balancer("one")+balancer("gone")+"</LoadBalancers><NextMarker>m</NextMarker>"),
				q("DescribeLoadBalancers", "<LoadBalancers>"+balancer("bad")+"</LoadBalancers>")),
			"elbv2.DescribeTags": about(q("DescribeTags", elbTagsOfAll), "gone", gone("LoadBalancerNotFound"), "bad", denied),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad untagged -tags", "one {env:test}"},
	},
	{
		task: "elbv2_target_groups",
		on: map[string]fakeaws.Answer{
			"elbv2.DescribeTargetGroups": fakeaws.Pages(
				q("DescribeTargetGroups", `<TargetGroups><member><TargetGroupName>one</TargetGroupName><TargetGroupArn>arn:aws:elasticloadbalancing:us-east-1:111122223333:targetgroup/one/1</TargetGroupArn></member></TargetGroups><NextMarker>m</NextMarker>`),
				q("DescribeTargetGroups", `<TargetGroups><member><TargetGroupName>two</TargetGroupName><TargetGroupArn>arn:aws:elasticloadbalancing:us-east-1:111122223333:targetgroup/two/1</TargetGroupArn></member></TargetGroups>`)),
			"elbv2.DescribeTags": text(q("DescribeTags", elbTagsOfAll)),
		},
		record: "SUCCESS, 2 assets", assets: []string{"one {env:test}", "two"},
	},
	{
		task: "elbv2_listeners",
		on: map[string]fakeaws.Answer{
			"elbv2.DescribeLoadBalancers": text(q("DescribeLoadBalancers", "<LoadBalancers>"+balancer("one")+balancer("bad")+balancer("gone")+"</LoadBalancers>")),
			"elbv2.DescribeListeners": about(q("DescribeListeners", `<Listeners><member><ListenerArn>arn:aws:elasticloadbalancing:us-east-1:111122223333:listener/app/one/1/2</ListenerArn>
				<DefaultActions><member><Type>authenticate-oidc</Type><AuthenticateOidcConfig><Issuer>i</Issuer><ClientSecret>`+secret+`</ClientSecret></AuthenticateOidcConfig></member></DefaultActions></member></Listeners>`),
				"bad", denied, "gone", gone("LoadBalancerNotFound")),
			"elbv2.DescribeTags": text(q("DescribeTags", elbTagsOfAll)),
		},
		record: "PARTIAL access_denied, 1 assets, 1 vanished", assets: []string{"app/one/1/2 {env:test}"}, has: []string{`"ClientSecret":"(not kept)"`},
	},
	{
		task: "elb_load_balancers",
		on: map[string]fakeaws.Answer{
			"elasticloadbalancing.DescribeLoadBalancers": fakeaws.Pages(
				q("DescribeLoadBalancers", "<LoadBalancerDescriptions><member><LoadBalancerName>one</LoadBalancerName></member></LoadBalancerDescriptions><NextMarker>m</NextMarker>"),
				q("DescribeLoadBalancers", "<LoadBalancerDescriptions><member><LoadBalancerName>bad</LoadBalancerName></member></LoadBalancerDescriptions>")),
			"elasticloadbalancing.DescribeTags": about(q("DescribeTags", "<TagDescriptions><member><LoadBalancerName>one</LoadBalancerName><Tags><member><Key>env</Key><Value>test</Value></member></Tags></member></TagDescriptions>"), "bad", denied),
		},
		record: "PARTIAL access_denied, 2 assets, 1 incomplete", assets: []string{"bad untagged -tags", "one {env:test}"},
	},
	{
		task: "apigateway_rest_apis",
		on: map[string]fakeaws.Answer{"apigateway.GET /restapis": fakeaws.Pages(
			`{"item":[{"id":"one","name":"first","tags":{"env":"test"}}],"position":"p"}`, `{"item":[{"id":"two"}]}`)},
		record: "SUCCESS, 2 assets", assets: []string{"one {env:test}", "two"}, has: []string{`"arn":"arn:aws:apigateway:us-east-1::/restapis/one","name":"first"`},
	},
	{
		task: "apigateway_stages",
		on: map[string]fakeaws.Answer{
			"apigateway.GET /restapis":             fakeaws.Pages(`{"item":[{"id":"one"}],"position":"p"}`, `{"item":[{"id":"bad"},{"id":"gone"}]}`),
			"apigateway.GET /restapis/one/stages":  text(`{"item":[{"stageName":"prod","variables":{"key":"` + secret + `"},"canarySettings":{"stageVariableOverrides":{"key":"` + secret + `"}},"tags":{"env":"test"}}]}`),
			"apigateway.GET /restapis/bad/stages":  denied,
			"apigateway.GET /restapis/gone/stages": fakeaws.Fail(404, "NotFoundException"),
		},
		record: "PARTIAL access_denied, 1 assets, 1 vanished", assets: []string{"one/prod {env:test}"}, has: []string{`"Variables":{"key":"(not kept)"}`, "/restapis/one/stages/prod"},
	},
	{
		task: "apigatewayv2_apis",
		on: map[string]fakeaws.Answer{"apigateway.GET /v2/apis": fakeaws.Pages(
			`{"items":[{"apiId":"one","tags":{"env":"test"}}],"nextToken":"t"}`, `{"items":[{"apiId":"two"}]}`)},
		record: "SUCCESS, 2 assets", assets: []string{"one {env:test}", "two"}, has: []string{"arn:aws:apigateway:us-east-1::/apis/one"},
	},
	{
		task: "apigatewayv2_stages",
		on: map[string]fakeaws.Answer{
			"apigateway.GET /v2/apis":            text(`{"items":[{"apiId":"one"},{"apiId":"bad"}]}`),
			"apigateway.GET /v2/apis/one/stages": fakeaws.Pages(`{"items":[{"stageName":"$default","stageVariables":{"key":"`+secret+`"}}],"nextToken":"t"}`, `{"items":[{"stageName":"test","tags":{"env":"test"}}]}`),
			"apigateway.GET /v2/apis/bad/stages": denied,
		},
		record: "PARTIAL access_denied, 2 assets", assets: []string{"one/$default", "one/test {env:test}"}, has: []string{`"StageVariables":{"key":"(not kept)"}`},
	},
	{
		task: "cloudfront_distributions",
		on: map[string]fakeaws.Answer{
			"cloudfront.GET /2020-05-31/distribution": fakeaws.Pages(
				`<DistributionList><IsTruncated>true</IsTruncated><NextMarker>m</NextMarker><Items><DistributionSummary><Id>one</Id><ARN>arn:aws:cloudfront::111122223333:distribution/one</ARN>
					<Origins><Items><Origin><Id>o</Id><CustomHeaders><Items><OriginCustomHeader><HeaderName>X-Origin</HeaderName><HeaderValue>`+secret+`</HeaderValue></OriginCustomHeader></Items></CustomHeaders></Origin></Items></Origins>
					</DistributionSummary></Items></DistributionList>`,
				`<DistributionList><IsTruncated>false</IsTruncated><Items><DistributionSummary><Id>bad</Id><ARN>arn:aws:cloudfront::111122223333:distribution/bad</ARN></DistributionSummary>
					<DistributionSummary><Id>gone</Id><ARN>arn:aws:cloudfront::111122223333:distribution/gone</ARN></DistributionSummary></Items></DistributionList>`),
			"cloudfront.GET /2020-05-31/tagging": about(`<Tags><Items><Tag><Key>env</Key><Value>test</Value></Tag></Items></Tags>`, "bad", denied, "gone", fakeaws.Fail(404, "NoSuchResource")),
		},
		record: "PARTIAL access_denied, 2 assets, 1 vanished, 1 incomplete", assets: []string{"bad untagged -tags", "one {env:test}"},
		has: []string{`{"HeaderName":"X-Origin","HeaderValue":"(not kept)"}`, `"region":"aws-global"`},
	},
	{
		task: "route53_zones",
		on: map[string]fakeaws.Answer{
			"route53.GET /2013-04-01/hostedzone": zonesPages,
			"route53.POST /2013-04-01/tags/hostedzone": about("<R><ResourceTagSets><ResourceTagSet><ResourceId>Z2</ResourceId><Tags/></ResourceTagSet>"+
				"<ResourceTagSet><ResourceId>Z1</ResourceId><Tags><Tag><Key>env</Key><Value>test</Value></Tag></Tags></ResourceTagSet></ResourceTagSets></R>", "Z3", fakeaws.Fail(404, "NoSuchHostedZone")),
		},
		record: "SUCCESS, 2 assets, 1 vanished", assets: []string{"Z1 {env:test}", "Z2"}, has: []string{"arn:aws:route53:::hostedzone/Z1", `"name":"z1.example."`},
	},
	{
		task: "route53_record_sets",
		on: map[string]fakeaws.Answer{
			"route53.GET /2013-04-01/hostedzone": zonesPages,
			"route53.GET /2013-04-01/hostedzone/Z1/rrset": func(r fakeaws.Request) (int, string) {
				switch r.Form.Get("name") + " " + r.Form.Get("type") + " " + r.Form.Get("identifier") {
				case "  ":
					return 200, "<R><ResourceRecordSets><ResourceRecordSet><Name>z1.example.</Name><Type>NS</Type></ResourceRecordSet></ResourceRecordSets><IsTruncated>true</IsTruncated><NextRecordName>www.</NextRecordName><NextRecordType>A</NextRecordType></R>"
				case "www. A ":
					return 200, "<R><ResourceRecordSets><ResourceRecordSet><Name>www.</Name><Type>A</Type><SetIdentifier>a</SetIdentifier></ResourceRecordSet></ResourceRecordSets><IsTruncated>true</IsTruncated><NextRecordName>www.</NextRecordName><NextRecordType>A</NextRecordType><NextRecordIdentifier>b</NextRecordIdentifier></R>"
				case "www. A b":
					return 200, "<R><ResourceRecordSets><ResourceRecordSet><Name>www.</Name><Type>A</Type><SetIdentifier>b</SetIdentifier></ResourceRecordSet></ResourceRecordSets><IsTruncated>false</IsTruncated></R>"
				}
				return fakeaws.Fail(400, "InvalidInput")(r)
			},
			"route53.GET /2013-04-01/hostedzone/Z2/rrset": denied,
			"route53.GET /2013-04-01/hostedzone/Z3/rrset": fakeaws.Fail(404, "NoSuchHostedZone"),
		},
		record: "PARTIAL access_denied, 3 assets, 1 vanished",
		assets: []string{"Z1/www./A/a untagged", "Z1/www./A/b untagged", "Z1/z1.example./NS untagged"},
	},
}
