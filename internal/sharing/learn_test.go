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

