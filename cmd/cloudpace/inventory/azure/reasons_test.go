package azure

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// disks are 18 in 74 of an estate, so that their list has several pages.
const disks = "azure_disks"

func fault(f sim.Fault) sim.Fault {
	f.Match = sim.Match{Account: sim.Patterns{first}, Operation: sim.Patterns{"disks.list"}, Page: f.Page}
	return f
}

// TestS15_1Reasons: what Azure answers, and what the record says of it; in the next
// subscription nothing of that is noticed (S15.3).
func TestS15_1Reasons(t *testing.T) {
	code := func(code string, status int) sim.Fault { return sim.Fault{Kind: sim.Error, Code: code, Status: status} }
	failed := func(r inventory.Reason) inventory.Record {
		return inventory.Record{Status: inventory.Failed, Reason: r}
	}
	skipped := func(r inventory.Reason) inventory.Record {
		return inventory.Record{Status: inventory.Skipped, Reason: r}
	}
	later := func(f sim.Fault) sim.Fault { f.Page = 2; return f }
	partial := func(r inventory.Reason) inventory.Record {
		return inventory.Record{Status: inventory.Partial, Reason: r, Assets: 100, Pages: 1}
	}
	for _, c := range []struct {
		name  string
		fault sim.Fault
		want  inventory.Record
		words string
	}{
		{"denied (F03)", sim.Fault{Kind: sim.Denied}, failed(inventory.AccessDenied), "AuthorizationFailed"},
		{"denied by a policy (F08)", sim.Fault{Kind: sim.DeniedByPolicy}, failed(inventory.DeniedByPolicy), "RequestDisallowedByPolicy"},
		{"denied by a 403 without a known code", code("Forbidden", 403), failed(inventory.AccessDenied), "Forbidden"},
		{"expired", sim.Fault{Kind: sim.Expired}, failed(inventory.CredentialsExpired), "ExpiredAuthenticationToken"},
		{"of another tenant", code("InvalidAuthenticationTokenTenant", 401), failed(inventory.CredentialsExpired), "InvalidAuthenticationTokenTenant"},
		{"disabled meanwhile", sim.Fault{Kind: sim.RegionDisabled}, failed(inventory.APIDisabled), "ReadOnlyDisabledSubscription"},
		{"gone meanwhile", code("SubscriptionNotFound", 404), failed(inventory.AccessDenied), "SubscriptionNotFound"},
		{"not registered", code("MissingSubscriptionRegistration", 409), failed(inventory.APIDisabled), "MissingSubscriptionRegistration"},
		{"no such type in this cloud", code("InvalidResourceType", 404), skipped(inventory.ServiceNotInRegion), "InvalidResourceType"},
		{"no such provider in this cloud", code("InvalidResourceNamespace", 404), skipped(inventory.ServiceNotInRegion), "InvalidResourceNamespace"},
		{"not in any region", code("LocationNotAvailableForResourceType", 400), skipped(inventory.ServiceNotInRegion), "LocationNotAvailable"},
		{"an API of another version", code("NoRegisteredProviderFound", 400), failed(inventory.NotSupported), "NoRegisteredProviderFound"},
		{"a type of another version", sim.Fault{Kind: sim.Error, Code: "InvalidResourceType", Status: 404, Message: "It could not be found. The supported api-versions are '2020-01-01'."}, failed(inventory.NotSupported), "2020-01-01"},
		{"throttled, with a hint", sim.Fault{Kind: sim.Error, Code: "TooManyRequests", RetryAfter: "17"}, inventory.Record{Status: inventory.Failed, Reason: inventory.Throttled, RetryAfterSeconds: 17}, "throttled: "},
		{"throttled by the subscription", code("SubscriptionRequestsThrottled", 429), failed(inventory.Throttled), "throttled: "},
		{"throttled by a 503", sim.Fault{Kind: sim.HTTP503}, failed(inventory.Throttled), "throttled: "},
		{"down", sim.Fault{Kind: sim.HTTP500}, failed(inventory.Unreachable), "InternalServerError"},
		{"connections reset", sim.Fault{Kind: sim.Reset}, failed(inventory.Unreachable), ""},
		{"a lock that does not pass", code("RetryableErrorDueToAnotherOperation", 429), inventory.Record{Status: inventory.Failed, Reason: inventory.Unreachable, RetryAfterSeconds: 14}, "RetryableErrorDueToAnotherOperation"},
		{"a log-in page", sim.Fault{Kind: sim.HTML}, failed(inventory.Protocol), ""},
		{"something else's JSON", sim.Fault{Kind: sim.Wrong}, failed(inventory.Protocol), ""},
		{"a proxy's page", sim.Fault{Kind: sim.HTML, Status: http.StatusNotFound}, failed(inventory.NotSupported), ""},
		{"a token that comes again", later(sim.Fault{Kind: sim.RepeatToken}), inventory.Record{Status: inventory.Partial, Reason: inventory.Truncated, Assets: 200, Pages: 2}, "repeated"},
		{"a token that is not good any more", later(code("InvalidSkipToken", 400)), partial(inventory.Truncated), "InvalidSkipToken"},
		{"denied on the second page (D16)", later(sim.Fault{Kind: sim.Denied}), partial(inventory.AccessDenied), "AuthorizationFailed"},
		{"throttled on the second page (F05)", later(code("TooManyRequests", 429)), partial(inventory.Throttled), "after 1 page(s) with 100 asset(s)"},
		{"half a page", later(sim.Fault{Kind: sim.Cut}), partial(inventory.Unreachable), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := serve(t, small(fault(c.fault)))
			records, found := run(t, x.open(t), disks)
			r := record(t, records, first, disks)
			if r.Status != c.want.Status || r.Reason != c.want.Reason || r.Assets != c.want.Assets || r.Pages < c.want.Pages || !strings.Contains(r.Error, c.words) || r.Error == "" {
				t.Errorf("record %+v,\nwant %+v with %q", r, c.want, c.words)
			}
			if want := c.want.RetryAfterSeconds; r.RetryAfterSeconds != want || strings.Contains(r.Error, "\n") {
				t.Errorf("try again after %v s, want %v; %s", r.RetryAfterSeconds, want, r.Error)
			}
			of := 0
			for _, a := range found {
				if a.Account == first {
					of++
				}
			}
			if of != c.want.Assets {
				t.Errorf("%d assets, and the record says %d", of, c.want.Assets)
			}
			if r := record(t, records, second, disks); r.Status != inventory.Success || r.Assets != 320 {
				t.Errorf("the other subscription: %+v", r)
			}
		})
	}
}

// TestS12_4EmptyPage: an empty page with a token is no end.
func TestS12_4EmptyPage(t *testing.T) {
	x := serve(t, small(sim.Fault{Kind: sim.EmptyPage, Every: 2}))
	records, found := run(t, x.open(t))
	same(t, found, estate(x.Estate(), everything))
	for _, r := range records {
		if r.Status != inventory.Success {
			t.Errorf("%+v", r)
		}
	}
}

// TestS11_9Full: a service that fails has its FAILED record, and the record of the
// whole subscription says so. That of the next one does not.
func TestS11_9Full(t *testing.T) {
	x := serve(t, small(
		sim.Fault{Kind: sim.Denied, Match: sim.Match{Account: sim.Patterns{first}, Operation: sim.Patterns{"vaults.list"}}},
		sim.Fault{Kind: sim.Error, Code: "InvalidResourceType", Status: 404, Match: sim.Match{Account: sim.Patterns{second}, Operation: sim.Patterns{"azureFirewalls.list"}}},
	))
	records, _ := run(t, x.open(t))
	if r := record(t, records, first, "azure_key_vaults"); r.Status != inventory.Failed || r.Reason != inventory.AccessDenied {
		t.Errorf("%+v", r)
	}
	if r := record(t, records, first, fullTask); r.Status != inventory.Partial || r.Reason != inventory.AccessDenied || r.Errors != 1 || !strings.Contains(r.Error, "azure_key_vaults FAILED (access_denied)") || r.Calls != 0 {
		t.Errorf("%+v", r)
	}
	// Where there is no such service nothing is missing.
	if r := record(t, records, second, fullTask); r.Status != inventory.Success || r.Error != "" || r.Gap() {
		t.Errorf("%+v", r)
	}
}

// TestEveryTaskDenied: what may not be asked is never shown as empty, and a
// subscription of which nothing could be read is not shown as read (F02).
func TestEveryTaskDenied(t *testing.T) {
	x := serve(t, small(sim.Fault{Kind: sim.Denied, Match: sim.Match{Account: sim.Patterns{first, second}}}))
	records, found := run(t, x.open(t))
	for _, r := range records {
		if r.Status != inventory.Failed || r.Reason != inventory.AccessDenied || r.Error == "" {
			t.Errorf("%+v", r)
		}
	}
	if len(found) != 0 || len(records) != 2*(len(Kinds())-len(graphRows)) {
		t.Errorf("%d assets, %d records", len(found), len(records))
	}
}

// TestUnder: below an item of a list, a refusal is a gap and the rest is read; what
// is gone by then is left out and counted (S15.3).
func TestUnder(t *testing.T) {
	where := sim.Match{Account: sim.Patterns{first}, Operation: sim.Patterns{"databases.list", "servers.databases.list", "servers/databases.list"}}
	for _, c := range []struct {
		name  string
		fault sim.Fault
		want  func(inventory.Record) bool
	}{
		{"denied", sim.Fault{Kind: sim.Denied, First: 1, Match: where}, func(r inventory.Record) bool {
			return r.Status == inventory.Partial && r.Reason == inventory.AccessDenied && r.Errors == 1
		}},
		{"gone", sim.Fault{Kind: sim.Error, Code: "ParentResourceNotFound", Status: 404, First: 1, Match: where}, func(r inventory.Record) bool {
			return r.Status == inventory.Success && r.Vanished == 1 && r.Errors == 0
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := serve(t, small(c.fault))
			records, _ := run(t, x.open(t), "azure_sql_databases", "azure_sql_servers")
			r, all := record(t, records, first, "azure_sql_databases"), len(estate(x.Estate(), func(kind string) bool { return kind == "Microsoft.Sql/servers/databases" }))
			if !c.want(r) || r.Assets == 0 || r.Assets >= all {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestC17: where there seems to be nothing at all, that is unknown.
func TestC17(t *testing.T) {
	p := small()
	p.Estate.Assets, p.Estate.Types = 0, map[string]int{"Microsoft.Compute/disks": 0}
	x := serve(t, p)
	records, found := runWhere(t, x.open(t), func(k inventory.Kind) bool { return k.Name == "azure_graph_resources" })
	r := record(t, records, Everywhere, "azure_graph_resources")
	if r.Status != inventory.Partial || r.Reason != inventory.AccessDenied || r.Errors != 2 || !strings.Contains(r.Error, first) {
		t.Errorf("%d assets, %+v", len(found), r)
	}
}

// TestGraphFails: a query that ends early keeps its rows and says what is missing.
func TestGraphFails(t *testing.T) {
	graph := sim.Match{Service: sim.Patterns{"resourcegraph"}}
	second := graph
	second.Page = 2
	for _, c := range []struct {
		name   string
		fault  sim.Fault
		status inventory.Status
		reason inventory.Reason
		words  string
	}{
		{"denied", sim.Fault{Kind: sim.Denied, Match: graph}, inventory.Failed, inventory.AccessDenied, "AuthorizationFailed"},
		{"throttled", sim.Fault{Kind: sim.Error, Code: "RateLimiting", Match: second}, inventory.Partial, inventory.Throttled, "throttled: "},
		{"expired on the way", sim.Fault{Kind: sim.Expired, Match: second}, inventory.Partial, inventory.CredentialsExpired, "Expired"},
		{"a token again", sim.Fault{Kind: sim.RepeatToken, Match: second}, inventory.Partial, inventory.Truncated, "token"},
		{"a log-in page", sim.Fault{Kind: sim.HTML, Match: graph}, inventory.Failed, inventory.Protocol, ""},
		{"something else", sim.Fault{Kind: sim.Wrong, Match: second}, inventory.Partial, inventory.Protocol, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := serve(t, small(c.fault))
			records, found := runWhere(t, x.open(t), func(k inventory.Kind) bool { return k.Name == "azure_graph_resources" })
			r := record(t, records, Everywhere, "azure_graph_resources")
			if r.Status != c.status || r.Reason != c.reason || !strings.Contains(r.Error, c.words) || r.Assets != len(found) || (len(found) > 0) != (c.status == inventory.Partial) {
				t.Errorf("%d assets, %+v", len(found), r)
			}
		})
	}
}

// TestGraphCut: a result that the service cuts without an error is never taken for
// all of it: more subscriptions than a query reaches, no token to the rest (C12, C15).
func TestGraphCut(t *testing.T) {
	x := serve(t, small(), simazure.WithQueryLimit(1))
	row := `{"id":"/subscriptions/` + first + `/x","type":"a/b","subscriptionId":"` + first + `"}`
	cut, _ := answers(t, map[string]string{"resources": `{"totalRecords":8322,"count":1,"resultTruncated":"true","data":[` + row + `]}`})
	for words, a := range map[string]*Tenant{"more subscriptions": x.open(t), "of 8322": cut} {
		records, found := runWhere(t, a, func(k inventory.Kind) bool { return k.Name == "azure_graph_resources" })
		if r := records[0]; r.Status != inventory.Partial || r.Reason != inventory.Truncated || !strings.Contains(r.Error, words) || len(found) == 0 {
			t.Errorf("%s: %d assets, %+v", words, len(found), r)
		}
	}
}

// TestKQL: a query that Resource Graph does not understand is a record that says what
// it did not understand.
func TestKQL(t *testing.T) {
	a := serve(t, small()).open(t)
	tasks := a.Tasks(func(k inventory.Kind) bool { return k.Name == "azure_graph_resources" })
	tasks[0] = a.task(row{Kind: graphRows[0].Kind, read: graph("Resources | wher type == 'x'"), everywhere: true}, Subscription{ID: Everywhere}, nil)
	records := must(inventory.Run(t.Context(), tasks, inventory.Options{Sink: inventory.NewSink(t.TempDir())}))(t)
	if r := records[0]; r.Status != inventory.Failed || r.Reason != inventory.Protocol || !strings.Contains(r.Error, "InvalidQueryLanguage") || !strings.Contains(r.Error, "wher") {
		t.Errorf("%+v", r)
	}
}
