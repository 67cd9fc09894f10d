package azure

import "strings"

func storageAccount(x *context, t thing) object {
	name := t.name(x.estate)
	return object{
		"sku": object{"name": x.pick(t, "sku", "Standard_LRS", "Standard_GRS", "Standard_ZRS"), "tier": "Standard"}, "kind": "StorageV2",
		"properties": object{
			"provisioningState": succeeded, "creationTime": x.born(t), "accessTier": "Hot", "primaryLocation": t.place.Region, "statusOfPrimary": "available",
			"minimumTlsVersion": x.pick(t, "tls", "TLS1_2", "TLS1_2", "TLS1_0"), "supportsHttpsTrafficOnly": true, "allowBlobPublicAccess": x.draw(t, "public")%7 == 0,
			"networkAcls":      object{"bypass": "AzureServices", "defaultAction": x.pick(t, "acl", "Allow", "Deny"), "ipRules": []any{}, "virtualNetworkRules": []any{}},
			"primaryEndpoints": object{"blob": "https://" + name + ".blob.core.windows.net/", "file": "https://" + name + ".file.core.windows.net/"},
			"encryption":       object{"keySource": "Microsoft.Storage", "services": object{"blob": object{"enabled": true, "keyType": "Account"}}},
		},
	}
}

func vault(x *context, t thing) object {
	return object{"properties": object{
		"tenantId": Tenant, "sku": object{"family": "A", "name": "standard"}, "vaultUri": "https://" + t.name(x.estate) + ".vault.azure.net/", "provisioningState": succeeded,
		"enableRbacAuthorization": true, "enableSoftDelete": true, "softDeleteRetentionInDays": 90, "accessPolicies": []any{},
		"publicNetworkAccess": x.pick(t, "access", "Enabled", "Disabled"),
	}}
}

func sqlServer(x *context, t thing) object {
	return object{"kind": "v12.0", "properties": object{
		"version": "12.0", "state": "Ready", "fullyQualifiedDomainName": t.name(x.estate) + ".database.windows.net", "administratorLogin": "sqladmin",
		"publicNetworkAccess": x.pick(t, "access", "Enabled", "Disabled"), "minimalTlsVersion": "1.2", "privateEndpointConnections": []any{},
	}}
}

func sqlDatabase(x *context, t thing) object {
	return object{
		"location": t.location(), "kind": "v12.0,user", "sku": object{"name": "GP_S_Gen5", "tier": "GeneralPurpose", "family": "Gen5", "capacity": 2},
		"properties": object{
			"collation": "SQL_Latin1_General_CP1_CI_AS", "status": "Online", "databaseId": x.guid(t, "db"+t.part.named(x.estate, t, t.n)), "creationDate": x.born(t),
			"maxSizeBytes": 34359738368, "zoneRedundant": false,
		},
	}
}

func cosmosAccount(x *context, t thing) object {
	place := object{
		"id": t.name(x.estate) + "-" + t.place.Region, "locationName": t.place.Region, "failoverPriority": 0, "provisioningState": succeeded, "isZoneRedundant": false,
		"documentEndpoint": "https://" + t.name(x.estate) + ".documents.azure.com:443/",
	}
	return object{"kind": "GlobalDocumentDB", "properties": object{
		"provisioningState": succeeded, "documentEndpoint": "https://" + t.name(x.estate) + ".documents.azure.com:443/", "databaseAccountOfferType": "Standard",
		"consistencyPolicy": object{"defaultConsistencyLevel": "Session", "maxIntervalInSeconds": 5, "maxStalenessPrefix": 100},
		"locations":         []any{place}, "readLocations": []any{place}, "writeLocations": []any{place}, "publicNetworkAccess": "Enabled",
	}}
}

func cluster(x *context, t thing) object {
	pool := object{
		"name": "system", "count": 1 + x.draw(t, "nodes")%9, "vmSize": "Standard_D4s_v5", "osType": "Linux", "mode": "System", "type": "VirtualMachineScaleSets",
		"provisioningState": succeeded, "orchestratorVersion": x.pick(t, "version", "1.33.4", "1.34.1"),
	}
	return object{
		"sku": object{"name": "Base", "tier": "Standard"}, "identity": object{"type": "SystemAssigned", "principalId": x.guid(t, "principal"), "tenantId": Tenant},
		"properties": object{
			"provisioningState": succeeded, "powerState": object{"code": "Running"}, "kubernetesVersion": x.pick(t, "version", "1.33.4", "1.34.1"),
			"dnsPrefix": t.name(x.estate), "fqdn": t.name(x.estate) + ".hcp." + t.place.Region + ".azmk8s.io", "enableRBAC": true,
			"nodeResourceGroup": "MC_" + t.group(x.estate) + "_" + t.name(x.estate) + "_" + t.place.Region, "agentPoolProfiles": []any{pool},
		},
	}
}

func registry(x *context, t thing) object {
	return object{"sku": object{"name": "Premium", "tier": "Premium"}, "properties": object{
		"provisioningState": succeeded, "loginServer": t.name(x.estate) + ".azurecr.io", "creationDate": x.born(t), "adminUserEnabled": x.draw(t, "admin")%5 == 0,
		"publicNetworkAccess": "Enabled", "zoneRedundancy": "Disabled",
	}}
}

func site(x *context, t thing) object {
	host := t.name(x.estate) + ".azurewebsites.net"
	p := object{
		"state": "Running", "enabled": true, "defaultHostName": host, "hostNames": []string{host}, "httpsOnly": x.draw(t, "https")%4 != 0,
		"resourceGroup": t.group(x.estate), "usageState": "Normal", "availabilityState": "Normal",
	}
	if farm, ok := x.other(t, "Microsoft.Web/serverfarms"); ok {
		p["serverFarmId"] = farm.id(x.estate)
	}
	return object{"kind": x.pick(t, "kind", "app", "app,linux", "functionapp", "functionapp,linux"), "properties": p}
}

func plan(x *context, t thing) object {
	return object{
		"kind": "linux", "sku": object{"name": "P1v3", "tier": "PremiumV3", "size": "P1v3", "family": "Pv3", "capacity": 1},
		"properties": object{"provisioningState": succeeded, "status": "Ready", "reserved": true, "numberOfSites": 1, "resourceGroup": t.group(x.estate), "subscription": t.place.Account},
	}
}

func actionGroup(x *context, t thing) object {
	return object{"properties": object{
		"groupShortName": "ag" + t.name(x.estate)[3:9], "enabled": true,
		"emailReceivers": []any{object{"name": "on-call", "emailAddress": "on-call@example.com", "useCommonAlertSchema": true, "status": "Enabled"}},
	}}
}

// alert is a rule of any of the three sorts.
func alert(x *context, t thing) object {
	p := object{"description": "Simulated.", "enabled": x.draw(t, "enabled")%6 != 0}
	scope := "/subscriptions/" + t.place.Account
	switch t.kind.short() {
	case "metricAlerts":
		p["severity"], p["evaluationFrequency"], p["windowSize"], p["autoMitigate"] = x.draw(t, "severity")%5, "PT1M", "PT5M", true
		p["scopes"] = []string{scope}
		p["criteria"] = object{"odata.type": "Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria", "allOf": []any{}}
		p["actions"] = []any{}
	case "activityLogAlerts":
		p["scopes"] = []string{scope}
		p["condition"] = object{"allOf": []any{object{"field": "category", "equals": "Administrative"}}}
		p["actions"] = object{"actionGroups": []any{}}
	default:
		p["scopes"] = []string{scope}
		p["severity"], p["evaluationFrequency"], p["windowSize"] = x.draw(t, "severity")%5, "PT5M", "PT15M"
		p["criteria"] = object{"allOf": []any{}}
	}
	return object{"properties": p}
}

func autoscale(x *context, t thing) object {
	p := object{"enabled": true, "name": t.name(x.estate), "notifications": []any{}, "profiles": []any{object{
		"name": "default", "capacity": object{"minimum": "1", "maximum": "10", "default": "2"}, "rules": []any{},
	}}}
	if set, ok := x.other(t, "Microsoft.Compute/virtualMachineScaleSets"); ok {
		p["targetResourceUri"] = set.id(x.estate)
	}
	return object{"properties": p}
}

// reader is the built-in role of that name.
const reader = "acdd72a7-3385-48ef-bd42-f606fba81ae7"

func roleAssignment(x *context, t thing) object {
	scope := "/subscriptions/" + t.place.Account
	if x.draw(t, "scope")%3 > 0 {
		scope = groupID(t.place.Account, int(x.draw(t, "group")%uint64(groupCount(x.estate, t.place.Account))))
	}
	return object{"properties": object{
		"scope": scope, "principalId": x.guid(t, "principal"), "principalType": x.pick(t, "type", "User", "Group", "ServicePrincipal"),
		"roleDefinitionId": "/subscriptions/" + t.place.Account + "/providers/Microsoft.Authorization/roleDefinitions/" + reader,
		"createdOn":        x.born(t), "updatedOn": x.born(t), "createdBy": x.guid(t, "by"),
	}}
}

func roleDefinition(x *context, t thing) object {
	return object{"properties": object{
		"roleName": "Custom " + strings.ToUpper(t.name(x.estate)[:4]), "type": "CustomRole", "description": "Simulated.",
		"assignableScopes": []string{"/subscriptions/" + t.place.Account},
		"permissions":      []any{object{"actions": []string{"*/read"}, "notActions": []any{}, "dataActions": []any{}, "notDataActions": []any{}}},
	}}
}
