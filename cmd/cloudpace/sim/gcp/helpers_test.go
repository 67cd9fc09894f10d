package gcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"
	"github.com/googleapis/gax-go/v2"
	"go.uber.org/goleak"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	first  = "projects/example-1"
	second = "projects/example-2"
)

// small is a profile with three projects and no quotas.
func small(front *gcp.Front) sim.Profile {
	p := sim.Default(front)
	p.Quotas = nil
	p.Estate = sim.EstateConfig{Accounts: front.ExampleAccounts(3), Regions: []string{"us-central1", "europe-west1"}, Assets: 1500}
	return p
}

// organization is a server on a socket, with what asks it.
type organization struct {
	t      *testing.T
	server *sim.Server
	addr   string
	http   *http.Client
	dial   []option.ClientOption
}

// start serves until the test ends.
func start(t *testing.T, p sim.Profile) *organization {
	t.Helper()
	server, err := sim.New(gcp.New(), p)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, l) }()
	transport := new(http.Transport)
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &organization{t: t, server: server, addr: l.Addr().String(), http: &http.Client{Transport: transport}}
}

// inBubble serves in memory and in virtual time.
func inBubble(t *testing.T, p sim.Profile, test func(*testing.T, *organization)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, err := sim.New(gcp.New(), p)
		if err != nil {
			t.Fatal(err)
		}
		memory := sim.NewMemory()
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(ctx, memory) }()
		t.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		test(t, &organization{t: t, server: server, addr: "passthrough:///sim", dial: []option.ClientOption{
			option.WithGRPCDialOption(grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return memory.Dial(ctx, "tcp", addr) })),
		}})
	})
}

// startWith has faults, and otherwise nothing that is in the way.
func startWith(t *testing.T, faults ...sim.Fault) *organization {
	t.Helper()
	p := small(gcp.New())
	p.Faults = faults
	return start(t, p)
}

// client speaks gRPC, and repeats nothing.
func (o *organization) client(opts ...option.ClientOption) *asset.Client {
	o.t.Helper()
	c, err := asset.NewClient(o.t.Context(), append([]option.ClientOption{
		option.WithEndpoint(o.addr), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
	}, append(o.dial, opts...)...)...)
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = c.Close() })
	for _, options := range []*[]gax.CallOption{&c.CallOptions.ListAssets, &c.CallOptions.SearchAllResources, &c.CallOptions.SearchAllIamPolicies} {
		*options = nil
	}
	return c
}

// paidBy names the quota project, as the SDK does beside credentials.
func paidBy(project string) option.ClientOption {
	return option.WithGRPCDialOption(grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		return invoke(metadata.AppendToOutgoingContext(ctx, "x-goog-user-project", project), method, req, reply, cc, opts...)
	}))
}

// restClient speaks REST, and repeats nothing.
func (o *organization) restClient() *asset.Client {
	o.t.Helper()
	c, err := asset.NewRESTClient(o.t.Context(), option.WithEndpoint("http://"+o.addr), option.WithHTTPClient(o.http))
	if err != nil {
		o.t.Fatal(err)
	}
	for _, options := range []*[]gax.CallOption{&c.CallOptions.ListAssets, &c.CallOptions.SearchAllResources, &c.CallOptions.SearchAllIamPolicies} {
		*options = nil
	}
	return c
}

// clients are one of each, gRPC first: tests reset the server in between.
func (o *organization) clients() iter.Seq2[string, *asset.Client] {
	return func(yield func(string, *asset.Client) bool) {
		_ = yield("grpc", o.client()) && yield("rest", o.restClient())
	}
}

// list reads a whole listing.
func list(ctx context.Context, c *asset.Client, req *assetpb.ListAssetsRequest) (all []*assetpb.Asset, err error) {
	it := c.ListAssets(ctx, req)
	for {
		a, err := it.Next()
		if errors.Is(err, iterator.Done) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, a)
	}
}

// once asks for one page.
func once(ctx context.Context, c *asset.Client, req *assetpb.ListAssetsRequest) ([]*assetpb.Asset, string, error) {
	return c.ListAssets(ctx, req).InternalFetch(int(req.GetPageSize()), req.GetPageToken())
}

// detail finds a detail of a kind in an error over gRPC.
func detail[M proto.Message](err error) (found M) {
	for _, d := range status.Convert(err).Details() {
		if m, ok := d.(M); ok {
			return m
		}
	}
	return found
}

func reason(err error) string { return detail[*errdetails.ErrorInfo](err).GetReason() }

// get asks over REST.
func (o *organization) get(path string, header ...string) (code int, body map[string]any) {
	o.t.Helper()
	r, err := http.NewRequestWithContext(o.t.Context(), http.MethodGet, "http://"+o.addr+path, http.NoBody)
	if err != nil {
		o.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := o.http.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &body); err != nil {
		o.t.Fatalf("%s: %v in %s", path, err, text)
	}
	return response.StatusCode, body
}
