package fleet_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/internal/scenario"
	"github.com/cloudpace/cloudpace/verdict"
)

// modelled is a modelled server that answers functions.
type modelled struct{ scenario.Live }

func (s *modelled) call(context.Context) error {
	a := s.Answer()
	if a.OK {
		return nil
	}
	e := &verdict.ResponseError{Provider: "aws", StatusCode: 400, Code: "ThrottlingException", Header: http.Header{}}
	if a.RetryAfter > 0 {
		e.Header.Set("Retry-After", strconv.Itoa(int(a.RetryAfter.Seconds())))
	}
	return e
}

// run does a scenario's work by processes that share a store in memory, and gives the
// time it took, idle gaps left out, and how many calls each made.
func run(t *testing.T, spec scenario.Scenario, server *modelled, processes int) (active time.Duration, shares []int) {
	t.Helper()
	store := fleet.NewMemory()
	var governors []*cloudpace.Governor
	for range processes {
		g := governed(t, func(c *cloudpace.Config) {
			p := c.Providers["aws"]
			p.Services = nil
			p.MaxRPS, p.Burst, p.Controller, p.Ceiling = spec.Client.Rate, spec.Client.Burst, cloudpace.ControllerLearn, cloudpace.CeilingSoft
			c.Providers["aws"] = p
		})
		joined(t, store, g)
		governors = append(governors, g)
	}
	shares = make([]int, processes)
	var mu sync.Mutex
	active = spec.Do(func(worker int) {
		i := worker % processes
		if err := cloudpace.Do(t.Context(), ec2, server.call, cloudpace.WithGovernor(governors[i])); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		shares[i]++
	})
	return active, shares
}

// What the controller is held to by one process (see the table in internal/scenario), and
// by how much processes that share may miss it.
var table = map[string]struct{ time, throttled, neighbour float64 }{
	"A": {1.01, 0.5, 0}, "B": {1.02, 1.3, 2.5}, "C": {1.01, 1.2, 0}, "D": {1.06, 0.5, 0}, "E": {1.01, 1.2, 0},
	"F": {1.02, 1.3, 2.5}, "G": {1.04, 1, 5}, "H": {1.10, 0.5, 0}, "I": {1.13, 1.5, 0}, "K": {1.015, 1.5, 0},
}

var missTime, missThrottled, seeds = 0.02, 0.5, 5

func init() {
	if raced {
		missTime, missThrottled, seeds = 0.05, 1.5, 1 // one run, no median
	}
}

// Four processes learn one quota together, as well as one does, and get the same of it.
func TestLearnShared(t *testing.T) {
	for _, spec := range scenario.Shipped() {
		var times, throttled, neighbour []float64
		if raced && !slices.Contains([]string{"A", "D", "H"}, spec.ID) {
			continue
		}
		for seed := range uint64(seeds) {
			synctest.Test(t, func(t *testing.T) {
				s := &modelled{scenario.Live{Model: scenario.NewModel(spec, time.Now(), seed+1)}}
				took, shares := run(t, spec, s, 4)
				times = append(times, took.Seconds()/spec.IdealS)
				throttled = append(throttled, 100*float64(s.Throttled)/float64(s.Accepted+s.Throttled))
				neighbour = append(neighbour, 100*float64(s.Refused)/float64(max(1, s.Neighbour)))
				if fair := spec.Calls / 4; slices.Min(shares) < fair*7/10 || slices.Max(shares) > fair*13/10 {
					t.Errorf("%s, seed %d: shares %v", spec.ID, seed+1, shares)
				}
			})
		}
		for _, list := range [][]float64{times, throttled, neighbour} {
			slices.Sort(list)
		}
		t.Logf("%s: %.3f of the ideal time, throttled %.2f %%, neighbour %.2f %%", spec.ID, times[seeds/2], throttled[seeds/2], neighbour[seeds/2])
		if want := table[spec.ID]; times[seeds/2] > want.time+missTime || throttled[seeds/2] > want.throttled+missThrottled || neighbour[seeds/2] > want.neighbour+missThrottled {
			t.Errorf("%s: %.3f of the ideal time, throttled %.2f %%, neighbour %.2f %%; want at most %+v, and %g and %g %% more",
				spec.ID, times[seeds/2], throttled[seeds/2], neighbour[seeds/2], want, missTime, missThrottled)
		}
	}
}
