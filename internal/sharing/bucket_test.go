package sharing

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	ms  = time.Millisecond
	sec = time.Second
)

// ec2 is a bucket of 20 a second that stores 100.
func ec2() Limits {
	return Limits{Rate: 20, Burst: 100, MinRate: 0.2, Adaptive: true, MaxPause: 300 * sec}
}

// moments gives when the tokens of an answer may be used.
func moments(now time.Time, g Grant) (list []time.Time) {
	for k := range g.Tokens {
		at := now.Add(g.After + time.Duration(k)*g.Every)
		if at.Before(now) {
			at = now
		}
		list = append(list, at)
	}
	return list
}

// most is how much more than the rate allows was handed out in any stretch of time.
func most(list []time.Time, rate float64) (burst float64) {
	slices.SortFunc(list, time.Time.Compare)
	level, last := 0.0, time.Time{}
	for _, at := range list { // a bucket that is drawn upon without a bound
		if !last.IsZero() {
			level = math.Max(0, level-rate*at.Sub(last).Seconds())
		}
		level, last = level+1, at
		burst = math.Max(burst, level)
	}
	return burst
}

// However members ask, in any stretch of time no more is handed out than the burst and
// what the rate gives; and with what they give back, no more since the beginning.
func TestNeverMoreThanTheBucketHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{Rate: rapid.Float64Range(0.1, 500).Draw(t, "rate"), Burst: rapid.Float64Range(1, 200).Draw(t, "burst")}
		returns := rapid.Bool().Draw(t, "returns")
		var b Bucket
		var used []time.Time
		now := epoch
		held := map[string][]time.Time{}
		for range rapid.IntRange(1, 200).Draw(t, "asks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) * ms)
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "member")
			ask := Ask{Limits: l, Want: rapid.IntRange(0, 300).Draw(t, "want")}
			for i, at := range held[name] {
				if !returns || !at.After(now) && i%2 == 0 {
					used = append(used, at)
				} else {
					ask.Back++
				}
			}
			held[name] = moments(now, b.Ask(now, name, ask))
		}
		slices.SortFunc(used, time.Time.Compare)
		for i, at := range used {
			if n, may := float64(i+1), math.Max(1, l.Burst)+l.Rate*at.Sub(epoch).Seconds(); n > may+1e-3 {
				t.Fatalf("%g used in %s, where %g may be", n, at.Sub(epoch), may)
			}
		}
		if got := most(used, l.Rate); !returns && got > math.Max(1, l.Burst)+1e-3 {
			t.Fatalf("%g more than the rate of %g, and the burst is %g", got, l.Rate, l.Burst)
		}
	})
}

// client is a member with more work than there are tokens.
type client struct {
	name    string
	next    time.Time // when it asks
	granted int
	asks    int
}

// settled is when what was stored is gone, which goes to those that come first.
const settled = 5 * sec

// crowd lets clients ask whenever that is of use, each so much after it could, and
// gives what they got until then.
func crowd(b *Bucket, l Limits, want int, until time.Duration, late ...time.Duration) (clients []*client, all []time.Time) {
	for i := range late {
		clients = append(clients, &client{name: fmt.Sprint(i), next: epoch.Add(late[i])})
	}
	for {
		i := 0
		for j, c := range clients {
			if c.next.Before(clients[i].next) {
				i = j
			}
		}
		c := clients[i]
		now := c.next
		if now.Sub(epoch) > until {
			return clients, all
		}
		g := b.Ask(now, c.name, Ask{Limits: l, Want: want})
		if now.Sub(epoch) > settled {
			c.granted += g.Tokens
			c.asks++
		}
		all = append(all, moments(now, g)...)
		c.next = now.Add(max(g.Again, ms) + late[i])
	}
}

// Members that always want more get the same, whatever the rate, though some are slower
// to ask, and together all that there is.
func TestEqualShares(t *testing.T) {
	for _, rate := range []float64{0.33, 2, 20, 100, 1000} {
		for _, n := range []int{1, 2, 8, 40} {
			var late []time.Duration
			for i := range n {
				late = append(late, time.Duration(i%4)*2*ms)
			}
			l := Limits{Rate: rate, Burst: 2 * rate}
			var b Bucket
			long := time.Duration(math.Max(30, 60*float64(n)/rate)) * sec
			clients, all := crowd(&b, l, 1_000_000, long, late...)
			total, asks := 0, 0
			for _, c := range clients {
				total += c.granted
				asks += c.asks
			}
			all = slices.DeleteFunc(all, func(at time.Time) bool { return at.Sub(epoch) > long })
			if want := math.Max(1, l.Burst) + rate*long.Seconds(); float64(len(all)) < 0.99*want-float64(n) || float64(len(all)) > want+1 {
				t.Errorf("%g a second, %d members: %d tokens in %s, want %g", rate, n, len(all), long, want)
			}
			for _, c := range clients {
				share := float64(c.granted) * float64(n) / float64(total)
				if n > 1 && total > 50*n && math.Abs(share-1) > 0.1+float64(n)/float64(total) {
					t.Errorf("%g a second, %d members: %s got %.2f of its share", rate, n, c.name, share)
				}
			}
			if per := float64(asks) / float64(total); rate >= 1000 && n <= 8 && per > 0.05 {
				t.Errorf("%g a second, %d members: %.3f asks for a token", rate, n, per)
			}
		}
	}
}
