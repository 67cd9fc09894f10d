package azure

import (
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// Where figures are from.
const (
	armSource      = "Azure Resource Manager, Understand how Azure Resource Manager throttles requests: bucket size and refill per second"
	globalSource   = "the same: for each type of operation, 15 times the limit of one service principal for all of them"
	storageSource  = "Azure subscription and service limits, Storage resource provider: list 100, read 800 in 5 minutes, write 10 a second"
	networkSource  = "Azure Resource Manager, Network throttling: read 10,000, write and delete 1,000 in 5 minutes; Private DNS: read 500 in 5 minutes"
	zoneSource     = "Azure Resource Manager, Network throttling, DNS zone operations: list 60, get 1,000 in a minute"
	computeSource  = "Azure Virtual Machines, Compute throttling limits: bucket and refill per minute of a subscription, which count by region there"
	aksSource      = "Azure Kubernetes Service, throttling limits on AKS resource provider APIs"
	roleSource     = "assumed: the limit that Microsoft.Authorization's errors name, 120 in a minute"
	graphSource    = "Azure Resource Graph, Guidance for throttled requests: 15 queries in 5 seconds for each user"
	graphQuota     = "user-quota"
	graphWindow    = 5
	fiveMinutes    = 300
	globalLayer    = "Subscription-Global"
	ownLayer       = "Subscription"
	tenantLayer    = "Tenant"
	oneMinute      = 60.0
	aSubscription  = "????????-????-????-????-????????????"
	noSubscription = "?" // the one character that calls without an account have for one
	// querySubscriptions is how many one query reaches (Azure Resource Graph,
	// Guidance for throttled requests: x-ms-tenant-subscription-limit-hit).
	querySubscriptions = 10_000
	// queryRows is what a query gives at most at once (Azure Resource Graph, Working
	// with large data sets).
	queryRows = 1000
)

// Quotas are what Azure documents, and assumptions where it documents nothing.
func (*Front) Quotas() []sim.Quota {
	var list []sim.Quota
	// Resource Manager's gate: reads, writes and deletes of a subscription each, for
	// one principal and for all, and those of the tenant.
	for _, class := range []string{reading, writing, deleting} {
		burst, rate := 200.0, 10.0
		if class == reading {
			burst, rate = 250, 25
		}
		for _, g := range []struct {
			layer, account, source string
			times                  float64
		}{
			{ownLayer, aSubscription, armSource, 1},
			{globalLayer, aSubscription, globalSource, 15},
			{tenantLayer, noSubscription, armSource, 1},
		} {
			list = append(list, sim.Quota{
				Match: sim.Match{Account: sim.Patterns{g.account}, Class: sim.Patterns{class}},
				Burst: burst * g.times, Rate: rate * g.times, Wide: true, Layer: g.layer, Source: g.source,
			})
		}
	}
	add := func(source, service, class, operations, name string, burst, rate, window float64) {
		list = append(list, sim.Quota{
			Match: sim.Match{Service: sim.Patterns{service}, Class: strings.Fields(class), Operation: strings.Fields(operations)},
			Name:  name, Burst: burst, Rate: rate, Window: window, Shared: true, Source: source,
		})
	}
	add(graphSource, "resourcegraph", querying, "", graphQuota, 15, 0, graphWindow)

	add(storageSource, "storage", reading, "*.list", "List_ObservationWindow_00:05:00", 100, 0, fiveMinutes)
	add(storageSource, "storage", reading, "", "Read_ObservationWindow_00:05:00", 800, 0, fiveMinutes)
	add(storageSource, "storage", "", "", "Write_ObservationWindow_00:00:01", 10, 10, 0)

	add(networkSource, "network", reading, "privateDnsZones*", "", 500, 0, fiveMinutes)
	add(zoneSource, "network", reading, "dnsZones.list", "", 60, 0, oneMinute)
	add(zoneSource, "network", reading, "dnsZones.get", "", 1000, 0, oneMinute)
	add(networkSource, "network", reading, "", "", 10_000, 0, fiveMinutes)
	add(networkSource, "network", "", "", "", 1_000, 0, fiveMinutes)

	for _, c := range []struct {
		class, operations, policy string
		most, minute              float64
	}{
		{reading, "virtualMachines.list", "HighCostGet3Min", 900, 300},
		{reading, "virtualMachines.get", "LowCostGet3Min", 24_000, 8_000},
		{reading, "virtualMachineScaleSets.list", "HighCostGetVMScaleSet3Min", 1_080, 360},
		{reading, "virtualMachineScaleSets.get", "GetVMScaleSet3Min", 2_400, 800},
		{reading, operationStatuses + ".*", "GetOperation3Min", 15_000, 5_000},
		{deleting, "virtualMachines.*", "DeleteVM3Min", 1_500, 500},
		{writing, "virtualMachines.create", "PutVM3Min", 1_500, 500},
		{writing, "virtualMachines.*", "UpdateVM3Min", 1_500, 500},
		{deleting, "virtualMachineScaleSets.*", "DeleteVMScaleSet3Min", 525, 175},
		{writing, "virtualMachineScaleSets.create", "PutVMScaleSet3Min", 375, 125},
		{writing, "virtualMachineScaleSets.*", "UpdateVMScaleSet3Min", 1_500, 500},
	} {
		add(computeSource, "compute", c.class, c.operations, c.policy, c.most, c.minute/oneMinute, 0)
	}

	add(aksSource, "containerservice", reading, "managedClusters.list", "", 500, 1, 0)
	add(aksSource, "containerservice", "", "", "", 60, 1, 0)
	add(roleSource, "authorization", reading, "", "", 120, 0, oneMinute)
	return list
}
