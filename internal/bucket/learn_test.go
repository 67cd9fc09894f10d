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

// A hard ceiling is a promise: whatever comes back, in no window do more calls go than
// burst and rate allow, and a burst of debt where some did not wait for their token.
func TestLearnHardInAnyWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]float64{0.5, 7, 100}).Draw(t, "rate")
		burst := rapid.SampledFrom([]float64{1, 3.5, 40}).Draw(t, "burst")
		b := learner(rate, burst, false)
		w := newWorld(t)
		var went []time.Time
		debts := false
		type call struct {
			k  Mark
			at time.Time
		}
		var under []call
		gone := func() {
			for _, c := range w.done {
				if c.status == Granted {
					went = append(went, w.now)
					under = append(under, call{c.w.Mark(), w.now})
				}
			}
			w.done = nil
		}
		queue := func(terms Terms) {
			w.join(b, "a", terms)
			w.settle()
			gone()
		}
		t.Repeat(map[string]func(*rapid.T){
			"queue": func(t *rapid.T) {
				for range rapid.IntRange(1, 30).Draw(t, "callers") {
					queue(Terms{})
				}
			},
			"borrow": func(t *rapid.T) {
				if rapid.Bool().Draw(t, "really") {
					debts = true
					queue(Terms{Patience: w.now})
				}
			},
			"answers": func(t *rapid.T) {
				for _, c := range under {
					switch rapid.IntRange(0, 9).Draw(t, "answer") {
					case 0:
						b.Throttled(w.now, c.k, rapid.SampledFrom([]time.Duration{0, 100 * ms, 3 * sec}).Draw(t, "hint"))
						b.Settled(w.now, c.k)
					case 1:
						b.Unknown(c.k)
					default:
						b.Succeeded(w.now, c.k)
					}
					w.settle()
					gone()
				}
				under = nil
			},
			"pause": func(t *rapid.T) { b.Pause(w.now, sec) },
			"pass": func(t *rapid.T) {
				until := w.now.Add(rapid.SampledFrom([]time.Duration{ms, 50 * ms, sec, 20 * sec}).Draw(t, "time"))
				for { // a wake-up at a time, to know when each went
					next, ok := w.next()
					if !ok || next.After(until) {
						break
					}
					w.run(max(next.Sub(epoch), w.now.Sub(epoch)))
					gone()
				}
				w.run(until.Sub(epoch))
				gone()
			},
		})
		most := burst
		if debts {
			most += burst
		}
		for i := range went {
			for j := i; j < len(went); j++ {
				if n, allowed := float64(j-i+1), most+rate*went[j].Sub(went[i]).Seconds(); n > allowed+1e-6 {
					t.Fatalf("%g calls from %s to %s, %g are allowed", n, went[i].Sub(epoch), went[j].Sub(epoch), allowed)
				}
			}
		}
		if s := b.State(w.now); s.Rate > rate {
			t.Fatalf("%g a second, promised %g", s.Rate, rate)
		}
	})
}

// Under a slower account a leaf does not take the waiting there for anything of its own,
// and neighbours share what there is.
func TestLearnUnderASlowerAccount(t *testing.T) {
	provider := New(Options{Rate: 1000, Burst: 1000}, nil, epoch)
	account := New(Options{Rate: 10, Burst: 5}, provider, epoch)
	var leaves []*Bucket
	for range 2 {
		leaves = append(leaves, New(Options{Rate: 50, Burst: 20, Learn: true, Soft: true, MaxPause: 300 * sec}, account, epoch))
	}
	w := newWorld(t)
	served := map[*Bucket]int{}
	for _, b := range leaves {
		for range 20 {
			w.join(b, "", Terms{})
		}
	}
	for w.now.Before(at(300 * sec)) {
		w.run(w.now.Add(50 * ms).Sub(epoch))
		for _, c := range w.done {
			served[c.b]++
			c.b.Succeeded(w.now, c.w.Mark())
			w.join(c.b, "", Terms{})
		}
		w.done = nil
		w.log = nil
	}
	for i, b := range leaves {
		s := b.State(w.now)
		if s.Rate != 50 || s.Learned.Burst != 20 || s.Learned.Throttles != 0 {
			t.Errorf("leaf %d learned %+v of what its account held back", i, *s.Learned)
		}
		if n := served[b]; n < 1450 || n > 1560 {
			t.Errorf("leaf %d had %d calls of 3,000", i, n)
		}
	}
}

// What one leaf learns holds for it alone, and its throttles stop no neighbour.
func TestLearnAloneUnderAnAccount(t *testing.T) {
	account := New(Options{Rate: 100, Burst: 100}, nil, epoch)
	opt := Options{Rate: 20, Burst: 10, Learn: true, Soft: true, MaxPause: 300 * sec}
	a, b := New(opt, account, epoch), New(opt, account, epoch)
	now := epoch
	for range 5 {
		k := taken(t, a, now)
		a.Throttled(now, k, 0)
		now = now.Add(10 * sec)
		a.Settled(now, k)
	}
	if s := a.State(now); s.Rate >= 20 {
		t.Errorf("five throttles out of five left the rate at %g", s.Rate)
	}
	if s := b.State(now); s.Rate != 20 || s.Learned.Taught || !b.Idle(now) || a.Idle(now) {
		t.Errorf("the neighbour learned %+v", *s.Learned)
	}
	taken(t, b, now)
}

// S3.4: those who wait are served in the order in which they came, whatever is learned
// meanwhile, and nobody is forgotten.
func TestS3_4LearnAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parent *Bucket
		if rapid.Bool().Draw(t, "account") {
			parent = New(Options{Rate: 30, Burst: 10, MaxPause: 20 * sec}, nil, epoch)
		}
		opt := Options{Rate: rapid.SampledFrom([]float64{0.5, 10, 1000}).Draw(t, "rate"), Burst: 10, Learn: true, Soft: rapid.Bool().Draw(t, "soft"), MaxPause: 20 * sec}
		leaves := []*Bucket{New(opt, parent, epoch)}
		if parent != nil {
			leaves = append(leaves, New(opt, parent, epoch))
		}
		w := newWorld(t)
		var under []*caller
		place := map[*Bucket]uint64{}
		gone := func() {
			for _, c := range w.done {
				if c.status != Granted {
					continue
				}
				if c.w.Place() < place[c.b] {
					t.Fatalf("%d was served after %d", c.w.Place(), place[c.b])
				}
				place[c.b] = c.w.Place()
				under = append(under, c)
			}
			w.done = nil
		}
		one := func(t *rapid.T) *caller {
			if len(under) == 0 {
				t.Skip()
			}
			i := rapid.IntRange(0, len(under)-1).Draw(t, "call")
			c := under[i]
			under = append(under[:i:i], under[i+1:]...)
			return c
		}
		step := func(f func(*rapid.T)) func(*rapid.T) {
			return func(t *rapid.T) { f(t); w.settle(); gone() }
		}
		t.Repeat(map[string]func(*rapid.T){
			"join": step(func(t *rapid.T) {
				b := leaves[rapid.IntRange(0, len(leaves)-1).Draw(t, "leaf")]
				for range rapid.IntRange(1, 9).Draw(t, "callers") {
					w.join(b, "", Terms{})
				}
			}),
			"served": step(func(t *rapid.T) { c := one(t); c.b.Succeeded(w.now, c.w.Mark()) }),
			"throttled": step(func(t *rapid.T) {
				c := one(t)
				c.b.Throttled(w.now, c.w.Mark(), rapid.SampledFrom([]time.Duration{0, 0, sec, time.Hour}).Draw(t, "hint"))
				c.b.Settled(w.now, c.w.Mark())
			}),
			"unknown": step(func(t *rapid.T) { c := one(t); c.b.Unknown(c.w.Mark()) }),
			"back":    step(func(t *rapid.T) { c := one(t); c.b.Return(w.now, c.w.Mark()) }),
			"held": step(func(t *rapid.T) {
				c := one(t)
				c.w.mark = c.b.Hold(c.w.Mark())
				if rapid.Bool().Draw(t, "goes") {
					c.w.mark = c.b.Go(w.now, c.w.Mark())
					under = append(under, c)
				} else {
					c.b.Return(w.now, c.w.Mark())
				}
			}),
			"leaves": step(func(t *rapid.T) {
				if len(w.callers) == 0 {
					t.Skip()
				}
				w.leave(w.callers[rapid.IntRange(0, len(w.callers)-1).Draw(t, "caller")])
			}),
			"pause": step(func(t *rapid.T) { leaves[0].Pause(w.now, sec) }),
			"pass": step(func(t *rapid.T) {
				w.run(w.now.Add(rapid.SampledFrom([]time.Duration{ms, 100 * ms, 5 * sec}).Draw(t, "time")).Sub(epoch))
			}),
		})
		w.run(w.now.Sub(epoch) + time.Duration(len(w.callers)+12)*time.Minute)
		if len(w.callers) != 0 {
			t.Fatalf("%d callers wait for ever", len(w.callers))
		}
		gone()
		for _, c := range under {
			c.b.Unknown(c.w.Mark())
		}
		w.now = w.now.Add(24 * time.Hour)
		for _, b := range leaves {
			if !b.Idle(w.now) && !b.State(w.now).Learned.Taught {
				t.Fatalf("something is left: %+v", *b.model)
			}
		}
	})
}
