package paceazure_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceazure"
	"github.com/cloudpace/cloudpace/verdict"
)

const graphText = "azure/*/*/resourcegraph"

// asked is what a query asks for.
type asked struct {
	Query         string   `json:"query"`
	Subscriptions []string `json:"subscriptions"`
	Options       struct {
		SkipToken    string `json:"$skipToken"`
		ResultFormat string `json:"resultFormat"`
	} `json:"options"`
}

func question(t testing.TB, a arrival) (q asked) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &q); err != nil {
		t.Errorf("%v in %q", err, a.body)
	}
	return q
}

// page words a page with rows named first, first+1, ….
func page(first, rows, total int, token string, truncated bool, pairs ...string) answer {
	data := make([]string, rows)
	for i := range data {
		data[i] = fmt.Sprintf(`{"id":"%d"}`, first+i)
	}
	more := ""
	if token != "" {
		more = fmt.Sprintf(`,"$skipToken":%q`, token)
	}
	return say(200, fmt.Sprintf(`{"totalRecords":%d,"count":%d,"resultTruncated":"%t","data":[%s]%s}`,
		total, rows, truncated, strings.Join(data, ","), more), pairs...)
}

// both makes a Graph of each kind: with a governed client, and with one of another
// make.
func both(t *testing.T, f func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph)) {
	t.Helper()
	for _, foreign := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			cloud := newFake(nil)
			f(t, cloud, func(g *cloudpace.Governor) *paceazure.Graph {
				if foreign {
					return foreignGraph(t, cloud.inProcess(), g)
				}
				return governedGraph(t, cloud.inProcess(), g)
			})
		})
	}
}

func governedGraph(t testing.TB, options *arm.ClientOptions, g *cloudpace.Governor) *paceazure.Graph {
	t.Helper()
	graph, err := paceazure.NewGraph(login{}, options, paceazure.WithGovernor(g))
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

// foreignGraph has a client that is not governed, and retries as azcore does.
func foreignGraph(t testing.TB, options *arm.ClientOptions, g *cloudpace.Governor) *paceazure.Graph {
	t.Helper()
	client, err := armresourcegraph.NewClient(login{}, options)
	if err != nil {
		t.Fatal(err)
	}
	return paceazure.GraphFrom(client, paceazure.WithGovernor(g))
}

func resources() armresourcegraph.QueryRequest {
	return armresourcegraph.QueryRequest{Query: to.Ptr("Resources | project id")}
}

// read reads a query to its end.
func read(ctx context.Context, graph *paceazure.Graph, query armresourcegraph.QueryRequest) (ids []string, err error) {
	for row, e := range graph.Query(ctx, query) {
		if e != nil {
			if row != nil || err != nil {
				panic("a row beside an error, or two errors")
			}
			err = e
			continue
		}
		ids = append(ids, row["id"].(string))
	}
	return ids, err
}

func wantRows(t testing.TB, ids []string, n int) {
	t.Helper()
	if len(ids) != n {
		t.Errorf("%d rows, want %d", len(ids), n)
	}
	for i, id := range ids {
		if id != fmt.Sprint(i+1) {
			t.Fatalf("row %d is %s", i+1, id)
		}
	}
}

// S12.4, C12: the token alone says that there is more, whatever resultTruncated
// says and however empty the page.
func TestS12_4C12PagesFollowTheToken(t *testing.T) {
	both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
		cloud.handle = func(_ int, a arrival) answer {
			q := question(t, a)
			if q.Options.ResultFormat != "objectArray" || q.Query != "Resources | project id" || a.path != graphPath {
				t.Errorf("asked %+v", q)
			}
			switch q.Options.SkipToken {
			case "":
				return page(1, 1000, 2500, "t1", false)
			case "t1":
				return page(0, 0, 2500, "t2", true)
			case "t2":
				return page(1001, 1000, 2500, "t3", true)
			}
			return page(2001, 500, 2500, "", false)
		}
		g := governor(t, nil)
		query := resources()
		ids, err := read(t.Context(), graph(g), query)
		if err != nil {
			t.Fatal(err)
		}
		wantRows(t, ids, 2500)
		if n := scopeStats(t, g, graphText); n.Calls != 4 {
			t.Errorf("%+v", n)
		}
		if query.Options != nil {
			t.Error("the caller's query was changed")
		}
		clean(t, g)
	})
}

// S12.4: what ends early ends in an error that says what is missing, after the rows
// that there are.
func TestS12_4C12C15WhatIsMissingIsSaid(t *testing.T) {
	const limit = "x-ms-tenant-subscription-limit-hit"
	for name, tc := range map[string]struct {
		pages []answer
		rows  int
		total int64
		want  string
	}{
		"truncated without a token":        {[]answer{page(1, 10, 8322, "", true)}, 10, 8322, "10 rows of 8322: truncated"},
		"truncated, by its own word alone": {[]answer{page(1, 10, 10, "", true)}, 10, 10, "10 rows of 10: truncated: the service cut the result"},
		"too few rows":                     {[]answer{page(1, 10, 15, "t1", false), page(11, 2, 15, "", false)}, 12, 15, "12 rows of 15: truncated"},
		"repeated token":                   {[]answer{page(1, 10, 40, "t1", false), page(11, 10, 40, "t1", false)}, 20, 40, "the same page token twice"},
		"a circle of tokens":               {[]answer{page(1, 1, 9, "a", false), page(2, 1, 9, "b", false), page(3, 1, 9, "a", false)}, 3, 9, "the same page token twice"},
		"subscription limit":               {[]answer{page(1, 10, 20, "t1", false, limit, "true"), page(11, 10, 20, "", false)}, 20, 20, "more subscriptions than the service reads"},
		"an answer without rows":           {[]answer{say(200, `{}`)}, 0, -1, "protocol"},
		"a table":                          {[]answer{say(200, `{"count":1,"totalRecords":1,"data":{"columns":[],"rows":[]}}`)}, 0, -1, "protocol"},
		"rows that are none":               {[]answer{say(200, `{"count":1,"totalRecords":1,"data":[7]}`)}, 0, -1, "protocol"},
		"a page that is no JSON":           {[]answer{say(200, `<html>log in</html>`)}, 0, -1, "incomplete after 0 rows"},
		"an empty body":                    {[]answer{say(200, ``)}, 0, -1, "protocol"},
		"KQL error":                        {[]answer{code(400, "BadRequest")}, 0, -1, "BadRequest"},
		"denied on the second page":        {[]answer{page(1, 10, 20, "t1", false), code(403, "AuthorizationFailed")}, 10, 20, "AuthorizationFailed"},
	} {
		both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
			cloud.handle = script(tc.pages...).handle
			g := governor(t, nil)
			ids, err := read(t.Context(), graph(g), resources())
			wantRows(t, ids, tc.rows)
			missing := as[*paceazure.IncompleteError](t, err)
			if !strings.Contains(err.Error(), tc.want) || missing.Rows != int64(tc.rows) || missing.Total != tc.total {
				t.Errorf("%s: %+v: %v", name, missing, err)
			}
			if n := len(cloud.at()); n != len(tc.pages) {
				t.Errorf("%s: %d requests", name, n)
			}
			clean(t, g)
		})
	}
}

// What is empty, or begins where the caller said, is complete.
func TestS12_4WhatIsComplete(t *testing.T) {
	for name, tc := range map[string]struct {
		options *armresourcegraph.QueryRequestOptions
		page    answer
		rows    int
	}{
		"nothing":     {nil, page(1, 0, 0, "", false), 0},
		"null data":   {nil, say(200, `{"count":0,"totalRecords":0,"data":null}`), 0},
		"no total":    {nil, say(200, `{"count":1,"data":[{"id":"1"}]}`), 1},
		"top":         {&armresourcegraph.QueryRequestOptions{Top: to.Ptr[int32](5)}, page(1, 5, 5, "", false), 5},
		"skip":        {&armresourcegraph.QueryRequestOptions{Skip: to.Ptr[int32](75)}, page(1, 5, 80, "", false), 5},
		"resumed":     {&armresourcegraph.QueryRequestOptions{SkipToken: to.Ptr("t7")}, page(1, 5, 80, "", false), 5},
		"limit false": {nil, page(1, 5, 5, "", false, "x-ms-tenant-subscription-limit-hit", "false"), 5},
	} {
		both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
			cloud.handle = script(tc.page).handle
			query := resources()
			query.Options = tc.options
			ids, err := read(t.Context(), graph(governor(t, nil)), query)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			wantRows(t, ids, tc.rows)
		})
	}
}

// S12.4: a service that gives token after token and never a row is no loop.
func TestS12_4TokensWithoutRowsEnd(t *testing.T) {
	both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
		cloud.handle = func(n int, _ arrival) answer { return page(1, 0, 7, fmt.Sprint("t", n), false) }
		_, err := read(t.Context(), graph(governor(t, nil)), resources())
		if missing := as[*paceazure.IncompleteError](t, err); missing.SkipToken != "t100" || len(cloud.at()) != 100 {
			t.Errorf("%d requests, %v", len(cloud.at()), err)
		}
	})
}

// Skip goes before a token, so it is for the first page alone.
func TestSkipIsForTheFirstPage(t *testing.T) {
	both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
		cloud.handle = func(n int, a arrival) answer {
			if first, has := n == 1, strings.Contains(a.body, `"$skip":`); first != has {
				t.Errorf("page %d is asked for with %s", n, a.body)
			}
			return page(2*n-1, 2, 10, []string{"t1", "t2", ""}[n-1], false)
		}
		query := resources()
		query.Options = &armresourcegraph.QueryRequestOptions{Skip: to.Ptr[int32](4)}
		ids, err := read(t.Context(), graph(governor(t, nil)), query)
		if err != nil || *query.Options.Skip != 4 {
			t.Fatal(err)
		}
		wantRows(t, ids, 6)
	})
}

// C15: any number of subscriptions, in batches of what the API takes, each once.
func TestC15SubscriptionsAreBatched(t *testing.T) {
	both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
		var sizes []int
		var all []string
		cloud.handle = func(n int, a arrival) answer {
			q := question(t, a)
			sizes = append(sizes, len(q.Subscriptions))
			all = append(all, q.Subscriptions...)
			if n == 2 {
				return page(n, 1, 2, "t1", false)
			}
			return page(n, 1, map[bool]int{true: 2, false: 1}[n == 3], "", false)
		}
		query := resources()
		query.Options = &armresourcegraph.QueryRequestOptions{SkipToken: to.Ptr("t0")}
		for i := range 2500 {
			query.Subscriptions = append(query.Subscriptions, to.Ptr(fmt.Sprintf("00000000-0000-0000-0000-aaaa%08d", i)))
		}
		query.Subscriptions = append(query.Subscriptions, nil, to.Ptr(strings.ToUpper(*query.Subscriptions[3])))
		ids, err := read(t.Context(), graph(governor(t, nil)), query)
		if err != nil {
			t.Fatal(err)
		}
		wantRows(t, ids, 4)
		if !slices.Equal(sizes, []int{1000, 1000, 1000, 500}) {
			t.Errorf("batches of %v", sizes)
		}
		slices.Sort(all)
		if n := len(slices.Compact(all)); n != 2500 {
			t.Errorf("%d subscriptions asked for", n)
		}
		if got := question(t, cloud.arrivals()[1]).Options.SkipToken; got != "" {
			t.Errorf("the second batch goes on from %q", got)
		}
	})
}

func TestC15ErrorNamesTheBatch(t *testing.T) {
	cloud := newFake(func(n int, _ arrival) answer {
		if n == 2 {
			return code(403, "AuthorizationFailed")
		}
		return page(n, 1, 1, "", false)
	})
	query := resources()
	for i := range 2001 {
		query.Subscriptions = append(query.Subscriptions, to.Ptr(fmt.Sprint(i)))
	}
	ids, err := read(t.Context(), governedGraph(t, cloud.loopback(t), governor(t, nil)), query)
	wantRows(t, ids, 1)
	missing := as[*paceazure.IncompleteError](t, err)
	if missing.Batch != 2 || missing.Batches != 3 || !strings.Contains(err.Error(), "in batch 2 of 3") || len(cloud.at()) != 2 {
		t.Errorf("%+v, %d requests", missing, len(cloud.at()))
	}
}

// C05: a read that was throttled to its end is an error and never an empty success.
func TestC05ThrottledIsNotEmpty(t *testing.T) {
	both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
		cloud.handle = script(code(429, "RateLimiting")).handle
		ids, err := read(t.Context(), graph(governor(t, nil)), resources())
		if len(ids) != 0 || verdict.Classify(err) != verdict.Throttled || as[*azcore.ResponseError](t, err).StatusCode != 429 {
			t.Errorf("%d rows, %v", len(ids), err)
		}
	})
}

// Who stops ranging stops the requests, and holds nothing; ranging again asks again.
func TestBreakingOffHoldsNothing(t *testing.T) {
	both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
		cloud.handle = script(page(1, 3, 6, "t1", false), page(1, 3, 6, "t1", false), page(4, 3, 6, "", false)).handle
		g := governor(t, nil)
		seq := graph(g).Query(t.Context(), resources())
		if n := len(cloud.at()); n != 0 {
			t.Errorf("%d requests before the first row is asked for", n)
		}
		for row, err := range seq {
			if err != nil || row["id"] != "1" {
				t.Errorf("the first row is %v, %v", row, err)
			}
			break
		}
		clean(t, g)
		n := 0
		for _, err := range seq {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if n != 6 || len(cloud.at()) != 3 {
			t.Errorf("%d rows, %d requests", n, len(cloud.at()))
		}
	})
}

// Bad input of the caller's: an end of his context, and options without a cloud.
func TestGraphBadInput(t *testing.T) {
	both(t, func(t *testing.T, cloud *fake, graph func(*cloudpace.Governor) *paceazure.Graph) {
		cloud.handle = script(answer{hang: true}).handle
		g := governor(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := read(ctx, graph(g), resources())
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(cloud.start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(cloud.start), err)
		}
		clean(t, g)
	})
	options := &arm.ClientOptions{}
	options.Cloud.ActiveDirectoryAuthorityHost = "https://login.example.com"
	if _, err := paceazure.NewGraph(login{}, options); err == nil {
		t.Error("no error for a cloud without Resource Manager")
	}
	both(t, func(t *testing.T, cloud *fake, _ func(*cloudpace.Governor) *paceazure.Graph) {
		cloud.handle = script(page(1, 0, 0, "", false)).handle
		client, err := armresourcegraph.NewClient(&badLogin{from: 1, text: "no credential: 429 Too Many Requests"}, cloud.inProcess())
		if err != nil {
			t.Fatal(err)
		}
		g := governor(t, nil)
		_, err = read(t.Context(), paceazure.GraphFrom(client, paceazure.WithGovernor(g)), resources())
		if err == nil || !strings.Contains(err.Error(), "no credential") || len(cloud.at()) != 0 || time.Since(cloud.start) != 0 {
			t.Errorf("%d requests after %v, %v", len(cloud.at()), time.Since(cloud.start), err)
		}
		if b := leaf(t, g, graphText); b.RPS != b.MaxRPS { // C18
			t.Errorf("a throttled login slows queries: %+v", b)
		}
		clean(t, g)
	})
}

var _ policy.Transporter = (*fake)(nil)
