//go:build e2e

package e2e

import (
	"path"
	"strings"
	"testing"
)

// A listing says what the AWS CLI lists of a type, and where in its answer the
// identifiers are: ids, ARNs, or addresses, whose last part is the id.
type listing struct {
	assetType, command, query string
	// For what is listed under something else, how to list that. Its identifier
	// takes the place of {} in command, and its last part stands before the ids.
	parents, parentsQuery string
}

// listings are the types that a task of their own reads.
var listings = []listing{
	{"AWS::EC2::Instance", "ec2 describe-instances", "Reservations[].Instances[].InstanceId", "", ""},
	{"AWS::EC2::Volume", "ec2 describe-volumes", "Volumes[].VolumeId", "", ""},
	{"AWS::EC2::Snapshot", "ec2 describe-snapshots --owner-ids self", "Snapshots[].SnapshotId", "", ""},
	{"AWS::EC2::Image", "ec2 describe-images --owners self", "Images[].ImageId", "", ""},
	{"AWS::EC2::KeyPair", "ec2 describe-key-pairs", "KeyPairs[].KeyPairId", "", ""},
	{"AWS::EC2::LaunchTemplate", "ec2 describe-launch-templates", "LaunchTemplates[].LaunchTemplateId", "", ""},
	{"AWS::EC2::VPC", "ec2 describe-vpcs", "Vpcs[].VpcId", "", ""},
	{"AWS::EC2::Subnet", "ec2 describe-subnets", "Subnets[].SubnetId", "", ""},
	{"AWS::EC2::SecurityGroup", "ec2 describe-security-groups", "SecurityGroups[].GroupId", "", ""},
	{"AWS::EC2::EIP", "ec2 describe-addresses", "Addresses[].AllocationId", "", ""},
	{"AWS::EC2::NetworkInterface", "ec2 describe-network-interfaces", "NetworkInterfaces[].NetworkInterfaceId", "", ""},
	{"AWS::EC2::RouteTable", "ec2 describe-route-tables", "RouteTables[].RouteTableId", "", ""},
	{"AWS::EC2::NetworkAcl", "ec2 describe-network-acls", "NetworkAcls[].NetworkAclId", "", ""},
	{"AWS::EC2::DHCPOptions", "ec2 describe-dhcp-options", "DhcpOptions[].DhcpOptionsId", "", ""},
	{"AWS::EC2::InternetGateway", "ec2 describe-internet-gateways", "InternetGateways[].InternetGatewayId", "", ""},
	{"AWS::EC2::NatGateway", "ec2 describe-nat-gateways", "NatGateways[].NatGatewayId", "", ""},
	{"AWS::EC2::VPCEndpoint", "ec2 describe-vpc-endpoints", "VpcEndpoints[].VpcEndpointId", "", ""},
	{"AWS::EC2::VPCPeeringConnection", "ec2 describe-vpc-peering-connections", "VpcPeeringConnections[].VpcPeeringConnectionId", "", ""},
	{"AWS::EC2::FlowLog", "ec2 describe-flow-logs", "FlowLogs[].FlowLogId", "", ""},
	{"AWS::EC2::TransitGateway", "ec2 describe-transit-gateways", "TransitGateways[].TransitGatewayArn", "", ""},
	{"AWS::EC2::VPNGateway", "ec2 describe-vpn-gateways", "VpnGateways[].VpnGatewayId", "", ""},
	{"AWS::EC2::CustomerGateway", "ec2 describe-customer-gateways", "CustomerGateways[].CustomerGatewayId", "", ""},
	{"AWS::EC2::VPNConnection", "ec2 describe-vpn-connections", "VpnConnections[].VpnConnectionId", "", ""},
	{"AWS::AutoScaling::AutoScalingGroup", "autoscaling describe-auto-scaling-groups", "AutoScalingGroups[].AutoScalingGroupARN", "", ""},
	{"AWS::AutoScaling::LaunchConfiguration", "autoscaling describe-launch-configurations", "LaunchConfigurations[].LaunchConfigurationARN", "", ""},
	{"AWS::Lambda::Function", "lambda list-functions", "Functions[].FunctionArn", "", ""},
	{"AWS::S3::Bucket", "s3api list-buckets", "Buckets[].Name", "", ""},
	{"AWS::EFS::FileSystem", "efs describe-file-systems", "FileSystems[].FileSystemArn", "", ""},
	{"AWS::ECR::Repository", "ecr describe-repositories", "repositories[].repositoryArn", "", ""},
	{"AWS::ECS::Cluster", "ecs list-clusters", "clusterArns[]", "", ""},
	{"AWS::ECS::Service", "ecs list-services --cluster {}", "serviceArns[]", "ecs list-clusters", "clusterArns[]"},
	{"AWS::ECS::TaskDefinition", "ecs list-task-definitions", "taskDefinitionArns[]", "", ""},
	{"AWS::EKS::Cluster", "eks list-clusters", "clusters[]", "", ""},
	{"AWS::EKS::Nodegroup", "eks list-nodegroups --cluster-name {}", "nodegroups[]", "eks list-clusters", "clusters[]"},
	{"AWS::DynamoDB::Table", "dynamodb list-tables", "TableNames[]", "", ""},
	{"AWS::ElastiCache::CacheCluster", "elasticache describe-cache-clusters", "CacheClusters[].ARN", "", ""},
	{"AWS::ElastiCache::ReplicationGroup", "elasticache describe-replication-groups", "ReplicationGroups[].ARN", "", ""},
	{"AWS::RDS::DBInstance", "rds describe-db-instances", "DBInstances[].DBInstanceArn", "", ""},
	{"AWS::RDS::DBCluster", "rds describe-db-clusters", "DBClusters[].DBClusterArn", "", ""},
	{"AWS::RDS::DBSnapshot", "rds describe-db-snapshots", "DBSnapshots[].DBSnapshotArn", "", ""},
	{"AWS::RDS::DBClusterSnapshot", "rds describe-db-cluster-snapshots", "DBClusterSnapshots[].DBClusterSnapshotArn", "", ""},
	{"AWS::RDS::DBSubnetGroup", "rds describe-db-subnet-groups", "DBSubnetGroups[].DBSubnetGroupArn", "", ""},
	{"AWS::IAM::Role", "iam list-roles", "Roles[].Arn", "", ""},
	{"AWS::IAM::User", "iam list-users", "Users[].Arn", "", ""},
	{"AWS::IAM::Group", "iam list-groups", "Groups[].Arn", "", ""},
	{"AWS::IAM::ManagedPolicy", "iam list-policies --scope Local", "Policies[].Arn", "", ""},
	{"AWS::IAM::InstanceProfile", "iam list-instance-profiles", "InstanceProfiles[].Arn", "", ""},
	{"AWS::CloudFormation::Stack", "cloudformation describe-stacks", "Stacks[].StackId", "", ""},
	{"AWS::CloudTrail::Trail", "cloudtrail describe-trails --no-include-shadow-trails", "trailList[].TrailARN", "", ""},
	{"AWS::CloudWatch::Alarm", "cloudwatch describe-alarms", "MetricAlarms[].AlarmArn", "", ""},
	{"AWS::Logs::LogGroup", "logs describe-log-groups", "logGroups[].logGroupArn", "", ""},
	{"AWS::SSM::Parameter", "ssm describe-parameters", "Parameters[].Name", "", ""},
	{"AWS::Events::EventBus", "events list-event-buses", "EventBuses[].Arn", "", ""},
	{"AWS::Events::Rule", "events list-rules --event-bus-name {}", "Rules[].Arn", "events list-event-buses", "EventBuses[].Name"},
	{"AWS::Kinesis::Stream", "kinesis list-streams", "StreamNames[]", "", ""},
	{"AWS::SNS::Topic", "sns list-topics", "Topics[].TopicArn", "", ""},
	{"AWS::SQS::Queue", "sqs list-queues", "QueueUrls[]", "", ""},
	{"AWS::StepFunctions::StateMachine", "stepfunctions list-state-machines", "stateMachines[].stateMachineArn", "", ""},
	{"AWS::ElasticLoadBalancingV2::LoadBalancer", "elbv2 describe-load-balancers", "LoadBalancers[].LoadBalancerArn", "", ""},
	{"AWS::ElasticLoadBalancingV2::Listener", "elbv2 describe-listeners --load-balancer-arn {}", "Listeners[].ListenerArn", "elbv2 describe-load-balancers", "LoadBalancers[].LoadBalancerArn"},
	{"AWS::ElasticLoadBalancingV2::TargetGroup", "elbv2 describe-target-groups", "TargetGroups[].TargetGroupArn", "", ""},
	{"AWS::ElasticLoadBalancing::LoadBalancer", "elb describe-load-balancers", "LoadBalancerDescriptions[].LoadBalancerName", "", ""},
	{"AWS::ApiGateway::RestApi", "apigateway get-rest-apis", "items[].id", "", ""},
	{"AWS::ApiGateway::Stage", "apigateway get-stages --rest-api-id {}", "item[].stageName", "apigateway get-rest-apis", "items[].id"},
	{"AWS::ApiGatewayV2::Api", "apigatewayv2 get-apis", "Items[].ApiId", "", ""},
	{"AWS::ApiGatewayV2::Stage", "apigatewayv2 get-stages --api-id {}", "Items[].StageName", "apigatewayv2 get-apis", "Items[].ApiId"},
	{"AWS::CloudFront::Distribution", "cloudfront list-distributions", "DistributionList.Items[].ARN", "", ""},
	{"AWS::Route53::HostedZone", "route53 list-hosted-zones", "HostedZones[].Id", "", ""},
	{"AWS::Route53::RecordSet", "route53 list-resource-record-sets --hosted-zone-id {}", "ResourceRecordSets[].join('/',[Name,Type])", "route53 list-hosted-zones", "HostedZones[].Id"},
	{"AWS::CertificateManager::Certificate", "acm list-certificates", "CertificateSummaryList[].CertificateArn", "", ""},
	{"AWS::KMS::Key", "kms list-keys", "Keys[].KeyArn", "", ""},
	{"AWS::KMS::Alias", "kms list-aliases", "Aliases[].AliasArn", "", ""},
	{"AWS::SecretsManager::Secret", "secretsmanager list-secrets --include-planned-deletion", "SecretList[].ARN", "", ""},
}

// list asks the AWS CLI.
func (l listing) list(t *testing.T, endpoint string) []string {
	t.Helper()
	if l.parents == "" {
		list := awsCLI(t, endpoint, l.command, l.query)
		for i := range list {
			list[i] = identifier(list[i])
		}
		return list
	}
	var all []string
	for _, parent := range awsCLI(t, endpoint, l.parents, l.parentsQuery) {
		for _, item := range awsCLI(t, endpoint, strings.ReplaceAll(l.command, "{}", parent), l.query) {
			if !strings.HasPrefix(item, "arn:") {
				item = path.Base(parent) + "/" + item
			}
			all = append(all, item)
		}
	}
	return all
}

// identifier gives the id at the end of an address.
func identifier(s string) string {
	if strings.HasPrefix(s, "http") || strings.HasPrefix(s, "/hostedzone/") {
		return path.Base(s)
	}
	return s
}
