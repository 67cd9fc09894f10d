package cloudpace_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/scenario"
)

// learning makes a governor whose leaves begin with what a scenario's client thinks.
func learning(t *testing.T, c scenario.Client, ceiling cloudpace.Ceiling) *cloudpace.Governor {
	t.Helper()
	return governor(t, func(p *cloudpace.Provider) {
		p.MaxRPS, p.Burst, p.Controller, p.Ceiling = c.Rate, c.Burst, cloudpace.ControllerLearn, ceiling
	})
}

// server is a modelled server that answers functions.
type server struct{ scenario.Live }

func newServer(spec scenario.Scenario) *server {
	return &server{scenario.Live{Model: scenario.NewModel(spec, time.Now(), 1)}}
}

func (s *server) call(context.Context) error {
	switch a := s.Answer(); {
	case a.OK:
		return nil
	case a.RetryAfter > 0:
		return throttleFor(int(a.RetryAfter.Seconds()))
	}
	return throttle()
}

// work does a scenario's calls through Do, and tells how long that takes, idle gaps left
// out.
func work(t *testing.T, g *cloudpace.Governor, spec scenario.Scenario, s *server) time.Duration {
	t.Helper()
	return spec.Do(func(int) {
		if err := cloudpace.Do(t.Context(), scope, s.call, cloudpace.WithGovernor(g)); err != nil {
			t.Error(err)
		}
	})
}

// The ten scenarios again, through the whole governor: what the event loop says of the

// controller is true of goroutines that call Do. One run of each is what it costs here, so

// the bounds are wider than for medians.
func TestLearnThroughDo(t *testing.T) {
	most := map[string]float64{"A": 1.01, "B": 1.05, "C": 1.01, "D": 1.06, "E": 1.02, "F": 1.05, "G": 1.06, "H": 1.12, "I": 1.16, "K": 1.02}
	for _, spec := range scenario.Shipped() {
		bubble(t, func(t *testing.T, _ func() time.Duration) {
			g := learning(t, spec.Client, cloudpace.CeilingSoft)
			s := newServer(spec)
			ratio := work(t, g, spec, s).Seconds() / spec.IdealS
			sent := s.Accepted + s.Throttled
			throttled := 100 * float64(s.Throttled) / float64(sent)
			t.Logf("%s: %.3f of the ideal time, throttled %.2f %%", spec.ID, ratio, throttled)
			if ratio > most[spec.ID] || throttled > 2 {
				t.Errorf("%s: %.3f of the ideal time, want at most %.3f; throttled %.2f %%, want at most 2 %%", spec.ID, ratio, most[spec.ID], throttled)
			}
			if total := g.Summary(nil).Totals; total.Calls != sent || total.Throttled != s.Throttled || total.GaveUp != 0 {
				t.Errorf("%s: %d calls, %d throttled, %d given up; the server counted %d and %d", spec.ID, total.Calls, total.Throttled, total.GaveUp, sent, s.Throttled)
			}
		})
	}
}

// A hard ceiling is never exceeded, whatever the server would give.
func TestLearnHardCeiling(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		spec := scenario.Scenario{Server: scenario.Server{Burst: 1000, Refill: 100}, Client: scenario.Client{Rate: 20, Burst: 100}, Calls: 1000, Workers: 40}
		g := learning(t, spec.Client, cloudpace.CeilingHard)
		took := work(t, g, spec, newServer(spec))
		if least := 45 * time.Second; took < least {
			t.Errorf("1,000 calls took %s, where 100 and 20 a second are allowed: %s", took, least)
		} else if took > least+time.Second {
			t.Errorf("1,000 calls took %s, where %s would do", took, least)
		}
	})
}

// What is learned shows in the snapshot, outlives the process, and is worth less the

// older it is.

// Whatever ends an attempt, the controller is not left waiting for its outcome: the leaf

// is as good as new when all is over.

// S3.5: nobody is refused whom a rate that is still to be found would serve in time.
func TestS3_5LearnRefusesNobodyTooSoon(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		spec := scenario.Scenario{Server: scenario.Server{Burst: 100, Refill: 500}}
		s := newServer(spec)
		g := learning(t, scenario.Client{Rate: 10, Burst: 20}, cloudpace.CeilingSoft)
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				if err := cloudpace.Do(t.Context(), scope, s.call, cloudpace.WithGovernor(g), cloudpace.WithDeadline(30*time.Second)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
}

// What the server says of its quota is worth more than probes: the rate and the level
// are known after a few answers, with no throttle at all.
func TestLearnFromWhatIsLeft(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		spec := scenario.Scenario{Server: scenario.Server{Burst: 50, Refill: 30}, Client: scenario.Client{Rate: 10, Burst: 20}, Calls: 3000, Workers: 40}
		g := learning(t, spec.Client, cloudpace.CeilingSoft)
		s := newServer(spec)
		took := spec.Do(func(int) {
			for sent := false; !sent; {
				c := begin(t, g, scope)
				a := s.Answer()
				if sent = a.OK; sent {
					c.Left(int(a.Left))
					c.End(nil)
				} else {
					c.End(throttle())
				}
			}
		})
		ideal := time.Duration(spec.Calls-50) * time.Second / 30
		q := g.Look(scope).Buckets[0].Quota
		t.Logf("%.3f of the ideal time, %d throttled, %+v", took.Seconds()/ideal.Seconds(), s.Throttled, q)
		if took > ideal*102/100 || s.Throttled > 15 || q.RPS < 29 || q.RPS > 31 {
			t.Errorf("%s where %s would do, %d throttled, learned %+v", took, ideal, s.Throttled, q)
		}
	})
}

// S3.5: whom no rate can serve in time is refused at once: the ceiling is a promise.
func TestS3_5LearnHardRefusesAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := learning(t, scenario.Client{Rate: 10, Burst: 20}, cloudpace.CeilingHard)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { begin(t, g, scope).End(nil) })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second) // it takes eight
		defer cancel()
		_, err := g.Begin(ctx, scope)
		if e := as[*cloudpace.DeadlineExceededError](t, err); e.RetryAfter < 7*time.Second {
			t.Errorf("%v could have waited", e)
		}
		wantTime(t, "refused", clock(), 0)
		wg.Wait()
	})
}
