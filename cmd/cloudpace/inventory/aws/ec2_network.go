package aws

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

var addresses = listing(
	func(ctx context.Context, s *site, _ *string) (*ec2.DescribeAddressesOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeAddresses(ctx, &ec2.DescribeAddressesInput{})
	},
	func(o *ec2.DescribeAddressesOutput) ([]types.Address, *string) { return o.Addresses, nil },
	func(s *site, v types.Address) inventory.Asset {
		id := v.AllocationId
		if id == nil { // of the time before VPCs
			id = v.PublicIp
		}
		return s.ec2Asset("AWS::EC2::EIP", "elastic-ip", "", id, v.Tags, v)
	},
)

var networkInterfaces = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeNetworkInterfacesOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeNetworkInterfacesOutput) ([]types.NetworkInterface, *string) {
		return o.NetworkInterfaces, o.NextToken
	},
	func(s *site, v types.NetworkInterface) inventory.Asset {
		return s.ec2Asset("AWS::EC2::NetworkInterface", "network-interface", aws.ToString(v.OwnerId), v.NetworkInterfaceId, v.TagSet, v)
	},
)

var routeTables = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeRouteTablesOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeRouteTablesOutput) ([]types.RouteTable, *string) {
		return o.RouteTables, o.NextToken
	},
	func(s *site, v types.RouteTable) inventory.Asset {
		return s.ec2Asset("AWS::EC2::RouteTable", "route-table", aws.ToString(v.OwnerId), v.RouteTableId, v.Tags, v)
	},
)

var networkACLs = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeNetworkAclsOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeNetworkAcls(ctx, &ec2.DescribeNetworkAclsInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeNetworkAclsOutput) ([]types.NetworkAcl, *string) {
		return o.NetworkAcls, o.NextToken
	},
	func(s *site, v types.NetworkAcl) inventory.Asset {
		return s.ec2Asset("AWS::EC2::NetworkAcl", "network-acl", aws.ToString(v.OwnerId), v.NetworkAclId, v.Tags, v)
	},
)

var dhcpOptions = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeDhcpOptionsOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeDhcpOptions(ctx, &ec2.DescribeDhcpOptionsInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeDhcpOptionsOutput) ([]types.DhcpOptions, *string) {
		return o.DhcpOptions, o.NextToken
	},
	func(s *site, v types.DhcpOptions) inventory.Asset {
		return s.ec2Asset("AWS::EC2::DHCPOptions", "dhcp-options", aws.ToString(v.OwnerId), v.DhcpOptionsId, v.Tags, v)
	},
)

var internetGateways = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeInternetGatewaysOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeInternetGateways(ctx, &ec2.DescribeInternetGatewaysInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeInternetGatewaysOutput) ([]types.InternetGateway, *string) {
		return o.InternetGateways, o.NextToken
	},
	func(s *site, v types.InternetGateway) inventory.Asset {
		return s.ec2Asset("AWS::EC2::InternetGateway", "internet-gateway", aws.ToString(v.OwnerId), v.InternetGatewayId, v.Tags, v)
	},
)

var natGateways = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeNatGatewaysOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeNatGateways(ctx, &ec2.DescribeNatGatewaysInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeNatGatewaysOutput) ([]types.NatGateway, *string) {
		return o.NatGateways, o.NextToken
	},
	func(s *site, v types.NatGateway) inventory.Asset {
		return s.ec2Asset("AWS::EC2::NatGateway", "natgateway", "", v.NatGatewayId, v.Tags, v)
	},
)

var vpcEndpoints = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeVpcEndpointsOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeVpcEndpoints(ctx, &ec2.DescribeVpcEndpointsInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeVpcEndpointsOutput) ([]types.VpcEndpoint, *string) {
		return o.VpcEndpoints, o.NextToken
	},
	func(s *site, v types.VpcEndpoint) inventory.Asset {
		return s.ec2Asset("AWS::EC2::VPCEndpoint", "vpc-endpoint", aws.ToString(v.OwnerId), v.VpcEndpointId, v.Tags, v)
	},
)

var vpcPeerings = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeVpcPeeringConnectionsOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeVpcPeeringConnections(ctx, &ec2.DescribeVpcPeeringConnectionsInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeVpcPeeringConnectionsOutput) ([]types.VpcPeeringConnection, *string) {
		return o.VpcPeeringConnections, o.NextToken
	},
	func(s *site, v types.VpcPeeringConnection) inventory.Asset {
		return s.ec2Asset("AWS::EC2::VPCPeeringConnection", "vpc-peering-connection", "", v.VpcPeeringConnectionId, v.Tags, v)
	},
)

var flowLogs = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeFlowLogsOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeFlowLogs(ctx, &ec2.DescribeFlowLogsInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeFlowLogsOutput) ([]types.FlowLog, *string) { return o.FlowLogs, o.NextToken },
	func(s *site, v types.FlowLog) inventory.Asset {
		return s.ec2Asset("AWS::EC2::FlowLog", "vpc-flow-log", "", v.FlowLogId, v.Tags, v)
	},
)

var transitGateways = listing(
	func(ctx context.Context, s *site, next *string) (*ec2.DescribeTransitGatewaysOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeTransitGateways(ctx, &ec2.DescribeTransitGatewaysInput{MaxResults: ec2Page, NextToken: next})
	},
	func(o *ec2.DescribeTransitGatewaysOutput) ([]types.TransitGateway, *string) {
		return o.TransitGateways, o.NextToken
	},
	func(s *site, v types.TransitGateway) inventory.Asset {
		return s.ec2Asset("AWS::EC2::TransitGateway", "transit-gateway", aws.ToString(v.OwnerId), v.TransitGatewayId, v.Tags, v)
	},
)

var vpnGateways = listing(
	func(ctx context.Context, s *site, _ *string) (*ec2.DescribeVpnGatewaysOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeVpnGateways(ctx, &ec2.DescribeVpnGatewaysInput{})
	},
	func(o *ec2.DescribeVpnGatewaysOutput) ([]types.VpnGateway, *string) { return o.VpnGateways, nil },
	func(s *site, v types.VpnGateway) inventory.Asset {
		return s.ec2Asset("AWS::EC2::VPNGateway", "vpn-gateway", "", v.VpnGatewayId, v.Tags, v)
	},
)

var customerGateways = listing(
	func(ctx context.Context, s *site, _ *string) (*ec2.DescribeCustomerGatewaysOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeCustomerGateways(ctx, &ec2.DescribeCustomerGatewaysInput{})
	},
	func(o *ec2.DescribeCustomerGatewaysOutput) ([]types.CustomerGateway, *string) {
		return o.CustomerGateways, nil
	},
	func(s *site, v types.CustomerGateway) inventory.Asset {
		return s.ec2Asset("AWS::EC2::CustomerGateway", "customer-gateway", "", v.CustomerGatewayId, v.Tags, v)
	},
)

var vpnConnections = listing(
	func(ctx context.Context, s *site, _ *string) (*ec2.DescribeVpnConnectionsOutput, error) {
		return client(s, ec2.NewFromConfig).DescribeVpnConnections(ctx, &ec2.DescribeVpnConnectionsInput{})
	},
	func(o *ec2.DescribeVpnConnectionsOutput) ([]types.VpnConnection, *string) {
		return o.VpnConnections, nil
	},
	func(s *site, v types.VpnConnection) inventory.Asset {
		// Both have the tunnels' keys: the configuration is for the device at the
		// other end.
		v.CustomerGatewayConfiguration = nil
		if v.Options != nil {
			for i := range v.Options.TunnelOptions {
				hide(&v.Options.TunnelOptions[i].PreSharedKey)
			}
		}
		return s.ec2Asset("AWS::EC2::VPNConnection", "vpn-connection", "", v.VpnConnectionId, v.Tags, v)
	},
)
