package pacegcp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/api/cloudresourcemanager/v3"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacegcp"
)

// example is a Cloud Asset Inventory in the same process, which gives two pages and
// throttles the second at first.
func example() (options []option.ClientOption, stop func()) {
	f := script(page("2", "one", "two"), throttled(retryIn(100*time.Millisecond)), page("", "three"))
	l := bufconn.Listen(1 << 20)
	server := grpc.NewServer()
	assetpb.RegisterAssetServiceServer(server, f)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	return []option.ClientOption{
		option.WithEndpoint("passthrough:///example"),
		option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
		option.WithGRPCDialOption(grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) })),
	}, func() { server.Stop(); <-done }
}

func newGovernor() *cloudpace.Governor {
	g, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		panic(err)
	}
	return g
}

func ExampleClientOptions() {
	base, stop := example()
	defer stop()
	governor := newGovernor()

	// In a program there is no base, and the default governor does.
	ctx := context.Background()
	client, err := asset.NewClient(ctx, append(base, pacegcp.ClientOptions(pacegcp.WithGovernor(governor))...)...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	it := client.ListAssets(ctx, &assetpb.ListAssetsRequest{Parent: "projects/example-1"})
	a, err := it.Next() // the SDK's own iterator, one page of it
	fmt.Println(a.GetName(), err)
	fmt.Println(governor.Summary(nil).Totals.Calls, "call")
	// Output:
	// one <nil>
	// 1 call
}

func ExampleListAssets() {
	base, stop := example()
	defer stop()
	governor := newGovernor()
	ctx := context.Background()
	client, err := asset.NewClient(ctx, base...) // governed or not: the listing paces it
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	req := &assetpb.ListAssetsRequest{Parent: "organizations/123456789012"}
	for a, err := range pacegcp.ListAssets(ctx, client, req, pacegcp.WithQuotaProject("example-1"), pacegcp.WithGovernor(governor)) {
		var early *pacegcp.ListingError
		if errors.As(err, &early) {
			fmt.Println("not all:", early, "- go on from", early.PageToken)
			break
		}
		fmt.Println(a.GetName())
	}
	for _, line := range governor.Summary(nil).Messages {
		fmt.Println(line)
	}
	// Output:
	// one
	// two
	// three
	// gcp/organizations/123456789012/*/cloudasset: throttled 1x, slowed to 0.75 rps, 1 retry
}

func ExampleSearchAllResources() {
	base, stop := example()
	defer stop()
	ctx := context.Background()
	client, err := asset.NewClient(ctx, base...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	req := &assetpb.SearchAllResourcesRequest{Scope: "folders/42", Query: "state:ACTIVE"}
	for r, err := range pacegcp.SearchAllResources(ctx, client, req, pacegcp.WithGovernor(newGovernor())) {
		fmt.Println(r.GetName(), err)
	}
	// Output:
	// one <nil>
	// two <nil>
	// three <nil>
}

func ExampleSearchAllIamPolicies() {
	base, stop := example()
	defer stop()
	ctx := context.Background()
	client, err := asset.NewClient(ctx, base...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	req := &assetpb.SearchAllIamPoliciesRequest{Scope: "folders/42"}
	n := 0
	for _, err := range pacegcp.SearchAllIamPolicies(ctx, client, req, pacegcp.WithGovernor(newGovernor())) {
		if err == nil {
			n++
		}
	}
	fmt.Println(n, "policies")
	// Output: 3 policies
}

func ExampleNewTransport() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"name":"projects/415104041262","projectId":"example-1"}`)
	}))
	defer server.Close()

	// In a program the base transport is one that logs in, such as the oauth2 package's.
	transport := pacegcp.NewTransport(server.Client().Transport, pacegcp.WithGovernor(newGovernor()))
	service, err := cloudresourcemanager.NewService(context.Background(),
		option.WithHTTPClient(&http.Client{Transport: transport}), option.WithEndpoint(server.URL))
	if err != nil {
		fmt.Println(err)
		return
	}
	project, err := service.Projects.Get("projects/example-1").Do()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(project.ProjectId)
	// Output: example-1
}
