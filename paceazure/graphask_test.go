package paceazure_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceazure"
)

// S12.4: Top is the size of a page, so as many rows as a page has, or more, do not
// make a query complete that the service cut.
func TestS12_4TopIsThePageSize(t *testing.T) {
	for name, tc := range map[string]struct {
		pages []answer
		rows  int
		want  string // empty: complete
	}{
		"all pages":               {[]answer{page(1, 5, 10, "t1", false), page(6, 5, 10, "", false)}, 10, ""},
		"cut after the first":     {[]answer{page(1, 5, 80, "", true)}, 5, "5 rows of 80: truncated"},
		"cut after the second":    {[]answer{page(1, 5, 80, "t1", false), page(6, 5, 80, "", true)}, 10, "10 rows of 80: truncated"},
		"too few, not said to be": {[]answer{page(1, 5, 80, "t1", false), page(6, 5, 80, "", false)}, 10, "10 rows of 80: truncated"},
	} {
		both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
			cloud.handle = script(tc.pages...).handle
			query := resources()
			query.Options = &armresourcegraph.QueryRequestOptions{Top: to.Ptr[int32](5)}
			ids, err := read(t.Context(), graph(governor(t, nil)), query)
			wantRows(t, ids, tc.rows)
			if tc.want == "" && err != nil || tc.want != "" && !strings.Contains(as[*paceazure.IncompleteError](t, err).Error(), tc.want) {
				t.Errorf("%s: %v", name, err)
			}
			for _, a := range cloud.arrivals() {
				if !strings.Contains(a.body, `"$top":5`) {
					t.Errorf("%s: a page is asked for with %s", name, a.body)
				}
			}
		})
	}
}

// C15: rows are skipped in one query. With batches that would be so many of each.
func TestC15SkipOverBatchesIsAnError(t *testing.T) {
	for _, skip := range []int32{0, 2} {
		both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
			cloud.handle = script(page(1, 3, 3, "", false), page(4, 3, 3, "", false)).handle
			query := resources()
			query.Options = &armresourcegraph.QueryRequestOptions{Skip: to.Ptr(skip)}
			for i := range 1500 {
				query.Subscriptions = append(query.Subscriptions, to.Ptr(fmt.Sprint(i)))
			}
			ids, err := read(t.Context(), graph(governor(t, nil)), query)
			if skip == 0 {
				wantRows(t, ids, 6)
				if err != nil {
					t.Error(err)
				}
				return
			}
			missing := as[*paceazure.IncompleteError](t, err)
			if len(ids) != 0 || len(cloud.at()) != 0 || missing.Batches != 2 || !strings.Contains(err.Error(), "Options.Skip") {
				t.Errorf("%d rows, %d requests, %v", len(ids), len(cloud.at()), err)
			}
		})
	}
}

// C15: a list of subscriptions that has none in it is not a query of all of them.
func TestC15NoSubscriptionIsNotAllOfThem(t *testing.T) {
	for _, list := range [][]*string{{}, {nil}, {nil, nil}} {
		both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
			cloud.handle = empty
			query := resources()
			query.Subscriptions = list
			g := governor(t, nil)
			_, err := read(t.Context(), graph(g), query)
			if missing := as[*paceazure.IncompleteError](t, err); len(cloud.at()) != 0 || missing.Rows != 0 {
				t.Errorf("%d requests, %v", len(cloud.at()), err)
			}
			query.ManagementGroups = []*string{to.Ptr("group")} // these are what is asked
			if _, err := read(t.Context(), graph(g), query); err != nil || len(cloud.at()) != 1 {
				t.Errorf("%d requests, %v", len(cloud.at()), err)
			}
		})
	}
}

// S12.4: a query that goes on from a token has seen that token, and where its first
// page fails it can be gone on with from the same place.
func TestS12_4ResumedQueries(t *testing.T) {
	for want, first := range map[string]answer{
		"the same page token twice": page(1, 5, 80, "t7", false),
		"AuthorizationFailed":       code(403, "AuthorizationFailed"),
	} {
		both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
			cloud.handle = script(first).handle
			query := resources()
			query.Options = &armresourcegraph.QueryRequestOptions{SkipToken: to.Ptr("t7")}
			_, err := read(t.Context(), graph(governor(t, nil)), query)
			missing := as[*paceazure.IncompleteError](t, err)
			if !strings.Contains(err.Error(), want) || len(cloud.at()) != 1 {
				t.Errorf("%d requests, %v", len(cloud.at()), err)
			}
			if first.status == 403 && missing.SkipToken != "t7" {
				t.Errorf("%q to go on from", missing.SkipToken)
			}
		})
	}
}
