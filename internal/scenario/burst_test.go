package scenario

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// end is what three seeds have learned at the end of a scenario, as shares of the truth,
// and their figures: of each the median.
type end struct{ rate, burst, time, throttled float64 }

func endOf(s Scenario, truth Server) end {
	s.IdealS = s.Ideal().Seconds()
	var rates, bursts, times, throttled []float64
	for seed := range uint64(3) {
		r := Run(s, Options{Controller: Learn, Soft: true, Seed: seed})
		f := figuresOf(s, r)
		rates, bursts = append(rates, r.Learned[0].Rate/truth.Refill), append(bursts, r.Learned[0].Burst/truth.Burst)
		times, throttled = append(times, f.time), append(throttled, f.throttled)
	}
	middle := func(list []float64) float64 { slices.Sort(list); return list[1] }
	return end{middle(rates), middle(bursts), middle(times), middle(throttled)}
}

func (e end) String() string {
	return fmt.Sprintf("rate %.2f and burst %.2f of the truth, %.3f of the ideal time, throttled %.2f %%", e.rate, e.burst, e.time, e.throttled)
}

var sizes = []struct {
	name    string
	s       Server
	workers int
}{
	{"2/s, 3 s", Server{Refill: 2, Burst: 20, LatencyS: 3, ThrottledS: 1}, 40},
	{"20/s, 0.1 s", Server{Refill: 20, Burst: 100, LatencyS: 0.1, ThrottledS: 0.03}, 40},
	{"2,000/s, 5 ms", Server{Refill: 2000, Burst: 4000, LatencyS: 0.005, ThrottledS: 0.002}, 60},
}

// The burst is learned, whether it was thought too small or too large, alone or together
// with the rate, by work that comes in bursts of twice what the server stores. Steady work
// meets a full bucket once and needs to know no more of it.
func TestLearnBurst(t *testing.T) {
	bursts := func(s Scenario) Scenario {
		s.BurstCalls = int(2 * s.Server.Burst)
		s.GapS = 1.5 * s.Server.Burst / s.Server.Refill // it is full again
		s.Calls = min(40, max(20, 20_000/s.BurstCalls)) * s.BurstCalls
		return s
	}
	hints := func(s Scenario) Scenario { s.Server.RetryAfterS = 1; return s }
	for _, size := range sizes {
		if raced && size.s.Refill > 1000 {
			continue
		}
		steady := Scenario{Server: size.s, Workers: size.workers, Calls: int(min(20_000, 240*size.s.Refill))}
		for _, tt := range []struct {
			name            string
			s               Scenario
			rate, burst     float64 // configured, as shares of the truth
			time, throttled float64 // at most
		}{
			{"steady, burst a tenth", steady, 1, 0.1, 1.03, 3.5},
			{"steady, burst tenfold", steady, 1, 10, 1.03, 3.5},
			{"bursts, burst a tenth", bursts(steady), 1, 0.1, 1.3, 2.5},
			{"bursts, burst tenfold", bursts(steady), 1, 10, 1.3, 2.5},
			{"bursts, rate a third", bursts(steady), 1. / 3, 1, 1.25, 2.5},
			{"bursts, rate threefold, burst a tenth", bursts(steady), 3, 0.1, 1.5, 2.5}, // half of it goes by until both are known
			{"bursts, both threefold, Retry-After 1 s", hints(bursts(steady)), 3, 3, 1.25, 2.5},
		} {
			s := tt.s
			s.Client = Client{Rate: tt.rate * s.Server.Refill, Burst: tt.burst * s.Server.Burst}
			e := endOf(s, s.Server)
			t.Logf("%s, %s: %s", size.name, tt.name, e)
			if e.time > tt.time || e.throttled > tt.throttled {
				t.Errorf("%s, %s: want at most %g of the ideal time, %g %%", size.name, tt.name, tt.time, tt.throttled)
			}
			// Bursts alike, over in a few round trips, leave rate and burst tied: a larger
			// one and a smaller one together explain them as well.
			if s.BurstCalls > 0 && (size.s.Refill > 2 || tt.burst >= 1) && (math.Abs(e.burst-1) > 0.25 || math.Abs(e.rate-1) > 0.1) {
				t.Errorf("%s, %s: want the burst to 25 %% and the rate to 10 %%", size.name, tt.name)
			}
		}
	}
}

// A quota that changes in mid-run is found again, up and down, rate and burst.
func TestLearnChange(t *testing.T) {
	for _, size := range sizes {
		for _, to := range []float64{3, 1. / 3} {
			s := Scenario{Server: size.s, Workers: size.workers}
			s.Client = Client{Rate: s.Server.Refill, Burst: s.Server.Burst}
			after := Server{Refill: to * s.Server.Refill, Burst: to * s.Server.Burst}
			seconds := min(120, 10_000/s.Server.Refill)
			s.Calls = int(seconds * (s.Server.Refill + 2*after.Refill))
			s.Server.Changes = []Change{{AtS: seconds, Refill: after.Refill, Burst: after.Burst}}
			e := endOf(s, after)
			t.Logf("%s, times %.2g: %s", size.name, to, e)
			if math.Abs(e.rate-1) > 0.1 || e.time > 1.35 || e.throttled > 4 {
				t.Errorf("%s, times %.2g: want the rate to 10 %%, at most 1.35 of the ideal time, 4 %%", size.name, to)
			}
		}
	}
}

// A hint that is longer than the bucket is deep leaves it standing full while everybody
// waits. That time is not taken for anything else. A lone caller settles for one of two
// explanations, by chance: the better one takes 1.4 to 1.9 of the ideal time, the other up
// to 7.
func TestLearnLongHints(t *testing.T) {
	for _, tt := range []struct {
		hint, burst float64
		workers     int
		time        float64 // at most
	}{
		{3, 4, 3, 1.7}, {10, 4, 3, 1.9}, {10, 10, 1, 8},
	} {
		s := Scenario{Server: Server{Refill: 20, Burst: tt.burst, RetryAfterS: tt.hint}, Workers: tt.workers, Calls: 4000}
		if tt.workers == 1 {
			s.Server.LatencyS = 0.03
		}
		s.Client = Client{Rate: 40, Burst: tt.burst}
		e := endOf(s, s.Server)
		t.Logf("%g s, burst %g, %d workers: %s", tt.hint, tt.burst, tt.workers, e)
		if e.time > tt.time || e.throttled > 3 {
			t.Errorf("%g s, burst %g, %d workers: want at most %g of the ideal time, 3 %%", tt.hint, tt.burst, tt.workers, tt.time)
		}
	}
}
