package azure

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/dns/armdns"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/privatedns/armprivatedns"
)

var (
	dnsZones     = all(armdns.NewZonesClient, (*armdns.ZonesClient).NewListPager, &armdns.ZonesClientListOptions{Top: to.Ptr[int32](100)})
	privateZones = all(armprivatedns.NewPrivateZonesClient, (*armprivatedns.PrivateZonesClient).NewListPager)
)

var dnsRows = []row{
	{Kind: kind("azure_dns_zones", "dns", "network", "Microsoft.Network/dnsZones"), read: list(dnsZones)},
	{Kind: kind("azure_dns_record_sets", "dns", "network",
		recordTypes("Microsoft.Network/dnsZones", "A", "AAAA", "CAA", "CNAME", "DS", "MX", "NAPTR", "NS", "PTR", "SOA", "SRV", "TLSA", "TXT")...),
		read: under(dnsZones, armdns.NewRecordSetsClient, (*armdns.RecordSetsClient).NewListAllByDNSZonePager)},
	{Kind: kind("azure_private_dns_zones", "dns", "network", "Microsoft.Network/privateDnsZones"), read: list(privateZones)},
	{Kind: kind("azure_private_dns_record_sets", "dns", "network",
		recordTypes("Microsoft.Network/privateDnsZones", "A", "AAAA", "CNAME", "MX", "PTR", "SOA", "SRV", "TXT")...),
		read: under(privateZones, armprivatedns.NewRecordSetsClient, (*armprivatedns.RecordSetsClient).NewListPager)},
}

// recordTypes are a zone's: each type of record is a type of its own.
func recordTypes(zone string, records ...string) []string {
	types := make([]string, len(records))
	for i, r := range records {
		types[i] = zone + "/" + r
	}
	return types
}
