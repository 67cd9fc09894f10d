package azure

import "fmt"

// object is a JSON object; its keys are written in order.
type object = map[string]any

// bodies write what is particular to a type.
var bodies = map[string]func(x *context, t thing) object{
	"Microsoft.Compute/virtualMachines":         virtualMachine,
	"Microsoft.Compute/virtualMachineScaleSets": scaleSet,
	"Microsoft.Compute/disks":                   disk,
	"Microsoft.Compute/images":                  image,
	"Microsoft.Compute/snapshots":               snapshot,
	"Microsoft.Compute/availabilitySets":        availabilitySet,

	"Microsoft.Network/virtualNetworks":         virtualNetwork,
	"Microsoft.Network/virtualNetworks/subnets": subnet,
	"Microsoft.Network/networkInterfaces":       networkInterface,
	"Microsoft.Network/publicIPAddresses":       publicIP,
	"Microsoft.Network/networkSecurityGroups":   securityGroup,
	"Microsoft.Network/loadBalancers":           loadBalancer,
	"Microsoft.Network/routeTables":             routeTable,
	"Microsoft.Network/privateEndpoints":        privateEndpoint,
	"Microsoft.Network/azureFirewalls":          firewall,
	"Microsoft.Network/applicationGateways":     applicationGateway,
	"Microsoft.Network/virtualNetworkGateways":  networkGateway,
	"Microsoft.Network/natGateways":             natGateway,
	"Microsoft.Network/dnsZones":                zone,
	"Microsoft.Network/privateDnsZones":         zone,

	"Microsoft.Storage/storageAccounts":          storageAccount,
	"Microsoft.KeyVault/vaults":                  vault,
	"Microsoft.Sql/servers":                      sqlServer,
	"Microsoft.Sql/servers/databases":            sqlDatabase,
	"Microsoft.DocumentDB/databaseAccounts":      cosmosAccount,
	"Microsoft.ContainerService/managedClusters": cluster,
	"Microsoft.ContainerRegistry/registries":     registry,
	"Microsoft.Web/sites":                        site,
	"Microsoft.Web/serverfarms":                  plan,

	"Microsoft.Insights/actionGroups":        actionGroup,
	"Microsoft.Insights/metricAlerts":        alert,
	"Microsoft.Insights/activityLogAlerts":   alert,
	"Microsoft.Insights/scheduledQueryRules": alert,
	"Microsoft.Insights/autoscaleSettings":   autoscale,

	"Microsoft.Authorization/roleAssignments": roleAssignment,
	"Microsoft.Authorization/roleDefinitions": roleDefinition,
}

// write gives the whole of a thing.
func (x *context) write(t thing) object {
	o := object{"id": t.id(x.estate), "name": t.shown(x.estate), "type": t.kindName()}
	if t.part == nil && !t.kind.is(loose) {
		o["location"] = t.location()
		if tags := x.tags(t); tags != nil {
			o["tags"] = tags
		}
	}
	body := bodies[t.kindName()]
	if body == nil {
		body = recordSet // the one type of part whose name differs from thing to thing
	}
	for key, value := range body(x, t) {
		o[key] = value
	}
	return o
}

// brief gives what the list of all resources has of a thing.
func (x *context) brief(t thing) object {
	o := x.write(t)
	delete(o, "properties")
	delete(o, "etag")
	if t.part != nil {
		o["location"] = t.location()
	}
	return o
}

// ref is an object that names another thing by its id.
func (x *context) ref(t thing) object { return object{"id": t.id(x.estate)} }

// refTo names the thing of another kind that this one belongs to; nil is none.
func (x *context) refTo(t thing, kind string) any {
	if o, ok := x.other(t, kind); ok {
		return x.ref(o)
	}
	return nil
}

// set adds what is there.
func (x *context) set(o object, key string, value any) {
	if value != nil {
		o[key] = value
	}
}

const succeeded = "Succeeded"

func virtualMachine(x *context, t thing) object {
	os := x.pick(t, "os", "Linux", "Linux", "Windows")
	osDisk := object{"osType": os, "name": t.name(x.estate) + "-os", "createOption": "FromImage", "caching": "ReadWrite", "deleteOption": "Delete"}
	x.set(osDisk, "managedDisk", x.refTo(t, "Microsoft.Compute/disks"))
	p := object{
		"vmId":              x.guid(t, "vm"),
		"hardwareProfile":   object{"vmSize": x.pick(t, "size", "Standard_B2s", "Standard_D2s_v5", "Standard_D4s_v5", "Standard_E4s_v5")},
		"storageProfile":    object{"osDisk": osDisk, "dataDisks": []any{}},
		"osProfile":         object{"computerName": t.name(x.estate), "adminUsername": "azureuser"},
		"provisioningState": succeeded, "timeCreated": x.born(t),
	}
	if nic := x.refTo(t, "Microsoft.Network/networkInterfaces"); nic != nil {
		p["networkProfile"] = object{"networkInterfaces": []any{nic}}
	}
	if x.draw(t, "set")%8 == 0 {
		x.set(p, "availabilitySet", x.refTo(t, "Microsoft.Compute/availabilitySets"))
	}
	return object{"properties": p, "zones": []string{x.pick(t, "zone", "1", "2", "3")}}
}

func scaleSet(x *context, t thing) object {
	return object{
		"sku": object{"name": x.pick(t, "size", "Standard_D2s_v5", "Standard_D4s_v5"), "tier": "Standard", "capacity": x.draw(t, "capacity") % 20},
		"properties": object{
			"orchestrationMode": x.pick(t, "mode", "Uniform", "Flexible"), "uniqueId": x.guid(t, "unique"), "provisioningState": succeeded,
			"singlePlacementGroup": false, "platformFaultDomainCount": 1, "timeCreated": x.born(t),
		},
	}
}

func disk(x *context, t thing) object {
	p := object{
		"creationData": object{"createOption": "Empty"}, "diskSizeGB": 32 << (x.draw(t, "size") % 6), "diskState": "Unattached",
		"encryption": object{"type": "EncryptionAtRestWithPlatformKey"}, "provisioningState": succeeded, "timeCreated": x.born(t), "uniqueId": x.guid(t, "unique"),
	}
	o := object{"properties": p, "sku": object{"name": x.pick(t, "sku", "Premium_LRS", "StandardSSD_LRS", "Standard_LRS"), "tier": "Premium"}}
	if n := x.estate.Count(t.place, "Microsoft.Compute/virtualMachines"); t.i < n {
		p["diskState"] = "Attached"
		p["osType"] = "Linux"
		vm, _ := x.other(t, "Microsoft.Compute/virtualMachines")
		o["managedBy"] = vm.id(x.estate)
	}
	return o
}

func image(x *context, t thing) object {
	p := object{"provisioningState": succeeded, "hyperVGeneration": "V2", "storageProfile": object{"osDisk": object{"osType": "Linux", "osState": "Generalized"}}}
	x.set(p, "sourceVirtualMachine", x.refTo(t, "Microsoft.Compute/virtualMachines"))
	return object{"properties": p}
}

func snapshot(x *context, t thing) object {
	source := object{"createOption": "Copy"}
	if d, ok := x.other(t, "Microsoft.Compute/disks"); ok {
		source["sourceResourceId"] = d.id(x.estate)
	}
	return object{
		"sku": object{"name": "Standard_LRS", "tier": "Standard"},
		"properties": object{
			"creationData": source, "diskSizeGB": 32 << (x.draw(t, "size") % 6), "incremental": true, "diskState": "Unattached",
			"provisioningState": succeeded, "timeCreated": x.born(t), "uniqueId": x.guid(t, "unique"),
		},
	}
}

func availabilitySet(x *context, t thing) object {
	return object{
		"sku":        object{"name": "Aligned"},
		"properties": object{"platformFaultDomainCount": 2, "platformUpdateDomainCount": 5, "virtualMachines": []any{}},
	}
}

// address makes one of a private network.
func (x *context) address(t thing, aspect string) string {
	d := x.draw(t, aspect)
	return fmt.Sprintf("10.%d.%d.%d", d>>16&0xff, d>>8&0xff, 4+d&0x7f)
}
