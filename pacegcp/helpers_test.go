package pacegcp_test

import (
	"context"
	"io"
	"log"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"
	"go.uber.org/goleak"
	"google.golang.org/api/option"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacegcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	parent     = "projects/example-1"
	listScope  = "gcp/projects/example-1/*/cloudasset"
	quota      = "quota-1"
	listAssets = "ListAssets"
)

// reply is one thing the fake service does: a page, an error, or nothing until the
// request is given up.
type reply struct {
	items  []string
	next   string
	err    error
	hang   bool
	header bool // sends headers before anything else
	after  time.Duration
	trail  metadata.MD
}

func page(next string, items ...string) reply { return reply{items: items, next: next} }

func fails(code codes.Code, details ...protoadapt.MessageV1) reply {
	st := status.New(code, "no")
	if len(details) > 0 {
		with, err := st.WithDetails(details...)
		if err != nil {
			panic(err)
		}
		st = with
	}
	return reply{err: st.Err()}
}

func throttled(details ...protoadapt.MessageV1) reply {
	return fails(codes.ResourceExhausted, details...)
}

func retryIn(d time.Duration) protoadapt.MessageV1 {
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(d)}
}

func info(reason string, pairs ...string) protoadapt.MessageV1 {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return &errdetails.ErrorInfo{Reason: reason, Domain: "googleapis.com", Metadata: m}
}

// arrival is a request as the fake service saw it.
type arrival struct {
	at            time.Duration
	rpc           string
	parent, token string
	size          int32
	metadata      metadata.MD
	remaining     time.Duration // of its deadline
}

// fake is Cloud Asset Inventory as it is told to be.
type fake struct {
	assetpb.UnimplementedAssetServiceServer
	start  time.Time
	handle func(n int, a arrival) reply // n counts from 1

	forget bool // what came

	mu   sync.Mutex
	seen []arrival
}

func newFake(handle func(n int, a arrival) reply) *fake {
	return &fake{start: time.Now(), handle: handle}
}

// script answers one after the other, and the last for ever.
func script(replies ...reply) *fake {
	return newFake(func(n int, _ arrival) reply { return replies[min(n, len(replies))-1] })
}

func (f *fake) arrivals() []arrival {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]arrival(nil), f.seen...)
}

// times are when requests came, counted from the fake's beginning.
func (f *fake) times() []time.Duration {
	var out []time.Duration
	for _, a := range f.arrivals() {
		out = append(out, a.at)
	}
	return out
}

func (f *fake) answer(ctx context.Context, a arrival) (reply, error) {
	if f.forget {
		return f.handle(0, a), nil
	}
	a.metadata, _ = metadata.FromIncomingContext(ctx)
	if d, ok := ctx.Deadline(); ok {
		a.remaining = time.Until(d)
	}
	f.mu.Lock()
	a.at = time.Since(f.start)
	f.seen = append(f.seen, a)
	n := len(f.seen)
	f.mu.Unlock()
	r := f.handle(n, a)
	if r.header {
		_ = grpc.SendHeader(ctx, metadata.Pairs("x-server", "fake"))
	}
	if r.trail != nil {
		_ = grpc.SetTrailer(ctx, r.trail)
	}
	if r.hang {
		<-ctx.Done()
		return r, ctx.Err()
	}
	if r.after > 0 {
		time.Sleep(r.after)
	}
	return r, r.err
}

func (f *fake) ListAssets(ctx context.Context, req *assetpb.ListAssetsRequest) (*assetpb.ListAssetsResponse, error) {
	r, err := f.answer(ctx, arrival{rpc: listAssets, parent: req.GetParent(), token: req.GetPageToken(), size: req.GetPageSize()})
	if err != nil {
		return nil, err
	}
	resp := &assetpb.ListAssetsResponse{NextPageToken: r.next}
	for _, name := range r.items {
		resp.Assets = append(resp.Assets, &assetpb.Asset{Name: name})
	}
	return resp, nil
}

func (f *fake) SearchAllResources(ctx context.Context, req *assetpb.SearchAllResourcesRequest) (*assetpb.SearchAllResourcesResponse, error) {
	r, err := f.answer(ctx, arrival{rpc: "SearchAllResources", parent: req.GetScope(), token: req.GetPageToken()})
	if err != nil {
		return nil, err
	}
	resp := &assetpb.SearchAllResourcesResponse{NextPageToken: r.next}
	for _, name := range r.items {
		resp.Results = append(resp.Results, &assetpb.ResourceSearchResult{Name: name})
	}
	return resp, nil
}

func (f *fake) SearchAllIamPolicies(ctx context.Context, req *assetpb.SearchAllIamPoliciesRequest) (*assetpb.SearchAllIamPoliciesResponse, error) {
	r, err := f.answer(ctx, arrival{rpc: "SearchAllIamPolicies", parent: req.GetScope(), token: req.GetPageToken()})
	if err != nil {
		return nil, err
	}
	resp := &assetpb.SearchAllIamPoliciesResponse{NextPageToken: r.next}
	for _, name := range r.items {
		resp.Results = append(resp.Results, &assetpb.IamPolicySearchResult{Resource: name})
	}
	return resp, nil
}

func (f *fake) GetFeed(ctx context.Context, req *assetpb.GetFeedRequest) (*assetpb.Feed, error) {
	_, err := f.answer(ctx, arrival{rpc: "GetFeed", parent: req.GetName()})
	return &assetpb.Feed{Name: req.GetName()}, err
}

func (f *fake) CreateFeed(ctx context.Context, req *assetpb.CreateFeedRequest) (*assetpb.Feed, error) {
	_, err := f.answer(ctx, arrival{rpc: "CreateFeed", parent: req.GetParent()})
	return &assetpb.Feed{Name: req.GetFeedId()}, err
}

// endpoint is where a fake is served.
type endpoint struct {
	server  *grpc.Server
	options []option.ClientOption
	dial    func(context.Context, string) (net.Conn, error)
	refuse  atomic.Int32 // so many connections are refused

	mu    sync.Mutex
	conns []net.Conn
}

// cut closes the clients' connections.
func (e *endpoint) cut() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.conns {
		_ = c.Close()
	}
	e.conns = nil
}

// connect dials for the clients.
func (e *endpoint) connect(ctx context.Context, addr string) (net.Conn, error) {
	if e.refuse.Add(-1) >= 0 {
		return nil, syscall.ECONNREFUSED
	}
	c, err := e.dial(ctx, addr)
	if err == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.conns = append(e.conns, c)
	}
	return c, err
}

// serve answers on a listener until the test, or the bubble, is over.
func serve(t testing.TB, f *fake, l net.Listener, dial func(context.Context, string) (net.Conn, error)) *endpoint {
	e := &endpoint{server: grpc.NewServer(), dial: dial}
	assetpb.RegisterAssetServiceServer(e.server, f)
	e.server.RegisterService(&watchDesc, f)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = e.server.Serve(l)
	}()
	t.Cleanup(func() {
		e.server.Stop()
		<-done
	})
	e.options = plainOptions("passthrough:///"+l.Addr().String(), e)
	return e
}

// plainOptions are those of a client without login, that dials as e says.
func plainOptions(target string, e *endpoint) []option.ClientOption {
	return []option.ClientOption{
		option.WithEndpoint(target),
		option.WithoutAuthentication(),
		option.WithTelemetryDisabled(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
		option.WithGRPCDialOption(grpc.WithContextDialer(e.connect)),
	}
}

// inMemory serves a fake without a network, as a bubble needs it.
func inMemory(t testing.TB, f *fake) *endpoint {
	l := bufconn.Listen(1 << 20)
	return serve(t, f, l, func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) })
}

// loopback serves a fake on a real socket.
func loopback(t testing.TB, f *fake) *endpoint {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, f, l, func(ctx context.Context, addr string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	})
}

// client is a client of the SDK's, made with more options.
func (e *endpoint) client(t testing.TB, more ...option.ClientOption) *asset.Client {
	t.Helper()
	c, err := asset.NewClient(context.Background(), append(append([]option.ClientOption(nil), e.options...), more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (e *endpoint) governed(t testing.TB, g *cloudpace.Governor, more ...pacegcp.Option) *asset.Client {
	t.Helper()
	return e.client(t, pacegcp.ClientOptions(append([]pacegcp.Option{pacegcp.WithGovernor(g)}, more...)...)...)
}

// governor is one of its own for a test, with Google's settings changed.
func governor(t testing.TB, change ...func(*cloudpace.Provider)) *cloudpace.Governor {
	t.Helper()
	cfg := cloudpace.DefaultConfig()
	p := cfg.Providers["gcp"]
	for _, c := range change {
		c(&p)
	}
	cfg.Providers["gcp"] = p
	g, err := cloudpace.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// unpaced has no rate to wait for.
func unpaced(p *cloudpace.Provider) {
	p.MaxRPS, p.Burst, p.Services = 1e9, 1e9, nil
}

// collect reads a listing to its end.
func collect[T interface{ GetName() string }](seq func(func(T, error) bool)) (names []string, err error) {
	for item, e := range seq {
		if e != nil {
			err = e
			continue
		}
		names = append(names, item.GetName())
	}
	return names, err
}

func list(ctx context.Context, c *asset.Client, g *cloudpace.Governor, opts ...pacegcp.Option) ([]string, error) {
	req := &assetpb.ListAssetsRequest{Parent: parent}
	return collect(pacegcp.ListAssets(ctx, c, req, append([]pacegcp.Option{pacegcp.WithGovernor(g)}, opts...)...))
}

// numbers are those of one scope.
func numbers(t testing.TB, g *cloudpace.Governor, scope string) cloudpace.ScopeSummary {
	t.Helper()
	for _, s := range g.Summary(nil).Scopes {
		if s.Scope == scope {
			return s
		}
	}
	t.Fatalf("no numbers of %s in %+v", scope, g.Summary(nil).Scopes)
	return cloudpace.ScopeSummary{}
}

func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// quiet is for servers whose complaints are what a test wants.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

func names(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = prefix + strconv.Itoa(i)
	}
	return out
}
