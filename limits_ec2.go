package cloudpace

import "strings"

const ec2Source = `EC2 Developer Guide, "Request throttling for the Amazon EC2 API", request token bucket sizes and refill rates, "uncategorized actions"`

// ec2Actions are the EC2 actions whose bucket is not that of their group: burst,
// tokens a second, actions.
var ec2Actions = []struct {
	burst, rate float64
	actions     string
}{
	{1, 0.1, `AdvertiseByoipCidr DeprovisionByoipCidr DisableImageBlockPublicAccess DisableSnapshotBlockPublicAccess
		EnableImageBlockPublicAccess EnableSnapshotBlockPublicAccess ProvisionByoipCidr WithdrawByoipCidr`},
	{1, 0.5, `AssociateCapacityReservationBillingOwner DescribeByoipCidrs DisassociateCapacityReservationBillingOwner`},
	{1, 1, `CancelDeclarativePoliciesReport CreateDefaultSubnet CreateDefaultVpc DescribeInstanceTopology
		DescribeMovingAddresses MoveAddressToVpc RestoreAddressToClassic StartDeclarativePoliciesReport`},
	{2, 2, `ModifyInstanceMetadataDefaults`},
	{4, 0.3, `CreateVpcEndpoint DeleteVpcEndpoints ModifyVpcEndpoint`},
	{5, 1, `CreateCoipCidr CreateCoipPool CreateSubnetCidrReservation DeleteCoipCidr DeleteCoipPool
		DeleteCoipPoolPermission DeleteSubnetCidrReservation`},
	{5, 2, `AuthorizeClientVpnIngress CreateClientVpnRoute DeleteClientVpnRoute DescribeHostReservations
		DescribeHostReservationOfferings DisableFastLaunch EnableFastLaunch GetHostReservationPurchasePreview
		PurchaseHostReservation RevokeClientVpnIngress RunInstances StartInstances`},
	{5, 5, `DeleteQueuedReservedInstances DescribeDeclarativePoliciesReports GetDeclarativePoliciesReportSummary
		PurchaseReservedInstancesOffering`},
	{10, 0.15, `DescribeCapacityBlockExtensionOfferings DescribeCapacityBlockOfferings PurchaseCapacityBlock
		PurchaseCapacityBlockExtension`},
	{10, 1, `AcceptVpcEndpointConnections AssignPrivateNatGatewayAddress AssociateEnclaveCertificateIamRole
		AssociateNatGatewayAddress CreateNatGateway CreateVpcEndpointServiceConfiguration DeleteNatGateway
		DeleteVpcEndpointServiceConfigurations DisassociateEnclaveCertificateIamRole DisassociateNatGatewayAddress
		GetAssociatedEnclaveCertificateIamRoles ModifyVpcEndpointServiceConfiguration RejectVpcEndpointConnections
		UnassignPrivateNatGatewayAddress`},
	{10, 2, `AttachVerifiedAccessTrustProvider CreateVerifiedAccessGroup CreateVerifiedAccessInstance
		CreateVerifiedAccessTrustProvider DeleteVerifiedAccessGroup DeleteVerifiedAccessInstance
		DeleteVerifiedAccessTrustProvider DescribeVerifiedAccessInstanceLoggingConfigurations
		DetachVerifiedAccessTrustProvider ModifyVerifiedAccessGroup ModifyVerifiedAccessInstance
		ModifyVerifiedAccessInstanceLoggingConfiguration ModifyVerifiedAccessTrustProvider`},
	{10, 10, `DescribeAggregateIdFormat DescribeIdentityIdFormat DescribeIdFormat DescribePrincipalIdFormat
		DescribeReservedInstancesOfferings`},
	{20, 4, `CreateVerifiedAccessEndpoint DeleteVerifiedAccessEndpoint ModifyVerifiedAccessEndpoint
		ModifyVerifiedAccessEndpointPolicy ModifyVerifiedAccessGroupPolicy`},
	{20, 5, `DescribeSecurityGroupReferences DescribeStaleSecurityGroups`},
	{50, 0.1, `CreateRestoreImageTask CreateStoreImageTask`},
	{50, 0.5, `DescribeStoreImageTasks`},
	{50, 3, `CreateSpotDatafeedSubscription DeleteSpotDatafeedSubscription DescribeSpotFleetRequests`},
	{100, 1, `CopyImage`},
	{100, 5, `AssignIpv6Addresses AssignPrivateIpAddresses AssociateIamInstanceProfile CreateLaunchTemplateVersion
		CreateNetworkInterface CreateSnapshot CreateSnapshots CreateVolume DeleteNetworkInterface DeleteSnapshot
		DeleteVolume DeregisterImage DescribeSpotFleetInstances DescribeSpotFleetRequestHistory
		DisassociateIamInstanceProfile ModifyImageAttribute ModifyInstanceMetadataOptions ModifyLaunchTemplate
		ModifyNetworkInterfaceAttribute ModifySnapshotAttribute TerminateInstances UnassignPrivateIpAddresses`},
	{100, 10, `CreateTags DeleteTags`},
	{100, 13, `DescribeSpotDatafeedSubscription`},
}

// ec2Limits are the same by action.
var ec2Limits = func() map[string]limits {
	m := map[string]limits{}
	for _, row := range ec2Actions {
		for _, action := range strings.Fields(row.actions) {
			m["ec2."+action] = limits{rate: row.rate, burst: row.burst}
		}
	}
	return m
}()
