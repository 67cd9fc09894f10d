package azure_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// TestQueries: what is understood has the rows that it should.
func TestQueries(t *testing.T) {
	x, stop := start(t, azure.New(), small(azure.New()))
	defer stop()
	e := x.server.Estate()
	both := func(of func(string) bool) []string { return append(wanted(e, first, of), wanted(e, second, of)...) }
	disk := func(k string) bool { return k == "Microsoft.Compute/disks" }
	only := func(ids []string, part string, has bool) (list []string) {
		for _, id := range ids {
			if strings.Contains(strings.ToLower(id), part) == has {
				list = append(list, id)
			}
		}
		return list
	}
	for text, want := range map[string][]string{
		"Resources | where type =~ 'Microsoft.Compute/disks' | project id, name | order by id asc": both(disk),
		"where type == 'microsoft.compute/disks'":                                                  both(disk),
		"| where type == \"microsoft.compute/disks\"":                                              both(disk),
		"Resources | where type in~ ('Microsoft.Compute/disks', 'Microsoft.Sql/servers/databases')": both(func(k string) bool {
			return disk(k) || k == "Microsoft.Sql/servers/databases"
		}),
		"resources|where type has 'disks' and subscriptionId == '" + first + "'":                                      wanted(e, first, disk),
		"Resources // a comment\n| where type == 'microsoft.compute/disks'\n| where resourceGroup !~ 'RG-NETWORK-00'": only(both(disk), "/rg-network-00/", false),
		"Resources | where id contains '/RG-NETWORK-00/' and type endswith 'x'":                                       nil,
		"Resources | where id contains '/RG-NETWORK-00/' and type startswith 'microsoft.compute/disks'":               only(both(disk), "/rg-network-00/", true),
		"Resources | where name == '" + wanted(e, first, disk)[0][len(wanted(e, first, disk)[0])-21:] + "'":           wanted(e, first, disk)[:1],
		"ResourceContainers | where type == 'microsoft.resources/subscriptions'":                                      {inFirst, "/subscriptions/" + second},
		"ResourceContainers | where type =~ 'Microsoft.Resources/subscriptions/resourceGroups' | sort by name":        both(func(k string) bool { return k == "Microsoft.Resources/resourceGroups" }),
	} {
		a := x.query(text, "")
		if want == nil {
			if a.status != http.StatusBadRequest {
				t.Errorf("%s: %d", text, a.status)
			}
			continue
		}
		if a.status != http.StatusOK || a.body["resultTruncated"] != "false" || int(a.body["totalRecords"].(float64)) != len(want) || a.body["count"] != a.body["totalRecords"] {
			t.Errorf("%s: %d %.300s", text, a.status, a.text)
		}
		same(t, text, a.ids("data"), want)
	}
}

// TestOrder: descending unless it says otherwise, as KQL has it.
func TestOrder(t *testing.T) {
	x, stop := start(t, azure.New(), small(azure.New()))
	defer stop()
	up := x.query("Resources | where type =~ 'Microsoft.Compute/virtualMachines' | order by name asc", "").ids("data")
	down := x.query("Resources | where type =~ 'Microsoft.Compute/virtualMachines' | order by name", "").ids("data")
	slices.Reverse(down)
	if len(up) < 10 || !slices.Equal(up, down) {
		t.Errorf("%d up, %d down", len(up), len(down))
	}
}

// TestGraphPages: every row once, with $top, $skip and tokens; and what there is
// no way to says so.
func TestGraphPages(t *testing.T) {
	x, stop := start(t, azure.New(), small(azure.New()))
	defer stop()
	const text = "Resources | project id | order by id asc"
	whole := []string{}
	options := `{"$top":300}`
	for range 20 {
		a := x.query(text, options)
		whole = append(whole, a.ids("data")...)
		token, _ := a.body["$skipToken"].(string)
		if token == "" {
			break
		}
		options = `{"$top":300,"$skipToken":"` + token + `"}`
	}
	same(t, text, whole, append(wanted(x.server.Estate(), first, tracked), wanted(x.server.Estate(), second, tracked)...))
	if got := x.query(text, `{"$skip":500,"$top":10}`).ids("data"); !slices.Equal(got, whole[500:510]) {
		t.Errorf("after 500: %q", got)
	}
	for _, c := range []struct {
		text, options, truncated string
		count                    int
		token                    bool
	}{
		{text + " | limit 5", "", "false", 5, false},
		{text + " | take 1500", "", "true", 1000, false},
		{"Resources | project properties, tags", "", "true", 1000, false},
		{"Resources", `{"$top":5}`, "false", 5, true},
		{text, `{"$top":5,"resultFormat":"table"}`, "false", 5, true},
	} {
		a := x.query(c.text, c.options)
		if _, token := a.body["$skipToken"]; a.body["resultTruncated"] != c.truncated || token != c.token || a.body["count"] != float64(c.count) {
			t.Errorf("%s %s: %.300s", c.text, c.options, a.text)
		}
	}
	table := x.query(text, `{"$top":2,"resultFormat":"table"}`).body["data"].(map[string]any)
	if rows := table["rows"].([]any); len(rows) != 2 || rows[0].([]any)[0] != whole[0] {
		t.Errorf("%v", table)
	}
}

// TestGraphErrors: what is not understood is a 400 that says where.
func TestGraphErrors(t *testing.T) {
	x, stop := start(t, azure.New(), small(azure.New()))
	defer stop()
	for text, says := range map[string]string{
		"Resources | summarize count()":                 `"token":"summarize"`,
		"Resources |\n where type ~ 'x'":                `"line":2`,
		"Nowhere":                                       "InvalidTable",
		"Resources | project nothing":                   `"token":"nothing"`,
		"Resources | where properties == 'x'":           `"token":"properties"`,
		"Resources | limit 5 | where type == 'x'":       `"token":"where"`,
		"Resources | where type == 'x":                  `ParserFailure`,
		"Resources | limit -1":                          `ParserFailure`,
		"Resources | where type in ('a'":                `ParserFailure`,
		"Resources | order by id asc nulls first":       `"token":"nulls"`,
		"Resources project id":                          `"token":"project"`,
		"":                                              `InvalidQuery`,
		"Resources | where type == 'a' or type == 'b'":  `"token":"or"`,
		"Resources | extend x = tostring(properties.x)": `InvalidQueryLanguage`,
	} {
		if a := x.query(text, ""); a.status != http.StatusBadRequest || a.code() != "BadRequest" || !strings.Contains(a.text, says) || !strings.Contains(a.text, "Please provide below info") {
			t.Errorf("%q: %d %s", text, a.status, a.text)
		}
	}
	for body, says := range map[string]string{
		`{`: "InvalidRequestContent",
		`{"query":"Resources","options":{"$top":1001}}`:                                                      "InvalidQueryOptions",
		`{"query":"Resources","options":{"$skipToken":"x"}}`:                                                 "CouldNotDecodeSkipToken",
		`{"query":"Resources","subscriptions":["00000000-0000-0000-0000-000000000009"]}`:                     "NoValidSubscriptionsInQueryRequest",
		`{"query":"Resources","managementGroups":["none"]}`:                                                  "NoValidSubscriptionsInQueryRequest",
		`{"query":"Resources | where type == 'a'","subscriptions":["` + first + `"],"options":{"$skip":-1}}`: "InvalidQueryOptions",
	} {
		if a := x.ask(http.MethodPost, "/providers/Microsoft.ResourceGraph/resources", body); a.status != http.StatusBadRequest || !strings.Contains(a.text, says) {
			t.Errorf("%s: %d %s", body, a.status, a.text)
		}
	}
}

// TestQueryLimit: more subscriptions than a query reaches are left out, and a
// header says so.
func TestQueryLimit(t *testing.T) {
	front := azure.New(azure.WithQueryLimit(2))
	p := small(front)
	p.Estate.Accounts = front.ExampleAccounts(3)
	x, stop := start(t, front, p)
	defer stop()
	const text = "ResourceContainers | where type == 'microsoft.resources/subscriptions'"
	if a := x.query(text, ""); len(a.ids("data")) != 2 || a.header.Get("x-ms-tenant-subscription-limit-hit") != "true" {
		t.Errorf("%v %v", a.ids("data"), a.header)
	}
	a := x.ask(http.MethodPost, "/providers/Microsoft.ResourceGraph/resources", `{"query":"`+text+`","subscriptions":["`+second+`"]}`)
	if got := a.ids("data"); !slices.Equal(got, []string{"/subscriptions/" + second}) || a.header.Get("x-ms-tenant-subscription-limit-hit") != "" {
		t.Errorf("%v %v", got, a.header)
	}
	a = x.ask(http.MethodPost, "/providers/Microsoft.ResourceGraph/resources", `{"query":"`+text+`","managementGroups":["workloads"]}`)
	if got := a.ids("data"); !slices.Equal(got, []string{"/subscriptions/" + second}) {
		t.Errorf("%v", got)
	}
}

// TestGraphFaults: a query's pages misbehave as a list's do.
func TestGraphFaults(t *testing.T) {
	p := small(azure.New())
	p.Faults = []sim.Fault{
		{Kind: sim.EmptyPage, Match: sim.Match{Service: sim.Patterns{"resourcegraph"}, Page: 1}, First: 1},
		{Kind: sim.RepeatToken, Match: sim.Match{Service: sim.Patterns{"resourcegraph"}, Page: 3}},
		{Kind: sim.Error, Code: "RateLimiting", Match: sim.Match{Service: sim.Patterns{"resourcegraph"}}, After: 4},
	}
	x, stop := start(t, azure.New(), p)
	defer stop()
	seen := []string{""}
	for range 4 {
		a := x.query("Resources | project id", `{"$top":50,"$skipToken":"`+seen[len(seen)-1]+`"}`)
		token, _ := a.body["$skipToken"].(string)
		if a.status != http.StatusOK || token == "" || (len(a.ids("data")) == 0) != (len(seen) == 1) {
			t.Fatalf("page %d: %.300s", len(seen), a.text)
		}
		seen = append(seen, token)
	}
	if seen[2] != seen[3] || seen[3] != seen[4] || seen[1] == seen[2] {
		t.Errorf("tokens %q", seen)
	}
	if a := x.query("Resources | project id", ""); a.code() != "RateLimiting" || a.header.Get("x-ms-user-quota-resets-after") != "00:00:05" || a.header.Get("x-ms-user-quota-remaining") != "0" {
		t.Errorf("%s %v", a.text, a.header)
	}
}
