"""Fill a local moto_server with a fixed amount of everything the map reads.

    python3 seed.py http://127.0.0.1:5000

The endpoint is given by the caller and must be on loopback, so that a mistyped
one can never create anything in a real account. What was created is printed as
JSON: {"AWS::EC2::Instance": 25, ...}; the defaults an account comes with (a VPC,
its subnets and security group) are not counted.
"""

import io
import json
import sys
import zipfile
from urllib.parse import urlparse

import boto3
from botocore.config import Config

import seed_services

INSTANCES = 25
IMAGES = 300  # more than the 100 that one burst of DescribeImageAttribute covers
VOLUMES = 5  # besides the root volumes of the instances
VPCS = 3
SUBNETS_PER_VPC = 4
GROUPS_PER_VPC = 3
ROLES = 120  # more than a page of ListRoles
QUEUES = 12
BUCKETS = 7
FUNCTIONS = 60  # more than a page of ListFunctions
TOPICS = 4


def tags(**pairs):
    return [{"Key": k, "Value": v} for k, v in pairs.items()]


def spec(kind, **pairs):
    return [{"ResourceType": kind, "Tags": tags(**pairs)}]


def seed(endpoint, region="us-east-1"):
    session = boto3.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name=region
    )
    config = Config(retries={"max_attempts": 1, "mode": "standard"}, connect_timeout=10, read_timeout=60)

    def client(service):
        return session.client(service, endpoint_url=endpoint, config=config)

    ec2 = client("ec2")
    subnets = []
    for i in range(VPCS):
        vpc = ec2.create_vpc(
            CidrBlock=f"10.{i}.0.0/16", TagSpecifications=spec("vpc", Name=f"net-{i}")
        )["Vpc"]["VpcId"]
        for j in range(SUBNETS_PER_VPC):
            subnets.append(
                ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.{i}.{j}.0/24")["Subnet"]["SubnetId"]
            )
        for j in range(GROUPS_PER_VPC):
            group = ec2.create_security_group(
                GroupName=f"group-{i}-{j}", Description="seeded", VpcId=vpc
            )["GroupId"]
            ec2.authorize_security_group_ingress(
                GroupId=group,
                IpPermissions=[
                    {
                        "IpProtocol": "tcp",
                        "FromPort": 443,
                        "ToPort": 443,
                        "IpRanges": [{"CidrIp": "10.0.0.0/8"}],
                    }
                ],
            )

    for name, count in (("web", 15), ("worker", INSTANCES - 15)):
        ec2.run_instances(
            ImageId="ami-12c6146b",
            InstanceType="t3.micro",
            SubnetId=subnets[0],
            MinCount=count,
            MaxCount=count,
            TagSpecifications=spec("instance", Name=name, env="test"),
        )
    for i in range(VOLUMES):
        ec2.create_volume(AvailabilityZone=region + "a", Size=8 + i)

    # Each image brings a snapshot with it.
    for i in range(IMAGES):
        image = ec2.register_image(
            Name=f"image-{i:03d}", Architecture="x86_64", RootDeviceName="/dev/sda1"
        )["ImageId"]
        if i < 10:  # these are shared with another account
            ec2.modify_image_attribute(
                ImageId=image, LaunchPermission={"Add": [{"UserId": "444455556666"}]}
            )

    iam = client("iam")
    trust = json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {"Service": "lambda.amazonaws.com"},
                    "Action": "sts:AssumeRole",
                }
            ],
        }
    )
    role = ""
    for i in range(ROLES):
        role = iam.create_role(RoleName=f"role-{i:03d}", AssumeRolePolicyDocument=trust)["Role"]["Arn"]

    sqs = client("sqs")
    for i in range(QUEUES):
        sqs.create_queue(QueueName=f"queue-{i:02d}", tags={"env": "test"})

    s3 = client("s3")
    for i in range(BUCKETS):
        s3.create_bucket(Bucket=f"bucket-{i}")

    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("main.py", "def handler(event, context):\n    return event\n")
    functions = client("lambda")
    for i in range(FUNCTIONS):
        functions.create_function(
            FunctionName=f"function-{i:02d}",
            Runtime="python3.12",
            Role=role,
            Handler="main.handler",
            Code={"ZipFile": code.getvalue()},
            Tags={"env": "test"},
        )

    sns = client("sns")
    for i in range(TOPICS):
        sns.create_topic(Name=f"topic-{i}", Tags=tags(env="test"))

    made = {
        "AWS::EC2::Instance": INSTANCES,
        "AWS::EC2::Volume": INSTANCES + VOLUMES,
        "AWS::EC2::Image": IMAGES,
        "AWS::EC2::Snapshot": IMAGES,
        "AWS::EC2::VPC": VPCS,
        "AWS::EC2::Subnet": VPCS * SUBNETS_PER_VPC,
        "AWS::EC2::SecurityGroup": VPCS * GROUPS_PER_VPC,
        "AWS::IAM::Role": ROLES,
        "AWS::SQS::Queue": QUEUES,
        "AWS::S3::Bucket": BUCKETS,
        "AWS::Lambda::Function": FUNCTIONS,
        "AWS::SNS::Topic": TOPICS,
    }
    for kind, count in seed_services.seed(client, region).items():
        made[kind] = made.get(kind, 0) + count
    return made


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: seed.py ENDPOINT")
    endpoint = sys.argv[1]
    if urlparse(endpoint).hostname not in ("127.0.0.1", "localhost", "::1"):
        sys.exit(f"seed.py: {endpoint} is not on loopback; this fills what it is pointed at")
    print(json.dumps(seed(endpoint), indent=2))


if __name__ == "__main__":
    main()
