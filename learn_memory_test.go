package cloudpace_test

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/scenario"
)

func TestLearnedQuota(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		spec := scenario.Scenario{Server: scenario.Server{Burst: 50, Refill: 30}, Client: scenario.Client{Rate: 100, Burst: 100}, Calls: 3000, Workers: 40}
		g := learning(t, spec.Client, cloudpace.CeilingSoft)
		s := newServer(spec)
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
