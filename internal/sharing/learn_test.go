package sharing

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// learns is a bucket of 20 a second that stores 100, and learns within that.
func learns() Limits {
	return Limits{Rate: 20, Burst: 100, MinRate: 0.2, Learn: true, MaxPause: 300 * sec}
}

// However members ask and whatever they tell, a bucket that learns under a hard ceiling
// hands out no more than the ceiling allows.
func TestLearnNeverMoreThanTheCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := learns()
		l.Rate = rapid.Float64Range(0.1, 500).Draw(t, "rate")
		l.Burst = rapid.Float64Range(1, 200).Draw(t, "burst")
		var b Bucket
		limits := []Limits{l}
		if rapid.Bool().Draw(t, "others") { // some are configured otherwise
			less, aimd := l, l
			less.Rate, less.Burst = l.Rate/3, 1+l.Burst/2
			aimd.Learn, aimd.Adaptive = false, true
			limits = []Limits{l, less, aimd}
		}
		var used []time.Time
		now, clock := epoch, time.Duration(0)
		held := map[string][]time.Time{} // by real time
		for range rapid.IntRange(1, 200).Draw(t, "asks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) * ms)
			if rapid.IntRange(0, 20).Draw(t, "back") == 0 {
				clock -= time.Duration(rapid.IntRange(0, 100_000).Draw(t, "by")) * ms
			}
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "member")
			ask := Ask{Limits: rapid.SampledFrom(limits).Draw(t, "limits"), Want: rapid.IntRange(0, 300).Draw(t, "want")}
			o := &ask.Outcomes
			ahead := rapid.IntRange(0, 2).Draw(t, "ahead") // those to come share one fate
			for i, at := range held[name] {
				switch way := rapid.IntRange(0, 9).Draw(t, "way"); {
				case at.After(now) && ahead == 0:
					ask.Back++
				case at.After(now) && ahead == 1:
					o.Dropped++
				case way == 0:
					o.Unknown++
					used = append(used, at)
				case way == 1 && i%7 == 0:
					o.Refused++
					o.First = max(o.First, now.Sub(at))
					used = append(used, at)
				case way == 2: // it died
					used = append(used, at)
				default:
					o.Served++
					o.Last, o.Trip = max(0, now.Sub(at)), 100*ms
					used = append(used, at)
				}
			}
			ask.Throttled = o.Refused > 0
			if ask.Throttled {
				ask.Hint = time.Duration(rapid.IntRange(0, 3).Draw(t, "hint")) * sec
			}
			sane, err := ask.Sane()
			if err != nil {
				t.Fatal(err)
			}
			held[name] = moments(now, b.Ask(now.Add(clock), name, sane))
		}
		for _, list := range held {
			used = append(used, list...)
		}
		// A pace is kept to within a few tokens.
		if got, may := most(used, l.Rate), math.Max(1, l.Burst)+3; got > may {
			t.Fatalf("%g more than the rate of %g, and the burst is %g", got, l.Rate, l.Burst)
		}
	})
}

// A ceiling that members tell differently is nobody's chance of a burst.
func TestLearnOtherLimits(t *testing.T) {
	high, low := learns(), learns()
	low.Rate, low.Burst = 5, 50
	aimd := ec2()
	for _, c := range []struct {
		name   string
		others Limits
	}{{"other limits", low}, {"another controller", aimd}} {
		var b Bucket
		n := 0
		for i := range 100 {
			now := at(time.Duration(i) * 100 * ms)
			for j, l := range []Limits{high, c.others} {
				g := b.Ask(now, fmt.Sprint(j), Ask{Limits: l, Want: 1000})
				for _, m := range moments(now, g) {
					if m.Before(at(10 * sec)) {
						n++
					}
				}
			}
		}
		if n > 100+200+5 || n < 50 {
			t.Errorf("%s: %d tokens in 10 s, of a burst of 100 and 20 a second", c.name, n)
		}
	}
}

// The longest pause is the configured one, whoever asks for more.
func TestLearnPausesAreBounded(t *testing.T) {
	for _, ask := range []Ask{{Throttled: true, Hint: 5 * time.Hour, Outcomes: Outcomes{Refused: 1}}, {Pause: 5 * time.Hour}} {
		var b Bucket
		ask.Limits = learns()
		b.Ask(at(0), "a", Ask{Limits: ask.Limits, Want: 1})
		g := b.Ask(at(sec), "a", ask)
		if g.Paused > 300*sec || g.Paused < 299*sec {
			t.Errorf("paused for %s, want 5 min", g.Paused)
		}
	}
}

// Who was told to come later still waits: what refills meanwhile proves nothing, and is
// not spent as a burst.
func TestLearnPausedMembersStillWait(t *testing.T) {
	var b Bucket
	l := learns()
	for _, name := range []string{"a", "b"} {
		b.Ask(at(0), name, Ask{Limits: l, Want: 50})
	}
	g := b.Ask(at(sec), "a", Ask{Limits: l, Want: 50, Throttled: true, Hint: 10 * sec, Outcomes: Outcomes{Refused: 1, First: 100 * ms}})
	if g.Active != 2 {
		t.Errorf("%d want tokens in the pause, of two", g.Active)
	}
	now := at(sec + g.Again)
	if g = b.Ask(now, "a", Ask{Limits: l, Want: 50}); g.Tokens != 1 {
		t.Errorf("after a pause a burst of %d goes", g.Tokens)
	}
}

// A member that asks again and again does not send the others further away.
func TestLearnTurns(t *testing.T) {
	var b Bucket
	l := learns()
	l.Rate, l.Burst = 1, 1
	b.Ask(at(0), "a", Ask{Limits: l, Want: 5})
	for i := range 500 {
		b.Ask(at(time.Duration(i)*ms), "a", Ask{Limits: l, Want: 5, Debt: i % 2})
	}
	if g := b.Ask(at(500*ms), "b", Ask{Limits: l, Want: 5}); g.Again > 4*sec {
		t.Errorf("who comes second of two is told to come again in %s", g.Again)
	}
}

// What is told of tokens that were taken without leave, before the store knew of them or
// with it, leaves nothing in flight.
func TestLearnDebtEnds(t *testing.T) {
	for _, asks := range [][]Ask{
		{{Debt: 3, Outcomes: Outcomes{Served: 3, Trip: ms}}},
		{{Debt: 50, Outcomes: Outcomes{Unknown: 50}}},
	} {
		var b Bucket
		b.Ask(at(0), "a", Ask{Limits: learns(), Want: 1})
		for i, ask := range asks {
			ask.Limits = learns()
			b.Ask(at(time.Duration(i)*ms), "a", ask)
		}
		if out := b.members["a"].out; out != 1 {
			t.Errorf("%+v: %d in flight, want the one that was handed out", asks, out)
		}
	}
}

// A refusal holds for all also where it is not known which call was refused.
func TestLearnThrottleOfAnUnknownCall(t *testing.T) {
	var b Bucket
	l := learns()
	b.Ask(at(0), "a", Ask{Limits: l, Throttled: true, Hint: 7 * sec, Ago: sec})
	if g := b.Ask(at(0), "b", Ask{Limits: l, Want: 5}); g.Paused != 6*sec || g.Tokens > 0 {
		t.Errorf("%+v", g)
	}
}

// Whatever members say, a bucket that learns keeps to numbers, and answers soon.
func TestNothingSpoilsABucketThatLearns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SampledFrom([]int{0, 0, 1, 3, 20, 1000, math.MaxInt, math.MinInt, -1})
		times := rapid.SampledFrom([]time.Duration{0, 1, ms, sec, 400 * sec, math.MaxInt64, math.MinInt64})
		numbers := rapid.SampledFrom([]float64{1e-6, 0.2, 20, 1e6, 1e9})
		var b Bucket
		now := epoch
		for range rapid.IntRange(1, 60).Draw(t, "asks") {
			now = now.Add(time.Duration(rapid.IntRange(-5000, 5000).Draw(t, "ms")) * ms)
			a := hostile(t, Limits{
				Rate: numbers.Draw(t, "rate"), Burst: numbers.Draw(t, "burst"),
				Learn: rapid.IntRange(0, 9).Draw(t, "learn") > 0, Soft: rapid.Bool().Draw(t, "soft"), MaxPause: 300 * sec,
			})
			a.Outcomes = Outcomes{
				Served: sizes.Draw(t, "served"), Last: times.Draw(t, "last"), Trip: times.Draw(t, "trip"), Unknown: sizes.Draw(t, "unknown"),
				Refused: sizes.Draw(t, "refused"), First: times.Draw(t, "first"), Dropped: sizes.Draw(t, "dropped"),
			}
			sane, err := a.Sane()
			if err != nil {
				t.Fatal(err)
			}
			g := b.Ask(now, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "member"), sane)
			s := b.Status(now)
			for _, x := range []float64{g.Rate, g.Burst, s.Tokens, s.MaxRate, s.Burst, s.Rate} {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("%+v, %+v", g, s)
				}
			}
			if !sane.Soft && g.Rate > sane.Rate || g.Rate <= 0 || g.Burst < 1 || g.Tokens < 0 || g.Tokens > sane.Want || g.Every < 0 || g.Again < 0 || g.Active < 1 {
				t.Fatalf("%+v of %+v", g, sane)
			}
			if lasts := b.Lasts(now); lasts <= 0 {
				t.Fatalf("lasts %s", lasts)
			}
		}
	})
}

// A server that has more stored than was configured does not have more asked of it, where
// the ceiling is hard.
func TestLearnHardBurst(t *testing.T) {
	var b Bucket
	l := learns()
	l.Burst = 10
	tokens, last, largest := 100.0, epoch, 0.0 // of a server that fills at 10 a second
	now := epoch
	for range 20 { // bursts of 200 calls with a minute between them
		now = now.Add(time.Minute)
		for left := 200; left > 0; {
			g := b.Ask(now, "a", Ask{Limits: l, Want: left})
			largest = math.Max(largest, g.Burst)
			var o Outcomes
			list := moments(now, g)
			for _, at := range list {
				tokens = math.Min(100, tokens+10*at.Sub(last).Seconds())
				if last = at; tokens >= 1 {
					tokens--
					left--
					o.Served++
				} else {
					o.Refused++
				}
			}
			if len(list) > 0 {
				now = list[len(list)-1].Add(30 * ms)
				o.Last, o.First, o.Trip = 30*ms, 30*ms, 30*ms
				b.Ask(now, "a", Ask{Limits: l, Throttled: o.Refused > 0, Outcomes: o})
			} else {
				now = now.Add(max(g.Again, ms))
			}
		}
	}
	if largest > l.Burst {
		t.Errorf("a burst of %g is in force, and %g is configured", largest, l.Burst)
	}
}

// Members that die with tokens leave their share to the others within seconds.
func TestLearnShareOfTheDead(t *testing.T) {
	for _, rate := range []float64{2, 20, 100, 1000} {
		var b Bucket
		l := learns()
		l.Rate, l.Burst = rate, 1
		for i := range 4 {
			for range 3 {
				b.Ask(at(0), fmt.Sprint(i), Ask{Limits: l, Want: 1000})
			}
		}
		granted := 0
		var told Outcomes
		now := at(5 * sec)
		for now.Before(at(35 * sec)) {
			g := b.Ask(now, "0", Ask{Limits: l, Want: 1000, Outcomes: told})
			granted += g.Tokens
			told = Outcomes{Served: g.Tokens, Trip: 10 * ms}
			now = now.Add(max(ms, g.Again))
		}
		if float64(granted) < 0.95*30*rate {
			t.Errorf("%g a second: the one that is left got %d tokens in 30 s", rate, granted)
		}
	}
}

// Refusals that are told together teach what they teach one by one.
func TestLearnRefusalsToldTogether(t *testing.T) {
	rates := map[bool]float64{}
	for _, together := range []bool{true, false} {
		var b Bucket
		l := learns()
		l.Soft = true
		now := at(0)
		for range 3 { // 300 calls are served, and the next refused
			for n := 0; n < 300; {
				g := b.Ask(now, "a", Ask{Limits: l, Want: 10})
				n += g.Tokens
				now = now.Add(max(g.Again, 30*ms))
				b.Ask(now, "a", Ask{Limits: l, Outcomes: Outcomes{Served: g.Tokens, Last: 30 * ms, Trip: 30 * ms}})
			}
			g := b.Ask(now, "a", Ask{Limits: l, Want: 10})
			now = now.Add(g.After + 60*ms)
			b.Ask(now, "a", Ask{Limits: l, Want: 10})
			if together {
				b.Ask(now, "a", Ask{Limits: l, Throttled: true, Outcomes: Outcomes{Refused: 8, First: 60 * ms}})
			} else {
				b.Ask(now, "a", Ask{Limits: l, Throttled: true, Outcomes: Outcomes{Refused: 1, First: 60 * ms}})
				for range 7 {
					b.Ask(now, "a", Ask{Limits: l, Throttled: true, Outcomes: Outcomes{Refused: 1, First: 50 * ms}})
				}
			}
			now = now.Add(sec)
		}
		rates[together] = b.learner.model.State().Rate
	}
	if rates[true] != rates[false] {
		t.Errorf("a rate of %g told together, %g one by one", rates[true], rates[false])
	}
}
