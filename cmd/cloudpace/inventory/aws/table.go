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

// table has all tasks. A row is all there is to one.
var table = []row{
	{kind("ec2_instances", "compute", "ec2", "AWS::EC2::Instance"), instances},
	{kind("ec2_volumes", "storage", "ec2", "AWS::EC2::Volume"), volumes},
	{covers(kind("ec2_snapshots", "storage", "ec2", "AWS::EC2::Snapshot"), "owned by the account"), snapshots},
	{covers(kind("ec2_images", "compute", "ec2", "AWS::EC2::Image"), "owned by the account"), images},
	{kind("ec2_vpcs", "network", "ec2", "AWS::EC2::VPC"), vpcs},
	{kind("ec2_subnets", "network", "ec2", "AWS::EC2::Subnet"), subnets},
	{kind("ec2_security_groups", "network", "ec2", "AWS::EC2::SecurityGroup"), securityGroups},
	{global(kind("s3_buckets", "storage", "s3", "AWS::S3::Bucket")), buckets},
	{kind("sqs_queues", "messaging", "sqs", "AWS::SQS::Queue"), queues},
	{global(kind("iam_roles", "identity", "iam", "AWS::IAM::Role")), roles},
	{kind("lambda_functions", "compute", "lambda", "AWS::Lambda::Function"), functions},
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
