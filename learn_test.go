package cloudpace_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/scenario"
)

func scenarios(t *testing.T) []scenario.Scenario {
	t.Helper()
	text, err := os.ReadFile("internal/scenario/scenarios.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Scenarios []scenario.Scenario }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Scenarios
}

// learning makes a governor whose leaves begin with what a scenario's client thinks.
func learning(t *testing.T, c scenario.Client, ceiling cloudpace.Ceiling) *cloudpace.Governor {
	t.Helper()
	return governor(t, func(p *cloudpace.Provider) {
		p.MaxRPS, p.Burst, p.Controller, p.Ceiling = c.Rate, c.Burst, cloudpace.ControllerLearn, ceiling
	})
}

// server is a modelled server that answers functions.
type server struct {
	mu sync.Mutex
	*scenario.Model
}

func (s *server) call(context.Context) error {
	s.mu.Lock()
	a := s.Call(time.Now())
	s.mu.Unlock()
	time.Sleep(a.After)
	switch {
	case a.OK:
		return nil
	case a.RetryAfter > 0:
		return throttleFor(int(a.RetryAfter.Seconds()))
	}
	return throttle()
}

// work does a scenario's calls through Do, with as many goroutines as it has workers, and
// tells how long that takes, idle gaps left out.
func work(t *testing.T, g *cloudpace.Governor, spec scenario.Scenario, s *server) (active time.Duration) {
	t.Helper()
	for left := spec.Calls; left > 0; {
		n := left
		if spec.BurstCalls > 0 {
			n = min(n, spec.BurstCalls)
			if left < spec.Calls {
				time.Sleep(time.Duration(spec.GapS * float64(time.Second)))
			}
		}
		left -= n
		began := time.Now()
		calls := make(chan struct{}, n)
		for range n {
			calls <- struct{}{}
		}
		close(calls)
		var wg sync.WaitGroup
		for range spec.Workers {
			wg.Go(func() {
				for range calls {
					if err := cloudpace.Do(t.Context(), scope, s.call, cloudpace.WithGovernor(g)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		active += time.Since(began)
	}
	return active
}

// The ten scenarios again, through the whole governor: what the event loop says of the
// controller is true of goroutines that call Do. One run of each is what it costs here, so
// the bounds are wider than for medians.
func TestLearnThroughDo(t *testing.T) {
	most := map[string]float64{"A": 1.01, "B": 1.05, "C": 1.01, "D": 1.06, "E": 1.02, "F": 1.05, "G": 1.06, "H": 1.12, "I": 1.16, "K": 1.02}
	for _, spec := range scenarios(t) {
		bubble(t, func(t *testing.T, _ func() time.Duration) {
			g := learning(t, spec.Client, cloudpace.CeilingSoft)
			s := &server{Model: scenario.NewModel(spec, time.Now(), 1)}
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
		took := work(t, g, spec, &server{Model: scenario.NewModel(spec, time.Now(), 1)})
		if least := 45 * time.Second; took < least {
			t.Errorf("1,000 calls took %s, where 100 and 20 a second are allowed: %s", took, least)
		} else if took > least+time.Second {
			t.Errorf("1,000 calls took %s, where %s would do", took, least)
		}
	})
}

// What is learned shows in the snapshot, outlives the process, and is worth less the
// older it is.
func TestLearnedQuota(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		spec := scenario.Scenario{Server: scenario.Server{Burst: 50, Refill: 30}, Client: scenario.Client{Rate: 100, Burst: 100}, Calls: 3000, Workers: 40}
		g := learning(t, spec.Client, cloudpace.CeilingSoft)
		s := &server{Model: scenario.NewModel(spec, time.Now(), 1)}
		work(t, g, spec, s)
		b := g.Look(scope).Buckets[0]
		if b.Quota == nil || b.Quota.RPS < 29 || b.Quota.RPS > 31 || b.Quota.Throttles == 0 || b.Quota.Calls < 100 || b.MaxRPS != 100 {
			t.Fatalf("the quota of 30 a second looks like this: %+v %+v", b, b.Quota)
		}

		text, err := json.Marshal(g.Learned())
		if err != nil {
			t.Fatal(err)
		}
		var l cloudpace.Learned
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		if over := l.Scopes[0].Over(); !over.After(time.Now()) {
			t.Errorf("a quota is over after two hours: %s", over)
		}
		again := learning(t, spec.Client, cloudpace.CeilingSoft)
		if err := again.Restore(l); err != nil {
			t.Fatal(err)
		}
		q := again.Look(scope).Buckets[0].Quota
		if q == nil || q.RPS != b.Quota.RPS || q.Burst != b.Quota.Burst || q.Calls > b.Quota.Calls/3.9 {
			t.Errorf("after two hours %+v is %+v", b.Quota, q)
		}
		before := s.Throttled
		spec.Calls = 600
		work(t, again, spec, s)
		if n := s.Throttled - before; n > 3 {
			t.Errorf("%d throttles in a run that knows the quota", n)
		}
	})
}

// Whatever ends an attempt, the controller is not left waiting for its outcome: the leaf
// is as good as new when all is over.
func TestLearnEveryEnd(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		ends := map[string]func(*cloudpace.Call){
			"success":   func(c *cloudpace.Call) { c.End(nil) },
			"denied":    func(c *cloudpace.Call) { c.End(denied()) },
			"transient": func(c *cloudpace.Call) { c.End(unavailable()) },
			"local":     func(c *cloudpace.Call) { c.End(context.Canceled) },
			"dropped":   func(c *cloudpace.Call) { c.Drop() },
			"next": func(c *cloudpace.Call) {
				c.Succeeded()
				if err := c.Next(context.Background()); err != nil {
					t.Error(err)
				}
				c.Drop()
			},
			"not reported": func(c *cloudpace.Call) {
				if err := c.Next(context.Background()); err != nil {
					t.Error(err)
				}
				c.End(nil)
			},
		}
		for name, end := range ends {
			g := learning(t, scenario.Client{Rate: 20, Burst: 40}, cloudpace.CeilingSoft)
			end(begin(t, g, scope))
			time.Sleep(time.Minute)
			if l := g.Learned(); len(l.Scopes) != 0 {
				t.Errorf("%s: something is left: %+v", name, l.Scopes)
			}
		}
	})
}

// S3.5: nobody is refused whom a rate that is still to be found would serve in time.
func TestS3_5LearnRefusesNobodyTooSoon(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		spec := scenario.Scenario{Server: scenario.Server{Burst: 100, Refill: 500}}
		s := &server{Model: scenario.NewModel(spec, time.Now(), 1)}
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
		as[*cloudpace.DeadlineExceededError](t, err)
		wantTime(t, "refused", clock(), 0)
		wg.Wait()
	})
}

// However calls end, in whatever order, at whatever point of whatever wait: nothing of
// them stays under way in what learns, and where nothing was throttled nothing was learned.
func TestLearnAnyEnd(t *testing.T) {
	payer := scope
	payer.Region = "eu-west-1"
	for seed := range uint64(60) {
		bubble(t, func(t *testing.T, _ func() time.Duration) {
			rng := rand.New(rand.NewPCG(seed, 1))
			settings := func(p *cloudpace.Provider) {
				p.MaxRPS, p.Burst, p.Controller, p.Ceiling = 10, 20, cloudpace.ControllerLearn, cloudpace.CeilingSoft
				p.MaxConcurrency, p.BreakerThreshold, p.AccountMaxRPS = 3, 1000, 15
				if seed%2 == 0 {
					p.Ceiling = cloudpace.CeilingHard
				}
			}
			g := governor(t, settings)
			debts := seed%3 == 0 // nothing succeeds in such a run: it would be news
			var wg sync.WaitGroup
			for range 60 {
				begins, ends := rng.Int64N(int64(5*time.Second)), rng.Int64N(int64(8*time.Second))
				var opts []cloudpace.BeginOption
				for _, o := range []cloudpace.BeginOption{cloudpace.ChargedTo(payer), cloudpace.HoldSlot(), cloudpace.FreeTransientRetries()} {
					if rng.IntN(2) == 0 {
						opts = append(opts, o)
					}
				}
				steps := make([]int, 6)
				for i := range steps {
					steps[i] = rng.IntN(9)
				}
				wg.Go(func() {
					time.Sleep(time.Duration(begins))
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(ends))
					defer cancel()
					if debts {
						ctx = cloudpace.WithMaxWait(ctx, 300*time.Millisecond)
					}
					if c, err := g.Begin(ctx, scope, opts...); err == nil {
						endSomehow(ctx, g, c, steps, debts)
					}
				})
			}
			if seed%5 == 0 {
				time.Sleep(3 * time.Second)
				cfg := g.Config()
				p := cfg.Providers["aws"]
				p.MaxRetries++
				cfg.Providers["aws"] = p
				if err := g.Configure(cfg); err != nil {
					t.Fatal(err)
				}
			}
			wg.Wait()
			time.Sleep(time.Hour)
			if l := g.Learned(); len(l.Scopes) != 0 {
				t.Errorf("seed %d: something is left: %+v", seed, l.Scopes)
			}
		})
	}
}

// endSomehow does with a call what the steps say, without a throttle.
func endSomehow(ctx context.Context, g *cloudpace.Governor, c *cloudpace.Call, steps []int, fails bool) {
	defer c.Drop()
	for _, step := range steps {
		time.Sleep(100 * time.Millisecond)
		switch step {
		case 0, 1:
			c.Failed(unavailable())
			_ = c.Retry()
		case 2:
			if !fails {
				c.Succeeded()
			}
		case 3, 4, 5:
			_ = c.Next(ctx)
		case 6:
			go func() {
				time.Sleep(50 * time.Millisecond)
				c.Drop()
			}()
		case 7:
			if inner, err := g.Begin(c.Context(), scope); err == nil {
				inner.End(unavailable())
			}
		default:
			c.End(context.Canceled)
		}
	}
}

// Whatever a file says was learned, what comes of it is numbers that can be, and can be
// remembered again.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(`{"scope":"aws/111122223333/us-east-1/sqs","level":"leaf","time":"2026-03-01T12:00:00Z","rps":5,"max_rps":20,"burst":10,"tokens":-3,"throttled":"2026-03-01T11:59:00Z"}`))
	f.Add([]byte(`{"scope":"aws/111122223333/us-east-1/sqs","level":"leaf","time":"2026-03-01T12:00:00Z","rps":5,"max_rps":20,"burst":10,"tokens":3,"quota":{"rps":5,"burst":10,"calls":100,"full_buckets":3,"noise":0.1,"throttles":4}}`))
	f.Add([]byte(`{"scope":"aws/111122223333/us-east-1/sqs","level":"leaf","time":"9999-01-01T00:00:00Z","rps":1e300,"max_rps":1e300,"burst":1e300,"tokens":-1e300,"quota":{"rps":1e300,"burst":1e300,"calls":1e300,"full_buckets":1e300,"noise":1e300,"throttles":1}}`))
	f.Add([]byte(`{"scope":"aws","level":"provider","rps":1e-300,"quota":{"rps":1e-300,"burst":1e-300,"calls":1e-300,"full_buckets":1e-300}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var e cloudpace.LearnedScope
		if json.Unmarshal(text, &e) != nil {
			return
		}
		for _, ceiling := range []cloudpace.Ceiling{cloudpace.CeilingHard, cloudpace.CeilingSoft} {
			g := learning(t, scenario.Client{Rate: 20, Burst: 40}, ceiling)
			if err := g.Restore(cloudpace.Learned{Scopes: []cloudpace.LearnedScope{e}}); err != nil {
				continue
			}
			s, err := cloudpace.ParseScope(e.Scope)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range g.Look(s).Buckets {
				if q := b.Quota; q != nil {
					for _, x := range []float64{q.RPS, q.Burst, q.Calls, q.FullBuckets} {
						if !(x > 0) || math.IsInf(x, 0) || q.Burst < 1 {
							t.Fatalf("%+v", *q)
						}
					}
					if s.Provider == "aws" && ceiling == cloudpace.CeilingHard && (q.RPS > 20 || q.Burst > 40) {
						t.Fatalf("%+v, promised 20 and 40", *q)
					}
				}
				if math.IsNaN(b.Tokens) || b.Tokens > b.Burst {
					t.Fatalf("%+v", b)
				}
			}
			l := g.Learned()
			if _, err := json.Marshal(l); err != nil {
				t.Fatal(err)
			}
			if err := learning(t, scenario.Client{Rate: 20, Burst: 40}, ceiling).Restore(l); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// S3.7: a leaf that has learned something is not forgotten, and one that has not is.
func TestS3_7LearnKeepsWhatItLearned(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := learning(t, scenario.Client{Rate: 20, Burst: 40}, cloudpace.CeilingSoft)
		fail(t, g, scope, throttle())
		quota := g.Look(scope).Buckets[0].Quota
		for i := range 20_000 {
			s := scope
			s.Account = strconv.Itoa(i)
			begin(t, g, s).End(nil)
			time.Sleep(time.Millisecond)
		}
		s := g.Snapshot()
		if len(s.Buckets) > 10_000 {
			t.Errorf("%d buckets remain", len(s.Buckets))
		}
		if again := g.Look(scope).Buckets[0].Quota; quota == nil || again == nil || *quota != *again {
			t.Errorf("learned %+v, and later %+v", quota, again)
		}
	})
}

// S9.2: what was learned under other settings is gone with them; the same again change
// nothing.
func TestS9_2LearnBeginsAnew(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := learning(t, scenario.Client{Rate: 20, Burst: 40}, cloudpace.CeilingSoft)
		under := begin(t, g, scope)
		fail(t, g, scope, throttle())
		cfg := g.Config()
		if err := g.Configure(cfg); err != nil {
			t.Fatal(err)
		}
		if g.Look(scope).Buckets[0].Quota == nil {
			t.Error("the same settings again, and what was learned is gone")
		}
		p := cfg.Providers["aws"]
		p.Ceiling = cloudpace.CeilingHard
		cfg.Providers["aws"] = p
		if err := g.Configure(cfg); err != nil {
			t.Fatal(err)
		}
		under.Failed(throttle()) // of the old leaf
		under.Drop()
		b := g.Look(scope).Buckets[0]
		if b.Quota != nil || b.RPS != 20 || b.Tokens != 40 {
			t.Errorf("other settings, and it begins with %+v", b)
		}
		time.Sleep(time.Minute)
		if l := g.Learned(); len(l.Scopes) != 0 {
			t.Errorf("something is left: %+v", l.Scopes)
		}
	})
}

// A run that follows at once asks for no more than the one before it would have, also
// where nothing had been learned.
func TestLearnBurstIsNotGivenTwice(t *testing.T) {
	for _, ceiling := range []cloudpace.Ceiling{cloudpace.CeilingHard, cloudpace.CeilingSoft} {
		bubble(t, func(t *testing.T, clock func() time.Duration) {
			g := learning(t, scenario.Client{Rate: 20, Burst: 40}, ceiling)
			drain(t, g, scope, 40)
			next := learning(t, scenario.Client{Rate: 20, Burst: 40}, ceiling)
			handDown(t, g, next)
			at := clock()
			drain(t, next, scope, 20)
			if took := clock() - at; took < 600*time.Millisecond {
				t.Errorf("%s: 20 calls took %s after a burst", ceiling, took)
			}
		})
	}
}
