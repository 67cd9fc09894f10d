package fleet_test

import (
	"context"
	"fmt"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet"
)

// Two governors, as two processes have them, on one bucket.
func ExampleJoin() {
	ctx := context.Background()
	store := fleet.NewMemory() // redisstore.Open, where they are in processes of their own
	config := cloudpace.DefaultConfig()
	config.Providers["example"] = cloudpace.DefaultProvider()
	scope := cloudpace.Scope{Provider: "example", Service: "things"}

	for _, name := range []string{"one", "two"} {
		governor, err := cloudpace.New(config)
		if err != nil {
			fmt.Println(err)
			return
		}
		member, err := fleet.Join(ctx, governor, store, fleet.Options{Name: name})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer member.Close()
		err = cloudpace.Do(ctx, scope, func(context.Context) error { return nil }, cloudpace.WithGovernor(governor))
		fmt.Println(name, "called:", err)
	}
	status, err := store.Status(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range status.Buckets {
		fmt.Println(b.Key, b.MaxRPS, "a second for all")
	}
	// Output:
	// one called: <nil>
	// two called: <nil>
	// example/*/*/things leaf 20 a second for all
}
