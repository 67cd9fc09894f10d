package azure

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// route is what a path says. Nothing in it but names minds how it is written.
type route struct {
	path         string // in lower case, without the subscription's and other names
	subscription string // in lower case
	group        string // the resource group, in lower case
	namespace    string // the last provider's: "Microsoft.Network"
	types, names []string
	location     string // of what a region is asked for
	lastWord     string // of the types, as it was written
	verb         string // "list", "get", "create", "update", "delete", "register", "poll", or a POST's last word
	kind         *kind  // nil where the table has none
	part         *part  // of the kind, if that is what is asked for
	tenant       func(x *context, a *sim.Answer) *problem
}

const graphPath = "/providers/microsoft.resourcegraph/resources"

// parse reads a path. What it does not know is a list or a thing by the number of
// its segments.
func parse(method, escaped string) route {
	var segments []string
	for part := range strings.SplitSeq(strings.Trim(escaped, "/"), "/") {
		if text, err := url.PathUnescape(part); err == nil && part != "" {
			segments = append(segments, text)
		}
	}
	r := route{path: "/" + strings.ToLower(strings.Join(segments, "/"))}
	if r.path == graphPath {
		r.namespace, r.verb = "Microsoft.ResourceGraph", "query"
		return r
	}
	if is(segments, 0, "subscriptions") {
		if len(segments) > 1 {
			r.subscription = strings.ToLower(segments[1])
		}
		if is(segments, 2, "resourcegroups") && len(segments) > 3 {
			r.group = strings.ToLower(segments[3])
		}
	}
	provider := lastProvider(segments)
	if provider < 0 || provider+1 == len(segments) {
		r.own(method, segments)
		return r
	}
	r.namespace = segments[provider+1]
	r.resource(method, segments[provider+2:], provider > 4)
	if r.subscription == "" {
		r.tenantLevel(segments)
	}
	return r
}

func is(segments []string, i int, word string) bool {
	return len(segments) > i && strings.EqualFold(segments[i], word)
}

// lastProvider finds the last "providers" that a namespace follows: what is asked
// about an extension of a thing goes to the extension's provider.
func lastProvider(segments []string) int {
	for i := len(segments) - 1; i >= 0; i-- {
		if strings.EqualFold(segments[i], "providers") && (i+1 == len(segments) || strings.Contains(segments[i+1], ".")) {
			return i
		}
	}
	return -1
}

// verbs of methods, for one thing.
var verbs = map[string]string{
	http.MethodGet: "get", http.MethodHead: "get", http.MethodPut: "create",
	http.MethodPatch: "update", http.MethodDelete: "delete", http.MethodPost: "post",
}

// own reads the paths of Resource Manager itself.
func (r *route) own(method string, segments []string) {
	shape := make([]string, len(segments))
	for i, s := range segments {
		shape[i] = strings.ToLower(s)
		if i%2 == 1 {
			shape[i] = "*"
		}
	}
	r.verb = "list"
	switch strings.Join(shape, "/") {
	case "tenants":
		r.types, r.tenant = []string{"tenants"}, (*context).tenants
	case "subscriptions":
		r.types, r.tenant = []string{"subscriptions"}, (*context).subscriptions
	case "subscriptions/*":
		r.types, r.verb, r.tenant = []string{"subscriptions"}, "get", (*context).oneSubscription
	case "subscriptions/*/locations":
		r.types, r.tenant = []string{"locations"}, (*context).locations
	case "subscriptions/*/providers":
		r.types, r.tenant = []string{"providers"}, (*context).providers
	case "subscriptions/*/resourcegroups":
		r.types, r.tenant = []string{"resourceGroups"}, (*context).resourceGroups
	case "subscriptions/*/resourcegroups/*":
		r.types, r.verb, r.tenant = []string{"resourceGroups"}, "get", (*context).oneGroup
	case "subscriptions/*/resources", "subscriptions/*/resourcegroups/*/resources":
		r.types, r.tenant = []string{"resources"}, (*context).allResources
	default:
		r.types = segments[max(0, len(segments)-1):]
		if len(segments)%2 == 0 {
			r.types, r.verb = nil, "get"
		}
	}
	if method != http.MethodGet && method != http.MethodHead {
		r.verb = verbs[method]
	}
}

// resource reads what follows a namespace: types and names in turn.
func (r *route) resource(method string, rest []string, extension bool) {
	for i, s := range rest {
		if i%2 == 0 {
			r.types = append(r.types, s)
		} else {
			r.names = append(r.names, s)
		}
	}
	r.verb = verbs[method]
	if len(r.types) > 0 {
		r.lastWord = r.types[len(r.types)-1]
	}
	whole := len(rest)%2 == 0 && len(rest) > 0
	switch {
	case len(rest) == 0:
		r.verb, r.tenant = "get", (*context).oneProvider
	case method == http.MethodPost && len(rest) == 1 && strings.EqualFold(rest[0], "register"):
		r.types, r.verb, r.tenant = nil, "register", (*context).oneProvider
	case method == http.MethodPost && !whole:
		r.verb = r.types[len(r.types)-1]
		r.types = r.types[:len(r.types)-1]
	case len(rest) == 4 && is(rest, 0, "locations") && is(rest, 2, operationStatuses):
		r.types, r.verb = []string{operationStatuses}, "poll"
	case !whole && r.verb == "get":
		r.verb = "list"
	}
	if len(r.types) == 2 && is(rest, 0, "locations") {
		r.location, r.types, r.names = rest[1], r.types[1:], r.names[1:]
	}
	if !extension {
		r.kind, r.part = lookUp(r.namespace, r.types)
	}
	switch {
	case r.part != nil:
		r.namespace, r.types = r.kind.namespace(), []string{r.kind.short(), r.part.name}
	case r.kind != nil:
		r.namespace, r.types = r.kind.namespace(), []string{r.kind.short()}
	}
}

// tenantLevel reads what is asked of the tenant.
func (r *route) tenantLevel(segments []string) {
	if !is(segments, 0, "providers") || !is(segments, 1, "microsoft.management") || !is(segments, 2, "managementgroups") {
		return
	}
	r.namespace = "Microsoft.Management"
	switch {
	case len(segments) == 3:
		r.tenant = (*context).managementGroups
	case len(segments) == 4:
		r.tenant = (*context).oneManagementGroup
	case len(segments) == 5 && is(segments, 4, "descendants"):
		r.tenant = (*context).descendants
	case len(segments) == 5 && is(segments, 4, "subscriptions"):
		r.tenant = (*context).groupSubscriptions
	}
}
