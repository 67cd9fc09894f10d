package gcp

import (
	"strconv"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// Where figures are from. That a minute's quota is full again at once when the
// minute ends is how Google describes rate quotas ("reset after a predefined time
// interval"), and for some APIs in more words ("refilled at the start of the next
// interval").
const (
	projectSource      = "Cloud Asset Inventory, Quotas and limits, project quota: per minute per consumer project"
	organizationSource = "Cloud Asset Inventory, Quotas and limits, resource organization quota: per minute per organization"
	daySource          = "Cloud Asset Inventory, Quotas and limits, resource organization quota: per day per organization"
	managerSource      = "Resource Manager, Quotas and limits: v3 API search, up to 4 a second and 240 a minute per consumer project"
)

// The layers of quotas: the consumer project's own has no name.
const (
	organizationLayer = "Organization"
	dayLayer          = "Organization-Day"
)

const (
	minute = 60.0
	day    = 24 * 60 * minute
)

// Quotas are what Google documents.
func (*Front) Quotas() []sim.Quota {
	var list []sim.Quota
	add := func(source, service, operation, layer, name string, burst, window float64) {
		list = append(list, sim.Quota{
			Match: sim.Match{Service: sim.Patterns{service}, Operation: sim.Patterns{operation}},
			Name:  name, Burst: burst, Window: window, Layer: layer, Source: source,
		})
	}
	add(projectSource, assetService, listAssets, "", "listAssetsQpmPerProject", 100, minute)
	add(projectSource, assetService, searchResources, "", "searchAllResourcesQpmPerProject", 400, minute)
	add(projectSource, assetService, searchPolicies, "", "searchAllIamPoliciesQpmPerProject", 400, minute)
	add(organizationSource, assetService, listAssets, organizationLayer, "listAssetsQpmPerOrganization", 800, minute)
	add(organizationSource, assetService, searchResources, organizationLayer, "searchAllResourcesQpmPerOrganization", 1_500, minute)
	add(organizationSource, assetService, searchPolicies, organizationLayer, "searchAllIamPoliciesQpmPerOrganization", 3_000, minute)
	add(daySource, assetService, listAssets, dayLayer, "listAssetsQpdPerOrganization", 650_000, day)
	add(managerSource, managerService, searchProjects, "", "searchV3QpmPerProject", 240, minute)
	return list
}

// daily tells a quota of a day from one of a minute.
func daily(q *sim.Quota) bool { return q.Window >= day }

// limit is what a quota is called in answers. Google documents neither metrics nor
// limits of these APIs by name; they are made after those that are documented
// (exportAssetsQpdPerProject).
type limit struct {
	metric, title, name, unit string
	value                     int
}

// pairs are what an answer tells of it.
func (l limit) pairs() []string {
	return []string{
		"quota_metric", l.metric, "quota_limit", l.name, "quota_limit_value", strconv.Itoa(l.value), "quota_unit", l.unit, "quota_location", "global",
	}
}

func limitOf(q *request, quota *sim.Quota) limit {
	l := limit{
		metric: q.host() + "/" + snake(q.operation) + "_requests", title: q.operation + " requests",
		name: quota.Name, value: int(quota.Burst),
	}
	if l.name == "" {
		l.name = q.operation + "RequestsPerMinutePerProject"
	}
	whom := "project"
	if quota.Layer != "" {
		whom = "organization"
	}
	if daily(quota) {
		l.unit = "1/d/{" + whom + "}"
	} else {
		l.unit = "1/min/{" + whom + "}"
	}
	return l
}

// per words a quota's interval.
func per(quota *sim.Quota) string {
	text := "minute"
	if daily(quota) {
		text = "day"
	}
	if quota.Layer != "" {
		text += " per organization"
	}
	return text
}

// snake writes an operation as metrics have it: list_assets.
func snake(name string) string {
	b := make([]byte, 0, len(name)+4)
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			if i > 0 {
				b = append(b, '_')
			}
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}
