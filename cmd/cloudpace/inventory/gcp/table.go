package gcp

import (
	"context"
	"slices"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// row is a task before it has a parent.
type row struct {
	inventory.Kind
	read      reader
	otherwise string // the row that takes its place where it is refused
}

// reader is what a row does for a parent.
type reader func(context.Context, *site, *inventory.Output) error

// searchFamily reads what the others read.
const searchFamily = "search"

func kind(name, family, covers, rpc string, page int) inventory.Kind {
	return inventory.Kind{Name: name, Family: family, Service: "cloudasset", Covers: covers, Calls: inventory.Calls{Operation: rpc, Page: page}}
}

var table []row

func init() { // its readers look into it
	table = []row{
		{Kind: kind("gcp_list_assets", "resources", "types that Cloud Asset Inventory has", "ListAssets", listed), read: listAssets, otherwise: "gcp_search_resources"},
		{Kind: kind("gcp_iam_policies", "iam", "policies that are set on assets, not those that these inherit", "ListAssets", listed), read: listPolicies, otherwise: "gcp_search_iam_policies"},
		{Kind: kind("gcp_search_resources", searchFamily, "types that can be searched for, with the attributes that can, and not all properties", "SearchAllResources", searched), read: searchResources},
		{Kind: kind("gcp_search_iam_policies", searchFamily, "policies that can be searched for, not those that assets inherit", "SearchAllIamPolicies", searched), read: searchPolicies},
	}
}

// Kinds lists what can be read.
func Kinds() []inventory.Kind { return kindsOf(table) }

// Selected lists what a run begins with of what is wanted; see [Estate.Tasks].
func Selected(wanted func(inventory.Kind) bool) []inventory.Kind { return kindsOf(selected(wanted)) }

func kindsOf(rows []row) []inventory.Kind {
	list := make([]inventory.Kind, len(rows))
	for i, r := range rows {
		list[i] = r.Kind
	}
	return list
}

func named(name string) row {
	return table[slices.IndexFunc(table, func(r row) bool { return r.Name == name })]
}

// selected gives the rows that are wanted, without those that are another's other way.
func selected(wanted func(inventory.Kind) bool) (rows []row) {
	var others []string
	for _, r := range table {
		if wanted(r.Kind) && !slices.Contains(others, r.Name) {
			rows, others = append(rows, r), append(others, r.otherwise)
		}
	}
	return rows
}
