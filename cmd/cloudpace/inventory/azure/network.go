package azure

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v8"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

const (
	networkType = "Microsoft.Network/virtualNetworks"
	subnetType  = "Microsoft.Network/virtualNetworks/subnets"
)

var networkRows = []row{
	{Kind: kind("azure_virtual_networks", "network", "network", networkType, subnetType),
		read: list(all(armnetwork.NewVirtualNetworksClient, (*armnetwork.VirtualNetworksClient).NewListAllPager), withSubnets)},
	{Kind: kind("azure_network_interfaces", "network", "network", "Microsoft.Network/networkInterfaces"),
		read: list(all(armnetwork.NewInterfacesClient, (*armnetwork.InterfacesClient).NewListAllPager))},
	{Kind: kind("azure_public_ip_addresses", "network", "network", "Microsoft.Network/publicIPAddresses"),
		read: list(all(armnetwork.NewPublicIPAddressesClient, (*armnetwork.PublicIPAddressesClient).NewListAllPager))},
	{Kind: kind("azure_network_security_groups", "network", "network", "Microsoft.Network/networkSecurityGroups"),
		read: list(all(armnetwork.NewSecurityGroupsClient, (*armnetwork.SecurityGroupsClient).NewListAllPager))},
	{Kind: kind("azure_load_balancers", "network", "network", "Microsoft.Network/loadBalancers"),
		read: list(all(armnetwork.NewLoadBalancersClient, (*armnetwork.LoadBalancersClient).NewListAllPager))},
	{Kind: kind("azure_route_tables", "network", "network", "Microsoft.Network/routeTables"),
		read: list(all(armnetwork.NewRouteTablesClient, (*armnetwork.RouteTablesClient).NewListAllPager))},
	{Kind: kind("azure_private_endpoints", "network", "network", "Microsoft.Network/privateEndpoints"),
		read: list(all(armnetwork.NewPrivateEndpointsClient, (*armnetwork.PrivateEndpointsClient).NewListBySubscriptionPager))},
	{Kind: kind("azure_firewalls", "network", "network", "Microsoft.Network/azureFirewalls"),
		read: list(all(armnetwork.NewAzureFirewallsClient, (*armnetwork.AzureFirewallsClient).NewListAllPager))},
	{Kind: kind("azure_application_gateways", "network", "network", "Microsoft.Network/applicationGateways"),
		read: list(all(armnetwork.NewApplicationGatewaysClient, (*armnetwork.ApplicationGatewaysClient).NewListAllPager))},
	{Kind: kind("azure_nat_gateways", "network", "network", "Microsoft.Network/natGateways"),
		read: list(all(armnetwork.NewNatGatewaysClient, (*armnetwork.NatGatewaysClient).NewListAllPager))},
	{Kind: kind("azure_virtual_network_gateways", "network", "network", "Microsoft.Network/virtualNetworkGateways"),
		read: inGroups(armnetwork.NewVirtualNetworkGatewaysClient, (*armnetwork.VirtualNetworkGatewaysClient).NewListPager)},
}

// withSubnets gives a virtual network and the subnets that it has in it: they are
// things of their own, and to ask for them would take a call for each network. One that
// cannot be told from others is a gap, though the network shows it.
func withSubnets(out *inventory.Output, network item) []item {
	found := []item{network}
	if network.Type != "" && typeName(network.Type) != networkType {
		return found // Resource Graph gives things of all types
	}
	properties, _ := network.rest["properties"].(map[string]any)
	subnets, ok := properties["subnets"].([]any)
	if !ok && properties["subnets"] != nil {
		out.Gap(fmt.Errorf("subnets of %s: protocol: they are no list", network.ID))
	}
	for _, v := range subnets {
		o, _ := v.(map[string]any)
		subnet, err := itemOf(copied(o))
		if err != nil {
			out.Gap(fmt.Errorf("subnets of %s: %w", network.ID, err))
			continue
		}
		subnet.Type, subnet.Subscription = subnetType, network.Subscription
		subnet.inherit(network)
		found = append(found, subnet)
	}
	return found
}

// copied is a copy of an object: taking it apart leaves it whole in its network.
func copied(o map[string]any) map[string]any {
	c := make(map[string]any, len(o))
	for key, value := range o {
		c[key] = value
	}
	return c
}
