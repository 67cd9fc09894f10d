package gcp_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/api/iterator"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
)

// collect reads what an iterator has.
func collect[T any](t *testing.T, next func() (T, error)) (all []T) {
	t.Helper()
	for {
		x, err := next()
		if errors.Is(err, iterator.Done) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
}

// TestSearchResources: an empty query has everything, others what fits them.
func TestSearchResources(t *testing.T) {
	o := startWith(t)
	for protocol, c := range o.clients() {
		search := func(req *assetpb.SearchAllResourcesRequest) []*assetpb.ResourceSearchResult {
			return collect(t, c.SearchAllResources(t.Context(), req).Next)
		}
		all := search(&assetpb.SearchAllResourcesRequest{Scope: gcp.Organization, PageSize: 500})
		want := 0
		for range gcp.Assets(o.server.Estate(), gcp.Organization) {
			want++
		}
		if len(all) != want {
			t.Errorf("%s: %d, want %d", protocol, len(all), want)
		}
		for query, fits := range map[string]func(*assetpb.ResourceSearchResult) bool{
			"location:us-central1":                 func(r *assetpb.ResourceSearchResult) bool { return strings.HasPrefix(r.Location, "us-central1") },
			"location=global":                      func(r *assetpb.ResourceSearchResult) bool { return r.Location == "global" },
			"location:europe*":                     func(r *assetpb.ResourceSearchResult) bool { return strings.HasPrefix(r.Location, "europe") },
			"NOT location:global AND state:active": func(r *assetpb.ResourceSearchResult) bool { return r.Location != "global" && r.State == "ACTIVE" },
			"labels.env:prod":                      func(r *assetpb.ResourceSearchResult) bool { return r.Labels["env"] == "prod" },
			"labels.env:*":                         func(r *assetpb.ResourceSearchResult) bool { return r.Labels["env"] != "" },
			"labels:payments":                      func(r *assetpb.ResourceSearchResult) bool { return r.Labels["team"] == "payments" },
			"name:buckets":                         func(r *assetpb.ResourceSearchResult) bool { return false },
			`displayName:"example-1"`: func(r *assetpb.ResourceSearchResult) bool {
				return strings.Contains(r.DisplayName+"@.", "example-1") && (r.DisplayName == "example-1" || strings.Contains(r.DisplayName, "@example-1."))
			},
			"terminated": func(r *assetpb.ResourceSearchResult) bool { return r.State == "TERMINATED" },
		} {
			want := 0
			for _, r := range all {
				if fits(r) {
					want++
				}
			}
			got := search(&assetpb.SearchAllResourcesRequest{Scope: gcp.Organization, Query: query, PageSize: 100})
			for _, r := range got {
				if !fits(r) {
					t.Errorf("%s: %v", query, r)
				}
			}
			if len(got) != want || want == 0 && query != "name:buckets" {
				t.Errorf("%s %s: %d, want %d", protocol, query, len(got), want)
			}
		}
		for _, r := range search(&assetpb.SearchAllResourcesRequest{Scope: first, ReadMask: &fieldmaskpb.FieldMask{Paths: []string{"name", "create_time"}}}) {
			if r.Name == "" || r.CreateTime == nil || r.AssetType != "" || r.Location != "" || r.Labels != nil {
				t.Fatalf("%s: unmasked %v", protocol, r)
			}
		}
		for _, r := range all {
			if (r.Project == "") != strings.Contains(r.AssetType, "Folder") && r.AssetType != "cloudresourcemanager.googleapis.com/Organization" || r.Organization != gcp.Organization || r.UpdateTime.AsTime().Before(r.CreateTime.AsTime()) {
				t.Errorf("%s: %v", protocol, r)
			}
		}
	}
	for _, query := range []string{"a OR b", "(a)", "colour:red", "name:", `"open`, "NOT", "NOT NOT a", "createTime<1609459200", "tagKeys:x"} {
		_, _, err := o.client().SearchAllResources(t.Context(), &assetpb.SearchAllResourcesRequest{Scope: first, Query: query}).InternalFetch(10, "")
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestSearchPolicies: the policies that Bindings says, and of them the bindings that
// fit.
func TestSearchPolicies(t *testing.T) {
	o := startWith(t)
	all := make(map[gcp.Binding]bool)
	for b := range gcp.Bindings(o.server.Estate(), gcp.Organization) {
		all[b] = true
	}
	for protocol, c := range o.clients() {
		for query, fits := range map[string]func(gcp.Binding) bool{
			"":                                 func(gcp.Binding) bool { return true },
			"policy:allAuthenticatedUsers":     nil,
			"roles:roles/storage.objectViewer": func(b gcp.Binding) bool { return b.Role == "roles/storage.objectViewer" },
			"resource=//cloudresourcemanager.googleapis.com/" + gcp.Organization: func(b gcp.Binding) bool { return strings.HasSuffix(b.Resource, gcp.Organization) },
		} {
			got, others := make(map[gcp.Binding]bool), 0
			for _, r := range collect(t, c.SearchAllIamPolicies(t.Context(), &assetpb.SearchAllIamPoliciesRequest{Scope: gcp.Organization, Query: query, PageSize: 500}).Next) {
				for _, b := range r.Policy.Bindings {
					hit := fits != nil
					for _, m := range b.Members {
						got[gcp.Binding{Resource: r.Resource, Type: r.AssetType, Role: b.Role, Member: m, Condition: b.Condition.GetExpression()}] = true
						hit = hit || m == "allAuthenticatedUsers"
					}
					if !hit {
						others++
					}
				}
			}
			want := 0
			for b := range all {
				if fits == nil && b.Member == "allAuthenticatedUsers" || fits != nil && fits(b) {
					want++
					if !got[b] {
						t.Errorf("%s %q: %+v is missing", protocol, query, b)
					}
				}
			}
			if want == 0 || others > 0 || fits != nil && len(got) != want {
				t.Errorf("%s %q: %d, want %d, and %d others", protocol, query, len(got), want, others)
			}
		}
	}
}

// TestProjects: Resource Manager finds them, with pages, on a quota of its own.
func TestProjects(t *testing.T) {
	p := small(gcp.New())
	p.Quotas = gcp.New().Quotas()
	p.Estate.Accounts = gcp.New().ExampleAccounts(25)
	o := start(t, p)
	var ids []string
	for token := ""; ; {
		code, body := o.get("/v3/projects:search?query="+url.QueryEscape("state:ACTIVE")+"&pageSize=10&pageToken="+token, "x-goog-user-project", "example-2")
		if code != 200 {
			t.Fatalf("%d %v", code, body)
		}
		for _, x := range body["projects"].([]any) {
			project := x.(map[string]any)
			ids = append(ids, project["projectId"].(string))
			if project["name"] != "projects/"+gcp.Number(o.server.Estate(), project["projectId"].(string)) || project["state"] != "ACTIVE" || !strings.HasPrefix(project["parent"].(string), "folders/") {
				t.Errorf("%v", project)
			}
		}
		next, ok := body["nextPageToken"].(string)
		if !ok {
			break
		}
		token = next
	}
	if fmt.Sprint(ids) != fmt.Sprint(p.Estate.Accounts) {
		t.Errorf("%v", ids)
	}
	for query, want := range map[string]int{
		"":                                 25,
		"state:DELETE_REQUESTED":           0,
		"parent:" + gcp.Folders()[0]:       13,
		"id:example-1*":                    11,
		"projectId=example-7 state:active": 1,
	} {
		_, body := o.get("/v3/projects:search?pageSize=500&query=" + url.QueryEscape(query))
		if got, _ := body["projects"].([]any); len(got) != want {
			t.Errorf("%q: %d, want %d", query, len(got), want)
		}
	}
	for _, b := range o.server.Report().Buckets {
		if b.Service != "cloudresourcemanager" || b.Operation != "Search" || b.Burst != 240 || b.Account != "projects/example-2" && b.Account != gcp.NoProject {
			t.Errorf("%+v", b)
		}
	}
}

// TestSearchPages: five hundred at most, and a hundred where nothing is asked.
func TestSearchPages(t *testing.T) {
	o := startWith(t)
	for size, want := range map[int]int{0: 100, 20: 20, 500: 500, 5000: 500} {
		got, _, err := o.client().SearchAllResources(t.Context(), &assetpb.SearchAllResourcesRequest{Scope: gcp.Organization}).InternalFetch(size, "")
		if err != nil || len(got) != want {
			t.Errorf("%d: %d, %v", size, len(got), err)
		}
	}
	var _ sim.Front = gcp.New()
}
