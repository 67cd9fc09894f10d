package azure

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/paceazure"
)

// Queries of Resource Graph. Rows are paged only where the query projects id, and in
// an order that stays.
const (
	resourcesQuery = "Resources | project id, name, type, location, subscriptionId, tags, kind, sku, plan, identity, zones, managedBy, extendedLocation, properties | order by id asc"
	groupsQuery    = "ResourceContainers | where type =~ 'microsoft.resources/subscriptions/resourcegroups' | project id, name, type, location, subscriptionId, tags, managedBy, properties | order by id asc"
)

var graphRows = []row{
	{everywhere: true, read: graph(resourcesQuery),
		Kind: covers(kind("azure_graph_resources", graphFamily, "resourcegraph"), "resources and subnets of types no other task of the run lists")},
	{everywhere: true, read: graph(groupsQuery),
		Kind: covers(kind("azure_graph_resource_groups", graphFamily, "resourcegraph"), "resource groups, unless another task of the run lists them")},
}

// graph reads the rows of a query about all subscriptions at once. One that has no
// rows at all is named: access rules leave rows out in silence (C17).
func graph(query string) reader {
	return func(ctx context.Context, s *site, out *inventory.Output) error {
		g, err := paceazure.NewGraph(s.tenant.credential, s.tenant.options, paceazure.WithGovernor(s.tenant.governor))
		if err != nil {
			return err
		}
		request := armresourcegraph.QueryRequest{Query: to.Ptr(query)}
		unseen := make(map[string]bool)
		for _, sub := range s.tenant.subscriptions {
			if sub.Err != nil {
				out.Gap(fmt.Errorf("subscription %s: %w", sub.ID, sub.Err))
				continue
			}
			request.Subscriptions = append(request.Subscriptions, to.Ptr(sub.ID))
			unseen[sub.ID] = true
		}
		if len(request.Subscriptions) == 0 {
			return errors.New("there is no subscription to ask about") // the gaps say why
		}
		next, stop := iter.Pull2(g.Query(ctx, request))
		defer stop()
		err = inventory.Walk(ctx, out, paged(next, func(i item) (found []item) {
			delete(unseen, i.Subscription)
			for _, part := range withSubnets(out, i) {
				found = append(found, s.unlisted(out, part)...)
			}
			return found
		}), s.asset)
		if err != nil {
			return incomplete(err)
		}
		for _, sub := range s.tenant.subscriptions {
			if unseen[sub.ID] {
				out.Gap(&inventory.UnseenError{What: "rows of subscription " + sub.ID})
			}
		}
		return nil
	}
}

// rowsAtOnce is how many rows are handed on as a page; Resource Graph gives as many.
const rowsAtOnce = 1000

// paged makes pages of rows. Those that came before an error are a page, and the
// error comes instead of the next one.
func paged(next func() (map[string]any, error, bool), each func(item) []item) inventory.Page[item] {
	var failed error
	number := 0
	return func(context.Context, string) (items []item, token string, err error) {
		if failed != nil {
			return nil, "", failed
		}
		number++
		for range rowsAtOnce {
			row, wrong, ok := next()
			if !ok {
				return items, "", nil
			}
			i, wrong := rowOf(row, wrong)
			if wrong != nil {
				if failed = wrong; len(items) == 0 {
					return nil, "", wrong
				}
				break
			}
			items = append(items, each(i)...)
		}
		return items, strconv.Itoa(number), nil
	}
}

// rowOf makes an item of a row.
func rowOf(row map[string]any, err error) (item, error) {
	if err != nil {
		return item{}, err
	}
	i, err := itemOf(row)
	if err != nil {
		return item{}, err
	}
	i.Subscription = strings.ToLower(take(row, "subscriptionId"))
	for key, value := range row {
		if value == nil || value == "" {
			delete(row, key) // a column that the thing has nothing in
		}
	}
	return i, nil
}

// incomplete says of a query that ended early what that means for the record: what
// the request came back with, or that the service cut the result.
func incomplete(err error) error {
	var early *paceazure.IncompleteError
	if errors.As(err, &early) && early.Err == nil {
		return &inventory.TruncatedError{Err: err}
	}
	return brief(err)
}
