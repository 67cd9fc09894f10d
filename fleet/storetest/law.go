package storetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// script is a source of what members may say.
type script struct{ *rand.Rand }

func (r script) time(choices ...time.Duration) time.Duration {
	d := choices[r.IntN(len(choices))]
	if d > 0 {
		d = time.Duration(r.Int64N(int64(d)))
	}
	return d
}

func (r script) limits() sharing.Limits {
	rate := []float64{0.01, 0.33, 1, 5, 20, 33.3, 1000, 12345.678}[r.IntN(8)]
	return sharing.Limits{
		Rate: rate, Burst: rate * []float64{0.5, 1, 2, 5}[r.IntN(4)], MinRate: rate / []float64{1, 3, 100}[r.IntN(3)],
		Adaptive: r.IntN(4) > 0, MaxPause: r.time(0, sec, 300*sec),
	}
}

func (r script) ask(l sharing.Limits) sharing.Ask {
	a := sharing.Ask{Limits: l}
	if r.IntN(4) > 0 {
		a.Want = r.IntN(1 + []int{1, 5, 1000}[r.IntN(3)])
	}
	if r.IntN(4) == 0 {
		a.Back = r.IntN(20)
	}
	if r.IntN(10) == 0 {
		a.Debt = r.IntN(200)
	}
	a.Drained = r.IntN(20) == 0
	if r.IntN(6) == 0 {
		a.Throttled, a.Ago, a.Hint = true, r.time(0, sec, 8*sec), r.time(0, 0, 3*sec, 400*sec)
	}
	if r.IntN(20) == 0 {
		a.Pause = r.time(ms, 5*sec)
	}
	a.Succeeded = r.IntN(2) == 0
	switch r.IntN(20) {
	case 0:
		a.Opened = &sharing.Circuit{Left: r.time(0, 20*sec), Cooldown: r.time(60 * sec), Cause: fmt.Sprint("cause ", r.IntN(100), "\n\x00")}
	case 1:
		a.Closed = true
	}
	return a
}

// pass lets time pass by whole microseconds, and now and then sets the clock back.
func (r script) pass(h Harness) {
	if h.Back != nil && r.IntN(50) == 0 {
		h.Back(r.time(ms, time.Hour).Truncate(time.Microsecond))
		return
	}
	h.sleep(r.time(ms, 100*ms, 100*ms, sec, 8*sec).Truncate(time.Microsecond))
}

// scripts is how many members' lives are compared, and turns how long each of them is.
const scripts, turns = 30, 80

// testLaw: whatever members say in whatever order, the answers are those of the law.
func testLaw(t *testing.T, h Harness) {
	t.Helper()
	lives(t, h, "", script.limits, script.ask)
}

// testLawOfLearning does the same for buckets that learn.
func testLawOfLearning(t *testing.T, h Harness) {
	t.Helper()
	lives(t, h, "learning ", script.learning, script.outcomes)
}

// learning gives limits of a bucket that learns.
func (r script) learning() sharing.Limits {
	l := r.limits()
	l.Learn, l.Soft = true, r.IntN(2) == 0
	return l
}

// outcomes is an ask that tells what became of calls besides.
func (r script) outcomes(l sharing.Limits) sharing.Ask {
	a := r.ask(l)
	a.Served, a.Last, a.Trip = r.IntN(1+a.Want/2), r.time(ms, sec), r.time(100*ms, sec)
	if r.IntN(10) == 0 {
		a.Unknown, a.Dropped = r.IntN(3), r.IntN(3)
	}
	if a.Throttled {
		a.Refused, a.First = 1+r.IntN(3), r.time(100*ms, sec)
	}
	return a
}

// lives compares the answers to members with those of the law.
func lives(t *testing.T, h Harness, kind string, limit func(script) sharing.Limits, say func(script, sharing.Limits) sharing.Ask) {
	t.Helper()
	if h.Now == nil {
		return
	}
	for seed := range scripts {
		r := script{rand.New(rand.NewPCG(uint64(seed), 1))}
		keys := []string{fmt.Sprint(kind, "one", seed), fmt.Sprint(kind, "two ", seed)}
		model := map[string]*sharing.Bucket{keys[0]: {}, keys[1]: {}}
		limits := map[string]sharing.Limits{keys[0]: limit(r), keys[1]: limit(r)}
		for turn := range turns {
			r.pass(h)
			now, member := h.Now(), []string{"a", "b", "c", "d e"}[r.IntN(4)]
			var asks []fleet.BucketAsk
			for _, key := range keys {
				if r.IntN(30) == 0 {
					limits[key] = limit(r)
				}
				asks = append(asks, fleet.BucketAsk{Key: key, Ask: say(r, limits[key])})
			}
			got, err := h.Store.Exchange(t.Context(), member, asks)
			if err != nil {
				t.Fatalf("script %d, turn %d: %v", seed, turn, err)
			}
			for i, a := range asks {
				sane, err := a.Sane()
				if err != nil {
					t.Fatal(err)
				}
				want := model[a.Key].Ask(now, member, sane)
				if got[i].Err != nil || !reflect.DeepEqual(got[i].Grant, want) {
					t.Fatalf("script %d, turn %d: %s asks %+v\n got %s, %v\nwant %s", seed, turn, member, a, text(got[i].Grant), got[i].Err, text(want))
				}
			}
		}
		for _, key := range keys {
			got, want := bucket(t, h.Store, key), model[key].Status(h.Now())
			if got.RPS != want.Rate || got.MaxRPS != want.MaxRate || got.Burst != want.Burst || got.Tokens != want.Tokens ||
				got.PausedSeconds != want.Paused.Seconds() || !reflect.DeepEqual(got.Active, want.Active) {
				t.Fatalf("script %d: status of %s\n got %+v\nwant %+v", seed, key, got, want)
			}
		}
	}
}

func text(g sharing.Grant) string {
	if g.Circuit == nil {
		return fmt.Sprintf("%+v", g)
	}
	return fmt.Sprintf("%+v, circuit %+v", g, *g.Circuit)
}

// testLawOfSlots does the same for slots.
func testLawOfSlots(t *testing.T, h Harness) {
	if h.Now == nil {
		return
	}
	for seed := range scripts {
		r := script{rand.New(rand.NewPCG(uint64(seed), 2))}
		key, model, most := fmt.Sprint("pool", seed), sharing.Slots{}, 1+r.IntN(12)
		for turn := range turns {
			r.pass(h)
			if r.IntN(20) == 0 {
				most = r.IntN(12)
			}
			now, member := h.Now(), []string{"a", "b", "c", "d e", "f"}[r.IntN(5)]
			a := sharing.SlotAsk{Max: most, InUse: r.IntN(3), Want: r.IntN(12), Lasts: 1 + r.time(5*sec, 20*sec)}
			sane, err := a.Sane()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := slots(t, h.Store, member, key, a), model.Ask(now, member, sane); got != want {
				t.Fatalf("script %d, turn %d: %s asks %+v: got %+v, want %+v", seed, turn, member, a, got, want)
			}
		}
		want := model.Status(h.Now())
		var got fleet.SlotsStatus
		for _, p := range status(t, h.Store).Slots {
			if p.Key == key {
				got = p
			}
		}
		if len(want.Slots) > 0 && (got.Max != want.Max || !reflect.DeepEqual(got.Slots, want.Slots)) {
			t.Fatalf("script %d: status %+v, want %+v", seed, got, want)
		}
	}
}

// testEqualShares: members that always want more get the same, and together all there is.
func testEqualShares(t *testing.T, h Harness) {
	if h.Now == nil {
		return
	}
	const members, seconds = 4, 20
	l := sharing.Limits{Rate: 100, Burst: 1}
	start := h.Now()
	next, got := make([]time.Time, members), make([]int, members)
	for {
		i := 0
		for j := range next {
			if next[j].Before(next[i]) {
				i = j
			}
		}
		h.sleep(max(0, next[i].Sub(h.Now())))
		if h.Now().Sub(start) > seconds*sec {
			break
		}
		g := one(t, h.Store, fmt.Sprint(i), "shared", sharing.Ask{Limits: l, Want: 1000})
		got[i] += g.Tokens
		next[i] = h.Now().Add(max(g.Again, ms) + time.Duration(i)*2*ms) // some are slower to ask
	}
	total := 0
	for _, n := range got {
		total += n
		if share := float64(n) / (l.Rate * seconds / members); math.Abs(share-1) > 0.1 {
			t.Errorf("tokens of each: %v", got)
		}
	}
	if all := l.Rate * seconds; float64(total) < 0.98*all || float64(total) > all+l.Rate {
		t.Errorf("%d tokens in %d s at %g a second", total, seconds, l.Rate)
	}
}
