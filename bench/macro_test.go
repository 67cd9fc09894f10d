package bench

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/bench/macro"
	"github.com/cloudpace/cloudpace/bench/macro/awssdk"
	"github.com/cloudpace/cloudpace/bench/macro/azcore"
	"github.com/cloudpace/cloudpace/bench/macro/gax"
	"github.com/cloudpace/cloudpace/bench/macro/pacers"
	"github.com/cloudpace/cloudpace/internal/scenario"
)

var (
	all = flag.Bool("macro.all", false, "run every scenario in full, with five seeds, and print the tables")
	out = flag.String("macro.out", "", "write the tables to this `file` too")
)

// contenders are the rows of the tables.
func contenders() []macro.Contender {
	aimd := pacers.Cloudpace(func(*cloudpace.Provider) {})
	learn := pacers.Cloudpace(func(p *cloudpace.Provider) {
		p.Controller, p.Ceiling = cloudpace.ControllerLearn, cloudpace.CeilingSoft
	})
	return []macro.Contender{
		{Name: "cloudpace, `aimd`", Ours: true, Clients: 1, New: aimd},
		{Name: "cloudpace, `learn`", Ours: true, Clients: 1, New: learn},
		{Name: "cloudpace, `learn`, 40 governors apart", Ours: true, Clients: 40, New: learn},
		{Name: "cloudpace, `aimd`, 40 governors apart", Ours: true, Clients: 40, New: aimd},
		{Name: "AWS SDK, standard, 11 attempts", Clients: 1, New: awssdk.Standard(11), Slow: true},
		{Name: "AWS SDK, adaptive, 11 attempts", Clients: 1, New: awssdk.Adaptive(11)},
		{Name: "AWS SDK, adaptive, 40 clients", Clients: 40, New: awssdk.Adaptive(11)},
		{Name: "azcore", Clients: 1, New: azcore.New},
		{Name: "gax", Clients: 1, New: gax.New},
		{Name: "x/time/rate, retry loop", Clients: 1, New: pacers.Rate},
		{Name: "failsafe-go", Clients: 1, New: pacers.Failsafe},
		{Name: "sentinel-golang, retry loop", Clients: 1, New: pacers.Sentinel},
	}
}

// seeds are those of a contender; runs of one that is slow differ by less than what is
// printed.
func seeds(c macro.Contender) int {
	if c.Slow {
		return 1
	}
	return 5
}

func run(t *testing.T, s scenario.Scenario, seed uint64, c macro.Contender) (r macro.Result) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = macro.Run(t.Context(), s, seed, c); err != nil {
			t.Fatal(err)
		}
	})
	return r
}

// TestMacro runs every contender through every scenario, where it is asked for
// everything (-macro.all); else through a tenth of two of them. What it judges is the
// accounting: that calls succeed as often as the server accepted one, and no sooner than
// the server allows.
func TestMacro(t *testing.T) {
	if *all {
		tables := macro.NewTables(scenario.Shipped(), contenders())
		t.Run("all", func(t *testing.T) { everything(t, tables) })
		var text strings.Builder
		tables.Write(&text)
		fmt.Print(text.String())
		if *out != "" {
			if err := os.WriteFile(*out, []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	for _, s := range scenario.Shipped() {
		if s.ID != "D" && s.ID != "F" {
			continue
		}
		s.Calls, s.IdealS = s.Calls/10, s.IdealS/10
		for _, c := range contenders() {
			if c.Slow && s.ID != "D" {
				continue
			}
			t.Run(s.ID+"/"+c.Name, func(t *testing.T) {
				r := run(t, s, 1, c)
				if !r.Finished(s) {
					t.Fatalf("%d of %d calls done in %s", r.Done, s.Calls, r.Active)
				}
				judge(t, s, r)
				if c.Ours && r.Lost > 0 {
					t.Errorf("%d calls given up", r.Lost)
				}
			})
		}
	}
}

func everything(t *testing.T, tables *macro.Tables) {
	var mu sync.Mutex
	for i, s := range scenario.Shipped() {
		for j, c := range contenders() {
			for seed := range seeds(c) {
				t.Run(fmt.Sprintf("%s/%s/%d", s.ID, c.Name, seed+1), func(t *testing.T) {
					t.Parallel()
					r := run(t, s, uint64(seed)+1, c)
					judge(t, s, r)
					mu.Lock()
					defer mu.Unlock()
					tables.Add(i, j, r)
				})
			}
		}
	}
}

// judge holds a result to what the server counted and to what is possible.
func judge(t *testing.T, s scenario.Scenario, r macro.Result) {
	t.Helper()
	// Of a run that was stopped, each worker may have had one under way.
	if under := r.Accepted - r.Done; under < 0 || under > s.Workers || r.Finished(s) && under != 0 {
		t.Errorf("%d calls succeeded, and the server accepted %d", r.Done, r.Accepted)
	}
	bursts := 1.0
	if s.BurstCalls > 0 {
		bursts = float64(s.Calls) / float64(s.BurstCalls)
	}
	if least := (float64(r.Done) - bursts*s.Server.Burst) / s.Server.Refill; r.Active.Seconds() < least {
		t.Errorf("%d calls in %s; the server's quota takes %.1f s", r.Done, r.Active, least)
	}
	if r.Refused > r.Neighbour || s.NeighbourRPS > 0 && r.Neighbour == 0 {
		t.Errorf("%d of the neighbour's %d calls throttled", r.Refused, r.Neighbour)
	}
}
