package fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// process is a member whose clock is wrong, with callers that always want more.
type process struct {
	*lane
	wrong   time.Duration
	callers [8]*bucket.Waiter
	calls   int
}

func (p *process) clock(now time.Time) time.Time { return now.Add(p.wrong) }

// step lets the callers go on, and asks the store what is due; it tells how many calls
// went out.
func (p *process) step(now time.Time, store *sharing.Bucket) (went int) {
	for i, w := range p.callers {
		status := bucket.Granted
		if w != nil {
			status, _ = w.Poll(p.clock(now))
		}
		for status == bucket.Granted {
			if p.callers[i] != nil {
				went++
			}
			p.callers[i], status = p.Bucket.Join(p.clock(now), bucket.Terms{})
		}
	}
	if p.dirty.Swap(false) || !p.visit.IsZero() && !p.visit.After(p.clock(now)) {
		if ask, ok := p.look(p.clock(now)); ok {
			p.take(p.clock(now), store.Ask(now, p.Key, ask.Ask))
		}
	}
	p.calls += went
	return went
}

// Eight processes whose clocks are up to three seconds off share one bucket of EC2's: in
// true time never more goes out than it has, all that it has does, and all get the same.
func TestClocksThatAreWrong(t *testing.T) {
	const seconds = 60
	limits := sharing.Limits{Rate: 20, Burst: 100, MinRate: 0.2, Adaptive: true, MaxPause: time.Minute}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var store sharing.Bucket
	var processes []*process
	for i := range 8 {
		p := &process{wrong: time.Duration(i*6-21) * time.Second / 7}
		b := bucket.New(bucket.Options{Rate: limits.Rate, Burst: limits.Burst, Adaptive: true, MinRate: limits.MinRate, MaxPause: time.Minute}, nil, p.clock(start))
		p.lane = &lane{
			Lane: sharing.Lane{Key: fmt.Sprint(i), Limits: limits, Bucket: b},
			m:    &Membership{poked: make(chan struct{}, 1)}, rate: limits.Rate, burst: limits.Burst,
		}
		p.lease(p.clock(start))
		processes = append(processes, p)
	}
	if first, last := processes[0].wrong, processes[7].wrong; first != -3*time.Second || last != 3*time.Second {
		t.Fatalf("clocks are off by %s to %s", first, last)
	}
	calls := 0
	for now := start; now.Sub(start) <= seconds*time.Second; now = now.Add(time.Millisecond) {
		for _, p := range processes {
			calls += p.step(now, &store)
		}
		if most := limits.Burst + limits.Rate*now.Sub(start).Seconds(); float64(calls) > most+1e-6 {
			t.Fatalf("%d calls after %s, where %.2f are allowed", calls, now.Sub(start), most)
		}
	}
	if ideal := limits.Burst + limits.Rate*seconds; float64(calls) < 0.98*ideal {
		t.Errorf("%d calls in %d s, of %.0f", calls, seconds, ideal)
	}
	var shares []int
	for i, p := range processes {
		if shares = append(shares, p.calls); p.calls*8*10 < calls*9 || p.calls*8*10 > calls*11 {
			t.Errorf("process %d made %d of %d calls", i, p.calls, calls)
		}
	}
	t.Logf("%d calls, shares %v", calls, shares)
}
