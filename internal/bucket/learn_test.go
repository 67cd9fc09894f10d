package bucket

import (
	"math"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/internal/learning"
	"pgregory.net/rapid"
)

// learner is a full bucket that learns, without parents.
func learner(rate, burst float64, soft bool) *Bucket {
	return New(Options{Rate: rate, Burst: burst, Learn: true, Soft: soft, MinRate: rate / 100, MaxPause: 300 * sec}, nil, epoch)
}

// taken takes a token that must be there.
func taken(tb testing.TB, b *Bucket, now time.Time) Mark {
	tb.Helper()
	k, ok := b.Take(now)
	if !ok {
		tb.Fatalf("%s: no token", now.Sub(epoch))
	}
	return k
}

// A pause ends for who learns by the wall clock too: after a night's sleep of the machine
// nobody waits for the timers.
func TestLearnPauseEndsByTheWallClock(t *testing.T) {
	for _, soft := range []bool{false, true} {
		b := learner(1, 5, soft)
		b.Throttled(epoch, taken(t, b, epoch), 300*sec)
		b.pause.wall = b.pause.wall.Add(-298 * sec) // from here on the wall clock is ahead
		w := newWorld(t)
		w.join(b, "a", Terms{})
		w.now = at(2 * sec)
		w.poll(w.callers[0])
		w.expect("2s a granted")
	}
}

// A pause that ends by the timers ends no rest that is longer.
func TestLearnPauseLeavesTheRest(t *testing.T) {
	b := learner(1, 10, true)
	marks := []Mark{taken(t, b, epoch)}
	b.Throttled(epoch, marks[0], 0) // two tokens' time
	b.Throttled(epoch, Mark{}, 500*ms)
	if takes(b, at(1900*ms)) {
		t.Error("a token in the rest that follows a throttle")
	}
	if !takes(b, at(4*sec)) {
		t.Error("no token after it")
	}
}

// S3.4: a token that comes back unused costs those who wait nothing.
func TestLearnReturnGivesThePlaceBack(t *testing.T) {
	b := learner(0.1, 4, true)
	k := taken(t, b, epoch)
	b.Throttled(epoch, k, 0)
	b.Settled(epoch, k)
	w := newWorld(t)
	w.now = at(60 * sec)
	k = taken(t, b, w.now)
	w.join(b, "a", Terms{})
	w.run(61 * sec)
	w.expect()
	b.Return(w.now, k)
	w.run(61 * sec)
	w.expect("1m1s a granted")
}

// What was under way when somebody else began to hand out the tokens is accounted for.
func TestLearnLeasedMeanwhile(t *testing.T) {
	b := learner(10, 10, false)
	served, refused, dropped := taken(t, b, epoch), taken(t, b, epoch), taken(t, b, epoch)
	b.Lease(epoch, 10, 10, func() {})
	b.Succeeded(epoch, served)
	b.Throttled(epoch, refused, 0)
	b.Settled(epoch, refused)
	b.Unknown(dropped)
	b.Free(epoch)
	if !b.model.State().Taught && !b.Idle(at(time.Hour)) {
		t.Errorf("an hour later something is still under way: %+v", b.model)
	}
}

// A leaf that is restored asks for no more than it would have had it gone on, also where
// nothing was learned.
func TestLearnRecallsWhatWasSpent(t *testing.T) {
	for _, soft := range []bool{false, true} {
		b := learner(10, 40, soft)
		for range 30 {
			b.Succeeded(epoch, taken(t, b, epoch))
		}
		m, ok := b.Memory(epoch)
		if !ok {
			t.Fatal("there is nothing to remember")
		}
		m.Learned = nil // nothing was
		next := learner(10, 40, soft)
		next.Recall(epoch, m)
		if s := next.State(epoch); s.Tokens > 10+1e-6 {
			t.Errorf("soft %t: %g tokens after 30 of 40 were spent", soft, s.Tokens)
		}
	}
}

// A memory that comes late does not give back what was spent meanwhile.
func TestLearnRecallHoldsBack(t *testing.T) {
	b := learner(10, 40, true)
	for range 30 {
		b.Succeeded(epoch, taken(t, b, epoch))
	}
	b.Recall(epoch, Memory{At: epoch, Rate: 10, Ceiling: 10, Burst: 40, Tokens: 40, Learned: &learning.State{Rate: 10, Burst: 40, Calls: 100, Bursts: 3, Taught: true}})
	if s := b.State(epoch); s.Tokens > 10+1e-6 || !s.Learned.Taught {
		t.Errorf("%+v after 30 of 40 were spent", s)
	}
}

// Whatever a memory says, the bucket goes on working with numbers that can be.
func TestLearnRecallsAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		soft := rapid.Bool().Draw(t, "soft")
		b := learner(10, 40, soft)
		number := rapid.OneOf(rapid.Float64Range(0, 1000), rapid.SampledFrom([]float64{0, 1e-300, 1e9, 1e100, math.MaxFloat64}))
		m := Memory{
			At: epoch.Add(-time.Duration(rapid.Int64Range(-1e6, 1e6).Draw(t, "age")) * sec), Ceiling: 10,
			Tokens: number.Draw(t, "tokens") * float64(rapid.SampledFrom([]int{-1, 1}).Draw(t, "sign")),
		}
		l := learning.State{
			Rate: number.Draw(t, "rate"), Burst: number.Draw(t, "burst"), Calls: number.Draw(t, "calls"), Bursts: number.Draw(t, "bursts"),
			Noise: number.Draw(t, "noise"), Throttles: rapid.IntRange(0, 9).Draw(t, "throttles"), Taught: true,
		}
		m.Learned, m.Rate, m.Burst = &l, l.Rate, l.Burst
		b.Recall(epoch, m)
		now := epoch
		for range 300 {
			now = now.Add(50 * ms)
			for range 5 {
				if k, ok := b.Take(now); ok {
					if rapid.Bool().Draw(t, "served") {
						b.Succeeded(now, k)
					} else {
						b.Throttled(now, k, 0)
						b.Settled(now, k)
					}
				}
			}
			sane(t, b, now)
		}
		// Left alone it grants again.
		w := newWorld(t)
		w.now = now
		w.join(b, "a", Terms{})
		w.run(now.Add(time.Hour).Sub(epoch))
		if len(w.callers) > 0 {
			t.Fatalf("nothing in an hour: %+v %+v", b.State(w.now), *b.State(w.now).Learned)
		}
	})
}

// sane fails where a learned number cannot be.
func sane(t *rapid.T, b *Bucket, now time.Time) {
	l := b.State(now).Learned
	for what, x := range map[string]float64{"rate": l.Rate, "burst": l.Burst, "calls": l.Calls, "bursts": l.Bursts} {
		if !(x > 0) || math.IsInf(x, 0) {
			t.Fatalf("%s %g: %+v", what, x, *l)
		}
	}
	if !(l.Noise >= 0) || math.IsNaN(l.Level) || math.IsInf(l.Level, 0) || math.IsInf(l.Noise, 0) || l.Burst < 1 {
		t.Fatalf("%+v", *l)
	}
}

// The configured floor is one for who learns too.
func TestLearnFloor(t *testing.T) {
	b := New(Options{Rate: 20, Burst: 10, Learn: true, Soft: true, MinRate: 5, MaxPause: sec}, nil, epoch)
	now, last := epoch, Mark{}
	for range 200 { // one call, and its repetitions
		if k, ok := b.Take(now); ok {
			b.Settled(now, last)
			b.Throttled(now, k, 0)
			last = k
		}
		now = now.Add(100 * ms)
	}
	if s := b.State(now); s.Rate < 5 || s.Rate > 6 {
		t.Errorf("%g a second after throttles without end, with a floor of 5", s.Rate)
	}
}
