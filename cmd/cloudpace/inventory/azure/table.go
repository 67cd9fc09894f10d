package azure

import (
	"slices"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// row is a task before it has a subscription.
type row struct {
	inventory.Kind
	read       reader // nil for what asks nothing
	everywhere bool   // reads all subscriptions at once
}

// visible is what Azure's lists have: they leave out what the caller may not read.
const visible = "what the caller's roles show"

func kind(name, family, service string, types ...string) inventory.Kind {
	return inventory.Kind{Name: name, Family: family, Service: service, Types: types, Covers: visible}
}

func covers(k inventory.Kind, what string) inventory.Kind {
	k.Covers = what + ", as far as the caller's roles show it"
	return k
}

const (
	sweepFamily = "resources"
	graphFamily = "graph"
)

// table has all tasks, by family. A row is all there is to one.
var table = slices.Concat(computeRows, networkRows, dataRows, webRows, monitorRows, dnsRows, identityRows, wholeRows, graphRows)

// Kinds lists what can be read.
func Kinds() []inventory.Kind { return kindsOf(table) }

// Selected lists what a run reads of what is wanted, which is not always all; see
// [Tenant.Tasks].
func Selected(wanted func(inventory.Kind) bool) []inventory.Kind { return kindsOf(selected(wanted)) }

func kindsOf(rows []row) []inventory.Kind {
	list := make([]inventory.Kind, len(rows))
	for i, r := range rows {
		list[i] = r.Kind
	}
	return list
}

// selected gives the rows that are wanted: of the sweep and Resource Graph one, and
// the sum of a subscription only where all of it is read.
func selected(wanted func(inventory.Kind) bool) (rows []row) {
	swept, whole := false, true
	for _, r := range table {
		swept = swept || r.Family == sweepFamily && wanted(r.Kind)
		whole = whole && (r.Family == graphFamily || wanted(r.Kind))
	}
	for _, r := range table {
		switch {
		case !wanted(r.Kind), r.Family == graphFamily && swept, r.Name == fullTask && !whole:
		default:
			rows = append(rows, r)
		}
	}
	return rows
}
