package scenario

import (
	"slices"
	"testing"
)

func scenarios(tb testing.TB) []Scenario {
	tb.Helper()
	return Shipped()
}

// figures are what is asked of a run, in hundredths but for the time.
type figures struct{ time, throttled, neighbour float64 }

func figuresOf(s Scenario, r Result) figures {
	return figures{
		time:      r.Seconds / s.IdealS,
		throttled: 100 * float64(r.Throttled) / float64(r.Sent),
		neighbour: 100 * float64(r.NeighbourThrottled) / float64(max(1, r.Neighbour)),
	}
}

// medians runs a scenario with five seeds.
func medians(t *testing.T, s Scenario, o Options) (f figures) {
	t.Helper()
	var all []figures
	for o.Seed = 1; o.Seed <= 5; o.Seed++ {
		r := Run(s, o)
		if r.Lost > 0 {
			t.Errorf("%s, seed %d: %d calls were given up", s.ID, o.Seed, r.Lost)
		}
		all = append(all, figuresOf(s, r))
	}
	return figures{
		time:      median(all, func(f figures) float64 { return f.time }),
		throttled: median(all, func(f figures) float64 { return f.throttled }),
		neighbour: median(all, func(f figures) float64 { return f.neighbour }),
	}
}

func median(all []figures, of func(figures) float64) float64 {
	var list []float64
	for _, f := range all {
		list = append(list, of(f))
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// What the controller that learns is held to, by scenario: the time is at most so many
// times the ideal, of what is sent so much is throttled, and so much of what a neighbour
// sends. least is where less time would mean that a neighbour is pushed aside.
var table = map[string]struct {
	least float64
	most  figures
}{
	"A": {0, figures{1.01, 0.5, 0}},
	"B": {0.95, figures{1.02, 1.3, 2.5}},
	"C": {0, figures{1.01, 1.2, 0}},
	"D": {0, figures{1.06, 0.5, 0}},
	"E": {0, figures{1.01, 1.2, 0}},
	"F": {0.95, figures{1.02, 1.3, 2.5}},
	"G": {0, figures{1.04, 1, 5}},
	"H": {0, figures{1.10, 0.5, 0}},
	"I": {0, figures{1.13, 1.5, 0}},
	"K": {0, figures{1.015, 1.5, 0}},
}

func TestLearnTable(t *testing.T) {
	for _, s := range scenarios(t) {
		want, ok := table[s.ID]
		if !ok {
			t.Errorf("%s: nothing is asked of it", s.ID)
		}
		f := medians(t, s, Options{Controller: Learn, Soft: true})
		t.Logf("%s: %.3f of the ideal time, throttled %.2f %%, neighbour %.2f %%", s.ID, f.time, f.throttled, f.neighbour)
		if f.time > want.most.time || f.time < want.least || f.throttled > want.most.throttled || f.neighbour > want.most.neighbour {
			t.Errorf("%s: %+v, want at least %v and at most %+v", s.ID, f, want.least, want.most)
		}
	}
}

// A hard ceiling is a promise: whatever the server gives, no more goes out than rate and
// burst allow, and where they are all that the server gives they are used.
func TestHardCeiling(t *testing.T) {
	for _, s := range scenarios(t) {
		r := Run(s, Options{Controller: Learn, Seed: 1})
		f := figuresOf(s, r)
		t.Logf("%s: %.3f of the ideal time, throttled %.2f %%", s.ID, f.time, f.throttled)
		if s.Client.Rate > s.Server.Refill || s.BurstCalls > 0 {
			continue
		}
		if least := (float64(r.Sent) - s.Client.Burst) / s.Client.Rate; r.Seconds < least {
			t.Errorf("%s: %d attempts in %.1f s, which take %.1f s", s.ID, r.Sent, r.Seconds, least)
		}
	}
}
