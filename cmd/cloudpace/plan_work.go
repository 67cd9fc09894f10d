package main

import (
	"fmt"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/gcp"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/plan"
)

// globalRegion is what records call the region of what belongs to none. Plans of AWS are
// of its first partition, as far as that matters.
const globalRegion = "aws-global"

// quotaProject stands for the project that pays for what is read of Google Cloud.
const quotaProject = "the quota project"

// work makes the tasks of a run that has not been yet.
type work struct {
	limits            *planLimits
	accounts, regions []string
	sizes             sizes
}

// tasks are those of a provider, in the order in which a run makes them.
func (w *work) tasks(c *cloud, wanted func(inventory.Kind) bool) (list []plan.Task) {
	kinds := c.kinds
	if c.selected != nil {
		kinds = c.selected(wanted)
	}
	add := func(k inventory.Kind, account, region string, l *plan.Listing) {
		list = append(list, plan.Task{Provider: c.provider, Account: account, Region: region, Service: k.Service, Payer: payer(c.provider), Work: l})
	}
	byKind := func(account string) {
		for _, k := range kinds {
			if !wanted(k) || k.Calls.Nothing || k.Calls.Everywhere {
				continue
			}
			l := w.listing(c, k)
			switch {
			case c.provider != aws.Provider:
				add(k, account, "", l)
			case k.Global:
				add(k, account, globalRegion, l)
			default:
				for _, region := range w.regions {
					add(k, account, region, l)
				}
			}
		}
	}
	for _, account := range w.accounts {
		byKind(account)
	}
	for _, k := range kinds {
		if wanted(k) && k.Calls.Everywhere {
			add(k, everywhere, "", w.listing(c, k))
		}
	}
	return list
}

// payer is whose tokens calls take where these are not their account's own.
func payer(provider string) string {
	if provider == gcp.Provider {
		return quotaProject
	}
	return ""
}

// listing is what a task reads that finds as much as expected.
func (w *work) listing(c *cloud, k inventory.Kind) *plan.Listing {
	n := w.sizes.get(k.Name)
	if k.Calls.Rest { // it meets what all others list, wanted or not
		for _, other := range c.kinds {
			if !other.Global && !other.Calls.Rest && !other.Calls.Everywhere && !other.Calls.Nothing {
				n += w.sizes.get(other.Name)
			}
		}
	}
	if k.Calls.Everywhere {
		n *= len(w.accounts)
	}
	l := w.limits.listing(c.provider, k, n)
	if l.Under != nil {
		l.Under.Items = w.sizes.get(k.Calls.Of)
	}
	return l
}

// listing makes a task's calls out of its table's row.
func (p *planLimits) listing(provider string, k inventory.Kind, items int) *plan.Listing {
	of := func(c inventory.Calls, operation string) *plan.Operation {
		service := k.Service
		if c.Service != "" {
			service = c.Service
		}
		return p.of(provider, service, operation)
	}
	l := &plan.Listing{Operation: of(k.Calls, k.Calls.Operation), Items: items, Page: k.Calls.Page}
	for _, a := range k.Calls.Each {
		l.Each = append(l.Each, plan.Ask{Operation: of(k.Calls, a.Operation), Many: a.Many})
	}
	if u := k.Calls.Under; u != nil {
		l.Under = &plan.Listing{Operation: of(*u, u.Operation), Page: u.Page}
	}
	return l
}

// accountName names the n-th account of a provider that is not named.
func accountName(c *cloud) func(int) string {
	noun := map[string]string{"azure": "subscription", "gcp": "project"}[c.provider]
	if noun == "" {
		noun = "account"
	}
	return func(i int) string { return fmt.Sprintf("%s %d", noun, i+1) }
}
