package scenario

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// draw gives a server of a family: from 2 to 2,000 calls a second, a burst of at least 4
// that lasts up to ten seconds, answers after 5 ms to 3 s, and a client that is wrong about
// rate and burst by up to ten times. Some have neighbours, penalties, hints, quotas that
// change in mid-run, or work that comes in bursts. A run is a minute to four of work, and
// 40,000 calls at most.
func draw(n uint64) Scenario {
	rng := rand.New(rand.NewPCG(n, 77))
	log := func(low, high float64) float64 { return low * math.Pow(high/low, rng.Float64()) }
	chance := func(p float64) bool { return rng.Float64() < p }
	s := Scenario{ID: fmt.Sprint(n)}
	v := &s.Server
	v.Refill = log(2, 2000)
	v.Burst = math.Max(4, v.Refill*log(0.2, 10))
	v.LatencyS = log(0.005, 3)
	v.ThrottledS = 0.3 * v.LatencyS
	s.Client = Client{Rate: v.Refill * log(0.1, 10), Burst: math.Max(1, v.Burst*log(0.1, 10))}
	span := log(60, 240)
	s.Calls = int(math.Min(40_000, math.Max(300, v.Refill*span+v.Burst)))
	s.Workers = int(v.Refill*v.LatencyS*log(1.5, 6) + 4)
	if chance(0.3) {
		s.NeighbourRPS = v.Refill * (0.1 + 0.5*rng.Float64())
		if chance(0.5) {
			s.NeighbourFromS, s.NeighbourToS = 0.2*span, 0.6*span
		}
	}
	if chance(0.15) {
		v.ThrottleCost, v.Floor = 0.5, -v.Refill
	}
	if chance(0.25) {
		v.RetryAfterS = 1
	}
	if chance(0.2) {
		c := Change{AtS: span * (0.3 + 0.4*rng.Float64()), Burst: v.Burst, Refill: v.Refill * log(0.3, 3)}
		v.Changes = []Change{c}
		s.NeighbourRPS = math.Min(s.NeighbourRPS, 0.6*c.Refill)
	}
	if chance(0.2) {
		s.BurstCalls, s.GapS = int(math.Max(20, v.Burst*log(1, 4))), log(1, 30)
	}
	s.IdealS = s.Ideal().Seconds()
	return s
}

// Other draws than the family's are for trying a change on servers that it was not made for.
var (
	first = flag.Uint64("first", 0, "the first draw of the family")
	draws = flag.Uint64("draws", 300, "how many there are")
)

// The same law, the same constants: servers that nobody has tuned it for.
func TestLearnFamily(t *testing.T) {
	n := *draws
	if raced {
		n = min(n, 30)
	}
	var times, throttled []float64
	for i := *first; i < *first+n; i++ {
		s := draw(i)
		r := Run(s, Options{Controller: Learn, Soft: true, Seed: i})
		f := figuresOf(s, r)
		times, throttled = append(times, f.time), append(throttled, f.throttled)
		if f.time > 2 || f.throttled > 10 {
			t.Logf("%.2f of the ideal time, throttled %.1f %%: %+v", f.time, f.throttled, s)
		}
	}
	slices.Sort(times)
	slices.Sort(throttled)
	p90 := int(0.9 * float64(n-1))
	t.Logf("of %d servers: time p50 %.3f, p90 %.3f, worst %.2f; throttled p50 %.2f %%, p90 %.2f %%, worst %.1f %%",
		n, times[n/2], times[p90], times[n-1], throttled[n/2], throttled[p90], throttled[n-1])
	time, share := 1.35, 4.0
	if raced {
		time, share = 1.6, 8 // thirty are too few to tell
	}
	if times[p90] > time || throttled[p90] > share || throttled[n-1] > 30 {
		t.Errorf("time p90 %.3f, throttled p90 %.2f %%, worst %.1f %%; want at most %g, %g %%, 30 %%", times[p90], throttled[p90], throttled[n-1], time, share)
	}
}
