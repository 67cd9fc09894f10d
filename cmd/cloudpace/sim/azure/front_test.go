package azure_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
	"github.com/cloudpace/cloudpace/verdict"
)

// TestEveryKind: every list has exactly what the estate has, in the subscription
// and by group, and every thing is found by its id and is what the list says.
func TestEveryKind(t *testing.T) {
	x, stop := start(t, azure.New(), small(azure.New()))
	defer stop()
	e := x.server.Estate()
	var groups []string
	for id := range strings.SplitSeq(strings.Join(wanted(e, first, func(k string) bool { return k == "Microsoft.Resources/resourceGroups" }), " "), " ") {
		groups = append(groups, id)
	}
	for _, k := range azure.New().Kinds() {
		want := wanted(e, first, func(kind string) bool { return kind == k.Name })
		if len(want) == 0 {
			t.Errorf("the estate has no %s", k.Name)
			continue
		}
		list, _ := x.all(inFirst + "/providers/" + k.Name)
		list = slices.DeleteFunc(list, azure.BuiltIn)
		var byGroup []string
		for _, g := range groups {
			some, _ := x.all(g + "/providers/" + k.Name)
			byGroup = append(byGroup, some...)
		}
		switch {
		case k.Name == "Microsoft.Network/virtualNetworkGateways":
			list = byGroup // there is no other list
		case !strings.HasPrefix(k.Name, "Microsoft.Authorization/"):
			same(t, k.Name+" by group", byGroup, want)
		}
		same(t, k.Name, list, want)
		for _, id := range []string{want[0], strings.ToUpper(want[len(want)-1])} {
			if a := x.get(id); a.status != http.StatusOK || !strings.EqualFold(a.body["id"].(string), id) || a.body["type"] != k.Name || a.body["properties"] == nil {
				t.Errorf("%s: %d %s", id, a.status, a.text)
			}
		}
		if a := x.get(want[0][:len(want[0])-3] + "zzz"); a.code() != "ResourceNotFound" {
			t.Errorf("a %s that is not there: %d %s", k.Name, a.status, a.text)
		}
		other, _ := x.all("/subscriptions/" + second + "/providers/" + k.Name)
		if slices.ContainsFunc(other, func(id string) bool { return slices.Contains(want, id) }) {
			t.Errorf("%s of one subscription are in another", k.Name)
		}
	}
}

// TestParts: parts are listed below their things, and are found by their ids.
func TestParts(t *testing.T) {
	x, stop := start(t, azure.New(), small(azure.New()))
	defer stop()
	e := x.server.Estate()
	for kind, list := range map[string]string{
		"Microsoft.Network/virtualNetworks": "subnets", "Microsoft.Sql/servers": "databases", "Microsoft.Network/dnsZones": "recordsets", "Microsoft.Network/privateDnsZones": "ALL",
	} {
		var got []string
		for _, id := range wanted(e, first, func(k string) bool { return k == kind }) {
			some, _ := x.all(id + "/" + list)
			got = append(got, some...)
		}
		same(t, kind+"/"+list, got, wanted(e, first, func(k string) bool { return strings.HasPrefix(k, kind+"/") }))
		if a := x.get(got[0]); a.status != http.StatusOK || a.body["id"] != got[0] {
			t.Errorf("%s: %d %s", got[0], a.status, a.text)
		}
	}
	zone := wanted(e, first, func(k string) bool { return k == "Microsoft.Network/dnsZones" })[0]
	for _, id := range x.get(zone + "/A").ids("value") {
		if !strings.Contains(id, "/A/") {
			t.Errorf("%s is among the A records", id)
		}
	}
	if a := x.get(zone[:len(zone)-12] + "x.example.com/A"); a.code() != "ParentResourceNotFound" {
		t.Errorf("%d %s", a.status, a.text)
	}
}

// TestGate: what Resource Manager says before anything else.
func TestGate(t *testing.T) {
	front := azure.New(azure.WithDisabled(second))
	x, stop := start(t, front, small(front))
	defer stop()
	for _, c := range []struct {
		token, method, path string
		status              int
		code                string
	}{
		{"", "GET", "/subscriptions", 401, "AuthenticationFailed"},
		{azure.ExpiredToken, "GET", "/subscriptions", 401, "ExpiredAuthenticationToken"},
		{"anything", "GET", "/subscriptions", 200, ""},
		{"t", "GET", "/subscriptions?x=1", 400, "MissingApiVersionParameter"},
		{"t", "GET", "/subscriptions?api-version=latest", 400, "InvalidApiVersionParameter"},
		{"t", "GET", "/subscriptions/x/resources", 400, "InvalidSubscriptionId"},
		{"t", "GET", "/subscriptions/00000000-0000-0000-0000-000000000009/resources", 404, "SubscriptionNotFound"},
		{"t", "GET", inFirst + "/resourceGroups/none/resources", 404, "ResourceGroupNotFound"},
		{"t", "GET", inFirst + "/resourceGroups/none/providers/Microsoft.Compute/disks", 404, "ResourceGroupNotFound"},
		{"t", "GET", "/subscriptions/" + second + "/resources", 200, ""},
		{"t", "DELETE", "/subscriptions/" + second + "/resourceGroups/rg-network-00", 409, "ReadOnlyDisabledSubscription"},
		{"t", "GET", "/providers/Microsoft.Management/managementGroups/none/descendants", 403, "AuthorizationFailed"},
		{"t", "GET", inFirst + "/resources?api-version=2021-04-01&$filter=name%20eq%20'x'", 400, "InvalidFilterInQueryString"},
		{"t", "GET", inFirst + "/resourceGroups?api-version=2021-04-01&$filter=tagName%20eq%20'x'", 400, "InvalidFilterInQueryString"},
		{"t", "GET", inFirst + "/providers/Microsoft.Compute/disks?api-version=2021-04-01&$filter=x", 400, "InvalidFilterInQueryString"},
		{"t", "GET", inFirst + "/providers/Microsoft.Batch/batchAccounts?api-version=2021-04-01&$filter=x", 400, "InvalidFilterInQueryString"},
		{"t", "GET", "/subscriptions?api-version=2021-04-01&$filter=x", 400, "InvalidFilterInQueryString"},
		{"t", "GET", inFirst + "/resources?api-version=2021-04-01&$skiptoken=x", 400, "InvalidSkipToken"},
		{"t", "GET", inFirst + "/providers/Microsoft.Batch/batchAccounts", 200, ""},
		{"t", "POST", "/subscriptions", 405, "HttpMethodNotSupported"},
	} {
		a := x.askWith(c.token, c.method, c.path, "")
		if a.status != c.status || a.code() != c.code {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, a.status, a.text, c.status, c.code)
		}
		if challenge := a.header.Get("WWW-Authenticate"); (challenge != "") != (c.status == 401) || c.status == 401 && !strings.HasPrefix(challenge, `Bearer authorization_uri="https://login.windows.net/`) {
			t.Errorf("%s: WWW-Authenticate %q", c.path, challenge)
		}
	}
	if a := x.get("/subscriptions/" + second); a.body["state"] != "Disabled" {
		t.Errorf("%s", a.text)
	}
	for _, s := range x.server.Report().Scopes {
		if strings.Contains(s.Account, "9") || s.Account == "x" {
			t.Errorf("the report has an account %s", s.Account)
		}
	}
}

func TestStrict(t *testing.T) {
	p := small(azure.New())
	p.Strict = true
	x, stop := start(t, azure.New(), p)
	defer stop()
	if a := x.get(inFirst + "/providers/Microsoft.Batch/batchAccounts"); a.status != 404 || a.code() != "InvalidResourceType" {
		t.Errorf("%d %s", a.status, a.text)
	}
}

// TestManagementGroups: the root has all subscriptions below it, and each group its
// own.
func TestManagementGroups(t *testing.T) {
	x, stop := start(t, azure.New(), small(azure.New()))
	defer stop()
	const path = "/providers/Microsoft.Management/managementGroups"
	if got := len(x.get(path).ids("value")); got != 3 {
		t.Errorf("%d groups", got)
	}
	if got := x.get(path + "/" + azure.Tenant + "/descendants").ids("value"); len(got) != 4 || got[2] != inFirst {
		t.Errorf("%q", got)
	}
	for g, list := range azure.Groups(x.server.Estate()) {
		for _, s := range list {
			if got := x.get(path + "/" + g + "/subscriptions").ids("value"); !slices.Equal(got, []string{path + "/" + g + "/subscriptions/" + s}) {
				t.Errorf("%s has %q", g, got)
			}
			if got := x.get(path + "/" + g + "/descendants").ids("value"); !slices.Equal(got, []string{"/subscriptions/" + s}) {
				t.Errorf("%s has %q", g, got)
			}
		}
	}
}

// TestPageFaults: a token that leads back, an empty page with one, one that has
// expired; and after each the rest is still to be had.
func TestPageFaults(t *testing.T) {
	disks := inFirst + "/providers/Microsoft.Compute/disks"
	on := func(k sim.FaultKind, page int) sim.Fault {
		return sim.Fault{Kind: k, Match: sim.Match{Operation: sim.Patterns{"disks.list"}, Page: page}}
	}
	for _, c := range []struct {
		name  string
		fault sim.Fault
		check func(t *testing.T, x *tenant)
	}{
		{"empty page", on(sim.EmptyPage, 2), func(t *testing.T, x *tenant) {
			ids, pages := x.all(disks)
			same(t, "disks", ids, wanted(x.server.Estate(), first, func(k string) bool { return k == "Microsoft.Compute/disks" }))
			if pages != (len(ids)+99)/100+1 {
				t.Errorf("%d disks on %d pages", len(ids), pages)
			}
		}},
		{"repeated token", on(sim.RepeatToken, 2), func(t *testing.T, x *tenant) {
			two, _ := x.get(disks).body["nextLink"].(string)
			if a := x.get(two); a.body["nextLink"] != two || len(a.ids("value")) == 0 {
				t.Errorf("%.200s", a.text)
			}
		}},
		{"expired token", sim.Fault{Kind: sim.Error, Code: "InvalidSkipToken", Status: 400, Match: sim.Match{Operation: sim.Patterns{"disks.list"}, Page: 2}}, func(t *testing.T, x *tenant) {
			two, _ := x.get(disks).body["nextLink"].(string)
			if a := x.get(two); a.code() != "InvalidSkipToken" {
				t.Errorf("%d %s", a.status, a.text)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := small(azure.New())
			p.Faults = []sim.Fault{c.fault}
			x, stop := start(t, azure.New(), p)
			defer stop()
			c.check(t, x)
		})
	}
}

// TestForeignToken: a token is good for the list that it is of alone.
func TestForeignToken(t *testing.T) {
	x, stop := start(t, azure.New(), small(azure.New()))
	defer stop()
	link, _ := x.get(inFirst + "/providers/Microsoft.Compute/disks").body["nextLink"].(string)
	if link == "" {
		t.Fatal("there is one page of disks")
	}
	for _, other := range []string{strings.Replace(link, first, second, 1), strings.Replace(link, "disks", "snapshots", 1)} {
		if a := x.get(other); a.code() != "InvalidSkipToken" {
			t.Errorf("%s: %d %.200s", other, a.status, a.text)
		}
	}
}

// TestErrors: codes that are asked for come with their own status and form, and
// cloudpace takes them for what they are.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		fault  sim.Fault
		status int
		code   string
		says   string
		kind   verdict.Kind
		hint   string
	}{
		{sim.Fault{Code: "RetryableErrorDueToAnotherOperation"}, 429, "RetryableErrorDueToAnotherOperation", "can be retried in 14 seconds", verdict.Transient, "14"},
		{sim.Fault{Code: "AnotherOperationInProgress"}, 409, "AnotherOperationInProgress", "", verdict.Transient, ""},
		{sim.Fault{Code: "ConflictingConcurrentWriteNotAllowed"}, 409, "ConflictingConcurrentWriteNotAllowed", "", verdict.Transient, ""},
		{sim.Fault{Code: "MissingSubscriptionRegistration"}, 409, "MissingSubscriptionRegistration", `"target":"Microsoft.Network"`, verdict.Fatal, ""},
		{sim.Fault{Code: "TooManyRequests"}, 429, "TooManyRequests", "", verdict.Throttled, ""},
		{sim.Fault{Code: "SubscriptionRequestsThrottled"}, 429, "SubscriptionRequestsThrottled", "", verdict.Throttled, ""},
		{sim.Fault{Code: "ResourceRequestsThrottled"}, 429, "ResourceRequestsThrottled", "Microsoft.Network/virtualNetworks/read", verdict.Throttled, ""},
		{sim.Fault{Code: "OperationNotAllowed"}, 429, "OperationNotAllowed", `"code":"TooManyRequests"`, verdict.Throttled, ""},
		{sim.Fault{Code: "OperationNotAllowed", Status: 409, Message: "Not allowed."}, 409, "OperationNotAllowed", "Not allowed.", verdict.Throttled, ""},
		{sim.Fault{Code: "SomethingElse", Status: 418}, 418, "SomethingElse", "", verdict.Fatal, ""},
		{sim.Fault{Kind: sim.HTTP500}, 500, "InternalServerError", "", verdict.Transient, ""},
		{sim.Fault{Kind: sim.HTTP503}, 503, "ServiceUnavailable", "", verdict.Throttled, ""},
		{sim.Fault{Kind: sim.Expired}, 401, "ExpiredAuthenticationToken", "expiry UTC time", verdict.Fatal, ""},
		{sim.Fault{Kind: sim.Denied}, 403, "AuthorizationFailed", "Microsoft.Network/virtualNetworks/read' over scope '/subscriptions/" + first, verdict.Fatal, ""},
		{sim.Fault{Kind: sim.DeniedByPolicy}, 403, "RequestDisallowedByPolicy", "", verdict.Fatal, ""},
		{sim.Fault{Kind: sim.RegionDisabled}, 409, "ReadOnlyDisabledSubscription", "", verdict.Fatal, ""},
	} {
		name := c.code
		if c.fault.Kind == "" {
			c.fault.Kind = sim.Error
		}
		p := small(azure.New())
		p.Faults = []sim.Fault{c.fault}
		x, stop := start(t, azure.New(), p)
		a := x.get(networks)
		if a.status != c.status || a.code() != c.code || !strings.Contains(a.text, c.says) {
			t.Errorf("%s: %d %s", name, a.status, a.text)
		}
		if k := a.kind(); k != c.kind {
			t.Errorf("%s, %d: %s to cloudpace, want %s", name, c.status, k, c.kind)
		}
		if hint := a.header.Get("Retry-After"); hint != c.hint {
			t.Errorf("%s: Retry-After %q, want %q", name, hint, c.hint)
		}
		stop()
	}
}

// TestDocumented: the documentation has every type, and every figure says where it
// is from.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/sim.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range azure.New().Kinds() {
		namespace, short, _ := strings.Cut(k.Name, "/")
		if !strings.Contains(string(text), namespace) || !strings.Contains(string(text), short) {
			t.Errorf("docs/sim.md does not have %s", k.Name)
		}
	}
	for i, q := range azure.New().Quotas() {
		if q.Source == "" {
			t.Errorf("quota %d (%v %v) has no source", i, q.Service, q.Operation)
		}
	}
}

// TestEstate: two servers of one seed have the same things, and another seed has
// others.
func TestEstate(t *testing.T) {
	made := func(seed uint64) string {
		p := small(azure.New())
		p.Seed = seed
		server := must(sim.New(azure.New(), p))(t)
		total := 0
		var b strings.Builder
		for kind, id := range azure.Assets(server.Estate(), first) {
			fmt.Fprintln(&b, kind, id)
			total++
		}
		if total < 1000 {
			t.Errorf("%d assets in all", total)
		}
		return b.String()
	}
	if one, again, other := made(1), made(1), made(2); one != again || one == other {
		t.Error("the seed does not decide")
	}
}
