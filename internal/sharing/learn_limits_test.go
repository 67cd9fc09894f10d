package sharing

import (
	"testing"
	"time"
)

// Members that are configured otherwise teach a bucket anew with each ask. It hands out no
// more for it, ends no pause, and what one still has counts for nothing.
func TestLearnsAnewForOtherLimits(t *testing.T) {
	a := Limits{Rate: 20, Burst: 100, MinRate: 2, MaxPause: 300 * sec, Learn: true}
	b := a
	b.MaxPause = 100 * sec
	var k Bucket
	tokens := 0
	const seconds = 20
	for i := range seconds * 50 {
		for _, m := range []struct {
			name string
			l    Limits
		}{{"a", a}, {"b", b}} {
			g := k.Ask(at(time.Duration(i)*20*ms), m.name, Ask{Limits: m.l, Want: 10})
			tokens += g.Tokens
		}
	}
	if most := 100 + 20*seconds + 1; tokens > most {
		t.Errorf("%d tokens in %d s, where %d are allowed", tokens, seconds, most)
	}
	now := at(seconds * sec)
	k.Ask(now, "a", Ask{Limits: a, Throttled: true, Hint: 10 * sec, Outcomes: Outcomes{Refused: 1}})
	if g := k.Ask(now, "b", Ask{Limits: b, Want: 1}); g.Tokens != 0 || g.Paused != 10*sec {
		t.Errorf("a pause of 10 s is %s for one that is configured otherwise, and it gets %d tokens", g.Paused, g.Tokens)
	}
}

// No pause is longer than the configuration allows, from the throttle on that asked for it.
func TestLearnedPause(t *testing.T) {
	l := Limits{Rate: 20, Burst: 100, MinRate: 2, MaxPause: 5 * sec, Learn: true}
	for _, a := range []Ask{
		{Throttled: true, Hint: 3600 * sec, Outcomes: Outcomes{Refused: 1}},
		{Throttled: true, Hint: 3600 * sec, Ago: sec, Outcomes: Outcomes{Refused: 1}},
		{Pause: 3600 * sec},
	} {
		var b Bucket
		b.Ask(at(0), "a", Ask{Limits: l, Want: 1})
		a.Limits = l
		if g := b.Ask(at(sec), "a", a); g.Paused != 5*sec-a.Ago {
			t.Errorf("%+v: paused for %s", a, g.Paused)
		}
	}
}

// The floor of throttles is that of who asked last, as every other limit is.
func TestLearnedFloor(t *testing.T) {
	l := Limits{Rate: 20, Burst: 100, MinRate: 8, MaxPause: 5 * sec, Learn: true}
	other := l
	other.MaxPause = 6 * sec
	var b Bucket
	g := b.Ask(at(0), "a", Ask{Limits: l, Want: 1})
	for i := range 200 {
		now := at(time.Duration(i+1) * sec)
		var o Outcomes
		if g.Tokens > 0 {
			o.Refused = g.Tokens
		}
		g = b.Ask(now, "b", Ask{Limits: other, Want: 1, Throttled: o.Refused > 0, Outcomes: o})
		if g.Rate < 8 {
			t.Fatalf("%g a second after %d throttles, where 8 are the least", g.Rate, i)
		}
	}
}
