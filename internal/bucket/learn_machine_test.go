package bucket

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cloudpace/cloudpace/internal/learning"
)

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
