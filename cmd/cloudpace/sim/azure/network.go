package azure

import "fmt"

// etag is what Microsoft.Network has on everything.
func (x *context) etag(t thing) string { return `W/"` + x.guid(t, "etag") + `"` }

func virtualNetwork(x *context, t thing) object {
	var parts []any
	for s := range t.all(x.estate) {
		o := subnet(x, s)
		o["id"], o["name"], o["type"] = s.id(x.estate), s.shown(x.estate), s.kindName()
		parts = append(parts, o)
	}
	return object{"etag": x.etag(t), "properties": object{
		"provisioningState": succeeded, "resourceGuid": x.guid(t, "guid"), "enableDdosProtection": false,
		"addressSpace": object{"addressPrefixes": []string{x.prefix(t) + ".0.0/16"}}, "subnets": parts, "virtualNetworkPeerings": []any{},
	}}
}

func (x *context) prefix(t thing) string { return fmt.Sprintf("10.%d", x.draw(t, "prefix")%256) }

func subnet(x *context, t thing) object {
	p := object{
		"provisioningState": succeeded, "addressPrefix": fmt.Sprintf("%s.%d.0/24", x.prefix(t), t.n),
		"privateEndpointNetworkPolicies": "Disabled", "privateLinkServiceNetworkPolicies": "Enabled", "delegations": []any{},
	}
	x.set(p, "networkSecurityGroup", x.refTo(t, "Microsoft.Network/networkSecurityGroups"))
	x.set(p, "routeTable", x.refTo(t, "Microsoft.Network/routeTables"))
	return object{"etag": x.etag(t), "properties": p}
}

// firstSubnet is one of the network that a thing is in.
func (x *context) firstSubnet(t thing) any {
	v, ok := x.other(t, "Microsoft.Network/virtualNetworks")
	if !ok {
		return nil
	}
	v.part = subnets
	return x.ref(v)
}

func networkInterface(x *context, t thing) object {
	ip := object{"privateIPAddress": x.address(t, "ip"), "privateIPAllocationMethod": "Dynamic", "privateIPAddressVersion": "IPv4", "primary": true, "provisioningState": succeeded}
	x.set(ip, "subnet", x.firstSubnet(t))
	if t.i < x.estate.Count(t.place, "Microsoft.Network/publicIPAddresses") {
		x.set(ip, "publicIPAddress", x.refTo(t, "Microsoft.Network/publicIPAddresses"))
	}
	p := object{
		"provisioningState": succeeded, "resourceGuid": x.guid(t, "guid"), "enableAcceleratedNetworking": true, "enableIPForwarding": false,
		"macAddress": fmt.Sprintf("00-0D-3A-%02X-%02X-%02X", x.draw(t, "mac")&0xff, x.draw(t, "mac")>>8&0xff, x.draw(t, "mac")>>16&0xff),
		"ipConfigurations": []any{object{
			"name": "ipconfig1", "id": t.id(x.estate) + "/ipConfigurations/ipconfig1", "properties": ip,
		}},
	}
	if t.i < x.estate.Count(t.place, "Microsoft.Compute/virtualMachines") {
		x.set(p, "virtualMachine", x.refTo(t, "Microsoft.Compute/virtualMachines"))
	}
	return object{"etag": x.etag(t), "properties": p}
}

func publicIP(x *context, t thing) object {
	d := x.draw(t, "ip")
	return object{
		"etag": x.etag(t), "sku": object{"name": "Standard", "tier": "Regional"},
		"properties": object{
			// A network that is for documentation.
			"provisioningState": succeeded, "resourceGuid": x.guid(t, "guid"), "ipAddress": fmt.Sprintf("203.0.113.%d", 1+d%254),
			"publicIPAddressVersion": "IPv4", "publicIPAllocationMethod": "Static", "idleTimeoutInMinutes": 4,
		},
	}
}

func securityGroup(x *context, t thing) object {
	ports := []string{"443", "22", "80", "5432"}
	var rules []any
	for n, port := range ports[:1+x.draw(t, "rules")%4] {
		name := fmt.Sprintf("allow-%d", n)
		rules = append(rules, object{
			"name": name, "id": t.id(x.estate) + "/securityRules/" + name, "properties": object{
				"provisioningState": succeeded, "protocol": "Tcp", "sourcePortRange": "*", "destinationPortRange": port,
				"sourceAddressPrefix": "10.0.0.0/8", "destinationAddressPrefix": "*", "access": "Allow", "priority": 100 + n, "direction": "Inbound",
			},
		})
	}
	return object{"etag": x.etag(t), "properties": object{"provisioningState": succeeded, "resourceGuid": x.guid(t, "guid"), "securityRules": rules}}
}

func loadBalancer(x *context, t thing) object {
	front := object{"provisioningState": succeeded, "privateIPAllocationMethod": "Dynamic"}
	x.set(front, "publicIPAddress", x.refTo(t, "Microsoft.Network/publicIPAddresses"))
	return object{
		"etag": x.etag(t), "sku": object{"name": "Standard", "tier": "Regional"},
		"properties": object{
			"provisioningState": succeeded, "resourceGuid": x.guid(t, "guid"), "backendAddressPools": []any{},
			"frontendIPConfigurations": []any{object{"name": "frontend", "id": t.id(x.estate) + "/frontendIPConfigurations/frontend", "properties": front}},
		},
	}
}

func routeTable(x *context, t thing) object {
	return object{"etag": x.etag(t), "properties": object{
		"provisioningState": succeeded, "resourceGuid": x.guid(t, "guid"), "disableBgpRoutePropagation": false,
		"routes": []any{object{"name": "default", "id": t.id(x.estate) + "/routes/default", "properties": object{
			"provisioningState": succeeded, "addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance", "nextHopIpAddress": x.address(t, "hop"),
		}}},
	}}
}

func privateEndpoint(x *context, t thing) object {
	p := object{"provisioningState": succeeded, "networkInterfaces": []any{}, "manualPrivateLinkServiceConnections": []any{}}
	x.set(p, "subnet", x.firstSubnet(t))
	if s, ok := x.other(t, "Microsoft.Storage/storageAccounts"); ok {
		p["privateLinkServiceConnections"] = []any{object{"name": "storage", "properties": object{
			"provisioningState": succeeded, "privateLinkServiceId": s.id(x.estate), "groupIds": []string{"blob"},
			"privateLinkServiceConnectionState": object{"status": "Approved", "description": "", "actionsRequired": "None"},
		}}}
	}
	return object{"etag": x.etag(t), "properties": p}
}

func firewall(x *context, t thing) object {
	return object{"etag": x.etag(t), "properties": object{
		"provisioningState": succeeded, "threatIntelMode": "Alert", "sku": object{"name": "AZFW_VNet", "tier": "Standard"},
		"ipConfigurations": []any{}, "networkRuleCollections": []any{}, "applicationRuleCollections": []any{}, "natRuleCollections": []any{},
	}}
}

func applicationGateway(x *context, t thing) object {
	return object{"etag": x.etag(t), "zones": []string{"1", "2", "3"}, "properties": object{
		"provisioningState": succeeded, "resourceGuid": x.guid(t, "guid"), "operationalState": "Running",
		"sku": object{"name": "WAF_v2", "tier": "WAF_v2", "capacity": 2}, "enableHttp2": true,
	}}
}

func networkGateway(x *context, t thing) object {
	return object{"etag": x.etag(t), "properties": object{
		"provisioningState": succeeded, "resourceGuid": x.guid(t, "guid"), "gatewayType": "Vpn", "vpnType": "RouteBased", "enableBgp": false,
		"sku": object{"name": "VpnGw1", "tier": "VpnGw1", "capacity": 2}, "ipConfigurations": []any{},
	}}
}

func natGateway(x *context, t thing) object {
	p := object{"provisioningState": succeeded, "resourceGuid": x.guid(t, "guid"), "idleTimeoutInMinutes": 4}
	if ip := x.refTo(t, "Microsoft.Network/publicIPAddresses"); ip != nil {
		p["publicIpAddresses"] = []any{ip}
	}
	return object{"etag": x.etag(t), "sku": object{"name": "Standard"}, "properties": p}
}

// zone is a DNS zone, public or private.
func zone(x *context, t thing) object {
	sets := t.kind.parts[0].count(x.estate, t)
	if t.kind.short() == "dnsZones" {
		return object{"etag": x.guid(t, "etag"), "properties": object{
			"zoneType": "Public", "numberOfRecordSets": sets, "maxNumberOfRecordSets": 10000, "nameServers": []string{"ns1.example.net.", "ns2.example.net."},
		}}
	}
	return object{"etag": x.guid(t, "etag"), "properties": object{
		"provisioningState": succeeded, "numberOfRecordSets": sets, "maxNumberOfRecordSets": 25000, "numberOfVirtualNetworkLinks": 1,
	}}
}

func recordSet(x *context, t thing) object {
	name := t.part.named(x.estate, t, t.n)
	p := object{"fqdn": name + "." + t.name(x.estate) + ".", "TTL": 3600, "provisioningState": succeeded}
	private := t.kind.short() == "privateDnsZones"
	key := func(public, here string) string {
		if private {
			return here
		}
		return public
	}
	if private {
		delete(p, "TTL")
		p["ttl"] = 3600
	}
	switch t.lastType() {
	case "A":
		p[key("ARecords", "aRecords")] = []any{object{"ipv4Address": x.address(t, fmt.Sprint("a", t.n))}}
	case "CNAME":
		p["CNAMERecord"] = object{"cname": "www.example.com"}
	case "TXT":
		p["TXTRecords"] = []any{object{"value": []string{"v=simulated"}}}
	case "NS":
		p["NSRecords"] = []any{object{"nsdname": "ns1.example.net."}}
	case "SOA":
		p[key("SOARecord", "soaRecord")] = object{"host": "ns1.example.net.", "email": "hostmaster.example.net", "serialNumber": 1, "refreshTime": 3600, "retryTime": 300, "expireTime": 2419200, key("minimumTTL", "minimumTtl"): 300}
	}
	return object{"etag": x.guid(t, "etag"), "properties": p}
}
