package learning

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// history drives a model at random, as a bucket would, and checks after each step what
// must hold for any history.
type history struct {
	*Model
	conf    Limits
	now     float64
	waiting bool
	trip    float64 // of each call

	under    []sent // way
	held     []Mark
	owed     int
	inFlight int

	bounds []bound // of when the n-th of those who wait can go
	went   int
}

type sent struct {
	Mark
	at float64
}

// bound says that no call goes before at that is the n-th.
type bound struct {
	n  int
	at float64
	by string
}

func newHistory(t *rapid.T) *history {
	exponent := func(low, high float64, label string) float64 {
		return math.Pow(10, rapid.Float64Range(low, high).Draw(t, label))
	}
	h := &history{conf: Limits{exponent(-6, 9, "rate"), exponent(0, 9, "burst"), exponent(-6, 9, "floor")}, now: 1}
	h.trip = exponent(-3, 1, "trip")
	h.Model = New(h.conf, rapid.Bool().Draw(t, "hard"), h.now)
	return h
}

func (h *history) to(t float64) {
	h.now = t
	h.Advance(h.now, h.waiting)
}

func (h *history) sends(n int) {
	for range n {
		h.Advance(h.now, h.waiting)
		if !h.Ready(h.now) {
			return
		}
		h.went++
		h.Send1()
	}
}

func (h *history) Send1() {
	h.under = append(h.under, sent{h.Send(h.now, h.waiting), h.now})
	h.inFlight++
}

// pick takes a call out of those that are under way for a whole trip.
func (h *history) pick() (k Mark, ok bool) {
	for i, s := range h.under {
		if h.now-s.at >= h.Model.trip && h.now-s.at >= h.trip {
			h.under = slices.Delete(h.under, i, i+1)
			h.inFlight--
			return s.Mark, true
		}
	}
	return k, false
}

func (h *history) actions() map[string]func(*rapid.T) {
	answer := func(f func(k Mark)) func(*rapid.T) {
		return func(t *rapid.T) {
			k, ok := h.pick()
			if !ok {
				t.Skip()
			}
			h.Advance(h.now, h.waiting)
			f(k)
		}
	}
	return map[string]func(*rapid.T){
		"send":   func(t *rapid.T) { h.sends(rapid.IntRange(1, 40).Draw(t, "calls")) },
		"served": answer(func(k Mark) { h.Succeeded(h.now, k) }),
		"served all": func(*rapid.T) {
			for {
				k, ok := h.pick()
				if !ok {
					return
				}
				h.Advance(h.now, h.waiting)
				h.Succeeded(h.now, k)
			}
		},
		"throttled": func(t *rapid.T) {
			hint := rapid.SampledFrom([]float64{0, 0, 0, 0.1, 1, 60, 3600}).Draw(t, "hint")
			answer(func(k Mark) {
				h.Throttled(h.now, k, hint)
				h.owed++
			})(t)
		},
		"throttled without a token": func(*rapid.T) { h.Throttled(h.now, Mark{}, 0) },
		"repeated": func(t *rapid.T) {
			if h.owed == 0 {
				t.Skip()
			}
			h.owed--
			h.Settled()
		},
		"unknown": answer(func(Mark) { h.Unknown() }),
		"back":    answer(func(k Mark) { h.Unsent(k); h.bounds = nil }),
		"hold": answer(func(k Mark) {
			h.held = append(h.held, h.Wait(k))
			h.inFlight++
		}),
		"go": func(t *rapid.T) {
			if len(h.held) == 0 {
				t.Skip()
			}
			h.held = h.held[1:]
			h.under = append(h.under, sent{h.Leave(h.now), h.now})
		},
		"pause":      func(t *rapid.T) { h.Hold(h.now + rapid.Float64Range(0, 100).Draw(t, "pause")) },
		"pause ends": func(t *rapid.T) { h.Resume(h.now, rapid.Float64Range(0, 100).Draw(t, "left")); h.bounds = nil },
		"borrow": func(*rapid.T) {
			if h.Lends() {
				h.Send1()
				h.went++
				h.bounds = nil
			}
		},
		"queue": func(t *rapid.T) { h.Advance(h.now, h.waiting); h.waiting = rapid.Bool().Draw(t, "waiting") },
		"pass": func(t *rapid.T) {
			h.to(h.now + rapid.SampledFrom([]float64{0, 1e-9, 1e-3, 0.1, 1, 60, 1e5}).Draw(t, "time"))
		},
		"tokens": func(t *rapid.T) { h.to(h.now + rapid.Float64Range(0, 20).Draw(t, "tokens")/h.rate) },
		"next": func(t *rapid.T) {
			at := h.When(h.now)
			if at-h.now > 1e12 {
				t.Fatalf("nothing before %g: %+v", at, *h.Model)
			}
			h.to(at)
			// A timer is good to a nanosecond, and a time to its last digit.
			for range 3 {
				if h.Ready(h.now) {
					return
				}
				h.to(h.now + 1e-6 + 1e-15*h.now)
			}
			t.Fatalf("%g: not ready, and then before %g: %+v", h.now, h.When(h.now), *h.Model)
		},
		"bound": func(t *rapid.T) {
			n := rapid.IntRange(1, 200).Draw(t, "n")
			h.bounds = append(h.bounds, bound{h.went + n, h.Soonest(h.now, n), fmt.Sprintf("%d at %g: %+v", n, h.now, *h.Model)})
		},
		"": h.check,
	}
}

func (h *history) check(t *rapid.T) {
	m := h.Model
	s := m.State()
	for what, x := range map[string]float64{"rate": s.Rate, "burst": s.Burst, "calls": s.Calls, "bursts": s.Bursts, "noise": s.Noise, "pace": m.Pace(), "horizon": m.horizon(), "reserve": m.reserve(), "unsure": m.unsure} {
		if !(x >= 0) || math.IsInf(x, 0) || x == 0 && what != "noise" {
			t.Fatalf("%s %g: %+v", what, x, *m)
		}
	}
	if math.IsNaN(s.Level) || s.Level > s.Burst || math.IsNaN(m.tie) || math.IsInf(m.tie, 0) || math.IsNaN(m.next) || math.IsNaN(m.pause) {
		t.Fatalf("%+v", *m)
	}
	if m.hard && (s.Rate > h.conf.Rate*(1+1e-9) || m.Pace() > h.conf.Rate*(1+1e-9)) {
		t.Fatalf("%g a second, promised %g", m.Pace(), h.conf.Rate)
	}
	if m.inFlight != h.inFlight || m.owed != h.owed || m.held != len(h.held) {
		t.Fatalf("%d under way, %d owed, %d held; want %d, %d, %d", m.inFlight, m.owed, m.held, h.inFlight, h.owed, len(h.held))
	}
	for _, b := range h.bounds {
		if h.went >= b.n && h.now < b.at*(1-1e-9) {
			t.Fatalf("%g: %d calls went, not expected before %g by %s", h.now, h.went, b.at, b.by)
		}
	}
	h.bounds = slices.DeleteFunc(h.bounds, func(b bound) bool { return h.went >= b.n || h.now >= b.at })
}

func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { t.Repeat(newHistory(t).actions()) })
}
