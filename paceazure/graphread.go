package paceazure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"
)

// IncompleteError says that a query of Resource Graph ended before everything was
// read, and what is missing. The rows before it are good (S12.4).
type IncompleteError struct {
	Rows  int64 // given for this batch before the end
	Total int64 // that the service says there are for this batch; -1 where it does not

	Batch, Batches int    // which batch of subscriptions ended early, of how many
	SkipToken      string // to go on from; empty where that is not possible

	Reason string // why, in words: the service cut the result, a token came again, …
	Err    error  // what the request came back with, where that is why
}

// Error tells what is there, what is missing and why.
func (e *IncompleteError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "resource graph: incomplete after %d rows", e.Rows)
	if e.Total >= 0 {
		fmt.Fprintf(&b, " of %d", e.Total)
	}
	if e.Batches > 1 {
		fmt.Fprintf(&b, ", in batch %d of %d of the subscriptions", e.Batch, e.Batches)
	}
	if e.Reason != "" {
		b.WriteString(": " + e.Reason)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap gives the request's error.
func (e *IncompleteError) Unwrap() error { return e.Err }

// reading is one batch of a query, page after page.
type reading struct {
	graph *Graph
	query armresourcegraph.QueryRequest
	lost  IncompleteError // what it is if it ends now
	begun bool            // the caller goes on from a token; the rows before are not counted
	skips int64           // rows that the caller does not want

	barren int // pages in a row that had a token and no rows
}

// mostBarren is how many pages without rows are read for the sake of their tokens.
// An empty page is no end, but a service that gives nothing else has none.
const mostBarren = 100

// rows gives the rows of all pages. It follows the token alone: resultTruncated is
// "false" on pages that have one, and an empty page may have one (C12). more is
// false when the caller wants no further row.
func (r *reading) rows(ctx context.Context, yield func(map[string]any, error) bool) (more bool, err error) {
	seen := map[string]bool{}
	options := r.query.Options
	if options.SkipToken != nil {
		r.begun = true
		seen[*options.SkipToken] = true
		r.lost.SkipToken = *options.SkipToken
	}
	if options.Skip != nil {
		r.skips = int64(*options.Skip)
	}
	limited := false
	for {
		page, header, err := r.graph.page(ctx, r.query)
		if err != nil {
			return false, r.because("", err)
		}
		limited = limited || limitHit(header)
		rows, err := rowsOf(page)
		if err != nil {
			return false, r.because("", err)
		}
		if page.TotalRecords != nil {
			r.lost.Total = *page.TotalRecords
		}
		for _, row := range rows {
			if !yield(row, nil) {
				return false, nil
			}
			r.lost.Rows++
		}
		r.barren++
		if len(rows) > 0 {
			r.barren = 0
		}
		token := ""
		if page.SkipToken != nil {
			token = *page.SkipToken
		}
		r.lost.SkipToken = token
		switch {
		case token == "":
			return true, r.missing(page, limited)
		case seen[token]:
			r.lost.SkipToken = ""
			return false, r.because("the service gave the same page token twice", nil)
		case r.barren == mostBarren:
			return false, r.because(fmt.Sprintf("%d pages in a row had a token and no rows", mostBarren), nil)
		}
		seen[token] = true
		options.SkipToken = &token
		options.Skip = nil // it would go before the token, and give the same page again
	}
}

// missing says what a query that came to its end did not give.
func (r *reading) missing(page armresourcegraph.QueryResponse, limited bool) error {
	switch {
	case limited:
		return r.because("truncated: the query reached more subscriptions than the service reads at once; name them, and they are read in batches", nil)
	case page.ResultTruncated != nil && *page.ResultTruncated == armresourcegraph.ResultTruncatedTrue:
		return r.because("truncated: the service cut the result and gave no token; a query that projects id is paged", nil)
	case r.lost.Total > r.lost.Rows+r.skips && !r.begun:
		return r.because("truncated: the last page came before all rows", nil)
	}
	return nil
}

func (r *reading) because(reason string, err error) error {
	e := r.lost
	e.Reason, e.Err = reason, err
	return &e
}

// limitHit tells that a query over everything did not reach every subscription.
func limitHit(h http.Header) bool {
	return strings.EqualFold(strings.TrimSpace(h.Get("x-ms-tenant-subscription-limit-hit")), "true")
}

// rowsOf reads a page's rows. An answer without them is none, and not an empty page.
func rowsOf(page armresourcegraph.QueryResponse) ([]map[string]any, error) {
	if page.Data == nil && page.Count != nil && *page.Count == 0 {
		return nil, nil
	}
	list, ok := page.Data.([]any)
	if !ok {
		return nil, fmt.Errorf("protocol: the answer has %T where rows should be", page.Data)
	}
	rows := make([]map[string]any, len(list))
	for i, v := range list {
		if rows[i], ok = v.(map[string]any); !ok || rows[i] == nil {
			return nil, errors.New("protocol: a row of the answer is no object")
		}
	}
	return rows, nil
}
