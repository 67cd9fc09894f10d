package azure

import (
	"fmt"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// kind is a type of resource.
type kind struct {
	name   string  // "Microsoft.Compute/virtualMachines"
	prefix string  // of names
	weight float64 // its share of an estate
	page   int     // what a page of its list has
	top    int     // what $top may ask for at most; 0 is that it is not heeded
	flags  flag
	parts  []*part
}

// part is a type of what things of a kind are made of.
type part struct {
	name  string
	also  string // another word for its list
	page  int
	flags flag
	count func(e *sim.Estate, t thing) int
	named func(e *sim.Estate, t thing, n int) string
	// kinds are the last words of its types, where they differ from thing to thing.
	kinds func(n int) string
}

// flag is something that not all types are.
type flag int

const (
	anywhere flag = 1 << iota // in no region
	loose                     // in no resource group
	byGroup                   // listed by resource group alone
	apart                     // neither among a subscription's resources nor in Resource Graph's
	listed                    // a part that is, although parts are not
)

// assumedPage is what a page has where nothing is documented, which is nearly
// everywhere.
const assumedPage = 100

// kinds has them with their share of an estate: what subscriptions have many and
// few of, by experience rather than by any count.
var kinds = []*kind{
	{name: "Microsoft.Compute/virtualMachines", prefix: "vm-", weight: 12},
	{name: "Microsoft.Compute/virtualMachineScaleSets", prefix: "vmss-", weight: 0.6},
	{name: "Microsoft.Compute/disks", prefix: "disk-", weight: 18},
	{name: "Microsoft.Compute/images", prefix: "img-", weight: 0.5},
	{name: "Microsoft.Compute/snapshots", prefix: "snap-", weight: 6},
	{name: "Microsoft.Compute/availabilitySets", prefix: "avail-", weight: 0.5},
	{name: "Microsoft.Network/virtualNetworks", prefix: "vnet-", weight: 1.2, parts: []*part{subnets}},
	{name: "Microsoft.Network/networkInterfaces", prefix: "nic-", weight: 14},
	{name: "Microsoft.Network/publicIPAddresses", prefix: "pip-", weight: 4},
	{name: "Microsoft.Network/networkSecurityGroups", prefix: "nsg-", weight: 4},
	{name: "Microsoft.Network/loadBalancers", prefix: "lb-", weight: 0.8},
	{name: "Microsoft.Network/routeTables", prefix: "rt-", weight: 0.8},
	{name: "Microsoft.Network/privateEndpoints", prefix: "pep-", weight: 2},
	{name: "Microsoft.Network/azureFirewalls", prefix: "afw-", weight: 0.1},
	{name: "Microsoft.Network/applicationGateways", prefix: "agw-", weight: 0.2},
	{name: "Microsoft.Network/virtualNetworkGateways", prefix: "vgw-", weight: 0.15, flags: byGroup},
	{name: "Microsoft.Network/natGateways", prefix: "ng-", weight: 0.3},
	// Azure DNS: List, $top: the most is 100.
	{name: "Microsoft.Network/dnsZones", prefix: "", weight: 0.3, page: 100, top: 100, flags: anywhere, parts: []*part{recordSets}},
	{name: "Microsoft.Network/privateDnsZones", prefix: "", weight: 0.5, page: 100, top: 100, flags: anywhere, parts: []*part{privateRecordSets}},
	{name: "Microsoft.Storage/storageAccounts", prefix: "st", weight: 3},
	{name: "Microsoft.KeyVault/vaults", prefix: "kv-", weight: 1.5, top: 1000},
	{name: "Microsoft.Sql/servers", prefix: "sql-", weight: 0.5, parts: []*part{databases}},
	{name: "Microsoft.DocumentDB/databaseAccounts", prefix: "cosmos-", weight: 0.4},
	{name: "Microsoft.ContainerService/managedClusters", prefix: "aks-", weight: 0.3},
	{name: "Microsoft.ContainerRegistry/registries", prefix: "cr", weight: 0.3},
	{name: "Microsoft.Web/sites", prefix: "app-", weight: 2},
	{name: "Microsoft.Web/serverfarms", prefix: "asp-", weight: 0.7},
	{name: "Microsoft.Insights/actionGroups", prefix: "ag-", weight: 0.3, flags: anywhere},
	{name: "Microsoft.Insights/metricAlerts", prefix: "alert-", weight: 1.5, flags: anywhere},
	{name: "Microsoft.Insights/activityLogAlerts", prefix: "log-alert-", weight: 0.2, flags: anywhere},
	{name: "Microsoft.Insights/scheduledQueryRules", prefix: "query-", weight: 0.4},
	{name: "Microsoft.Insights/autoscaleSettings", prefix: "scale-", weight: 0.3},
	{name: "Microsoft.Authorization/roleAssignments", weight: 2, flags: anywhere | loose | apart},
	{name: "Microsoft.Authorization/roleDefinitions", weight: 0.1, flags: anywhere | loose | apart},
}

var subnets = &part{
	name:  "subnets",
	count: between(1, 4),
	named: func(_ *sim.Estate, _ thing, n int) string {
		return "snet-" + []string{"web", "app", "data", "shared"}[n%4]
	},
}

var databases = &part{
	name: "databases", flags: listed,
	count: between(1, 5),
	named: func(_ *sim.Estate, _ thing, n int) string {
		return []string{"master", "orders", "users", "reports", "events"}[n%5]
	},
}

// Record sets are paged a hundred at a time (Azure DNS: RecordSets, List, $top).
var recordSets = &part{
	name: "recordsets", also: "all", page: 100,
	count: between(2, 40),
	named: func(_ *sim.Estate, _ thing, n int) string {
		if n < 2 {
			return "@"
		}
		return fmt.Sprintf("host-%02d", n)
	},
	kinds: func(n int) string { return append([]string{"NS", "SOA"}, "A", "CNAME", "TXT")[min(n, 2+n%3)] },
}

var privateRecordSets = &part{
	name: "all", also: "recordsets", page: 100,
	count: between(1, 30),
	named: func(_ *sim.Estate, _ thing, n int) string {
		if n == 0 {
			return "@"
		}
		return fmt.Sprintf("host-%02d", n)
	},
	kinds: func(n int) string { return []string{"SOA", "A"}[min(n, 1)] },
}

// between draws how many parts a thing has.
func between(least, most int) func(*sim.Estate, thing) int {
	return func(e *sim.Estate, t thing) int {
		return least + int(e.Draw(t.place, t.kind.name, t.i, "parts")%uint64(most-least+1))
	}
}

func (k *kind) is(f flag) bool { return k.flags&f != 0 }

// namespace is the provider's: "Microsoft.Compute".
func (k *kind) namespace() string { n, _, _ := strings.Cut(k.name, "/"); return n }

// short is the type without it.
func (k *kind) short() string { _, s, _ := strings.Cut(k.name, "/"); return s }

func (k *kind) pageSize() int {
	if k.page > 0 {
		return k.page
	}
	return assumedPage
}

// byName finds a kind however its name is written.
var byName = func() map[string]*kind {
	m := make(map[string]*kind)
	for _, k := range kinds {
		m[strings.ToLower(k.name)] = k
	}
	return m
}()

// lookUp finds what a path's types are.
func lookUp(namespace string, types []string) (*kind, *part) {
	if len(types) == 0 || len(types) > 2 {
		return nil, nil
	}
	k := byName[strings.ToLower(namespace+"/"+types[0])]
	if k == nil || len(types) == 1 {
		return k, nil
	}
	for _, p := range k.parts {
		if strings.EqualFold(p.name, types[1]) || p.also != "" && strings.EqualFold(p.also, types[1]) || p.is(types[1]) {
			return k, p
		}
	}
	return nil, nil
}

// is tells whether a word is one of those that the part's types end with.
func (p *part) is(word string) bool {
	for n := range 5 {
		if p.kinds != nil && strings.EqualFold(p.kinds(n), word) {
			return true
		}
	}
	return false
}

// Kinds are the types of things that an estate has.
func (*Front) Kinds() []sim.Kind {
	list := make([]sim.Kind, len(kinds))
	for i, k := range kinds {
		list[i] = sim.Kind{
			Name: k.name, Global: k.is(anywhere), Weight: k.weight,
			ID: func(e *sim.Estate, p sim.Place, i int) string { return thing{kind: k, place: p, i: i}.id(e) },
		}
	}
	return list
}
