package paceazure

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"

	"github.com/cloudpace/cloudpace"
)

// Graph reads Azure Resource Graph, all pages of a query and any number of
// subscriptions. It is safe for concurrent use.
type Graph struct {
	client   *armresourcegraph.Client
	governor *cloudpace.Governor
	governed bool // the client's pipeline paces it
}

// NewGraph makes a client that is governed by [ClientOptions]; options may be nil.
// It returns an error where the options' cloud has no Resource Manager.
func NewGraph(cred azcore.TokenCredential, options *arm.ClientOptions, opts ...Option) (*Graph, error) {
	client, err := armresourcegraph.NewClient(cred, ClientOptions(options, opts...))
	if err != nil {
		return nil, err
	}
	return &Graph{client: client, governor: newSettings(opts).governor, governed: true}, nil
}

// GraphFrom reads through a client that was made in another way. If that client is
// not governed, each page is admitted here, and one that is throttled is asked for
// again, azure.graph_max_retries times. The client does not repeat throttles then; it
// repeats what else failed as azcore does by default, whatever its own options say,
// or as the context says (policy.WithRetryOptions). A client made with [ClientOptions]
// paces and repeats its pages itself, and nothing is taken twice.
func GraphFrom(client *armresourcegraph.Client, opts ...Option) *Graph {
	return &Graph{client: client, governor: newSettings(opts).governor}
}

// Query gives the rows of a query, page after page. Where something is missing the
// last pair has an error and no row: an [*IncompleteError] that tells what. Rows
// that came before it are good.
//
// Subscriptions are asked for in batches of 1,000, which is what Resource Graph
// takes; each batch is a query of its own, so with more of them a query that sorts,
// counts or summarizes does so for each batch, and what limit, take, top and sample
// allow in the query is allowed to each. Without Subscriptions the query goes to all
// that the caller can read, or to its ManagementGroups; a list that names none is an
// error, since it would be sent as if there were no list.
//
// Options.ResultFormat is always objectArray. Options.Top is the size of a page and
// cuts nothing: all pages are read, so who wants no more stops ranging, or says limit
// in the query. Options.Skip leaves rows out of a query of one batch, and is an error
// with more. Options.SkipToken, of the first batch only, goes on from where an
// earlier query ended.
//
// Nothing is sent before the first row is asked for, and nothing after the caller
// stops asking; ranging again asks again.
func (g *Graph) Query(ctx context.Context, query armresourcegraph.QueryRequest) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		batches := batchesOf(query)
		if reason := unanswerable(query, batches); reason != "" {
			yield(nil, &IncompleteError{Batch: 1, Batches: len(batches), Total: -1, Reason: reason})
			return
		}
		for i, batch := range batches {
			if i > 0 {
				batch.Options.SkipToken = nil
			}
			r := &reading{graph: g, query: batch, lost: IncompleteError{Batch: i + 1, Batches: len(batches), Total: -1}}
			more, err := r.rows(ctx, yield)
			if err != nil {
				yield(nil, err)
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// unanswerable tells why a query is not sent: it would be answered, but with other
// rows than those that were asked for.
func unanswerable(query armresourcegraph.QueryRequest, batches []armresourcegraph.QueryRequest) string {
	switch {
	case query.Subscriptions != nil && len(batches[0].Subscriptions) == 0 && len(query.ManagementGroups) == 0:
		return "the list of subscriptions names none, and would be taken for all of them"
	case len(batches) > 1 && query.Options != nil && query.Options.Skip != nil && *query.Options.Skip != 0:
		return fmt.Sprintf("Options.Skip has no meaning for more than %d subscriptions, which are read in batches", subscriptionsPerQuery)
	}
	return ""
}

// subscriptionsPerQuery is what Resource Graph takes at once
// (learn.microsoft.com, "Troubleshoot errors using Azure Resource Graph").
const subscriptionsPerQuery = 1000

// batchesOf splits a query by its subscriptions, each named once: one that is in
// two batches would be read twice. The caller's query is not changed.
func batchesOf(query armresourcegraph.QueryRequest) []armresourcegraph.QueryRequest {
	seen := map[string]bool{}
	var ids []*string
	for _, id := range query.Subscriptions {
		if id == nil || seen[strings.ToLower(*id)] {
			continue
		}
		seen[strings.ToLower(*id)] = true
		ids = append(ids, id)
	}
	var batches []armresourcegraph.QueryRequest
	for first := 0; first == 0 || first < len(ids); first += subscriptionsPerQuery {
		batch := query
		batch.Subscriptions = ids[first:min(first+subscriptionsPerQuery, len(ids))]
		options := armresourcegraph.QueryRequestOptions{}
		if query.Options != nil {
			options = *query.Options
		}
		options.ResultFormat = to.Ptr(armresourcegraph.ResultFormatObjectArray)
		batch.Options = &options
		batches = append(batches, batch)
	}
	return batches
}
