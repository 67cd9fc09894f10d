package aws

import (
	"cmp"
	"strings"
)

// resource is what an ARN tells about what it names.
type resource struct{ typ, id, region string }

// parseARN reads an ARN. The id is what follows the resource type, or all that
// follows the account where there is none; a text that is no ARN is its own id.
func parseARN(arn string) resource {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" {
		return resource{typ: "unknown", id: arn}
	}
	service, region, rest := parts[2], parts[3], parts[5]
	word, id := "", rest
	if i := strings.IndexAny(rest, ":/"); i >= 0 {
		word, id = rest[:i], rest[i+1:]
	}
	if word == "" { // API Gateway: arn:aws:apigateway:us-east-1::/restapis/abc
		id = strings.TrimPrefix(rest, "/")
		if i := strings.IndexByte(id, '/'); i >= 0 {
			word, id = id[:i], id[i+1:]
		}
	}
	key := service
	if word != "" {
		key += ":" + word
	}
	if service == "elasticloadbalancing" && word == "loadbalancer" {
		if kind, _, ok := strings.Cut(id, "/"); ok {
			key += "/" + kind // app, net or gwy; the classic ones have no further part
		}
	}
	if part, ok := partOf[key]; ok && strings.Contains(id, part) {
		key += part
	}
	if wholeID[service] {
		key, id = service, rest
	}
	return resource{typ: cmp.Or(typeByARN[key], key), id: id, region: region}
}

// partOf has types whose ARN goes on in that of something with tags of its own,
// which is not one more of them.
var partOf = map[string]string{
	"apigateway:apis":     "/stages/",
	"apigateway:restapis": "/stages/",
	"kinesis:stream":      "/consumer/",
}

// wholeID has the services whose ARN is the name alone, which may have a slash
// of its own.
var wholeID = map[string]bool{"s3": true, "sqs": true, "sns": true}

// typeByARN has the resource types' names by what stands in their ARN. Names are
// those of CloudFormation, which are also the ones of Config and Resource
// Explorer; images and snapshots, which CloudFormation does not make, have those
// of Resource Groups.
var typeByARN = map[string]string{
	"acm:certificate":                       "AWS::CertificateManager::Certificate",
	"apigateway:apis":                       "AWS::ApiGatewayV2::Api",
	"apigateway:apis/stages/":               "AWS::ApiGatewayV2::Stage",
	"apigateway:restapis":                   "AWS::ApiGateway::RestApi",
	"apigateway:restapis/stages/":           "AWS::ApiGateway::Stage",
	"athena:workgroup":                      "AWS::Athena::WorkGroup",
	"autoscaling:autoScalingGroup":          "AWS::AutoScaling::AutoScalingGroup",
	"autoscaling:launchConfiguration":       "AWS::AutoScaling::LaunchConfiguration",
	"backup:backup-plan":                    "AWS::Backup::BackupPlan",
	"backup:backup-vault":                   "AWS::Backup::BackupVault",
	"cloudformation:stack":                  "AWS::CloudFormation::Stack",
	"cloudfront:distribution":               "AWS::CloudFront::Distribution",
	"cloudtrail:trail":                      "AWS::CloudTrail::Trail",
	"cloudwatch:alarm":                      "AWS::CloudWatch::Alarm",
	"codebuild:project":                     "AWS::CodeBuild::Project",
	"cognito-idp:userpool":                  "AWS::Cognito::UserPool",
	"dynamodb:table":                        "AWS::DynamoDB::Table",
	"ec2:customer-gateway":                  "AWS::EC2::CustomerGateway",
	"ec2:dhcp-options":                      "AWS::EC2::DHCPOptions",
	"ec2:elastic-ip":                        "AWS::EC2::EIP",
	"ec2:image":                             "AWS::EC2::Image",
	"ec2:instance":                          "AWS::EC2::Instance",
	"ec2:internet-gateway":                  "AWS::EC2::InternetGateway",
	"ec2:key-pair":                          "AWS::EC2::KeyPair",
	"ec2:launch-template":                   "AWS::EC2::LaunchTemplate",
	"ec2:natgateway":                        "AWS::EC2::NatGateway",
	"ec2:network-acl":                       "AWS::EC2::NetworkAcl",
	"ec2:network-interface":                 "AWS::EC2::NetworkInterface",
	"ec2:route-table":                       "AWS::EC2::RouteTable",
	"ec2:security-group":                    "AWS::EC2::SecurityGroup",
	"ec2:snapshot":                          "AWS::EC2::Snapshot",
	"ec2:subnet":                            "AWS::EC2::Subnet",
	"ec2:transit-gateway":                   "AWS::EC2::TransitGateway",
	"ec2:volume":                            "AWS::EC2::Volume",
	"ec2:vpc":                               "AWS::EC2::VPC",
	"ec2:vpc-endpoint":                      "AWS::EC2::VPCEndpoint",
	"ec2:vpc-flow-log":                      "AWS::EC2::FlowLog",
	"ec2:vpc-peering-connection":            "AWS::EC2::VPCPeeringConnection",
	"ec2:vpn-connection":                    "AWS::EC2::VPNConnection",
	"ec2:vpn-gateway":                       "AWS::EC2::VPNGateway",
	"ecr:repository":                        "AWS::ECR::Repository",
	"ecs:cluster":                           "AWS::ECS::Cluster",
	"ecs:service":                           "AWS::ECS::Service",
	"ecs:task-definition":                   "AWS::ECS::TaskDefinition",
	"eks:cluster":                           "AWS::EKS::Cluster",
	"eks:nodegroup":                         "AWS::EKS::Nodegroup",
	"elasticache:cluster":                   "AWS::ElastiCache::CacheCluster",
	"elasticache:replicationgroup":          "AWS::ElastiCache::ReplicationGroup",
	"elasticfilesystem:file-system":         "AWS::EFS::FileSystem",
	"elasticloadbalancing:listener":         "AWS::ElasticLoadBalancingV2::Listener",
	"elasticloadbalancing:loadbalancer":     "AWS::ElasticLoadBalancing::LoadBalancer",
	"elasticloadbalancing:loadbalancer/app": "AWS::ElasticLoadBalancingV2::LoadBalancer",
	"elasticloadbalancing:loadbalancer/gwy": "AWS::ElasticLoadBalancingV2::LoadBalancer",
	"elasticloadbalancing:loadbalancer/net": "AWS::ElasticLoadBalancingV2::LoadBalancer",
	"elasticloadbalancing:targetgroup":      "AWS::ElasticLoadBalancingV2::TargetGroup",
	"es:domain":                             "AWS::OpenSearchService::Domain",
	"events:event-bus":                      "AWS::Events::EventBus",
	"events:rule":                           "AWS::Events::Rule",
	"firehose:deliverystream":               "AWS::KinesisFirehose::DeliveryStream",
	"glue:job":                              "AWS::Glue::Job",
	"iam:group":                             "AWS::IAM::Group",
	"iam:instance-profile":                  "AWS::IAM::InstanceProfile",
	"iam:oidc-provider":                     "AWS::IAM::OIDCProvider",
	"iam:policy":                            "AWS::IAM::ManagedPolicy",
	"iam:role":                              "AWS::IAM::Role",
	"iam:saml-provider":                     "AWS::IAM::SAMLProvider",
	"iam:user":                              "AWS::IAM::User",
	"kinesis:stream":                        "AWS::Kinesis::Stream",
	"kinesis:stream/consumer/":              "AWS::Kinesis::StreamConsumer",
	"kms:alias":                             "AWS::KMS::Alias",
	"kms:key":                               "AWS::KMS::Key",
	"lambda:function":                       "AWS::Lambda::Function",
	"logs:log-group":                        "AWS::Logs::LogGroup",
	"rds:cluster":                           "AWS::RDS::DBCluster",
	"rds:cluster-snapshot":                  "AWS::RDS::DBClusterSnapshot",
	"rds:db":                                "AWS::RDS::DBInstance",
	"rds:snapshot":                          "AWS::RDS::DBSnapshot",
	"rds:subgrp":                            "AWS::RDS::DBSubnetGroup",
	"redshift:cluster":                      "AWS::Redshift::Cluster",
	"route53:hostedzone":                    "AWS::Route53::HostedZone",
	"s3":                                    "AWS::S3::Bucket",
	"sagemaker:notebook-instance":           "AWS::SageMaker::NotebookInstance",
	"secretsmanager:secret":                 "AWS::SecretsManager::Secret",
	"sns":                                   "AWS::SNS::Topic",
	"sqs":                                   "AWS::SQS::Queue",
	"ssm:parameter":                         "AWS::SSM::Parameter",
	"states:activity":                       "AWS::StepFunctions::Activity",
	"states:stateMachine":                   "AWS::StepFunctions::StateMachine",
	"workspaces:workspace":                  "AWS::WorkSpaces::Workspace",
}
