package azure_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resourcegraph/armresourcegraph"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/v3"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armsubscriptions"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/storage/armstorage"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// collect reads all pages of a list.
func collect[R, V any](t *testing.T, p *runtime.Pager[R], values func(R) []*V, id func(*V) *string) (ids []string, pages int) {
	t.Helper()
	for p.More() {
		r, err := p.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, v := range values(r) {
			ids = append(ids, *id(v))
		}
	}
	return ids, pages
}

// wanted are a subscription's assets of some types, by id.
func wanted(e *sim.Estate, subscription string, of func(kind string) bool) (ids []string) {
	for kind, id := range azure.Assets(e, subscription) {
		if of(kind) {
			ids = append(ids, id)
		}
	}
	return ids
}

// tracked tells which types are among a subscription's resources.
func tracked(kind string) bool {
	return !strings.HasPrefix(kind, "Microsoft.Authorization/") && kind != "Microsoft.Resources/resourceGroups" &&
		(strings.Count(kind, "/") == 1 || kind == "Microsoft.Sql/servers/databases")
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	fold := func(ids []string) []string {
		ids = slices.Clone(ids)
		for i, id := range ids {
			ids[i] = strings.ToLower(id)
		}
		slices.Sort(ids)
		return ids
	}
	if g, w := fold(got), fold(want); !slices.Equal(g, w) || len(w) == 0 {
		t.Errorf("%s: %d found, there are %d\nfound %.300q\nthere are %.300q", what, len(g), len(w), g, w)
	}
}

// TestSDK: the official clients, over a socket, find exactly what the estate has.
func TestSDK(t *testing.T) {
	front := azure.New()
	p := small(front)
	p.Estate.Assets = 8000
	server := must(sim.New(front, p))(t)
	listener := must(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	x, stop := serve(t, server, listener, new(net.Dialer).DialContext)
	defer stop()
	service := x.options.Cloud.Services["resourceManager"]
	service.Endpoint = "http://" + listener.Addr().String()
	x.options.Cloud.Services["resourceManager"] = service
	e := server.Estate()

	subscriptions := must(armsubscriptions.NewClient(credential{}, x.options))(t)
	ids, _ := collect(t, subscriptions.NewListPager(nil), func(r armsubscriptions.ClientListResponse) []*armsubscriptions.Subscription { return r.Value }, func(s *armsubscriptions.Subscription) *string { return s.SubscriptionID })
	same(t, "subscriptions", ids, []string{first, second})
	places, _ := collect(t, subscriptions.NewListLocationsPager(first, nil), func(r armsubscriptions.ClientListLocationsResponse) []*armsubscriptions.Location { return r.Value }, func(l *armsubscriptions.Location) *string { return l.Name })
	same(t, "locations", places, p.Estate.Regions)
	tenants := must(armsubscriptions.NewTenantsClient(credential{}, x.options))(t)
	ids, _ = collect(t, tenants.NewListPager(nil), func(r armsubscriptions.TenantsClientListResponse) []*armsubscriptions.TenantIDDescription {
		return r.Value
	}, func(d *armsubscriptions.TenantIDDescription) *string { return d.TenantID })
	same(t, "tenants", ids, []string{azure.Tenant})

	groups := must(armresources.NewResourceGroupsClient(first, credential{}, x.options))(t)
	ids, _ = collect(t, groups.NewListPager(nil), func(r armresources.ResourceGroupsClientListResponse) []*armresources.ResourceGroup { return r.Value }, func(g *armresources.ResourceGroup) *string { return g.ID })
	same(t, "groups", ids, wanted(e, first, func(k string) bool { return k == "Microsoft.Resources/resourceGroups" }))

	resources := must(armresources.NewClient(first, credential{}, x.options))(t)
	all, pages := collect(t, resources.NewListPager(nil), func(r armresources.ClientListResponse) []*armresources.GenericResourceExpanded { return r.Value }, func(v *armresources.GenericResourceExpanded) *string { return v.ID })
	same(t, "resources", all, wanted(e, first, tracked))
	if pages < 3 {
		t.Errorf("%d resources on %d pages", len(all), pages)
	}
	ids = nil
	for _, g := range must(groups.NewListPager(nil).NextPage(t.Context()))(t).Value {
		some, _ := collect(t, resources.NewListByResourceGroupPager(*g.Name, nil), func(r armresources.ClientListByResourceGroupResponse) []*armresources.GenericResourceExpanded {
			return r.Value
		}, func(v *armresources.GenericResourceExpanded) *string { return v.ID })
		ids = append(ids, some...)
	}
	same(t, "resources by group", ids, all)
	ids, pages = collect(t, resources.NewListPager(&armresources.ClientListOptions{Filter: to.Ptr("resourceType eq 'Microsoft.Compute/disks'"), Top: to.Ptr[int32](7)}), func(r armresources.ClientListResponse) []*armresources.GenericResourceExpanded { return r.Value }, func(v *armresources.GenericResourceExpanded) *string { return v.ID })
	same(t, "disks", ids, wanted(e, first, func(k string) bool { return k == "Microsoft.Compute/disks" }))
	if want := (len(ids) + 6) / 7; pages != want {
		t.Errorf("%d disks, seven at a time, on %d pages", len(ids), pages)
	}

	accounts := must(armstorage.NewAccountsClient(first, credential{}, x.options))(t)
	ids, pages = collect(t, accounts.NewListPager(nil), func(r armstorage.AccountsClientListResponse) []*armstorage.Account { return r.Value }, func(a *armstorage.Account) *string { return a.ID })
	same(t, "storage accounts", ids, wanted(e, first, func(k string) bool { return k == "Microsoft.Storage/storageAccounts" }))
	if pages != (len(ids)+99)/100 {
		t.Errorf("%d storage accounts on %d pages", len(ids), pages)
	}
	words := strings.Split(ids[0], "/")
	one := must(accounts.GetProperties(t.Context(), words[4], words[8], nil))(t)
	if *one.ID != ids[0] || *one.Properties.PrimaryLocation != *one.Location || one.Properties.CreationTime.IsZero() {
		t.Errorf("%+v", one.Account)
	}
	generic := must(resources.GetByID(t.Context(), ids[0], "2025-01-01", nil))(t)
	if *generic.Name != words[8] {
		t.Errorf("%s by its id is %s", ids[0], *generic.Name)
	}

	graph := must(armresourcegraph.NewClient(credential{}, x.options))(t)
	request := armresourcegraph.QueryRequest{
		Query: to.Ptr("Resources | project id | order by id asc"), Subscriptions: []*string{to.Ptr(first)}, Options: &armresourcegraph.QueryRequestOptions{},
	}
	ids, pages = nil, 0
	for pages < 100 {
		r := must(graph.Resources(t.Context(), request, nil))(t)
		pages++
		for _, d := range r.Data.([]any) {
			ids = append(ids, d.(map[string]any)["id"].(string))
		}
		if request.Options.SkipToken = r.SkipToken; r.SkipToken == nil {
			break
		}
	}
	sorted := slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	if !sorted || pages != (len(ids)+999)/1000 {
		t.Errorf("%d rows on %d pages, in order: %v", len(ids), pages, sorted)
	}
	same(t, "graph", ids, all)
}

// TestRegistration: a client that registers the namespace gets through. The SDK
// does so where it asks about one thing, for of a list it cannot tell the
// namespace, and over TLS, for the pipeline that registers takes no exception.
func TestRegistration(t *testing.T) {
	front := azure.New()
	p := small(front)
	p.Faults = []sim.Fault{{Kind: sim.Error, Code: "MissingSubscriptionRegistration", First: 1, Match: sim.Match{Service: sim.Patterns{"storage"}, Operation: sim.Patterns{"*.get"}}}}
	server := must(sim.New(front, p))(t)
	defer server.Close()
	h := httptest.NewTLSServer(server)
	defer h.Close()
	options := &arm.ClientOptions{ClientOptions: policy.ClientOptions{Transport: h.Client(), Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: h.URL, Audience: azure.Audience},
	}}}}
	accounts := must(armstorage.NewAccountsClient(first, credential{}, options))(t)
	words := strings.Split(wanted(server.Estate(), first, func(k string) bool { return k == "Microsoft.Storage/storageAccounts" })[0], "/")
	must(accounts.GetProperties(t.Context(), words[4], words[8], nil))(t)
	var asked []string
	for _, s := range server.Report().Scopes {
		asked = append(asked, s.Service+" "+s.Operation)
	}
	if !slices.Contains(asked, "storage register") {
		t.Errorf("nothing was registered: %q", asked)
	}
}

// TestLongRunning: the SDK's poller asks until the change is done.
func TestLongRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, stop := start(t, azure.New(), small(azure.New()))
		defer stop()
		id := wanted(x.server.Estate(), first, func(k string) bool { return k == "Microsoft.Storage/storageAccounts" })[0]
		words := strings.Split(id, "/")
		accounts := must(armstorage.NewAccountsClient(first, credential{}, x.options))(t)
		begun := time.Now()
		poller := must(accounts.BeginFailover(t.Context(), words[4], words[8], nil))(t)
		must(poller.PollUntilDone(t.Context(), &runtime.PollUntilDoneOptions{Frequency: time.Second}))(t)
		if took := time.Since(begun); took < azure.OperationTime || took > azure.OperationTime+2*time.Second {
			t.Errorf("done after %s", took)
		}
		// A put is answered with the thing, and can be polled as well.
		put := x.ask(http.MethodPut, id, "{}")
		if put.status != http.StatusCreated || put.body["id"] != id || put.header.Get("Azure-AsyncOperation") == "" {
			t.Errorf("%d %s", put.status, put.text)
		}
		if a := x.get(put.header.Get("Azure-AsyncOperation")); a.body["status"] != "InProgress" || a.header.Get("Retry-After") != "" {
			t.Errorf("%s, Retry-After %q", a.text, a.header.Get("Retry-After"))
		}
		deleted := x.ask(http.MethodDelete, id, "")
		at := deleted.header.Get("Location")
		if deleted.status != http.StatusAccepted || deleted.header.Get("Retry-After") != "1" || x.get(at).status != http.StatusAccepted {
			t.Errorf("%d %v", deleted.status, deleted.header)
		}
		time.Sleep(azure.OperationTime)
		if a := x.get(at); a.status != http.StatusOK {
			t.Errorf("%d after it is done", a.status)
		}
		if a := x.get(id); a.status != http.StatusOK {
			t.Errorf("%d: it is gone, and nothing was to change", a.status)
		}
		if a := x.ask(http.MethodDelete, id[:len(id)-1]+"x", ""); a.code() != "ResourceNotFound" {
			t.Errorf("%d %s", a.status, a.text)
		}
	})
}
