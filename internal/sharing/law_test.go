package sharing

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// at gives a moment by the time since the epoch of the tests.
func at(d time.Duration) time.Time { return epoch.Add(d) }

// first gives when the first token of an answer may be used.
func first(now time.Time, g Grant) time.Duration { return moments(now, g)[0].Sub(epoch) }

// Throttles that many members tell of halve the rate once in a second, not below the
// least, and what was stored is gone.
func TestThrottlesHalveOnceASecond(t *testing.T) {
	for _, members := range []int{1, 3, 40} {
		var b Bucket
		l := ec2()
		want := l.Rate
		for second := range 12 {
			want = math.Max(l.MinRate, want/2)
			for i := range members {
				now := at(time.Duration(second)*sec + time.Duration(i)*20*ms)
				g := b.Ask(now, fmt.Sprint(i), Ask{Limits: l, Throttled: true})
				if g.Rate != want {
					t.Fatalf("%d members, throttle %d of second %d: %g a second, want %g", members, i, second, g.Rate, want)
				}
				if g.Burst != math.Max(1, l.Burst*want/l.Rate) {
					t.Fatalf("the burst at %g a second is %g", g.Rate, g.Burst)
				}
				if s := b.Status(now); s.Tokens > 0.02*l.Rate {
					t.Fatalf("%g tokens stored right after a throttle", s.Tokens)
				}
			}
		}
	}
}

// A rate that is fixed stays, but what was stored is gone, and the pause holds.
func TestFixedRate(t *testing.T) {
	var b Bucket
	l := ec2()
	l.Adaptive = false
	g := b.Ask(at(0), "a", Ask{Limits: l, Want: 1, Throttled: true, Hint: 3 * sec})
	if g.Rate != 20 || g.Paused != 3*sec || first(at(0), g) != 3*sec {
		t.Errorf("%+v", g)
	}
}

// Old news does not cut, and news that took a while pauses for what is left.
func TestThrottlesOfThePast(t *testing.T) {
	var b Bucket
	if g := b.Ask(at(0), "a", Ask{Limits: ec2(), Throttled: true, Ago: 5 * sec, Hint: 60 * sec}); g.Rate != 20 || g.Paused != 0 {
		t.Errorf("five seconds old: %+v", g)
	}
	if g := b.Ask(at(0), "a", Ask{Limits: ec2(), Throttled: true, Ago: 2 * sec, Hint: 10 * sec}); g.Rate != 10 || g.Paused != 8*sec {
		t.Errorf("two seconds old: %+v", g)
	}
}

// A hint pauses all members, for at most MaxPause, and callers leave at the rate from its
// end on: the first at its end, or where it is shorter than a token takes, when that is
// there.
func TestPause(t *testing.T) {
	slow := Limits{Rate: 0.1, Burst: 1, MinRate: 0.1, MaxPause: 300 * sec}
	for _, c := range []struct {
		name   string
		limits Limits
		ask    Ask
		paused time.Duration
		first  time.Duration
		every  time.Duration
	}{
		{"a hint, at half the rate", ec2(), Ask{Throttled: true, Hint: 10 * sec}, 10 * sec, 10 * sec, 100 * ms},
		{"a hint above the most", ec2(), Ask{Throttled: true, Hint: 3600 * sec}, 300 * sec, 300 * sec, 100 * ms},
		{"without a throttle", ec2(), Ask{Pause: 10 * sec}, 10 * sec, 10 * sec, 50 * ms},
		{"shorter than a token takes", slow, Ask{Pause: 4 * sec}, 4 * sec, 10 * sec, 10 * sec},
		{"longer than a token takes", slow, Ask{Pause: 14 * sec}, 14 * sec, 14 * sec, 10 * sec},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Bucket
			c.ask.Limits = c.limits
			if g := b.Ask(at(0), "who tells", c.ask); g.Paused != c.paused {
				t.Fatalf("paused for %s, want %s", g.Paused, c.paused)
			}
			g := b.Ask(at(sec), "another", Ask{Limits: c.limits, Want: 1})
			if g.Paused != c.paused-sec || first(at(sec), g) != c.first {
				t.Errorf("a second later %s are left, and the first token is there at %s, want %s", g.Paused, first(at(sec), g), c.first)
			}
			if g := b.Ask(at(sec), "a third", Ask{Limits: c.limits, Want: 1}); first(at(sec), g) != c.first+c.every {
				t.Errorf("the second token is there at %s, want %s", first(at(sec), g), c.first+c.every)
			}
			if g := b.Ask(at(2*sec), "who tells", Ask{Limits: c.limits, Pause: sec}); g.Paused != c.paused-2*sec {
				t.Errorf("a shorter pause changed a longer one to %s", g.Paused)
			}
		})
	}
}

// Without a throttle for five seconds a success brings a twentieth of the ceiling back,
// not more often than every five seconds, however many tell of successes.
func TestRecovery(t *testing.T) {
	for _, rate := range []float64{0.1, 20} {
		var b Bucket
		l := Limits{Rate: rate, Burst: 5 * rate, MinRate: rate / 100, Adaptive: true}
		b.Ask(at(0), "a", Ask{Limits: l, Throttled: true})
		want := rate / 2
		for tick := range 1000 {
			now := at(time.Duration(tick) * 100 * ms)
			if tick > 0 && tick%50 == 0 {
				want = math.Min(rate, want+math.Max(rate/20, 0.01))
			}
			for _, name := range []string{"a", "b"} {
				if g := b.Ask(now, name, Ask{Limits: l, Succeeded: true}); math.Abs(g.Rate-want) > 1e-9 {
					t.Fatalf("%s after the throttle %g a second, want %g", now.Sub(epoch), g.Rate, want)
				}
			}
		}
		if s := b.Status(at(100 * sec)); s.Rate != rate {
			t.Errorf("after 100 s the rate is %g, not the ceiling", s.Rate)
		}
	}
}

// A rise adds no tokens, though there is room for more.
func TestRecoveryAddsNoTokens(t *testing.T) {
	var b Bucket
	l := ec2()
	b.Ask(at(0), "a", Ask{Limits: l, Throttled: true})
	now := at(60 * sec) // full again, at half the rate: 50
	before := b.Status(now).Tokens
	g := b.Ask(now, "a", Ask{Limits: l, Succeeded: true})
	if after := b.Status(now).Tokens; before != 50 || after > before+1e-6 || g.Burst != 55 {
		t.Errorf("%g tokens before, %g after, burst %g", before, after, g.Burst)
	}
}

// A member that is configured otherwise decides while it is the last that asked; a rate
// that was cut stays cut, and no tokens come of it.
func TestOtherLimits(t *testing.T) {
	var b Bucket
	high, low := ec2(), Limits{Rate: 5, Burst: 10, MinRate: 0.2, Adaptive: true, MaxPause: 300 * sec}
	b.Ask(at(0), "a", Ask{Limits: high, Want: 5})
	if g := b.Ask(at(0), "b", Ask{Limits: low}); g.Rate != 5 || g.Burst != 10 {
		t.Errorf("limits of 5 a second and 10: %+v", g)
	}
	if g := b.Ask(at(0), "a", Ask{Limits: high}); g.Rate != 20 || b.Status(at(0)).Tokens > 10 {
		t.Errorf("back at 20 a second: %+v, %g tokens", g, b.Status(at(0)).Tokens)
	}
	b.Ask(at(sec), "a", Ask{Limits: high, Throttled: true})
	b.Ask(at(3*sec), "a", Ask{Limits: high, Throttled: true})
	higher := high
	higher.Rate = 40
	if g := b.Ask(at(3*sec), "b", Ask{Limits: higher}); g.Rate != 5 {
		t.Errorf("a higher ceiling took a cut back: %g a second", g.Rate)
	}
}

// A circuit that one member opens is open for all, until its time is over or a try of
// anyone succeeded.
func TestCircuit(t *testing.T) {
	var b Bucket
	l := ec2()
	b.Ask(at(0), "a", Ask{Limits: l, Opened: &Circuit{Left: 60 * sec, Cooldown: 60 * sec, Cause: "503"}})
	for _, name := range []string{"a", "b"} {
		g := b.Ask(at(20*sec), name, Ask{Limits: l, Want: 1})
		if g.Circuit == nil || *g.Circuit != (Circuit{Left: 40 * sec, Cooldown: 60 * sec, Cause: "503"}) {
			t.Errorf("%s sees %+v", name, g.Circuit)
		}
	}
	if g := b.Ask(at(60*sec), "b", Ask{Limits: l}); g.Circuit != nil {
		t.Errorf("after its time: %+v", g.Circuit)
	}
	b.Ask(at(61*sec), "b", Ask{Limits: l, Opened: &Circuit{Left: 120 * sec, Cooldown: 120 * sec}})
	b.Ask(at(62*sec), "a", Ask{Limits: l, Closed: true})
	if g := b.Ask(at(62*sec), "b", Ask{Limits: l}); g.Circuit != nil {
		t.Errorf("closed by a: %+v", g.Circuit)
	}
}

// A member that is heard of no more leaves its share to the others within seconds.
func TestShareOfTheDead(t *testing.T) {
	for _, rate := range []float64{2, 20, 1000} {
		var b Bucket
		l := Limits{Rate: rate, Burst: 1}
		for i := range 4 {
			b.Ask(at(0), fmt.Sprint(i), Ask{Limits: l, Want: 1_000_000})
		}
		granted := 0
		now := at(5 * sec)
		for now.Before(at(15 * sec)) {
			g := b.Ask(now, "0", Ask{Limits: l, Want: 1_000_000})
			if g.Active != 1 {
				t.Fatalf("%g a second: %d active %s after three of four died", rate, g.Active, now.Sub(epoch))
			}
			granted += g.Tokens
			now = now.Add(max(ms, g.Again))
		}
		if float64(granted) < 9.9*rate {
			t.Errorf("%g a second: the one that is left got %d tokens in 10 s", rate, granted)
		}
	}
}

// Tokens taken without leave come before all others, up to a burst.
func TestDebt(t *testing.T) {
	var b Bucket
	l := ec2()
	b.Ask(at(0), "a", Ask{Limits: l, Debt: 60})
	if got := b.Status(at(0)).Tokens; got != 40 {
		t.Errorf("%g tokens after a debt of 60 of 100", got)
	}
	b.Ask(at(0), "a", Ask{Limits: l, Debt: 1_000_000_000})
	if got := b.Status(at(0)).Tokens; got != -60 {
		t.Errorf("%g tokens after a debt without a bound", got)
	}
}

// Where the clock is set back, as it may be where another server takes over, nothing is
// handed out twice and nobody waits for the old time to come again.
func TestClockSetBack(t *testing.T) {
	var b Bucket
	l := ec2()
	b.Ask(at(0), "a", Ask{Limits: l, Want: 100, Throttled: true, Hint: 20 * sec, Opened: &Circuit{Left: 30 * sec}})
	b.Ask(at(0), "b", Ask{Limits: l, Want: 5})
	before := b.Status(at(0))
	back := at(-time.Hour)
	g := b.Ask(back, "c", Ask{Limits: l})
	after := b.Status(back)
	if after.Tokens != before.Tokens || after.Paused != 20*sec || after.Circuit.Left != 30*sec || g.Active != 2 {
		t.Errorf("before %+v, after %+v with %d active", before, after, g.Active)
	}
	if g := b.Ask(back, "d", Ask{Limits: l, Want: 1}); g.After > 21*sec {
		t.Errorf("the next token is there in %s", g.After)
	}
}

// When a bucket's time is over, a new one would hand out nothing else.
func TestLasts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{
			Rate: rapid.Float64Range(0.01, 500).Draw(t, "rate"), Burst: rapid.Float64Range(1, 200).Draw(t, "burst"),
			MinRate: 0.01, Adaptive: rapid.Bool().Draw(t, "adaptive"), MaxPause: 300 * sec,
		}
		var b Bucket
		now := epoch
		for range rapid.IntRange(1, 50).Draw(t, "asks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * ms)
			ask, err := hostile(t, l).Sane()
			if err != nil {
				t.Fatal(err)
			}
			b.Ask(now, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "member"), ask)
		}
		end := now.Add(b.Lasts(now))
		s := b.Status(end)
		if b.rate == l.Rate && math.Abs(s.Tokens-math.Max(1, l.Burst)) > 1e-3*(1+l.Burst) || s.Paused > 0 || s.Circuit != nil || len(s.Active) > 0 {
			t.Fatalf("after %s: %+v", end.Sub(now), s)
		}
	})
}

// hostile draws what a member may say, of any size, with the given limits.
func hostile(t *rapid.T, l Limits) Ask {
	sizes := rapid.SampledFrom([]int{0, 0, 1, 3, 20, 100, 1000, math.MaxInt, math.MinInt, -1})
	times := rapid.SampledFrom([]time.Duration{0, 0, 1, ms, sec, 7 * sec, 400 * sec, math.MaxInt64, math.MinInt64, -sec})
	a := Ask{
		Limits: l,
		Want:   sizes.Draw(t, "want"), Back: sizes.Draw(t, "back"), Debt: sizes.Draw(t, "debt"),
		Throttled: rapid.Bool().Draw(t, "throttled"), Succeeded: rapid.Bool().Draw(t, "succeeded"), Closed: rapid.Bool().Draw(t, "closed"),
		Ago: times.Draw(t, "ago"), Hint: times.Draw(t, "hint"), Pause: times.Draw(t, "pause"),
	}
	if rapid.Bool().Draw(t, "opened") {
		a.Opened = &Circuit{Left: times.Draw(t, "left"), Cooldown: times.Draw(t, "cooldown"), Cause: rapid.String().Draw(t, "cause")}
	}
	return a
}

// Whatever members say, the state keeps to numbers, and a member that asks in earnest
// gets a token in bounded time.
func TestNothingSpoilsABucket(t *testing.T) {
	numbers := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e-300, 1e-6, 0.2, 1, 20, 1e6, 1e9, 1e300, math.MaxFloat64})
	rapid.Check(t, func(t *rapid.T) {
		var b Bucket
		now := epoch
		for range rapid.IntRange(1, 60).Draw(t, "asks") {
			now = now.Add(time.Duration(rapid.IntRange(-5000, 5000).Draw(t, "ms")) * ms)
			a := hostile(t, Limits{
				Rate: numbers.Draw(t, "rate"), Burst: numbers.Draw(t, "burst"), MinRate: numbers.Draw(t, "min"),
				Adaptive: rapid.Bool().Draw(t, "adaptive"), MaxPause: time.Duration(rapid.Int64().Draw(t, "max")),
			})
			sane, err := a.Sane()
			if err != nil {
				if !(a.Rate < leastRate || a.Rate > mostRate || a.Burst < 0 || a.Burst > mostCount || math.IsNaN(a.Rate+a.Burst+a.MinRate)) {
					t.Fatalf("%+v: %v", a, err)
				}
				continue
			}
			g := b.Ask(now, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "member"), sane)
			s := b.Status(now)
			for _, x := range []float64{g.Rate, g.Burst, s.Tokens, s.MaxRate, s.Burst, s.Rate} {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("%+v, %+v", g, s)
				}
			}
			if !(g.Rate >= leastRate && g.Rate <= sane.Rate && g.Burst >= 1) || g.Tokens < 0 || g.Tokens > sane.Want || g.Every < 0 || g.Again < 0 || g.Active < 1 {
				t.Fatalf("%+v of %+v", g, sane)
			}
			if lasts := b.Lasts(now); lasts <= 0 {
				t.Fatalf("lasts %s", lasts)
			}
		}
	})
}
