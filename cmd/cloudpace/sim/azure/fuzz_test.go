package azure

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// FuzzRequest: whatever arrives is answered, its body is still there for an
// upstream, and its names are fit to be shown.
func FuzzRequest(f *testing.F) {
	const sub = "/subscriptions/00000000-0000-0000-0000-000000000001"
	for _, s := range []struct{ method, path, body string }{
		{"GET", "/subscriptions", ""},
		{"GET", sub + "/resources?api-version=2021-04-01&$top=2&$filter=resourceType%20eq%20'Microsoft.Compute/disks'&$skiptoken=x", ""},
		{"GET", sub + "/resourceGroups/rg-network-00/providers/Microsoft.Sql/servers/sql-0123456789abcdef/databases", ""},
		{"GET", sub + "/providers/Microsoft.Compute/locations/eastus/virtualMachines", ""},
		{"GET", sub + "/providers/Microsoft.Compute/locations/eastus/operations/zzz?api-version=2021-04-01&result=true", ""},
		{"POST", sub + "/providers/Microsoft.Storage/register?api-version=2021-04-01", ""},
		{"PUT", sub + "/resourceGroups/rg-network-00/providers/Microsoft.Network/virtualNetworks/vnet-0/subnets/snet-web?api-version=2021-04-01", "{}"},
		{"GET", "/providers/Microsoft.Management/managementGroups/platform/descendants", ""},
		{"GET", "/providers/Microsoft.Management/managementGroups/a/b/c", ""},
		{"POST", "/providers/Microsoft.ResourceGraph/resources?api-version=2024-04-01", `{"query":"Resources | limit 3","options":{"$top":2,"$skip":1,"$skipToken":"x","resultFormat":"table"}}`},
		{"GET", "//providers//x.y/%2f/%zz", ""},
		{"GET", "/providers/Microsoft.Compute", ""},
		{"DELETE", sub, ""},
	} {
		f.Add(s.method, s.path, s.body)
	}
	front := New()
	profile := sim.Default(front)
	profile.Estate.Assets = 300
	server, err := sim.New(front, profile)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://sim"+path, strings.NewReader(body))
		if err != nil {
			t.Skip()
		}
		r.Header.Set("Authorization", "Bearer "+Token)
		s := sim.Setting{Estate: server.Estate()}
		c, settled := front.Identify(r, s)
		rest, err := io.ReadAll(r.Body)
		if err != nil || string(rest) != body {
			t.Errorf("the body is %q afterwards, %v", rest, err)
		}
		for _, text := range []string{c.Account, c.Service, c.Operation} {
			if strings.ContainsAny(text, "<>\n \"") || len(text) > 100 {
				t.Fatalf("identified as %+v", c)
			}
		}
		if settled == nil {
			for _, e := range []sim.Edit{{}, {EmptyPage: true}, {RepeatToken: true}} {
				if a := front.Answer(c, s, e); a.Status < 200 || a.Status > 599 {
					t.Errorf("status %d", a.Status)
				}
			}
			for why := range sim.WhyRegionDisabled + 1 {
				if a := front.Refuse(c, sim.Refusal{Why: why, Code: "x"}); a.Status < 400 {
					t.Errorf("a refusal with status %d", a.Status)
				}
			}
			front.Wrong(c)
		}
		server.ServeHTTP(httptest.NewRecorder(), r)
	})
}

// FuzzQuery: a query is understood or refused, with a place within it.
func FuzzQuery(f *testing.F) {
	for _, text := range []string{
		"Resources | where type =~ 'microsoft.compute/disks' and location !in~ (\"a\", 'b') | project id, name | order by id asc | limit 50",
		"| take 3", "where id contains 'x", "Resources // x\n|", "\xff", "resourcecontainers|sort by name desc", "limit 99999999999999999999",
	} {
		f.Add(text)
	}
	front := New()
	profile := sim.Default(front)
	profile.Estate.Assets = 50
	server, err := sim.New(front, profile)
	if err != nil {
		f.Fatal(err)
	}
	r := &rows{estate: server.Estate(), subscriptions: server.Estate().Accounts(), regions: server.Estate().Regions()}
	r.add(0, func(string) bool { return true })
	r.containers(0)
	f.Fuzz(func(t *testing.T, text string) {
		q, wrong := parseQuery(text)
		if wrong != nil {
			if q != nil || wrong.code == "" || wrong.line < 1 || wrong.column < 0 || strings.ContainsAny(wrong.token, "<>\n") {
				t.Errorf("%q: %+v", text, wrong)
			}
			return
		}
		for _, w := range r.list {
			q.fits(r, w)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(cursor{7, 3}.token(42), uint64(42))
	f.Add("", uint64(0))
	f.Fuzz(func(t *testing.T, token string, salt uint64) {
		if c, ok := parseCursor(token, salt); ok && c.token(salt) != token {
			t.Errorf("%q is taken for %+v, which is %q", token, c, c.token(salt))
		}
	})
}

// TestCursor: what is written is read, with the salt it was written with alone.
func TestCursor(t *testing.T) {
	for _, c := range []cursor{{}, {1, 1}, {50_000_000, 1000}} {
		token := c.token(5)
		if got, ok := parseCursor(token, 5); !ok || got != c {
			t.Errorf("%+v is read as %+v, %v", c, got, ok)
		}
		if _, ok := parseCursor(token, 6); ok {
			t.Errorf("%+v is read with another salt", c)
		}
	}
}

// TestRoutes: what paths are taken for.
func TestRoutes(t *testing.T) {
	const sub = "/subscriptions/00000000-0000-0000-0000-000000000001"
	for _, c := range []struct{ method, path, service, operation, class string }{
		{"GET", "/subscriptions", "resources", "subscriptions.list", reading},
		{"GET", sub, "resources", "subscriptions.get", reading},
		{"GET", sub + "/resourceGroups", "resources", "resourceGroups.list", reading},
		{"GET", sub + "/RESOURCES", "resources", "resources.list", reading},
		{"GET", sub + "/providers/microsoft.compute/virtualmachines", "compute", "virtualMachines.list", reading},
		{"GET", sub + "/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/vm-1", "compute", "virtualMachines.get", reading},
		{"POST", sub + "/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/vm-1/start", "compute", "virtualMachines.start", writing},
		{"GET", sub + "/resourceGroups/g/providers/Microsoft.Network/dnszones/z/A", "network", "dnsZones/recordsets.list", reading},
		{"GET", sub + "/resourceGroups/g/providers/Microsoft.Network/dnszones/z/A/www", "network", "dnsZones/recordsets.get", reading},
		{"GET", sub + "/resourceGroups/g/providers/Microsoft.Sql/servers/s/providers/Microsoft.Authorization/roleAssignments", "authorization", "roleAssignments.list", reading},
		{"DELETE", sub + "/resourceGroups/g", "resources", "resourceGroups.delete", deleting},
		{"POST", "/providers/microsoft.resourcegraph/RESOURCES", "resourcegraph", "query", querying},
		{"POST", sub + "/providers/Microsoft.Batch/register", "batch", "register", writing},
		{"GET", sub + "/providers/Microsoft.Batch/batchAccounts/a/pools", "batch", "batchAccounts/pools.list", reading},
		{"GET", sub + "/providers/Microsoft.Compute/locations/eastus/operations/x", "compute", "operations.poll", reading},
		{"GET", "/providers/Microsoft.Management/managementGroups/g/descendants", "management", "managementGroups/descendants.list", reading},
	} {
		q := &request{method: c.method, route: parse(c.method, c.path)}
		if q.service() != c.service || q.operation() != c.operation || q.class() != c.class {
			t.Errorf("%s %s: %s %s %s", c.method, c.path, q.service(), q.operation(), q.class())
		}
	}
}
