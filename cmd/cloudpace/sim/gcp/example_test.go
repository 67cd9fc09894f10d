package gcp_test

import (
	"context"
	"fmt"
	"net"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
)

// An organization with three projects, on a network inside the process, that the
// SDK's client reads.
func Example() {
	front := gcp.New()
	profile := sim.Default(front)
	profile.Estate = sim.EstateConfig{Accounts: front.ExampleAccounts(3), Regions: []string{"us-central1"}, Assets: 500}
	server, err := sim.New(front, profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	memory := sim.NewMemory()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx, memory) }()

	client, err := asset.NewClient(ctx, option.WithEndpoint("passthrough:///simulated"), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())),
		option.WithGRPCDialOption(grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) { return memory.Dial(ctx, "tcp", addr) })))
	if err != nil {
		fmt.Println(err)
		return
	}
	found := 0
	for _, err := range client.ListAssets(ctx, &assetpb.ListAssetsRequest{Parent: gcp.Organization, PageSize: 1000}).All() {
		if err != nil {
			fmt.Println(err)
			break
		}
		found++
	}
	all := 0
	for range gcp.Assets(server.Estate(), gcp.Organization) {
		all++
	}
	fmt.Println(found, "of", all)
	_ = client.Close()
	stop()
	if err := <-ended; err != nil {
		fmt.Println(err)
	}
	// Output:
	// 506 of 506
}
