package aws

import (
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// Where figures are from.
const (
	ec2Source     = "EC2 Developer Guide, Request throttling for the Amazon EC2 API"
	stsSource     = "IAM User Guide, IAM and AWS STS quotas: 600 requests a second"
	lambdaSource  = "Lambda Developer Guide, Lambda quotas, API requests"
	route53Source = "Route 53 Developer Guide, Throttling for Route 53 API requests: all operations of an account together"
	logsSource    = "CloudWatch Logs endpoints and quotas: DescribeLogGroups throttle limit"
	snsSource     = "SNS API Reference, ListTopics, TagResource"
	dynamoSource  = "DynamoDB Developer Guide, managing the control plane: 2,500 requests a second"
	s3Source      = "S3 User Guide, 5,500 GET and HEAD requests a second for each prefix"
	assumed       = "assumed: AWS publishes no figure"
)

// ec2Actions are EC2's actions with figures of their own ("uncategorized
// actions"): burst, tokens a second, actions.
var ec2Actions = []struct {
	burst, rate float64
	actions     string
}{
	{1, 0.1, "AdvertiseByoipCidr DeprovisionByoipCidr DisableImageBlockPublicAccess DisableSnapshotBlockPublicAccess EnableImageBlockPublicAccess EnableSnapshotBlockPublicAccess ProvisionByoipCidr WithdrawByoipCidr"},
	{1, 0.5, "AssociateCapacityReservationBillingOwner DescribeByoipCidrs DisassociateCapacityReservationBillingOwner"},
	{1, 1, "CancelDeclarativePoliciesReport CreateDefaultSubnet CreateDefaultVpc DescribeInstanceTopology DescribeMovingAddresses MoveAddressToVpc RestoreAddressToClassic StartDeclarativePoliciesReport"},
	{2, 2, "ModifyInstanceMetadataDefaults"},
	{4, 0.3, "CreateVpcEndpoint DeleteVpcEndpoints ModifyVpcEndpoint"},
	{5, 1, "CreateCoipCidr CreateCoipPool CreateSubnetCidrReservation DeleteCoipCidr DeleteCoipPool DeleteCoipPoolPermission DeleteSubnetCidrReservation"},
	{5, 2, "AuthorizeClientVpnIngress CreateClientVpnRoute DeleteClientVpnRoute DescribeHostReservations DescribeHostReservationOfferings DisableFastLaunch EnableFastLaunch GetHostReservationPurchasePreview PurchaseHostReservation RevokeClientVpnIngress RunInstances StartInstances"},
	{5, 5, "DeleteQueuedReservedInstances DescribeDeclarativePoliciesReports GetDeclarativePoliciesReportSummary PurchaseReservedInstancesOffering"},
	{10, 0.15, "DescribeCapacityBlockExtensionOfferings DescribeCapacityBlockOfferings PurchaseCapacityBlock PurchaseCapacityBlockExtension"},
	{10, 1, "AcceptVpcEndpointConnections AssignPrivateNatGatewayAddress AssociateEnclaveCertificateIamRole AssociateNatGatewayAddress CreateNatGateway CreateVpcEndpointServiceConfiguration DeleteNatGateway DeleteVpcEndpointServiceConfigurations DisassociateEnclaveCertificateIamRole DisassociateNatGatewayAddress GetAssociatedEnclaveCertificateIamRoles ModifyVpcEndpointServiceConfiguration RejectVpcEndpointConnections UnassignPrivateNatGatewayAddress"},
	{10, 2, "AttachVerifiedAccessTrustProvider CreateVerifiedAccessGroup CreateVerifiedAccessInstance CreateVerifiedAccessTrustProvider DeleteVerifiedAccessGroup DeleteVerifiedAccessInstance DeleteVerifiedAccessTrustProvider DescribeVerifiedAccessInstanceLoggingConfigurations DetachVerifiedAccessTrustProvider ModifyVerifiedAccessGroup ModifyVerifiedAccessInstance ModifyVerifiedAccessInstanceLoggingConfiguration ModifyVerifiedAccessTrustProvider"},
	{10, 10, "DescribeAggregateIdFormat DescribeIdentityIdFormat DescribeIdFormat DescribePrincipalIdFormat DescribeReservedInstancesOfferings"},
	{20, 4, "CreateVerifiedAccessEndpoint DeleteVerifiedAccessEndpoint ModifyVerifiedAccessEndpoint ModifyVerifiedAccessEndpointPolicy ModifyVerifiedAccessGroupPolicy"},
	{20, 5, "DescribeSecurityGroupReferences DescribeStaleSecurityGroups"},
	{50, 0.1, "CreateRestoreImageTask CreateStoreImageTask"},
	{50, 0.5, "DescribeStoreImageTasks"},
	{50, 3, "CreateSpotDatafeedSubscription DeleteSpotDatafeedSubscription DescribeSpotFleetRequests"},
	{100, 1, "CopyImage"},
	{100, 5, "AssignIpv6Addresses AssignPrivateIpAddresses AssociateIamInstanceProfile CreateLaunchTemplateVersion CreateNetworkInterface CreateSnapshot CreateSnapshots CreateVolume DeleteNetworkInterface DeleteSnapshot DeleteVolume DeregisterImage DescribeSpotFleetInstances DescribeSpotFleetRequestHistory DisassociateIamInstanceProfile ModifyImageAttribute ModifyInstanceMetadataOptions ModifyLaunchTemplate ModifyNetworkInterfaceAttribute ModifySnapshotAttribute TerminateInstances UnassignPrivateIpAddresses"},
	{100, 10, "CreateTags DeleteTags"},
	{100, 13, "DescribeSpotDatafeedSubscription"},
}

// ec2Unpaginated have a smaller bucket for requests with neither paging nor a
// filter.
const ec2Unpaginated = "DescribeInstances DescribeInstanceStatus DescribeNetworkInterfaces DescribeSecurityGroups DescribeSnapshots DescribeSpotInstanceRequests DescribeVolumes"

// documented makes the quotas anew, so that nobody changes another's.
func documented() []sim.Quota {
	quota := func(source string, burst, rate float64, service, class, operations string) sim.Quota {
		q := sim.Quota{Match: sim.Match{Service: strings.Fields(service), Class: strings.Fields(class)}, Burst: burst, Rate: rate, Source: source}
		q.Operation = strings.Fields(operations)
		return q
	}
	shared := func(q sim.Quota) sim.Quota { q.Shared = true; return q }
	var list []sim.Quota
	for _, row := range ec2Actions {
		list = append(list, quota(ec2Source, row.burst, row.rate, "ec2", "", row.actions))
	}
	return append(
		list,
		quota(ec2Source, 50, 10, "ec2", unpaginated, ec2Unpaginated),
		quota(ec2Source, 50, 5, "ec2", mutating, ""),
		quota(ec2Source, 100, 10, "ec2", console, ""),
		quota(ec2Source, 100, 20, "ec2", "", ""),

		shared(quota(stsSource, 600, 600, "sts", "", "")),
		quota(lambdaSource, 100, 100, "lambda", "", "GetFunction"),
		quota(lambdaSource, 15, 15, "lambda", "", "GetPolicy"),
		shared(quota(lambdaSource, 15, 15, "lambda", "", "")),
		shared(quota(route53Source, 50, 10, "route53", "", "")),
		quota(logsSource, 10, 10, "logs", "", "DescribeLogGroups"),
		quota(snsSource, 30, 30, "sns", "", "ListTopics"),
		shared(quota(snsSource, 10, 10, "sns", "", "TagResource UntagResource")),
		shared(quota(dynamoSource, 2500, 2500, "dynamodb", "", "")),
		shared(quota(s3Source, 5500, 5500, "s3", "", "")),

		shared(quota(assumed, 60, 20, "iam", "", "")),
		shared(quota(assumed, 20, 10, "resourcegroupstaggingapi", "", "")),
		shared(quota(assumed, 10, 5, "organizations cloudformation cloudcontrol", "", "")),
		quota(assumed, 80, 40, "", "", ""),
	)
}
