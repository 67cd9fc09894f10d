package gcp_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
)

// TestListEverything: each parent has what is at it and below, over both protocols
// and with any size of pages, once.
func TestListEverything(t *testing.T) {
	o := startWith(t)
	e := o.server.Estate()
	parents := []string{first, second, "projects/example-3", "projects/" + gcp.Number(e, "example-2"), gcp.Organization}
	sums := make(map[string]int)
	for protocol, c := range o.clients() {
		for _, parent := range append(parents, gcp.Folders()...) {
			want := make(map[string]string)
			for a := range gcp.Assets(e, parent) {
				want[a.Name] = a.Type
			}
			for _, size := range []int32{0, 7, 1000, 5000} {
				if size == 7 && parent != first {
					continue
				}
				all, err := list(t.Context(), c, &assetpb.ListAssetsRequest{Parent: parent, PageSize: size})
				if err != nil {
					t.Fatalf("%s %s: %v", protocol, parent, err)
				}
				got := make(map[string]string)
				for _, a := range all {
					got[a.Name] = a.AssetType
					if a.Resource != nil || a.IamPolicy != nil {
						t.Fatalf("content that was not asked for: %v", a)
					}
				}
				if len(all) != len(got) || !maps.Equal(got, want) {
					t.Errorf("%s %s, %d a page: %d assets, %d different, want %d", protocol, parent, size, len(all), len(got), len(want))
				}
			}
			sums[parent] = len(want)
		}
	}
	if sums[gcp.Organization] != e.Total()+3+2+1 {
		t.Errorf("the organization has %d, the estate %d", sums[gcp.Organization], e.Total())
	}
	if sums[gcp.Folders()[0]] != sums[first]+sums["projects/example-3"]+1 || sums[gcp.Folders()[1]] != sums[second]+1 {
		t.Errorf("folders: %v", sums)
	}
	if sums[second] != sums["projects/"+gcp.Number(e, "example-2")] {
		t.Error("by its number a project is another")
	}
}

// TestContents: resources have data and a parent, policies what Bindings says, and
// the other contents nothing.
func TestContents(t *testing.T) {
	o := startWith(t)
	e := o.server.Estate()
	for protocol, c := range o.clients() {
		all, err := list(t.Context(), c, &assetpb.ListAssetsRequest{Parent: gcp.Organization, ContentType: assetpb.ContentType_RESOURCE, PageSize: 1000})
		if err != nil {
			t.Fatal(err)
		}
		kinds := make(map[string]int)
		for _, a := range all {
			kinds[a.AssetType]++
			r := a.Resource
			if len(r.GetData().GetFields()) == 0 || r.Location == "" || (r.Parent == "") != strings.HasPrefix(a.Name, "//cloudresourcemanager.googleapis.com/organizations/") || a.UpdateTime.AsTime().After(time.Now()) {
				t.Errorf("%s: %v", protocol, a)
			}
			if host, _, _ := strings.Cut(a.AssetType, "/"); !strings.HasPrefix(a.Name, "//"+host+"/") && host != "sqladmin.googleapis.com" || strings.Contains(a.Name, "{") {
				t.Errorf("%s is named %s", a.AssetType, a.Name)
			}
			if last := a.Ancestors[len(a.Ancestors)-1]; last != gcp.Organization {
				t.Errorf("%s: ancestors %v", a.Name, a.Ancestors)
			}
		}
		for _, k := range gcp.New().Kinds() {
			if kinds[k.Name] == 0 {
				t.Errorf("%s: no %s", protocol, k.Name)
			}
		}
		want := make(map[gcp.Binding]int)
		for b := range gcp.Bindings(e, gcp.Organization) {
			want[b]++
		}
		got := make(map[gcp.Binding]int)
		policies, err := list(t.Context(), c, &assetpb.ListAssetsRequest{Parent: gcp.Organization, ContentType: assetpb.ContentType_IAM_POLICY, PageSize: 50})
		if err != nil {
			t.Fatal(err)
		}
		conditions := 0
		for _, a := range policies {
			for _, b := range a.IamPolicy.GetBindings() {
				for _, m := range b.Members {
					got[gcp.Binding{Resource: a.Name, Type: a.AssetType, Role: b.Role, Member: m, Condition: b.Condition.GetExpression()}]++
				}
				if b.Condition != nil {
					conditions++
				}
			}
		}
		if len(policies) >= len(all) || len(got) == 0 || conditions == 0 || !maps.Equal(got, want) {
			t.Errorf("%s: %d policies with %d bindings, want %d; %d conditions", protocol, len(policies), len(got), len(want), conditions)
		}
		for _, content := range []assetpb.ContentType{assetpb.ContentType_ORG_POLICY, assetpb.ContentType_OS_INVENTORY} {
			if none, err := list(t.Context(), c, &assetpb.ListAssetsRequest{Parent: first, ContentType: content}); err != nil || len(none) != 0 {
				t.Errorf("%s: %d, %v", content, len(none), err)
			}
		}
	}
}

// TestAssetTypes: they are regular expressions over the whole name.
func TestAssetTypes(t *testing.T) {
	o := startWith(t)
	for protocol, c := range o.clients() {
		for _, x := range []struct {
			types []string
			fits  func(string) bool
		}{
			{[]string{"compute.googleapis.com/Disk"}, func(s string) bool { return s == "compute.googleapis.com/Disk" }},
			{[]string{"compute.googleapis.com.*"}, func(s string) bool { return strings.HasPrefix(s, "compute.") }},
			{[]string{".*Instance"}, func(s string) bool { return strings.HasSuffix(s, "Instance") }},
			{[]string{"storage.googleapis.com/Bucket", ".*Topic"}, func(s string) bool {
				return s == "storage.googleapis.com/Bucket" || s == "pubsub.googleapis.com/Topic"
			}},
		} {
			want := 0
			for a := range gcp.Assets(o.server.Estate(), first) {
				if x.fits(a.Type) {
					want++
				}
			}
			all, err := list(t.Context(), c, &assetpb.ListAssetsRequest{Parent: first, AssetTypes: x.types})
			if err != nil || len(all) != want || want == 0 || slices.ContainsFunc(all, func(a *assetpb.Asset) bool { return !x.fits(a.AssetType) }) {
				t.Errorf("%s %q: %d, want %d, %v", protocol, x.types, len(all), want, err)
			}
		}
	}
}

// TestBadRequests: what makes no sense is refused in words, over both protocols, and
// counted.
func TestBadRequests(t *testing.T) {
	o := startWith(t)
	c := o.client()
	for name, x := range map[string]struct {
		req  *assetpb.ListAssetsRequest
		want codes.Code
	}{
		"no parent":         {&assetpb.ListAssetsRequest{}, codes.InvalidArgument},
		"no such parent":    {&assetpb.ListAssetsRequest{Parent: "projects/nobodys-1"}, codes.PermissionDenied},
		"no such folder":    {&assetpb.ListAssetsRequest{Parent: "folders/1"}, codes.PermissionDenied},
		"no parent at all":  {&assetpb.ListAssetsRequest{Parent: "zones/a"}, codes.InvalidArgument},
		"a type of nothing": {&assetpb.ListAssetsRequest{Parent: first, AssetTypes: []string{"compute.googleapis.com/Disks"}}, codes.InvalidArgument},
		"no expression":     {&assetpb.ListAssetsRequest{Parent: first, AssetTypes: []string{"("}}, codes.InvalidArgument},
		"a negative page":   {&assetpb.ListAssetsRequest{Parent: first, PageSize: -1}, codes.InvalidArgument},
		"a made-up token":   {&assetpb.ListAssetsRequest{Parent: first, PageToken: "abc"}, codes.InvalidArgument},
		"a content of none": {&assetpb.ListAssetsRequest{Parent: first, ContentType: 99}, codes.InvalidArgument},
		"long ago":          {&assetpb.ListAssetsRequest{Parent: first, ReadTime: timestamppb.New(time.Now().AddDate(0, -2, 0))}, codes.InvalidArgument},
	} {
		_, _, err := once(t.Context(), c, x.req)
		if status.Code(err) != x.want || status.Convert(err).Message() == "" {
			t.Errorf("%s: %v, want %v", name, err, x.want)
		}
	}
	for path, want := range map[string]int{
		"/v1/" + first + "/assets?pageSize=many":               400,
		"/v1/" + first + "/assets?contentType=NOTHING":         400,
		"/v1/" + first + "/assets?nonsense=1":                  400,
		"/v1/" + first + "/assets?parent=projects/example-2":   400,
		"/v1/" + first + "/nothing":                            404,
		"/v2/" + first + "/assets":                             404,
		"/v1/projects/nobodys-1/assets":                        403,
		"/v1/" + first + ":searchAllThings":                    404,
		"/v1/" + first + ":searchAllResources?orderBy=name":    400,
		"/v1/" + first + ":searchAllResources?readMask=colour": 400,
		"/v3/projects:search?query=colour:red":                 400,
		"/v3/projects:search?pageToken=x":                      400,
	} {
		if code, body := o.get(path); code != want || body["error"] == nil {
			t.Errorf("%s: %d %v, want %d", path, code, body, want)
		}
	}
	r := o.server.Report()
	if r.Totals.Errors != r.Totals.Asked || r.Totals.Errors != 22 {
		t.Errorf("counted %+v", r.Totals)
	}
	for _, s := range r.Scopes {
		if s.Account != "*" && s.Account != first {
			t.Errorf("a made-up %s is reported", s.Account)
		}
	}
}

// TestNotModelled: other listings are empty, or refused where a profile is strict,
// as is what changes something.
func TestNotModelled(t *testing.T) {
	for _, strict := range []bool{false, true} {
		p := small(gcp.New())
		p.Strict = strict
		o := start(t, p)
		stub := assetpb.NewAssetServiceClient(o.client().Connection()) //nolint:staticcheck // to call what the client has no method for
		feeds, err := stub.ListFeeds(t.Context(), &assetpb.ListFeedsRequest{Parent: first})
		if strict != (status.Code(err) == codes.Unimplemented) || !strict && (err != nil || len(feeds.Feeds) != 0) {
			t.Errorf("strict %v: %v, %v", strict, feeds, err)
		}
		if _, err := stub.CreateFeed(t.Context(), &assetpb.CreateFeedRequest{Parent: first}); status.Code(err) != codes.Unimplemented {
			t.Errorf("strict %v: %v", strict, err)
		}
		if code, _ := o.get("/v1/" + first + "/savedQueries"); strict != (code == 501) || !strict && code != 200 {
			t.Errorf("strict %v: %d", strict, code)
		}
	}
}

// TestTokens: a token is good for its own request alone, and for 72 hours of the
// model's.
func TestTokens(t *testing.T) {
	p := small(gcp.New())
	p.Speed = 1000
	o := start(t, p)
	c := o.client()
	page := func(req *assetpb.ListAssetsRequest) string {
		t.Helper()
		_, next, err := once(t.Context(), c, req)
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	token := page(&assetpb.ListAssetsRequest{Parent: first, PageSize: 10})
	for name, x := range map[string]struct {
		req  *assetpb.ListAssetsRequest
		good bool
	}{
		"the next":        {&assetpb.ListAssetsRequest{Parent: first, PageSize: 10}, true},
		"again":           {&assetpb.ListAssetsRequest{Parent: first, PageSize: 10}, true},
		"another size":    {&assetpb.ListAssetsRequest{Parent: first, PageSize: 20}, true},
		"another parent":  {&assetpb.ListAssetsRequest{Parent: second, PageSize: 10}, false},
		"another content": {&assetpb.ListAssetsRequest{Parent: first, PageSize: 10, ContentType: assetpb.ContentType_RESOURCE}, false},
		"other types":     {&assetpb.ListAssetsRequest{Parent: first, PageSize: 10, AssetTypes: []string{".*Disk"}}, false},
	} {
		x.req.PageToken = token
		if _, _, err := once(t.Context(), c, x.req); (err == nil) != x.good || err != nil && status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := c.SearchAllResources(t.Context(), &assetpb.SearchAllResourcesRequest{Scope: first}).InternalFetch(10, token); status.Code(err) != codes.InvalidArgument {
		t.Errorf("of another listing: %v", err)
	}
	for i := range len(token) {
		changed := []byte(token)
		changed[i] ^= 1
		if _, _, err := once(t.Context(), c, &assetpb.ListAssetsRequest{Parent: first, PageToken: string(changed)}); err == nil && i+1 < len(token) {
			t.Errorf("%s is as good as %s", changed, token)
		}
	}
	a, _, err := once(t.Context(), c, &assetpb.ListAssetsRequest{Parent: first, PageSize: 5, PageToken: token})
	if err != nil || len(a) != 5 {
		t.Errorf("%d, %v", len(a), err)
	}
}

// TestConcurrency: many goroutines read large pages over one connection, and each has
// everything.
func TestConcurrency(t *testing.T) {
	p := small(gcp.New())
	p.Estate.Assets = 2500
	o := start(t, p)
	want := 0
	for range gcp.Assets(o.server.Estate(), gcp.Organization) {
		want++
	}
	c := o.client()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			all, err := list(t.Context(), c, &assetpb.ListAssetsRequest{Parent: gcp.Organization, ContentType: assetpb.ContentType_RESOURCE, PageSize: 1000})
			if err != nil || len(all) != want {
				t.Errorf("%d of %d, %v", len(all), want, err)
			}
		})
	}
	wg.Wait()
	if r := o.server.Report(); r.Totals.Served != 16*((want+999)/1000) || r.Totals.Open != 0 {
		t.Errorf("counted %+v", r.Totals)
	}
}

// TestEstate: ids and numbers of projects, and what no project is called.
func TestEstate(t *testing.T) {
	front := gcp.New()
	ids := front.ExampleAccounts(sim.MaxAccounts)
	seen := make(map[string]bool)
	p := small(front)
	p.Estate.Accounts = ids
	server, err := sim.New(front, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if err := front.CheckAccount(id); err != nil {
			t.Fatal(err)
		}
		n := gcp.Number(server.Estate(), id)
		if len(n) != 12 || seen[n] {
			t.Errorf("%s has the number %s", id, n)
		}
		seen[n] = true
	}
	for _, id := range []string{"", "short", "Example-1", "projects/example-1", "example-", "1example", "111122223333", "example.com:one"} {
		if front.CheckAccount(id) == nil {
			t.Errorf("%q is a project", id)
		}
	}
}
