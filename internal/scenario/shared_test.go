package scenario

import (
	"slices"
	"testing"
)

// Processes that share do no worse than one alone, by any controller, and all have part in
// it. It is one run of each; medians are held more closely in the package fleet, whose members ask by themselves.
func TestShared(t *testing.T) {
	for _, s := range Shipped() {
		for _, c := range []Controller{AIMD, Learn} {
			one := figuresOf(s, Run(s, Options{Controller: c, Soft: true, Seed: 1}))
			r := Run(s, Options{Controller: c, Soft: true, Seed: 1, Processes: 4, Shared: true})
			four := figuresOf(s, r)
			if four.time > one.time+0.08 || four.throttled > one.throttled+1.5 || r.Lost > 0 {
				t.Errorf("%s %s: one %+v, four %+v, %d given up", s.ID, c, one, four, r.Lost)
			}
			if slices.Min(r.Done) < s.Calls/8 {
				t.Errorf("%s %s: shares %v", s.ID, c, r.Done)
			}
			t.Logf("%s %s: %.3f and %.3f of the ideal time, throttled %.2f and %.2f %%, shares %v", s.ID, c, one.time, four.time, one.throttled, four.throttled, r.Done)
		}
	}
}
