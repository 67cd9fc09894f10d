package gcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// TestParents: what people write for a parent, and what is none.
func TestParents(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"organizations/123456789012", "organizations/123456789012"},
		{"folders/5", "folders/5"},
		{"projects/example-1", "projects/example-1"},
		{"projects/123", "projects/123"},
		{"example-1", "projects/example-1"},
		{"example.com:example-1", "projects/example.com:example-1"},
		{"projects/example.com:example-1", "projects/example.com:example-1"},
		{"123", ""}, {"", ""}, {"projects/", ""}, {"organizations/example", ""}, {"folders/", ""}, {"Projects/example-1", ""},
		{"projects/example-1/x", ""}, {"/projects/example-1", ""}, {"organization/1", ""}, {"billingAccounts/1", ""}, {"Example-1", ""},
		{"projects/-x", ""}, {"projects/x-", ""}, {"example 1", ""}, {"projects/пример", ""}, {"//cloudresourcemanager.googleapis.com/projects/example-1", ""},
	} {
		got, err := parseParent(c.in)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q, %v", c.in, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "organizations/NUMBER") {
			t.Errorf("%q: %v does not say what is allowed", c.in, err)
		}
	}
	if list, err := parseParents([]string{"example-1", "projects/example-1", "folders/5", "example-1"}); err != nil || !slices.Equal(list, []string{one, "folders/5"}) {
		t.Errorf("%v, %v", list, err)
	}
}

// FuzzParent: what is taken for a parent can stand in a request and in a command, and is
// taken for itself.
func FuzzParent(f *testing.F) {
	for _, s := range []string{"example-1", "organizations/1", "example.com:example-1", "projects/; rm -rf /", "-x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, err := parseParent(s)
		if err != nil {
			return
		}
		if again, err := parseParent(name); err != nil || again != name {
			t.Errorf("%q is %q, and that is %q, %v", s, name, again, err)
		}
		if strings.ContainsAny(name, " ;|&$`'\"\\\n<>()*?") || strings.Count(name, "/") != 1 || strings.Contains(ofProject(name), " -x") {
			t.Errorf("%q is %q", s, name)
		}
	})
}

// TestCheck: what is wrong with the options is said before anything is sent.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		o     Options
		words string // none is right
	}{
		{Options{}, ""},
		{Options{Parents: []string{"example-1", "folders/1"}, QuotaProject: "example-2", Endpoint: "http://localhost:4599"}, ""},
		{Options{QuotaProject: "projects/example-2", Endpoint: "https://asset.example.com/"}, ""},
		{Options{QuotaProject: "123"}, ""},
		{Options{Parents: []string{"prod/x"}}, `"prod/x" is none of`},
		{Options{QuotaProject: "organizations/1"}, "quota project"},
		{Options{Endpoint: "http://asset.example.com"}, "unencrypted"},
		{Options{Endpoint: "https://user:hunter2@asset.example.com"}, "a password"},
		{Options{Endpoint: "localhost:4599"}, "not a URL"},
		{Options{Endpoint: "https://asset.example.com/v1"}, "has a path"},
	} {
		err := c.o.Check()
		if (err == nil) != (c.words == "") || err != nil && (!strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.words)
		}
		if err == nil {
			continue
		}
		if _, opened := Open(t.Context(), c.o); opened == nil || !strings.Contains(opened.Error(), c.words) {
			t.Errorf("%+v was opened: %v", c.o, opened)
		}
	}
}

// projects answers a search with pages of projects, as id:state.
func projects(pages ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("pageToken"), &n)
		var list []map[string]string
		for _, p := range strings.Fields(pages[n]) {
			id, state, _ := strings.Cut(p, ":")
			list = append(list, map[string]string{"name": "projects/1", "projectId": id, "state": state})
		}
		answer := map[string]any{"projects": list}
		if n+1 < len(pages) {
			answer["nextPageToken"] = fmt.Sprint(n + 1)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// TestDiscovered: without parents all projects are read that the credentials see, on
// whatever page; one that is being deleted has records that say so, and is not asked.
func TestDiscovered(t *testing.T) {
	f := &fake{answer: whole(instance), projects: projects("example-2:ACTIVE example-3:DELETE_REQUESTED", "", "example-1:ACTIVE example-2:ACTIVE")}
	e := f.open(t)
	var got []string
	for _, a := range e.Accounts() {
		got = append(got, a.ID)
	}
	if want := []string{one, two, "projects/example-3"}; !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
	r := run(t, e, "resources")
	if want := []string{"gcp_list_assets SUCCESS", "gcp_list_assets SUCCESS", "gcp_list_assets SKIPPED api_disabled"}; !slices.Equal(r.tasks(), want) {
		t.Errorf("%v, want %v", r.tasks(), want)
	}
	if rec := r.records[2]; rec.Calls != 0 || !strings.Contains(rec.Error, "DELETE_REQUESTED") {
		t.Errorf("%+v", rec)
	}
}

// endless answers with a token that is always new, and nothing else.
func endless() http.HandlerFunc {
	n := 0
	return func(w http.ResponseWriter, _ *http.Request) {
		n++
		_, _ = fmt.Fprintf(w, `{"nextPageToken":"t%d"}`, n)
	}
}

// TestNotDiscovered: where projects cannot be found that is an error, with what helps,
// and no empty success.
func TestNotDiscovered(t *testing.T) {
	refuses := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for _, c := range []struct {
		name     string
		projects http.HandlerFunc
		says     []string
	}{
		{"none", projects(""), []string{"see no project", "--parent"}},
		{"denied", refuses(403, `{"error":{"code":403,"message":"The caller does not have permission","status":"PERMISSION_DENIED"}}`), []string{"access_denied", "--parent projects/ID"}},
		{"disabled", refuses(403, `{"error":{"code":403,"message":"disabled","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","domain":"googleapis.com","metadata":{"consumer":"projects/77","service":"cloudresourcemanager.googleapis.com"}}]}}`),
			[]string{"api_disabled", "gcloud services enable cloudresourcemanager.googleapis.com --project 77"}},
		{"a hostile consumer", refuses(403, `{"error":{"code":403,"message":"disabled","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","domain":"googleapis.com","metadata":{"consumer":"projects/77;reboot"}}]}}`),
			[]string{"gcloud services enable cloudresourcemanager.googleapis.com"}},
		{"no login", refuses(401, `{"error":{"code":401,"message":"invalid","status":"UNAUTHENTICATED"}}`), []string{"gave no token", "log in again"}},
		{"broken", refuses(500, `oops`), []string{"--parent"}},
		{"a page of somebody else's", refuses(200, `<html>`), []string{"--parent"}},
		{"pages of nothing", endless(), []string{"truncated", "has no end", "--parent"}},
		{"the same token", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"nextPageToken":"a"}`)) }, []string{"truncated"}},
	} {
		f := &fake{answer: whole(), projects: c.projects}
		e, err := Open(t.Context(), Options{Endpoint: f.serve(t), Governor: governor(t)})
		if err == nil {
			e.Close()
			t.Errorf("%s: opened", c.name)
			continue
		}
		t.Logf("%s: %v", c.name, err)
		for _, words := range c.says {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %v does not say %q", c.name, err, words)
			}
		}
		if strings.Contains(err.Error(), "--project 77;") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestSelected: the family "search" stands for the others where these are not wanted,
// and is their other way where they are.
func TestSelected(t *testing.T) {
	e := &Estate{parents: []Parent{{Name: one}}}
	for _, c := range []struct {
		families string
		want     string
	}{
		{"resources iam search", "gcp_list_assets>gcp_search_resources gcp_iam_policies>gcp_search_iam_policies"},
		{"resources iam", "gcp_list_assets>gcp_search_resources gcp_iam_policies>gcp_search_iam_policies"},
		{"iam search", "gcp_iam_policies>gcp_search_iam_policies gcp_search_resources"},
		{"search", "gcp_search_resources gcp_search_iam_policies"},
		{"compute", ""},
	} {
		var got []string
		for _, task := range e.Tasks(func(k inventory.Kind) bool { return slices.Contains(strings.Fields(c.families), k.Family) }) {
			name := task.Name
			if task.Otherwise != nil {
				name += ">" + task.Otherwise.Name
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.families, got, c.want)
		}
	}
}
