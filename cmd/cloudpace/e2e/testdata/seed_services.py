"""The services beyond the first dozen types: a few of each, enough to tell them
apart. What comes with something else (the route table of a VPC) is counted as far
as it was made here.
"""

import json

ZONES = 12  # more than one question for tags covers
RECORDS_PER_ZONE = 3
PARAMETERS = 60  # more than a page
LOG_GROUPS = 60  # more than a page
TABLES = 5
BALANCERS = 3
SERVICES_PER_CLUSTER = 12  # more than one description covers

SECRET = "hunter2hunter2"  # wherever a secret may be; none of it may be mapped

ENV = [{"Key": "env", "Value": "test"}]
env = [{"key": "env", "value": "test"}]
TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}
        ],
    }
)
POLICY = json.dumps(
    {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:ListAllMyBuckets", "Resource": "*"}]}
)


def seed(client, region):
    made = {}
    ec2 = client("ec2")
    vpc, other = [v["VpcId"] for v in ec2.describe_vpcs(Filters=[{"Name": "tag:Name", "Values": ["net-*"]}])["Vpcs"]][:2]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{100 + i}.0/24", AvailabilityZone=region + zone)["Subnet"]["SubnetId"]
        for i, zone in enumerate("ab")
    ]
    made["AWS::EC2::Subnet"] = 2
    seed_network(ec2, made, vpc, other, subnets)
    seed_compute(client, made, subnets)
    seed_balancers(client, made, vpc, subnets)
    seed_databases(client, made, subnets)
    seed_containers(client, made, subnets)
    seed_identity(client, made)
    seed_messaging(client, made)
    seed_management(client, made, region)
    seed_security(client, made)
    seed_names(client, made)
    return made


def seed_network(ec2, made, vpc, other, subnets):
    def spec(kind):
        return [{"ResourceType": kind, "Tags": ENV}]

    address = ec2.allocate_address(Domain="vpc", TagSpecifications=spec("elastic-ip"))["AllocationId"]
    ec2.create_network_interface(SubnetId=subnets[0], Description="seeded")
    ec2.create_route_table(VpcId=vpc, TagSpecifications=spec("route-table"))
    ec2.create_network_acl(VpcId=vpc)
    ec2.create_dhcp_options(DhcpConfigurations=[{"Key": "domain-name", "Values": ["example.com"]}])
    gateway = ec2.create_internet_gateway(TagSpecifications=spec("internet-gateway"))["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    ec2.create_nat_gateway(SubnetId=subnets[0], AllocationId=address)
    ec2.create_vpc_endpoint(VpcId=vpc, ServiceName="com.amazonaws.us-east-1.s3")
    ec2.create_vpc_peering_connection(VpcId=vpc, PeerVpcId=other)
    ec2.create_flow_logs(
        ResourceIds=[vpc], ResourceType="VPC", TrafficType="ALL", LogDestinationType="s3", LogDestination="arn:aws:s3:::bucket-0"
    )
    transit = ec2.create_transit_gateway(Description="seeded")["TransitGateway"]["TransitGatewayId"]
    ec2.create_vpn_gateway(Type="ipsec.1")
    customer = ec2.create_customer_gateway(Type="ipsec.1", PublicIp="192.0.2.1", BgpAsn=65000)["CustomerGateway"]["CustomerGatewayId"]
    ec2.create_vpn_connection(Type="ipsec.1", CustomerGatewayId=customer, TransitGatewayId=transit)
    ec2.create_key_pair(KeyName="seeded")
    ec2.create_launch_template(LaunchTemplateName="seeded", LaunchTemplateData={"InstanceType": "t3.micro"})
    for kind in (
        "EIP NetworkInterface RouteTable NetworkAcl DHCPOptions InternetGateway NatGateway VPCEndpoint VPCPeeringConnection"
        " FlowLog TransitGateway VPNGateway CustomerGateway VPNConnection KeyPair LaunchTemplate"
    ).split():
        made["AWS::EC2::" + kind] = 1


def seed_compute(client, made, subnets):
    scaling = client("autoscaling")
    scaling.create_launch_configuration(
        LaunchConfigurationName="seeded", ImageId="ami-12c6146b", InstanceType="t3.micro", UserData=SECRET
    )
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="seeded", LaunchConfigurationName="seeded", MinSize=0, MaxSize=1, DesiredCapacity=0,
        VPCZoneIdentifier=subnets[0],
        Tags=[{"Key": "env", "Value": "test", "PropagateAtLaunch": False, "ResourceId": "seeded", "ResourceType": "auto-scaling-group"}],
    )
    made["AWS::AutoScaling::AutoScalingGroup"] = made["AWS::AutoScaling::LaunchConfiguration"] = 1
    files = client("efs")
    system = files.create_file_system(CreationToken="seeded", Tags=ENV)["FileSystemId"]
    files.create_mount_target(FileSystemId=system, SubnetId=subnets[0])
    files.create_file_system(CreationToken="bare")
    made["AWS::EFS::FileSystem"] = 2


def seed_balancers(client, made, vpc, subnets):
    elbv2 = client("elbv2")
    group = elbv2.create_target_group(Name="seeded", Protocol="HTTP", Port=80, VpcId=vpc, Tags=ENV)["TargetGroups"][0]["TargetGroupArn"]
    for i in range(BALANCERS):
        balancer = elbv2.create_load_balancer(Name=f"balancer-{i}", Subnets=subnets, Tags=ENV)["LoadBalancers"][0]["LoadBalancerArn"]
        elbv2.create_listener(
            LoadBalancerArn=balancer, Protocol="HTTP", Port=80, DefaultActions=[{"Type": "forward", "TargetGroupArn": group}]
        )
    client("elb").create_load_balancer(
        LoadBalancerName="classic", AvailabilityZones=["us-east-1a"], Tags=ENV,
        Listeners=[{"Protocol": "HTTP", "LoadBalancerPort": 80, "InstancePort": 80}],
    )
    made["AWS::ElasticLoadBalancingV2::LoadBalancer"] = made["AWS::ElasticLoadBalancingV2::Listener"] = BALANCERS
    made["AWS::ElasticLoadBalancingV2::TargetGroup"] = made["AWS::ElasticLoadBalancing::LoadBalancer"] = 1


def seed_databases(client, made, subnets):
    rds = client("rds")
    rds.create_db_subnet_group(DBSubnetGroupName="seeded", DBSubnetGroupDescription="seeded", SubnetIds=subnets, Tags=ENV)
    rds.create_db_instance(
        DBInstanceIdentifier="database", Engine="postgres", DBInstanceClass="db.t3.micro", AllocatedStorage=20,
        MasterUsername="root", MasterUserPassword=SECRET, Tags=ENV,
    )
    rds.create_db_cluster(DBClusterIdentifier="cluster", Engine="aurora-postgresql", MasterUsername="root", MasterUserPassword=SECRET, Tags=ENV)
    rds.create_db_snapshot(DBSnapshotIdentifier="snapshot", DBInstanceIdentifier="database")
    rds.create_db_cluster_snapshot(DBClusterSnapshotIdentifier="cluster-snapshot", DBClusterIdentifier="cluster")
    for kind in "DBSubnetGroup DBInstance DBCluster DBSnapshot DBClusterSnapshot".split():
        made["AWS::RDS::" + kind] = 1
    dynamodb = client("dynamodb")
    for i in range(TABLES):
        dynamodb.create_table(
            TableName=f"table-{i}", BillingMode="PAY_PER_REQUEST", Tags=ENV,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        )
    made["AWS::DynamoDB::Table"] = TABLES
    cache = client("elasticache")
    cache.create_cache_cluster(CacheClusterId="cache", Engine="memcached", CacheNodeType="cache.t3.micro", NumCacheNodes=1, Tags=ENV)
    cache.create_replication_group(
        ReplicationGroupId="replicated", ReplicationGroupDescription="seeded", Engine="redis", CacheNodeType="cache.t3.micro", NumCacheClusters=1
    )
    made["AWS::ElastiCache::CacheCluster"] = made["AWS::ElastiCache::ReplicationGroup"] = 1


def seed_containers(client, made, subnets):
    ecr = client("ecr")
    ecr.create_repository(repositoryName="team/open", tags=ENV)
    ecr.set_repository_policy(repositoryName="team/open", policyText=POLICY.replace('"Resource": "*"', '"Principal": "*"'))
    ecr.create_repository(repositoryName="team/closed")
    made["AWS::ECR::Repository"] = 2
    ecs = client("ecs")
    ecs.register_task_definition(
        family="web", tags=env,
        containerDefinitions=[{"name": "web", "image": "web", "memory": 64, "environment": [{"name": "PASSWORD", "value": SECRET}]}],
    )
    for cluster in ("one", "two"):
        ecs.create_cluster(clusterName=cluster, tags=env)
        for i in range(SERVICES_PER_CLUSTER):
            ecs.create_service(cluster=cluster, serviceName=f"service-{i:02d}", taskDefinition="web", desiredCount=0, tags=env)
    made["AWS::ECS::TaskDefinition"], made["AWS::ECS::Cluster"], made["AWS::ECS::Service"] = 1, 2, 2 * SERVICES_PER_CLUSTER
    eks = client("eks")
    role = "arn:aws:iam::123456789012:role/role-000"
    eks.create_cluster(name="kube", roleArn=role, resourcesVpcConfig={"subnetIds": subnets}, tags={"env": "test"})
    for i in range(2):
        eks.create_nodegroup(clusterName="kube", nodegroupName=f"nodes-{i}", subnets=subnets, nodeRole=role, tags={"env": "test"})
    made["AWS::EKS::Cluster"], made["AWS::EKS::Nodegroup"] = 1, 2


def seed_identity(client, made):
    iam = client("iam")
    for i in range(3):
        iam.create_user(UserName=f"user-{i}", Tags=ENV)
        iam.create_access_key(UserName=f"user-{i}")
    iam.create_group(GroupName="admins")
    iam.create_policy(PolicyName="reading", PolicyDocument=POLICY, Tags=ENV)
    made["AWS::IAM::User"] = 3
    made["AWS::IAM::Group"] = made["AWS::IAM::ManagedPolicy"] = 1  # moto cannot list the tags of an instance profile


def seed_messaging(client, made):
    events = client("events")
    events.create_event_bus(Name="custom")
    for bus in ("default", "custom"):
        events.put_rule(Name="rule", EventBusName=bus, EventPattern='{"source": ["seeded"]}', Tags=ENV)
        events.put_targets(
            Rule="rule", EventBusName=bus, Targets=[{"Id": "1", "Arn": "arn:aws:sqs:us-east-1:123456789012:queue-00", "Input": json.dumps(SECRET)}]
        )
    made["AWS::Events::EventBus"] = made["AWS::Events::Rule"] = 2
    kinesis = client("kinesis")
    for i in range(3):
        kinesis.create_stream(StreamName=f"stream-{i}", ShardCount=1)
        kinesis.add_tags_to_stream(StreamName=f"stream-{i}", Tags={"env": "test"})
    made["AWS::Kinesis::Stream"] = 3
    client("stepfunctions").create_state_machine(
        name="machine", roleArn="arn:aws:iam::123456789012:role/role-000", tags=env,
        definition=json.dumps({"StartAt": "s", "States": {"s": {"Type": "Pass", "Result": SECRET, "End": True}}}),
    )
    made["AWS::StepFunctions::StateMachine"] = 1


def seed_management(client, made, region):
    client("cloudformation").create_stack(
        StackName="stack", Tags=ENV, Parameters=[{"ParameterKey": "Password", "ParameterValue": SECRET}],
        TemplateBody=json.dumps(
            {
                "Parameters": {"Password": {"Type": "String"}},
                "Resources": {"Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "from-stack"}}},
                "Outputs": {"Password": {"Value": {"Ref": "Password"}}},
            }
        ),
    )
    made["AWS::CloudFormation::Stack"] = made["AWS::SQS::Queue"] = 1
    trail = client("cloudtrail")
    trail.create_trail(Name="trail", S3BucketName="bucket-0", TagsList=ENV)
    made["AWS::CloudTrail::Trail"] = 1
    watch = client("cloudwatch")
    watch.put_metric_alarm(
        AlarmName="alarm", MetricName="m", Namespace="n", ComparisonOperator="GreaterThanThreshold", EvaluationPeriods=1, Threshold=1.0,
        Period=60, Statistic="Sum", Tags=ENV,
    )
    made["AWS::CloudWatch::Alarm"] = 1
    logs = client("logs")
    for i in range(LOG_GROUPS):
        logs.create_log_group(logGroupName=f"/seeded/{i:02d}", tags={"env": "test"})
    made["AWS::Logs::LogGroup"] = LOG_GROUPS
    ssm = client("ssm")
    for i in range(PARAMETERS):
        ssm.put_parameter(Name=f"/seeded/{i:02d}", Value=SECRET, Type="SecureString" if i % 2 else "String", Tags=ENV)
    made["AWS::SSM::Parameter"] = PARAMETERS


def seed_security(client, made):
    kms = client("kms")
    for i in range(3):
        key = kms.create_key(Description=f"key {i}", Tags=[{"TagKey": "env", "TagValue": "test"}])["KeyMetadata"]["KeyId"]
        kms.create_alias(AliasName=f"alias/key-{i}", TargetKeyId=key)
    made["AWS::KMS::Key"] = made["AWS::KMS::Alias"] = 3
    secrets = client("secretsmanager")
    for i in range(3):
        secrets.create_secret(Name=f"secret-{i}", SecretString=SECRET, Tags=ENV)
    secrets.delete_secret(SecretId="secret-2")  # is there for thirty days
    made["AWS::SecretsManager::Secret"] = 3
    acm = client("acm")
    for name in ("a.example.com", "b.example.com"):
        acm.request_certificate(DomainName=name, ValidationMethod="DNS", Tags=ENV)
    made["AWS::CertificateManager::Certificate"] = 2


def seed_names(client, made):
    dns = client("route53")
    for i in range(ZONES):
        zone = dns.create_hosted_zone(Name=f"z{i:02d}.example.com", CallerReference=str(i))["HostedZone"]["Id"]
        dns.change_tags_for_resource(ResourceType="hostedzone", ResourceId=zone.split("/")[-1], AddTags=ENV)
        dns.change_resource_record_sets(
            HostedZoneId=zone,
            ChangeBatch={
                "Changes": [
                    {
                        "Action": "CREATE",
                        "ResourceRecordSet": {
                            "Name": f"r{j}.z{i:02d}.example.com", "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "192.0.2.1"}],
                        },
                    }
                    for j in range(RECORDS_PER_ZONE)
                ]
            },
        )
    made["AWS::Route53::HostedZone"], made["AWS::Route53::RecordSet"] = ZONES, ZONES * RECORDS_PER_ZONE
    client("cloudfront").create_distribution_with_tags(
        DistributionConfigWithTags={
            "Tags": {"Items": ENV},
            "DistributionConfig": {
                "CallerReference": "seeded", "Comment": "seeded", "Enabled": True,
                "Origins": {
                    "Quantity": 1,
                    "Items": [
                        {
                            "Id": "origin", "DomainName": "origin.example.com",
                            "CustomHeaders": {"Quantity": 1, "Items": [{"HeaderName": "X-Origin", "HeaderValue": SECRET}]},
                            "CustomOriginConfig": {"HTTPPort": 80, "HTTPSPort": 443, "OriginProtocolPolicy": "https-only"},
                        }
                    ],
                },
                "DefaultCacheBehavior": {
                    "TargetOriginId": "origin", "ViewerProtocolPolicy": "allow-all", "MinTTL": 0,
                    "ForwardedValues": {"QueryString": False, "Cookies": {"Forward": "none"}},
                },
            },
        }
    )
    made["AWS::CloudFront::Distribution"] = 1
    rest = client("apigateway")
    api = rest.create_rest_api(name="rest", tags={"env": "test"})["id"]
    root = rest.get_resources(restApiId=api)["items"][0]["id"]
    rest.put_method(restApiId=api, resourceId=root, httpMethod="GET", authorizationType="NONE")
    rest.put_integration(restApiId=api, resourceId=root, httpMethod="GET", type="MOCK")
    deployment = rest.create_deployment(restApiId=api, stageName="test")["id"]
    rest.create_stage(restApiId=api, stageName="prod", deploymentId=deployment, variables={"key": SECRET}, tags={"env": "test"})
    made["AWS::ApiGateway::RestApi"], made["AWS::ApiGateway::Stage"] = 1, 2
    http = client("apigatewayv2")
    api = http.create_api(Name="http", ProtocolType="HTTP", Tags={"env": "test"})["ApiId"]
    http.create_stage(ApiId=api, StageName="test", StageVariables={"key": SECRET}, Tags={"env": "test"})
    made["AWS::ApiGatewayV2::Api"] = made["AWS::ApiGatewayV2::Stage"] = 1
