package macro_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/bench/macro"
	"github.com/cloudpace/cloudpace/internal/scenario"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestTables compares with a golden file: two scenarios, one of them with a neighbour;
// some who are better than ours in one thing and some in nothing, one that was stopped,
// one that ran once, and one that has no result.
func TestTables(t *testing.T) {
	scenarios := []scenario.Scenario{
		{ID: "A", Name: "quiet", Calls: 4000, IdealS: 100},
		{ID: "B", Name: "a neighbour", Calls: 4000, IdealS: 200, NeighbourRPS: 10},
	}
	tables := macro.NewTables(scenarios, []macro.Contender{
		{Name: "ours", Ours: true, Clients: 1},
		{Name: "ours, 40", Ours: true, Clients: 40},
		{Name: "sooner", Clients: 1},
		{Name: "politer, 40", Clients: 40},
		{Name: "stopped", Clients: 1},
		{Name: "absent", Clients: 1},
	})
	add := func(contender int, r macro.Result, ratios ...float64) {
		for i, s := range scenarios {
			if s.NeighbourRPS > 0 {
				r.Neighbour, r.Refused = 1000, 10*(4-contender)
			}
			for _, ratio := range ratios {
				r.Active = time.Duration(ratio * s.IdealS * float64(time.Second))
				tables.Add(i, contender, r)
			}
		}
	}
	add(0, macro.Result{Done: 4000, Accepted: 4000, Throttled: 40, Lost: 1}, 1.01, 1.03, 1.02)
	add(1, macro.Result{Done: 4000, Accepted: 4000, Throttled: 4000}, 1.2, 1.4)
	add(2, macro.Result{Done: 4000, Accepted: 4000, Throttled: 396000, Lost: 1234567}, 1)
	add(3, macro.Result{Done: 4000, Accepted: 4000}, 1.5, 1.5, 1.5)
	add(4, macro.Result{Done: 104, Accepted: 104, Throttled: 10}, 9, 10)

	var b strings.Builder
	tables.Write(&b)
	const golden = "testdata/tables.md"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got:\n%s", b.String())
	}
}
