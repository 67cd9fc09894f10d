package azure_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// A tenant in the same process: three subscriptions, of which one is disabled, and
// a neighbour with the same principal in another.
func Example() {
	front := azure.New(azure.WithDisabled("00000000-0000-0000-0000-000000000003"))
	profile := sim.Default(front)
	profile.Estate = sim.EstateConfig{Accounts: front.ExampleAccounts(3), Regions: []string{"eastus", "westeurope"}, Assets: 5000}
	profile.Neighbours = []sim.Neighbour{{
		Match: sim.Match{Account: sim.Patterns{"00000000-0000-0000-0000-000000000001"}, Class: sim.Patterns{"read"}},
		Layer: sim.Patterns{"Subscription"}, Rate: 12,
	}}
	server, err := sim.New(front, profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	memory := sim.NewMemory()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx, memory) }()
	transport := &http.Transport{DialContext: memory.Dial} // policy.ClientOptions takes a client with it

	for _, path := range []string{"/subscriptions", "/subscriptions/00000000-0000-0000-0000-000000000002/providers/Microsoft.Storage/storageAccounts"} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://sim"+path+"?api-version=2024-01-01", http.NoBody)
		if err != nil {
			fmt.Println(err)
			break
		}
		r.Header.Set("Authorization", "Bearer "+azure.Token)
		response, err := transport.RoundTrip(r)
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Printf("%s tenant %q subscription %q\n", response.Status, response.Header.Get("x-ms-ratelimit-remaining-tenant-reads"), response.Header.Get("x-ms-ratelimit-remaining-subscription-reads"))
		response.Body.Close()
	}
	transport.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		fmt.Println(err)
	}
	// Output:
	// 200 OK tenant "249" subscription ""
	// 200 OK tenant "" subscription "249"
}
