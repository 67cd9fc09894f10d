package azure

import (
	"regexp"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

var roleDefinitions = byName["microsoft.authorization/roledefinitions"]

// builtIn are a few of the hundreds of roles that Azure has everywhere, and no
// estate's.
var builtIn = []struct{ id, name string }{
	{"8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "Owner"},
	{"b24988ac-6180-42a0-ab88-20f7382dd24c", "Contributor"},
	{reader, "Reader"},
	{"18d7d88d-d35e-4fb5-a5c3-7773c20a72d9", "User Access Administrator"},
}

// byRole are the documented filters of the list that are modelled: those of a sort, and
// those at the scope, which all are.
var byRole = regexp.MustCompile(`(?i)^\s*(?:type\s+eq\s+'(BuiltInRole|CustomRole)'|atScopeAndBelow\(\))\s*$`)

// roles answers for role definitions: Azure's, before those of the subscription.
func (x *context) roles(a *sim.Answer) *problem {
	if x.verb != "list" || len(x.names) > 0 {
		for i, r := range builtIn {
			if x.verb == "get" && len(x.names) == 1 && strings.EqualFold(x.names[0], r.id) {
				x.render(a, x.builtInRole(i))
				return nil
			}
		}
		return x.one(a)
	}
	custom := x.ofKind()
	own, sort := custom.each, ""
	if filter := x.query.Get("$filter"); filter != "" {
		m := byRole.FindStringSubmatch(filter)
		if m == nil {
			return x.badFilter()
		}
		sort = strings.ToLower(m[1])
	}
	custom.filtered = true
	custom.total += len(builtIn)
	custom.each = func(i int) (any, bool) {
		if i < len(builtIn) {
			return x.builtInRole(i), sort != "customrole"
		}
		if sort == "builtinrole" {
			return nil, false
		}
		return own(i - len(builtIn))
	}
	return x.list(a, custom)
}

func (x *context) builtInRole(i int) object {
	r := builtIn[i]
	return object{
		"id": "/subscriptions/" + x.subscription + "/providers/" + roleDefinitions.name + "/" + r.id, "name": r.id, "type": roleDefinitions.name,
		"properties": object{
			"roleName": r.name, "type": "BuiltInRole", "description": "Simulated.", "assignableScopes": []string{"/"},
			"permissions": []any{object{"actions": []string{"*/read"}, "notActions": []any{}, "dataActions": []any{}, "notDataActions": []any{}}},
		},
	}
}
