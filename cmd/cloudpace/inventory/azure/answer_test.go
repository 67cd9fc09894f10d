package azure

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	simazure "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// answers is a service with one subscription that answers paths with texts; %s in
// them is where it listens.
func answers(t *testing.T, texts map[string]string) (*Tenant, *int) {
	t.Helper()
	var server *httptest.Server
	asked := 0
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/subscriptions" {
			fmt.Fprintf(w, `{"value":[{"id":"/subscriptions/%s","subscriptionId":"%[1]s","state":"Enabled"}]}`, first)
			return
		}
		asked++
		key := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] + r.URL.Query().Get("page")
		fmt.Fprint(w, strings.ReplaceAll(texts[key], "%s", server.URL))
	}))
	t.Cleanup(server.Close)
	return (&tenant{url: server.URL}).open(t, func(o *Options) { o.Credential = token(simazure.Token) }), &asked
}

const account = `{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.DocumentDB/databaseAccounts/%d","name":"%[1]d","type":"microsoft.documentdb/databaseaccounts","location":"West Europe","tags":{"env":"test"},"kind":"MongoDB","properties":{"enabled":false,"newest":1.50}}`

// TestC19: a list that a module takes for one without pages is followed to its end
// all the same.
func TestC19(t *testing.T) {
	one, two := fmt.Sprintf(account, 1), fmt.Sprintf(account, 2)
	a, asked := answers(t, map[string]string{
		"databaseAccounts":  `{"value":[` + one + `],"nextLink":"%s/databaseAccounts?page=2"}`,
		"databaseAccounts2": `{"value":[` + two + `]}`,
	})
	records, found := run(t, a, "azure_cosmos_accounts")
	if r := records[0]; r.Status != inventory.Success || r.Pages != 2 || len(found) != 2 || *asked != 2 {
		t.Errorf("%d assets, asked %d times: %+v", len(found), *asked, r)
	}
}

// TestAsset: what an asset is made of. Properties that the module's types do not know
// are kept, and numbers as they were written.
func TestAsset(t *testing.T) {
	a, _ := answers(t, map[string]string{"databaseAccounts": `{"value":[` + fmt.Sprintf(account, 1) + `]}`})
	_, found := run(t, a, "azure_cosmos_accounts")
	if len(found) != 1 {
		t.Fatalf("%d assets", len(found))
	}
	f := found[0]
	if f.Provider != Provider || f.Account != first || f.Region != "westeurope" || f.Type != "Microsoft.DocumentDB/databaseAccounts" ||
		f.ID != "/subscriptions/s/resourceGroups/g/providers/Microsoft.DocumentDB/databaseAccounts/1" || f.Name != "1" || f.Tags["env"] != "test" ||
		f.Task != "azure_cosmos_accounts" || f.Time.IsZero() || string(f.Properties) != `{"kind":"MongoDB","properties":{"enabled":false,"newest":1.50}}` {
		t.Errorf("%+v %s", f, f.Properties)
	}
}

// TestNoList: what is not a list of things is never an empty one.
func TestNoList(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":           ``,
		"an empty object":   `{}`,
		"another list":      `{"items":[]}`,
		"null":              `{"value": null }`,
		"a list of null":    `{"value":[null]}`,
		"a list of texts":   `{"value":["a"]}`,
		"no ids":            `{"value":[{"name":"a"}]}`,
		"a link elsewhere":  `{"value":[],"nextLink":"http://127.0.0.1:1/databaseAccounts?page=2"}`,
		"a link to no host": `{"value":[],"nextLink":"/databaseAccounts?page=2"}`,
	} {
		a, _ := answers(t, map[string]string{"databaseAccounts": text})
		records, found := run(t, a, "azure_cosmos_accounts")
		if r := records[0]; r.Status == inventory.Success || r.Reason != inventory.Protocol || len(found) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	a, _ := answers(t, map[string]string{"databaseAccounts": `{"value":[]}`})
	if records, _ := run(t, a, "azure_cosmos_accounts"); records[0].Status != inventory.Success {
		t.Errorf("an empty list: %+v", records[0])
	}
}

// TestSubnetsWithoutID: what cannot be told apart inside a network is a gap, and the
// network is there.
func TestSubnetsWithoutID(t *testing.T) {
	const network = `{"value":[{"id":"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v","name":"v","type":"Microsoft.Network/virtualNetworks","properties":{"subnets":%s}}]}`
	for subnets, want := range map[string]inventory.Record{
		`[{"name":"a"},{"id":"/subscriptions/s/b","name":"b"},{"name":"c"}]`: {Status: inventory.Partial, Reason: inventory.Protocol, Errors: 2, Assets: 2},
		`["a"]`:    {Status: inventory.Failed, Reason: inventory.Protocol, Errors: 1},
		`{"a":{}}`: {Status: inventory.Failed, Reason: inventory.Protocol, Errors: 1},
		`[]`:       {Status: inventory.Success, Assets: 1},
		`null`:     {Status: inventory.Success, Assets: 1},
	} {
		a, _ := answers(t, map[string]string{"virtualNetworks": fmt.Sprintf(network, subnets)})
		records, found := run(t, a, "azure_virtual_networks")
		if r := records[0]; r.Status != want.Status || r.Reason != want.Reason || r.Errors != want.Errors || len(found) != want.Assets {
			t.Errorf("%s: %d assets, %+v", subnets, len(found), r)
		}
	}
}

// TestHidden: what lets somebody in is not kept, whatever the depth and the case.
func TestHidden(t *testing.T) {
	var o map[string]any
	if err := json.Unmarshal([]byte(`{"id":"/x","properties":{"webhookReceivers":[{"name":"w","serviceUri":"https://example.com/?sig=hunter2"}],
		"logic":{"CallbackUrl":"hunter2"},"password":"hunter2","passwordSet":true,"secret":{"id":"/subscriptions/s/kept","url":"hunter2","version":3},"sharedKey":"",
		"protectedSettings":{"storageAccountKey":"hunter2","run":["hunter2"],"enabled":true},"osProfile":{"secrets":[{"value":"hunter2"},"hunter2"]},
		"servicePrincipal":{"serverAppSecret":"hunter2","serverAppID":"kept"},"primaryAccessKey":"hunter2","storageAccountKey":"hunter2","accountKey":"hunter2","partitionKey":"kept"}}`), &o); err != nil {
		t.Fatal(err)
	}
	i := must(itemOf(o))(t)
	text := string((&site{}).asset(i).Properties)
	want := `{"properties":{"accountKey":"(not kept)","logic":{"CallbackUrl":"(not kept)"},"osProfile":{"secrets":[{"value":"(not kept)"},"(not kept)"]},"partitionKey":"kept",` +
		`"password":"(not kept)","passwordSet":true,"primaryAccessKey":"(not kept)","protectedSettings":{"enabled":true,"run":["(not kept)"],"storageAccountKey":"(not kept)"},` +
		`"secret":{"id":"/subscriptions/s/kept","url":"(not kept)","version":3},"servicePrincipal":{"serverAppID":"kept","serverAppSecret":"(not kept)"},"sharedKey":"",` +
		`"storageAccountKey":"(not kept)","webhookReceivers":[{"name":"w","serviceUri":"(not kept)"}]}}`
	if text != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
}
