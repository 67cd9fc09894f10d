package aws

import "github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"

// each are calls for every thing of a listing.
func each(operations ...string) []inventory.Ask {
	list := make([]inventory.Ask, len(operations))
	for i, name := range operations {
		list[i].Operation = name
	}
	return list
}

// many is a call for so many things at a time.
func many(n int, operation string) []inventory.Ask {
	return []inventory.Ask{{Operation: operation, Many: n}}
}

func lists(operation string, page int, asks ...inventory.Ask) inventory.Calls {
	return inventory.Calls{Operation: operation, Page: page, Each: asks}
}

// below is a listing for each thing that the task of that name lists.
func below(task string, c inventory.Calls) inventory.Calls {
	parents := calls[task]
	parents.Each = nil // they are listed, and not asked about
	c.Under, c.Of = &parents, task
	return c
}

func leftover(c inventory.Calls) inventory.Calls { c.Rest = true; return c }
func assumed(c inventory.Calls) inventory.Calls  { c.Assumed = true; return c }

// calls has what each task asks. The pages are those that the tasks ask for, or where
// they ask for none the most that the API's reference names; a test holds all of it to
// what the tasks do.
var calls = map[string]inventory.Calls{
	"ec2_instances":                     lists("DescribeInstances", 1000),
	"ec2_images":                        lists("DescribeImages", 1000, each("DescribeImageAttribute")...),
	"ec2_key_pairs":                     lists("DescribeKeyPairs", 0),
	"ec2_launch_templates":              lists("DescribeLaunchTemplates", 200),
	"autoscaling_groups":                lists("DescribeAutoScalingGroups", 100),
	"autoscaling_launch_configurations": lists("DescribeLaunchConfigurations", 100),
	"lambda_functions":                  lists("ListFunctions", 50, each("ListTags")...),

	"ecr_repositories":     lists("DescribeRepositories", 1000, each("GetRepositoryPolicy", "ListTagsForResource")...),
	"ecs_clusters":         lists("ListClusters", 100, many(100, "DescribeClusters")...),
	"ecs_task_definitions": lists("ListTaskDefinitions", 100, each("DescribeTaskDefinition")...),
	"eks_clusters":         lists("ListClusters", 100, each("DescribeCluster")...),

	"dynamodb_tables":                lists("ListTables", 100, each("DescribeTable", "ListTagsOfResource")...),
	"elasticache_clusters":           lists("DescribeCacheClusters", 100, each("ListTagsForResource")...),
	"elasticache_replication_groups": lists("DescribeReplicationGroups", 100, each("ListTagsForResource")...),
	"rds_instances":                  lists("DescribeDBInstances", 100),
	"rds_clusters":                   lists("DescribeDBClusters", 100),
	"rds_snapshots":                  lists("DescribeDBSnapshots", 100),
	"rds_cluster_snapshots":          lists("DescribeDBClusterSnapshots", 100),
	"rds_subnet_groups":              lists("DescribeDBSubnetGroups", 100, each("ListTagsForResource")...),

	"iam_roles":             lists("ListRoles", 1000, each("ListRoleTags")...),
	"iam_users":             lists("ListUsers", 1000, each("ListUserTags")...),
	"iam_groups":            lists("ListGroups", 1000),
	"iam_policies":          lists("ListPolicies", 1000, each("ListPolicyTags")...),
	"iam_instance_profiles": lists("ListInstanceProfiles", 1000, each("ListInstanceProfileTags")...),

	"cloudformation_stacks": assumed(lists("DescribeStacks", 100)), // "up to 1 MB"
	"cloudtrail_trails":     lists("DescribeTrails", 0, append(many(20, "ListTags"), each("GetTrailStatus")...)...),
	"cloudwatch_alarms":     lists("DescribeAlarms", 100, each("ListTagsForResource")...),
	"logs_groups":           lists("DescribeLogGroups", 50, each("ListTagsForResource")...),
	"ssm_parameters":        lists("DescribeParameters", 50, each("ListTagsForResource")...),

	"events_buses":                 lists("ListEventBuses", 100, each("ListTagsForResource")...),
	"kinesis_streams":              lists("ListStreams", 100, each("DescribeStreamSummary", "ListTagsForStream")...),
	"sns_topics":                   lists("ListTopics", 100, each("GetTopicAttributes", "ListTagsForResource")...),
	"sqs_queues":                   lists("ListQueues", 1000, each("GetQueueAttributes", "ListQueueTags")...),
	"stepfunctions_state_machines": lists("ListStateMachines", 1000, each("DescribeStateMachine", "ListTagsForResource")...),

	"ec2_vpcs":                 lists("DescribeVpcs", 1000),
	"ec2_subnets":              lists("DescribeSubnets", 1000),
	"ec2_security_groups":      lists("DescribeSecurityGroups", 1000),
	"ec2_addresses":            lists("DescribeAddresses", 0),
	"ec2_network_interfaces":   lists("DescribeNetworkInterfaces", 1000),
	"ec2_route_tables":         lists("DescribeRouteTables", 1000),
	"ec2_network_acls":         lists("DescribeNetworkAcls", 1000),
	"ec2_dhcp_options":         lists("DescribeDhcpOptions", 1000),
	"ec2_internet_gateways":    lists("DescribeInternetGateways", 1000),
	"ec2_nat_gateways":         lists("DescribeNatGateways", 1000),
	"ec2_vpc_endpoints":        lists("DescribeVpcEndpoints", 1000),
	"ec2_vpc_peerings":         lists("DescribeVpcPeeringConnections", 1000),
	"ec2_flow_logs":            lists("DescribeFlowLogs", 1000),
	"ec2_transit_gateways":     lists("DescribeTransitGateways", 1000),
	"ec2_vpn_gateways":         lists("DescribeVpnGateways", 0),
	"ec2_customer_gateways":    lists("DescribeCustomerGateways", 0),
	"ec2_vpn_connections":      lists("DescribeVpnConnections", 0),
	"elbv2_load_balancers":     lists("DescribeLoadBalancers", 400, many(20, "DescribeTags")...),
	"elbv2_target_groups":      lists("DescribeTargetGroups", 400, many(20, "DescribeTags")...),
	"elb_load_balancers":       lists("DescribeLoadBalancers", 400, many(20, "DescribeTags")...),
	"apigateway_rest_apis":     lists("GetRestApis", 500),
	"apigatewayv2_apis":        lists("GetApis", 500),
	"cloudfront_distributions": lists("ListDistributions", 100, each("ListTagsForResource")...),
	"route53_zones":            lists("ListHostedZones", 100, many(10, "ListTagsForResources")...),

	"acm_certificates":       lists("ListCertificates", 1000, each("DescribeCertificate", "ListTagsForCertificate")...),
	"kms_keys":               lists("ListKeys", 1000, each("DescribeKey", "ListResourceTags")...),
	"kms_aliases":            lists("ListAliases", 100),
	"secretsmanager_secrets": lists("ListSecrets", 100),

	"ec2_volumes":      lists("DescribeVolumes", 1000),
	"ec2_snapshots":    lists("DescribeSnapshots", 1000),
	"efs_file_systems": lists("DescribeFileSystems", 100, each("DescribeMountTargets")...),
	"s3_buckets":       lists("ListBuckets", 1000, each("GetBucketTagging")...),

	"tagging_sweep": leftover(lists("GetResources", 100)),
}

func init() { // they look into it
	for name, c := range map[string]inventory.Calls{
		"ecs_services":        below("ecs_clusters", lists("ListServices", 100, many(10, "DescribeServices")...)),
		"eks_nodegroups":      below("eks_clusters", lists("ListNodegroups", 100, each("DescribeNodegroup")...)),
		"events_rules":        below("events_buses", lists("ListRules", 100, each("ListTargetsByRule", "ListTagsForResource")...)),
		"elbv2_listeners":     below("elbv2_load_balancers", lists("DescribeListeners", 400, many(20, "DescribeTags")...)),
		"apigateway_stages":   below("apigateway_rest_apis", lists("GetStages", 0)),
		"apigatewayv2_stages": below("apigatewayv2_apis", lists("GetStages", 500)),
		"route53_record_sets": below("route53_zones", lists("ListResourceRecordSets", 300)),
	} {
		calls[name] = c
	}
	for i := range table {
		table[i].Calls = calls[table[i].Name]
	}
}
