package azure

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// example makes the id of a subscription that nobody has.
func example(n int) string { return fmt.Sprintf("00000000-0000-0000-0000-%012x", n) }

// Groups are the management groups below the tenant's own, by name, each with its
// subscriptions: every second is in the second.
func Groups(e *sim.Estate) map[string][]string {
	m := map[string][]string{"platform": nil, "workloads": nil}
	for i, s := range e.Accounts() {
		g := groupNames[i%2]
		m[g] = append(m[g], s)
	}
	return m
}

var groupNames = []string{"platform", "workloads"}

const managementGroupPath = "/providers/Microsoft.Management/managementGroups/"

// fixed is a list of what is in memory.
func (x *context) fixed(a *sim.Answer, size int, items []any) *problem {
	return x.list(a, listing{total: len(items), size: size, each: func(i int) (any, bool) { return items[i], true }})
}

func (x *context) tenants(a *sim.Answer) *problem {
	return x.fixed(a, assumedPage, []any{object{
		"id": "/tenants/" + Tenant, "tenantId": Tenant, "displayName": "Simulated", "defaultDomain": "example.com", "domains": []string{"example.com"},
		"tenantCategory": "Home", "tenantType": "AAD", "countryCode": "US",
	}})
}

func (x *context) subscriptions(a *sim.Answer) *problem {
	var items []any
	for i, s := range x.estate.Accounts() {
		items = append(items, x.aSubscription(i, s))
	}
	return x.fixed(a, 1000, items)
}

func (x *context) aSubscription(i int, id string) object {
	return object{
		"id": "/subscriptions/" + id, "subscriptionId": id, "tenantId": Tenant, "displayName": subscriptionName(i), "state": x.state(id),
		"authorizationSource": "RoleBased", "subscriptionPolicies": object{"locationPlacementId": "Public_2014-09-01", "quotaId": "PayAsYouGo_2014-09-01", "spendingLimit": "Off"},
	}
}

func subscriptionName(i int) string { return fmt.Sprintf("Subscription %d", i+1) }

func (x *context) state(id string) string {
	if x.front.disabled[id] {
		return "Disabled"
	}
	return "Enabled"
}

func (x *context) oneSubscription(a *sim.Answer) *problem {
	for i, s := range x.estate.Accounts() {
		if s == x.subscription {
			x.render(a, x.aSubscription(i, s))
		}
	}
	return nil
}

func (x *context) locations(a *sim.Answer) *problem {
	var items []any
	for _, r := range x.estate.Regions() {
		items = append(items, object{
			"id": "/subscriptions/" + x.subscription + "/locations/" + r, "name": r, "type": "Region", "displayName": r, "regionalDisplayName": r,
			"metadata": object{"regionType": "Physical", "regionCategory": "Recommended"},
		})
	}
	return x.fixed(a, 1000, items)
}

func (x *context) resourceGroups(a *sim.Answer) *problem {
	n := groupCount(x.estate, x.subscription)
	return x.list(a, listing{total: n, size: x.size(1000, 1000), each: func(i int) (any, bool) { return x.aGroup(i), true }})
}

func (x *context) aGroup(n int) object { return x.groupOf(x.subscription, n) }

func (x *context) groupOf(subscription string, n int) object {
	regions := x.estate.Regions()
	return object{
		"id": groupID(subscription, n), "name": groupName(n), "type": "Microsoft.Resources/resourceGroups",
		"location": regions[n%len(regions)], "properties": object{"provisioningState": succeeded},
	}
}

func (x *context) oneGroup(a *sim.Answer) *problem {
	if no := x.groupMissing(); no != nil {
		return no
	}
	x.render(a, x.aGroup(x.groupIndex()))
	return nil
}

// providers lists the namespaces, all of them registered.
func (x *context) providers(a *sim.Answer) *problem {
	var items []any
	seen := make(map[string]bool)
	for _, k := range kinds {
		if !seen[k.namespace()] {
			seen[k.namespace()] = true
			items = append(items, x.aProvider(k.namespace(), "Registered"))
		}
	}
	return x.fixed(a, 1000, items)
}

func (x *context) aProvider(namespace, state string) object {
	var types []any
	for _, k := range kinds {
		if strings.EqualFold(k.namespace(), namespace) {
			types = append(types, object{"resourceType": k.short(), "locations": x.estate.Regions(), "apiVersions": []string{}})
		}
	}
	return object{
		"id": "/subscriptions/" + x.subscription + "/providers/" + namespace, "namespace": namespace, "registrationState": state,
		"registrationPolicy": "RegistrationRequired", "resourceTypes": types,
	}
}

// oneProvider tells of a namespace, or registers it.
func (x *context) oneProvider(a *sim.Answer) *problem {
	state := "Registered"
	if x.verb == "register" {
		state = "Registering"
	}
	x.render(a, x.aProvider(name(x.namespace), state))
	return nil
}

func (x *context) managementGroups(a *sim.Answer) *problem {
	items := []any{managementGroup(Tenant, "Tenant Root Group")}
	for _, g := range groupNames {
		items = append(items, managementGroup(g, g))
	}
	return x.fixed(a, 1000, items)
}

func managementGroup(id, title string) object {
	return object{
		"id": managementGroupPath + id, "name": id, "type": "Microsoft.Management/managementGroups",
		"properties": object{"tenantId": Tenant, "displayName": title},
	}
}

// under lists the subscriptions in a management group and below it.
func under(e *sim.Estate, group string) ([]string, bool) {
	if strings.EqualFold(group, Tenant) {
		return e.Accounts(), true
	}
	list, ok := Groups(e)[strings.ToLower(group)]
	return list, ok
}

func (x *context) oneManagementGroup(a *sim.Answer) *problem {
	if _, ok := under(x.estate, x.names[0]); !ok {
		return x.noSuchGroup()
	}
	id := strings.ToLower(x.names[0])
	x.render(a, managementGroup(id, id))
	return nil
}

func (x *context) noSuchGroup() *problem {
	return &problem{status: http.StatusForbidden, code: "AuthorizationFailed", message: fmt.Sprintf("The client '%s' with object id '%[1]s' does not have authorization to perform action '%s' over scope '%s%s' or the scope is invalid. If access was recently granted, please refresh your credentials.", principal, x.action(), managementGroupPath, name(x.names[0]))}
}

func (x *context) descendants(a *sim.Answer) *problem {
	list, ok := under(x.estate, x.names[0])
	if !ok {
		return x.noSuchGroup()
	}
	var items []any
	top := strings.EqualFold(x.names[0], Tenant)
	if top {
		for _, g := range groupNames {
			o := managementGroup(g, g)
			o["properties"] = object{"displayName": g, "parent": object{"id": managementGroupPath + Tenant}}
			items = append(items, o)
		}
	}
	for _, s := range list {
		i := x.number(s)
		items = append(items, object{
			"id": "/subscriptions/" + s, "name": s, "type": "/subscriptions",
			"properties": object{"displayName": subscriptionName(i), "parent": object{"id": managementGroupPath + groupNames[i%2]}},
		})
	}
	return x.fixed(a, x.size(1000, 1000), items)
}

// groupSubscriptions lists the subscriptions right below a management group.
func (x *context) groupSubscriptions(a *sim.Answer) *problem {
	list, ok := under(x.estate, x.names[0])
	if !ok {
		return x.noSuchGroup()
	}
	if strings.EqualFold(x.names[0], Tenant) {
		list = nil // all are in the groups below
	}
	var items []any
	for _, s := range list {
		items = append(items, object{
			"id": managementGroupPath + name(x.names[0]) + "/subscriptions/" + s, "name": s, "type": "Microsoft.Management/managementGroups/subscriptions",
			"properties": object{
				"displayName": subscriptionName(x.number(s)), "state": x.state(s), "tenant": Tenant, "parent": object{"id": managementGroupPath + name(x.names[0])},
			},
		})
	}
	return x.fixed(a, 1000, items)
}

// number is a subscription's in the estate.
func (x *context) number(subscription string) int {
	for i, s := range x.estate.Accounts() {
		if s == subscription {
			return i
		}
	}
	return 0
}
