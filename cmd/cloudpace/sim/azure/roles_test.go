package azure_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// TestRoles: Azure's own roles are among the definitions, unless a filter that is
// documented leaves them out; another filter is refused, and does not find everything.
func TestRoles(t *testing.T) {
	x, stop := start(t, azure.New(), small(azure.New()))
	defer stop()
	const path = inFirst + "/providers/Microsoft.Authorization/roleDefinitions"
	own := len(wanted(x.server.Estate(), first, func(kind string) bool { return kind == "Microsoft.Authorization/roleDefinitions" }))
	all, _ := x.all(path)
	builtIn := len(all) - own
	if builtIn < 2 || own < 1 {
		t.Fatalf("%d of Azure's, %d of the subscription", builtIn, own)
	}
	for filter, want := range map[string]int{
		"type eq 'CustomRole'": own, "TYPE eq 'customrole'": own, "type eq 'BuiltInRole'": builtIn, "atScopeAndBelow()": len(all),
		"type() eq 'CustomRole'": -1, "type eq CustomRole": -1, "type eq 'Other'": -1, "roleName eq 'x' or 1": -1,
	} {
		a := x.get(path + "?api-version=2022-04-01&$filter=" + url.QueryEscape(filter))
		if want < 0 {
			if a.status != http.StatusBadRequest || a.code() != "InvalidFilterInQueryString" {
				t.Errorf("%s: %d %s", filter, a.status, a.text)
			}
			continue
		}
		if got := len(a.ids("value")); got != want {
			t.Errorf("%s: %d, want %d: %s", filter, got, want, a.text)
		}
	}
	for _, id := range all {
		properties, _ := x.get(id).body["properties"].(map[string]any)
		if custom := !azure.BuiltIn(id); (properties["type"] == "CustomRole") != custom {
			t.Errorf("%s: %v", id, properties)
		}
	}
}

// TestLinksElsewhere: links lead where the front was told, and to the next page all the same.
func TestLinksElsewhere(t *testing.T) {
	front := azure.New(azure.WithLinks("https://management.azure.com"))
	x, stop := start(t, front, small(front))
	defer stop()
	a := x.get(inFirst + "/resources?api-version=2021-04-01&$top=10")
	link, _ := a.body["nextLink"].(string)
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "https" || u.Host != "management.azure.com" {
		t.Fatalf("%s %v", link, err)
	}
	if b := x.get(u.RequestURI()); b.status != http.StatusOK || len(b.ids("value")) == 0 || b.ids("value")[0] == a.ids("value")[0] {
		t.Errorf("%d %s", b.status, b.text)
	}
}
