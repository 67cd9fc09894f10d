package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"cloud.google.com/go/iam/apiv1/iampb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/gcp"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simgcp "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// isolateGoogle takes out of the environment what could lead to somebody's projects:
// variables, and the file that gcloud writes.
func isolateGoogle() error {
	for _, set := range os.Environ() {
		name, _, _ := strings.Cut(set, "=")
		if strings.HasPrefix(name, "GOOGLE_") || strings.HasPrefix(name, "GCE_") {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	nowhere := filepath.Join(os.TempDir(), "cloudpace-no-such-directory")
	return errors.Join(os.Setenv("HOME", nowhere), os.Setenv("APPDATA", nowhere))
}

// google is Cloud Asset Inventory with two assets in each parent, and a search that
// finds two projects. What is denied may be searched for and not listed.
type google struct {
	assetpb.UnimplementedAssetServiceServer
	denied string // a parent
	asked  atomic.Int64
}

func (g *google) ListAssets(_ context.Context, r *assetpb.ListAssetsRequest) (*assetpb.ListAssetsResponse, error) {
	g.asked.Add(1)
	if r.GetParent() == g.denied {
		return nil, status.Error(codes.PermissionDenied, "The caller does not have permission")
	}
	answer := &assetpb.ListAssetsResponse{}
	for i := range 2 {
		answer.Assets = append(answer.Assets, &assetpb.Asset{
			Name: fmt.Sprintf("//storage.googleapis.com/%s-%d", r.GetParent(), i), AssetType: "storage.googleapis.com/Bucket",
			IamPolicy: &iampb.Policy{Bindings: []*iampb.Binding{{Role: "roles/viewer", Members: []string{"user:a@example.com"}}}},
		})
	}
	return answer, nil
}

func (g *google) SearchAllResources(_ context.Context, r *assetpb.SearchAllResourcesRequest) (*assetpb.SearchAllResourcesResponse, error) {
	g.asked.Add(1)
	return &assetpb.SearchAllResourcesResponse{Results: []*assetpb.ResourceSearchResult{{Name: "//storage.googleapis.com/" + r.GetScope(), AssetType: "storage.googleapis.com/Bucket"}}}, nil
}

func (g *google) SearchAllIamPolicies(context.Context, *assetpb.SearchAllIamPoliciesRequest) (*assetpb.SearchAllIamPoliciesResponse, error) {
	g.asked.Add(1)
	return &assetpb.SearchAllIamPoliciesResponse{}, nil
}

// serveGoogle serves it without TLS. AWS has no credentials.
func serveGoogle(t *testing.T, g *google) string {
	t.Helper()
	fakeaws.Isolate(t)
	rpc := grpc.NewServer()
	assetpb.RegisterAssetServiceServer(rpc, g)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			rpc.ServeHTTP(w, r)
			return
		}
		g.asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"projects": [{"projectId": "example-1", "state": "ACTIVE"}, {"projectId": "example-2", "state": "ACTIVE"}]}`)
	})}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		rpc.Stop()
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

// TestMapGoogle: an emulator without TLS is read without credentials, the parents that
// are named or all projects that there are.
func TestMapGoogle(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		read []string
	}{
		{"all", []string{"-p", "gcp"}, []string{"projects/example-1", "projects/example-2"}},
		{"named", []string{"--parent", "organizations/123, folders/5", "--parent", "example-1"}, []string{"organizations/123", "folders/5", "projects/example-1"}}, // AWS has no credentials, and nobody asked for it
	} {
		t.Run(c.name, func(t *testing.T) {
			url := serveGoogle(t, new(google))
			o := mapped(t, append(c.args, "--gcp-endpoint", url, "--fail-on-partial", "--quota-project", "example-1")...)
			d := o.document(t)
			n := 2 * len(c.read)
			if got := subscriptions(d); o.code != exitDone || !slices.Equal(got, c.read) || d.Summary.Assets != n || d.Summary.Edges != n || !slices.Equal(d.Summary.Provider, []string{"gcp"}) {
				t.Errorf("exit code %d, %v, %d assets, %d edges", o.code, got, d.Summary.Assets, d.Summary.Edges)
			}
			if want := fmt.Sprintf("and %d edges in ", n); !strings.Contains(o.stderr, want) {
				t.Errorf("stderr does not say %q", want)
			}
			text, err := os.ReadFile(filepath.Join(o.dir, inventory.EdgesFile))
			if err != nil || strings.Count(string(text), "\n") != n {
				t.Errorf("%s: %v", text, err)
			}
			page, err := os.ReadFile(filepath.Join(o.dir, inventory.ReportFile))
			if err != nil || !strings.Contains(string(page), inventory.EdgesFile) {
				t.Errorf("the report does not name the edges (%v)", err)
			}
		})
	}
}

// TestMapGoogleDenied: what may not be listed is searched for, and the gap is told.
func TestMapGoogleDenied(t *testing.T) {
	url := serveGoogle(t, &google{denied: "projects/example-1"})
	o := mapped(t, "-p", "gcp", "--gcp-endpoint", url, "--fail-on-partial", "--only", "resources")
	d := o.document(t)
	if o.code != exitPartial || d.Summary.Assets != 3 || len(d.Coverage) != 3 || d.Coverage[1].InPlaceOf != "gcp_list_assets" || d.Coverage[1].Status != inventory.Success {
		t.Errorf("exit code %d, %d assets, %+v", o.code, d.Summary.Assets, d.Coverage)
	}
	if want := "gcp_list_assets FAILED, access_denied in projects/example-1"; !strings.Contains(o.stderr, want) {
		t.Errorf("stderr does not say %q", want)
	}
}

// simulateGoogle serves some projects that a fault happens to.
func simulateGoogle(t *testing.T, faults ...sim.Fault) string {
	t.Helper()
	fakeaws.Isolate(t)
	front := simgcp.New()
	p := sim.Default(front)
	p.Estate = sim.EstateConfig{Accounts: front.ExampleAccounts(3), Regions: []string{"us-central1"}, Assets: 300}
	p.Faults = faults
	_, url := serve(t, front, p)
	return url
}

// TestD07MapGoogleDisabled: what is wrong in a set-up is said with the command that
// mends it, in what is shown of an error, on the terminal and in the report. A project
// whose API is disabled does not stop the others where nobody knows whose quota is used:
// Google names it by its number.
func TestD07MapGoogleDisabled(t *testing.T) {
	for _, c := range []struct {
		code string
		args []string
		says string // of each of those that fail
		only string // the one, if not all
	}{
		{"SERVICE_DISABLED", nil, "gcloud services enable cloudasset.googleapis.com --project ", "projects/example-2"},
		{"SERVICE_DISABLED", []string{"--quota-project", "example-2"}, "gcloud services enable cloudasset.googleapis.com --project ", ""},
		{"USER_PROJECT_DENIED", []string{"--quota-project", "example-2"}, "roles/serviceusage.serviceUsageConsumer", ""},
	} {
		match := sim.Match{Service: sim.Patterns{"cloudasset"}}
		if c.only != "" {
			match.Account = sim.Patterns{c.only}
		}
		url := simulateGoogle(t, sim.Fault{Kind: sim.Error, Code: c.code, Match: match})
		o := mapped(t, slices.Concat([]string{"-p", "gcp", "--gcp-endpoint", url}, c.args)...)
		d := o.document(t)
		if len(d.Coverage) != 6 {
			t.Errorf("%s: %d records", c.code, len(d.Coverage))
		}
		for _, r := range d.Coverage {
			fails := c.only == "" || r.Account == c.only
			if fails != (r.Status == inventory.Failed) || fails && !strings.Contains(words.Short(r.Error), c.says) || strings.Contains(r.Error, "error details") {
				t.Errorf("%s %s: %+v", c.code, c.only, r)
			}
		}
		page, err := os.ReadFile(filepath.Join(o.dir, inventory.ReportFile))
		if err != nil || c.only != "" && !strings.Contains(string(page), c.says) || !strings.Contains(o.stderr, c.says) {
			t.Errorf("%s: it is not said what to do: %v\n%s", c.code, err, o.stderr)
		}
	}
}

// TestRefusedGoogle: what cannot work is said before anything is sent.
func TestRefusedGoogle(t *testing.T) {
	for _, c := range []struct {
		args string
		says []string
	}{
		{"-p aws --parent example-1", []string{"--parent is for Google Cloud, which is not read with -p aws"}},
		{"-p gcp --subscriptions " + subscription1, []string{"--subscriptions is for Azure, which is not read with -p gcp"}},
		{"-p gpc", []string{`unknown provider "gpc", did you mean "gcp"?`}},
		{"-p gcp --parent prod/1", []string{`"prod/1"`, "organizations/NUMBER"}},
		{"-p gcp --quota-project a/b", []string{"quota project"}},
		{"-p gcp --gcp-endpoint http://asset.example.com", []string{"unencrypted"}},
		{"-p gcp --gcp-endpoint localhost", []string{"not a URL"}},
		{"-p gcp --only compute", []string{`family "compute" is AWS's, which is not read: -p names gcp`}},
		{"-p gcp --skip resources,iam,search", []string{"--skip leaves nothing to read"}},
		{"--demo --parent example-1", []string{"--demo and --parent exclude each other"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			g := new(google)
			url := serveGoogle(t, g)
			args := strings.Fields(c.args)
			if !strings.Contains(c.args, "--gcp-endpoint") && strings.Contains(c.args, "-p gcp") {
				args = append(args, "--gcp-endpoint", url)
			}
			o := mapped(t, args...)
			if o.code != exitUsage {
				t.Errorf("exit code %d", o.code)
			}
			for _, want := range c.says {
				if !strings.Contains(o.stderr, want) {
					t.Errorf("stderr does not say %q", want)
				}
			}
			if n := g.asked.Load(); n != 0 {
				t.Errorf("%d requests were sent", n)
			}
			if _, err := os.Stat(o.dir); !os.IsNotExist(err) {
				t.Errorf("the output directory was made (%v)", err)
			}
		})
	}
}

// TestGoogleBrokenCredentials: credentials that are of no use are told about, and stop
// nobody else.
func TestGoogleBrokenCredentials(t *testing.T) {
	_, azure := simulateAzure(t)
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "gone.json"))
	o := mapped(t, "--azure-endpoint", azure, "--only", "dns,resources,iam")
	d := o.document(t)
	if !slices.Equal(d.Summary.Provider, []string{"azure", "gcp"}) || o.code != exitDone || !strings.Contains(o.stderr, "Google Cloud cannot be read: ") || !strings.Contains(o.stderr, "GOOGLE_APPLICATION_CREDENTIALS") {
		t.Errorf("exit code %d, %v", o.code, d.Summary.Provider)
	}
	for _, r := range d.Coverage {
		if r.Provider == "gcp" && (r.Status != inventory.Failed || r.Reason != inventory.CredentialsExpired || r.Account != everywhere) {
			t.Errorf("%+v", r)
		}
	}
	// What says by itself that it is a login's is not called so twice.
	for _, task := range gcpCloud().unopened(&gcp.CredentialsError{Err: &inventory.LoginError{Err: errors.New("revoked")}}, func(inventory.Kind) bool { return true }) {
		if err := task.Read(t.Context(), nil); strings.Count(err.Error(), "login: ") != 1 || inventory.ReasonOf("gcp", err) != inventory.CredentialsExpired {
			t.Errorf("%v", err)
		}
	}
	if o := mapped(t, "-p", "gcp", "--parent", "example-1"); o.code != exitBroken {
		t.Errorf("alone: exit code %d", o.code)
	}
}

// TestGoogleAbsent: what counts as credentials, as far as one can see without asking.
func TestGoogleAbsent(t *testing.T) {
	dir := filepath.Join("home", "u")
	written := gcp.CredentialsFile(func(string) string { return "" }, dir)
	for _, c := range []struct {
		name  string
		env   map[string]string
		files []string
		want  bool // something is there
	}{
		{"nothing", nil, nil, false},
		{"a key", map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": "key.json"}, nil, true},
		{"gcloud's", nil, []string{written}, true},
		{"a project alone", map[string]string{"GOOGLE_CLOUD_PROJECT": "example-1"}, nil, false},
	} {
		l := looks{
			env:  func(name string) string { return c.env[name] },
			home: func() (string, error) { return dir, nil },
			read: func(name string) ([]byte, error) {
				if slices.Contains(c.files, name) {
					return nil, nil
				}
				return nil, os.ErrNotExist
			},
		}
		if err := gcpAbsent(l); (err == nil) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestGoogleDocumented: docs/map.md has every task, with its family.
func TestGoogleDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/map.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range gcp.Kinds() {
		if row := "| `" + k.Name + "` | " + k.Family + " |"; !strings.Contains(string(text), row) {
			t.Errorf("docs/map.md does not have %q", row)
		}
	}
	// A number that somebody meant to fill in: GOOGLESECONDS s.
	if left := regexp.MustCompile(`\b[A-Z]{4,} (s|ms|%)\b`).FindString(string(text)); left != "" {
		t.Errorf("docs/map.md has %q", left)
	}
}
