package gcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"cloud.google.com/go/iam/apiv1/iampb"
	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

func TestMain(m *testing.M) {
	for _, name := range []string{keyVariable, "GOOGLE_CLOUD_QUOTA_PROJECT", "GOOGLE_CLOUD_PROJECT", "HTTPS_PROXY", "HTTP_PROXY"} {
		_ = os.Unsetenv(name)
	}
	goleak.VerifyTestMain(m)
}

const (
	one      = "projects/example-1"
	two      = "projects/example-2"
	instance = "//compute.googleapis.com/projects/example-1/zones/us-central1-a/instances/web-1"
)

// question is a request as the fake service saw it.
type question struct {
	rpc, parent, token, quotaProject string
	size                             int32
	content                          assetpb.ContentType
	asOf                             time.Time
	at                               time.Time
}

// page is an answer: what is on it, or an error.
type page struct {
	names []string
	next  string
	err   error
	hang  bool // nothing comes until the request is given up
}

func of(next string, names ...string) page { return page{names: names, next: next} }

// fake is Cloud Asset Inventory, and the search of Resource Manager, as they are told
// to be.
type fake struct {
	assetpb.UnimplementedAssetServiceServer
	answer   func(question) page
	projects http.HandlerFunc

	mu    sync.Mutex
	asked []question
}

func (f *fake) questions(rpc string) (list []question) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.asked {
		if rpc == "" || q.rpc == rpc {
			list = append(list, q)
		}
	}
	return list
}

func (f *fake) hear(ctx context.Context, q question) (page, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	q.quotaProject, q.at = strings.Join(md["x-goog-user-project"], ","), time.Now()
	f.mu.Lock()
	f.asked = append(f.asked, q)
	f.mu.Unlock()
	p := f.answer(q)
	if p.hang {
		<-ctx.Done()
		return p, ctx.Err()
	}
	return p, p.err
}

func (f *fake) ListAssets(ctx context.Context, r *assetpb.ListAssetsRequest) (*assetpb.ListAssetsResponse, error) {
	p, err := f.hear(ctx, question{rpc: "ListAssets", parent: r.GetParent(), token: r.GetPageToken(), size: r.GetPageSize(), content: r.GetContentType(), asOf: r.GetReadTime().AsTime()})
	if err != nil {
		return nil, err
	}
	answer := &assetpb.ListAssetsResponse{ReadTime: r.GetReadTime(), NextPageToken: p.next}
	for _, name := range p.names {
		a := &assetpb.Asset{Name: name, AssetType: "compute.googleapis.com/Instance", Ancestors: []string{"projects/77", "organizations/123"}, UpdateTime: timestamppb.New(time.Unix(1.7e9, 0))}
		if r.GetContentType() == assetpb.ContentType_IAM_POLICY {
			a.IamPolicy = policy()
		} else {
			a.Resource = &assetpb.Resource{Location: "us-central1-a", Data: properties()}
		}
		answer.Assets = append(answer.Assets, a)
	}
	return answer, nil
}

func (f *fake) SearchAllResources(ctx context.Context, r *assetpb.SearchAllResourcesRequest) (*assetpb.SearchAllResourcesResponse, error) {
	p, err := f.hear(ctx, question{rpc: "SearchAllResources", parent: r.GetScope(), token: r.GetPageToken(), size: r.GetPageSize()})
	if err != nil {
		return nil, err
	}
	answer := &assetpb.SearchAllResourcesResponse{NextPageToken: p.next}
	for _, name := range p.names {
		answer.Results = append(answer.Results, &assetpb.ResourceSearchResult{
			Name: name, AssetType: "compute.googleapis.com/Instance", Project: "projects/77", DisplayName: "Web 1", Location: "us-central1-a",
			Labels: map[string]string{"team": "web"}, State: "RUNNING", AdditionalAttributes: properties(),
		})
	}
	return answer, nil
}

func (f *fake) SearchAllIamPolicies(ctx context.Context, r *assetpb.SearchAllIamPoliciesRequest) (*assetpb.SearchAllIamPoliciesResponse, error) {
	p, err := f.hear(ctx, question{rpc: "SearchAllIamPolicies", parent: r.GetScope(), token: r.GetPageToken(), size: r.GetPageSize()})
	if err != nil {
		return nil, err
	}
	answer := &assetpb.SearchAllIamPoliciesResponse{NextPageToken: p.next}
	for _, name := range p.names {
		answer.Results = append(answer.Results, &assetpb.IamPolicySearchResult{Resource: name, AssetType: "compute.googleapis.com/Instance", Policy: policy()})
	}
	return answer, nil
}

// properties are those of an instance, with what people put there.
func properties() *structpb.Struct {
	return must(structpb.NewStruct(map[string]any{
		"machineType": "e2-small", "cpus": 2, "labels": map[string]any{"team": "web", "env": "test"},
		"metadata": map[string]any{"items": []any{map[string]any{"key": "startup-script", "value": "echo hunter2"}}},
	}))
}

func policy() *iampb.Policy {
	p := new(iampb.Policy)
	if err := protojson.Unmarshal([]byte(`{"bindings": [
		{"role": "roles/viewer", "members": ["user:a@example.com", "group:b@example.com"]},
		{"role": "roles/editor", "members": ["serviceAccount:c@example-1.iam.gserviceaccount.com"],
			"condition": {"title": "until May", "expression": "request.time < timestamp('2027-05-01T00:00:00Z')"}}]}`), p); err != nil {
		panic(err)
	}
	return p
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// fails is a page that is an error with details.
func fails(code codes.Code, message string, details ...protoadapt.MessageV1) page {
	st := status.New(code, message)
	if len(details) > 0 {
		st = must(st.WithDetails(details...))
	}
	return page{err: st.Err()}
}

// reason is an ErrorInfo.
func reason(why string, pairs ...string) protoadapt.MessageV1 {
	m := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return &errdetails.ErrorInfo{Reason: why, Domain: "googleapis.com", Metadata: m}
}

// whole answers everything with the same names, on one page.
func whole(names ...string) func(question) page {
	return func(question) page { return of("", names...) }
}

// serve answers on a socket of this machine, over gRPC and plain HTTP, and gives its
// URL.
func (f *fake) serve(t testing.TB) string {
	t.Helper()
	rpc := grpc.NewServer()
	assetpb.RegisterAssetServiceServer(rpc, f)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
			rpc.ServeHTTP(w, r)
		case f.projects != nil && r.URL.Path == "/v3/projects:search":
			w.Header().Set("Content-Type", "application/json")
			f.projects(w, r)
		default:
			http.NotFound(w, r)
		}
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

// governor is one that gives up at the first error and does not pace, so that tests
// of errors do not wait.
func governor(t testing.TB) *cloudpace.Governor {
	t.Helper()
	cfg := cloudpace.DefaultConfig()
	p := cfg.Provider(Provider)
	p.MaxRetries, p.MaxRPS, p.Burst = 0, 1e5, 1e5
	p.Services = make(map[string]cloudpace.Service)
	for _, rpc := range []string{"ListAssets", "SearchAllResources", "SearchAllIamPolicies"} { // each has a quota of its own
		p.Services["cloudasset."+rpc] = cloudpace.Service{MaxRPS: 1e5, Burst: 1e5}
	}
	cfg.Providers = map[string]cloudpace.Provider{Provider: p}
	return must(cloudpace.New(cfg))
}

// open opens what the fake has: the parents, or what it finds.
func (f *fake) open(t testing.TB, parents ...string) *Estate {
	t.Helper()
	e, err := Open(t.Context(), Options{Parents: parents, Endpoint: f.serve(t), QuotaProject: "quota-1", Governor: governor(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// result is what a run came to.
type result struct {
	records []inventory.Record
	assets  []inventory.Asset
	edges   []inventory.Edge
	doc     inventory.Document
}

// run runs the tasks of some families, or of all.
func run(t testing.TB, e *Estate, families ...string) result {
	t.Helper()
	return runWith(t.Context(), t, e, inventory.Options{}, families...)
}

func runWith(ctx context.Context, t testing.TB, e *Estate, o inventory.Options, families ...string) (r result) {
	t.Helper()
	dir := t.TempDir()
	o.Sink, o.Governor = inventory.NewSink(dir), e.governor
	tasks := e.Tasks(func(k inventory.Kind) bool { return len(families) == 0 || slices.Contains(families, k.Family) })
	records, err := inventory.Run(ctx, tasks, o)
	if err != nil {
		t.Fatal(err)
	}
	r.records, r.assets, r.edges = records, lines[inventory.Asset](t, dir, inventory.AssetsFile), lines[inventory.Edge](t, dir, inventory.EdgesFile)
	r.doc = inventory.NewDocument(inventory.Summary{}, records, o.Sink, nil, context.Cause(ctx))
	for _, rec := range records {
		text, _ := json.Marshal(rec)
		t.Logf("%s", text)
	}
	return r
}

func lines[T any](t testing.TB, dir, name string) (list []T) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var v T
		if err := json.Unmarshal(scanner.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// tasks are the records in short: "gcp_list_assets SUCCESS".
func (r result) tasks() (list []string) {
	for _, rec := range r.records {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", rec.Task, rec.Status, rec.Reason)))
	}
	return list
}

func names(prefix string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("//compute.googleapis.com/projects/example-1/zones/us-central1-a/instances/%s-%d", prefix, i))
	}
	return list
}
