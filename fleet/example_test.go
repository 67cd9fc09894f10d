package fleet_test

import (
	"context"
	"fmt"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
)

// Governors in one program share through memory.
func ExampleNewMemory() {
	ctx := context.Background()
	store := fleet.NewMemory()
	defer store.Close()
	for _, name := range []string{"first", "second"} {
		n, err := store.Present(ctx, fleet.Member{ID: name, Name: name, Started: time.Now()}, time.Minute)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n, "present")
	}
	// Output:
	// 1 present
	// 2 present
}
