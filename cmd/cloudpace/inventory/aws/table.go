package aws

import (
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// row is a task before it has an account and a region.
type row struct {
	inventory.Kind
	read reader
}

func kind(name, family, service string, types ...string) inventory.Kind {
	return inventory.Kind{Name: name, Family: family, Service: service, Types: types}
}

func global(k inventory.Kind) inventory.Kind { k.Global = true; return k }

func covers(k inventory.Kind, what string) inventory.Kind { k.Covers = what; return k }

// availableTags is what ElastiCache can be asked.
const availableTags = "all, and the tags of what is available"

// table has all tasks, by family. A row is all there is to one.
var table = []row{
	{kind("ec2_instances", "compute", "ec2", "AWS::EC2::Instance"), instances},
	{covers(kind("ec2_images", "compute", "ec2", "AWS::EC2::Image"), "owned by the account"), images},
	{kind("ec2_key_pairs", "compute", "ec2", "AWS::EC2::KeyPair"), keyPairs},
	{kind("ec2_launch_templates", "compute", "ec2", "AWS::EC2::LaunchTemplate"), launchTemplates},
	{kind("autoscaling_groups", "compute", "autoscaling", "AWS::AutoScaling::AutoScalingGroup"), scalingGroups},
	{kind("autoscaling_launch_configurations", "compute", "autoscaling", "AWS::AutoScaling::LaunchConfiguration"), launchConfigurations},
	{kind("lambda_functions", "compute", "lambda", "AWS::Lambda::Function"), functions},

	{kind("ecr_repositories", "containers", "ecr", "AWS::ECR::Repository"), repositories},
	{kind("ecs_clusters", "containers", "ecs", "AWS::ECS::Cluster"), clusters},
	{kind("ecs_services", "containers", "ecs", "AWS::ECS::Service"), services},
	{covers(kind("ecs_task_definitions", "containers", "ecs", "AWS::ECS::TaskDefinition"), "active revisions"), taskDefinitions},
	{covers(kind("eks_clusters", "containers", "eks", "AWS::EKS::Cluster"), "run by EKS, not those connected to it"), eksClusters},
	{kind("eks_nodegroups", "containers", "eks", "AWS::EKS::Nodegroup"), nodegroups},

	{kind("dynamodb_tables", "database", "dynamodb", "AWS::DynamoDB::Table"), tables},
	{covers(kind("elasticache_clusters", "database", "elasticache", "AWS::ElastiCache::CacheCluster"), availableTags), cacheClusters},
	{covers(kind("elasticache_replication_groups", "database", "elasticache", "AWS::ElastiCache::ReplicationGroup"), availableTags), replicationGroups},
	{kind("rds_instances", "database", "rds", "AWS::RDS::DBInstance"), dbInstances},
	{kind("rds_clusters", "database", "rds", "AWS::RDS::DBCluster"), dbClusters},
	{covers(kind("rds_snapshots", "database", "rds", "AWS::RDS::DBSnapshot"), "owned by the account, automated and manual"), dbSnapshots},
	{covers(kind("rds_cluster_snapshots", "database", "rds", "AWS::RDS::DBClusterSnapshot"), "owned by the account, automated and manual"), dbClusterSnapshots},
	{kind("rds_subnet_groups", "database", "rds", "AWS::RDS::DBSubnetGroup"), dbSubnetGroups},

	{global(kind("iam_roles", "identity", "iam", "AWS::IAM::Role")), roles},
	{global(kind("iam_users", "identity", "iam", "AWS::IAM::User")), users},
	{global(kind("iam_groups", "identity", "iam", "AWS::IAM::Group")), iamGroups},
	{covers(global(kind("iam_policies", "identity", "iam", "AWS::IAM::ManagedPolicy")), "owned by the account"), policies},
	{global(kind("iam_instance_profiles", "identity", "iam", "AWS::IAM::InstanceProfile")), instanceProfiles},

	{covers(kind("cloudformation_stacks", "management", "cloudformation", "AWS::CloudFormation::Stack"), "not deleted"), stacks},
	{covers(kind("cloudtrail_trails", "management", "cloudtrail", "AWS::CloudTrail::Trail"), "owned by the account, in their home region"), trails},
	{kind("cloudwatch_alarms", "management", "cloudwatch", "AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm", "AWS::CloudWatch::LogAlarm"), alarms},
	{kind("logs_groups", "management", "logs", "AWS::Logs::LogGroup"), logGroups},
	{covers(kind("ssm_parameters", "management", "ssm", "AWS::SSM::Parameter"), "owned by the account"), parameters},

	{kind("events_buses", "messaging", "events", "AWS::Events::EventBus"), eventBuses},
	{kind("events_rules", "messaging", "events", "AWS::Events::Rule"), eventRules},
	{kind("kinesis_streams", "messaging", "kinesis", "AWS::Kinesis::Stream"), streams},
	{kind("sns_topics", "messaging", "sns", "AWS::SNS::Topic"), topics},
	{kind("sqs_queues", "messaging", "sqs", "AWS::SQS::Queue"), queues},
	{kind("stepfunctions_state_machines", "messaging", "stepfunctions", "AWS::StepFunctions::StateMachine"), stateMachines},

	{kind("ec2_vpcs", "network", "ec2", "AWS::EC2::VPC"), vpcs},
	{kind("ec2_subnets", "network", "ec2", "AWS::EC2::Subnet"), subnets},
	{kind("ec2_security_groups", "network", "ec2", "AWS::EC2::SecurityGroup"), securityGroups},
	{kind("ec2_addresses", "network", "ec2", "AWS::EC2::EIP"), addresses},
	{kind("ec2_network_interfaces", "network", "ec2", "AWS::EC2::NetworkInterface"), networkInterfaces},
	{kind("ec2_route_tables", "network", "ec2", "AWS::EC2::RouteTable"), routeTables},
	{kind("ec2_network_acls", "network", "ec2", "AWS::EC2::NetworkAcl"), networkACLs},
	{kind("ec2_dhcp_options", "network", "ec2", "AWS::EC2::DHCPOptions"), dhcpOptions},
	{kind("ec2_internet_gateways", "network", "ec2", "AWS::EC2::InternetGateway"), internetGateways},
	{kind("ec2_nat_gateways", "network", "ec2", "AWS::EC2::NatGateway"), natGateways},
	{kind("ec2_vpc_endpoints", "network", "ec2", "AWS::EC2::VPCEndpoint"), vpcEndpoints},
	{kind("ec2_vpc_peerings", "network", "ec2", "AWS::EC2::VPCPeeringConnection"), vpcPeerings},
	{kind("ec2_flow_logs", "network", "ec2", "AWS::EC2::FlowLog"), flowLogs},
	{kind("ec2_transit_gateways", "network", "ec2", "AWS::EC2::TransitGateway"), transitGateways},
	{kind("ec2_vpn_gateways", "network", "ec2", "AWS::EC2::VPNGateway"), vpnGateways},
	{kind("ec2_customer_gateways", "network", "ec2", "AWS::EC2::CustomerGateway"), customerGateways},
	{kind("ec2_vpn_connections", "network", "ec2", "AWS::EC2::VPNConnection"), vpnConnections},
	{kind("elbv2_load_balancers", "network", "elbv2", "AWS::ElasticLoadBalancingV2::LoadBalancer"), loadBalancers},
	{kind("elbv2_listeners", "network", "elbv2", "AWS::ElasticLoadBalancingV2::Listener"), listeners},
	{kind("elbv2_target_groups", "network", "elbv2", "AWS::ElasticLoadBalancingV2::TargetGroup"), targetGroups},
	{kind("elb_load_balancers", "network", "elb", "AWS::ElasticLoadBalancing::LoadBalancer"), classicBalancers},
	{kind("apigateway_rest_apis", "network", "apigateway", "AWS::ApiGateway::RestApi"), restAPIs},
	{kind("apigateway_stages", "network", "apigateway", "AWS::ApiGateway::Stage"), restStages},
	{kind("apigatewayv2_apis", "network", "apigatewayv2", "AWS::ApiGatewayV2::Api"), httpAPIs},
	{kind("apigatewayv2_stages", "network", "apigatewayv2", "AWS::ApiGatewayV2::Stage"), httpStages},
	{global(kind("cloudfront_distributions", "network", "cloudfront", "AWS::CloudFront::Distribution")), distributions},
	{global(kind("route53_zones", "network", "route53", "AWS::Route53::HostedZone")), hostedZones},
	{global(kind("route53_record_sets", "network", "route53", "AWS::Route53::RecordSet")), recordSets},

	{kind("acm_certificates", "security", "acm", "AWS::CertificateManager::Certificate"), certificates},
	{kind("kms_keys", "security", "kms", "AWS::KMS::Key"), keys},
	{kind("kms_aliases", "security", "kms", "AWS::KMS::Alias"), keyAliases},
	{kind("secretsmanager_secrets", "security", "secretsmanager", "AWS::SecretsManager::Secret"), secrets},

	{kind("ec2_volumes", "storage", "ec2", "AWS::EC2::Volume"), volumes},
	{covers(kind("ec2_snapshots", "storage", "ec2", "AWS::EC2::Snapshot"), "owned by the account"), snapshots},
	{kind("efs_file_systems", "storage", "efs", "AWS::EFS::FileSystem"), fileSystems},
	{global(kind("s3_buckets", "storage", "s3", "AWS::S3::Bucket")), buckets},

	{covers(kind("tagging_sweep", "tags", "resourcegroupstaggingapi"), "resources that have or had tags, of types no other task of the run lists"), sweep},
}

// Kinds lists what can be read.
func Kinds() []inventory.Kind {
	list := make([]inventory.Kind, len(table))
	for i, r := range table {
		list[i] = r.Kind
	}
	return list
}
