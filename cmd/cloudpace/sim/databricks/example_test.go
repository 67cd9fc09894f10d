package databricks_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/databricks"
)

// A client that sends an INSERT again because it lost the answer. The workspace
// knows better.
func Example() {
	front := databricks.New()
	profile := sim.Default(front)
	profile.Warehouse = sim.Warehouse{Polls: 1, Rows: 100, PageRows: 50}
	profile.Faults = []sim.Fault{{
		Kind: sim.Close, At: new(0), First: 1, // carried out, and no byte of the answer comes
		Match: sim.Match{Operation: sim.Patterns{"ExecuteStatement", "POST " + databricks.StatementsPath}},
	}}
	server, err := sim.New(front, profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	memory := sim.NewMemory() // a listener on loopback would do as well
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx, memory) }()
	client := &http.Client{Transport: &http.Transport{DialContext: memory.Dial}}

	const statement = "INSERT INTO t VALUES (1)"
	for range 2 {
		// A reader of no known kind, which net/http cannot send again by itself.
		body := io.MultiReader(strings.NewReader(`{"warehouse_id": "abc", "wait_timeout": "0s", "statement": "` + statement + `"}`))
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim"+databricks.StatementsPath, body)
		if err != nil {
			fmt.Println(err)
			return
		}
		response, err := client.Do(r)
		if err != nil {
			fmt.Println("no answer")
			continue
		}
		fmt.Println(response.Status)
		response.Body.Close()
	}
	fmt.Println("executions:", front.Executions()[statement])

	client.CloseIdleConnections()
	stop()
	if err := <-ended; err != nil {
		fmt.Println(err)
	}
	// Output:
	// no answer
	// 200 OK
	// executions: 2
}
