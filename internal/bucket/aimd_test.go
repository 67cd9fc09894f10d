package bucket

import (
	"testing"
	"time"
)

// adaptive is a full bucket of 20 rps, burst 40, floor 0.5.
func adaptive() *Bucket {
	return New(Options{Rate: 20, Burst: 40, Adaptive: true, MinRate: 0.5, MaxPause: 300 * sec}, nil, epoch)
}

func TestS4_1ThrottleHalvesDownToTheFloor(t *testing.T) {
	b := adaptive()
	for i, want := range []struct{ rate, burst float64 }{
		{10, 20}, {5, 10}, {2.5, 5}, {1.25, 2.5}, {0.625, 1.25}, {0.5, 1}, {0.5, 1},
	} {
		now := at(time.Duration(i) * sec)
		rate, cut := b.Throttled(now, Mark{}, 0)
		s := b.State(now)
		if rate != want.rate || !cut || s.Rate != want.rate || s.Burst != want.burst || s.Lowest != want.rate || !s.Slowed() {
			t.Errorf("throttle %d: %v, cut %v, %+v; want rate %v, burst %v", i+1, rate, cut, s, want.rate, want.burst)
		}
	}
}

// S4.1: a floor above the ceiling doesn't raise it.
func TestS4_1FloorIsAtMostTheRate(t *testing.T) {
	b := New(Options{Rate: 0.2, Burst: 1, Adaptive: true, MinRate: 0.5}, nil, epoch)
	if rate, _ := b.Throttled(epoch, Mark{}, 0); rate != 0.2 {
		t.Errorf("rate %v after a throttle, want 0.2", rate)
	}
}

// S4.1: throttles within a second of a cut belong to it, however many.
func TestS4_1OneCutASecond(t *testing.T) {
	b := adaptive()
	for _, step := range []struct {
		at   time.Duration
		rate float64
		cut  bool
	}{
		{0, 10, true},
		{0, 10, false},
		{1, 10, false},
		{500 * ms, 10, false},
		{sec - 1, 10, false},
		{sec, 5, true}, // the second counts from the cut, not from the last throttle
		{1500 * ms, 5, false},
		{2*sec - 1, 5, false},
		{2 * sec, 2.5, true},
		{1900 * ms, 2.5, false}, // a late report of a throttle before the cut
		{60 * sec, 1.25, true},
	} {
		rate, cut := b.Throttled(at(step.at), Mark{}, 0)
		if rate != step.rate || cut != step.cut {
			t.Errorf("%s: rate %v, cut %v; want %v, %v", step.at, rate, cut, step.rate, step.cut)
		}
	}
}

func TestS4_1EveryThrottleEmptiesTheBurst(t *testing.T) {
	b := adaptive()
	b.Throttled(epoch, Mark{}, 0)
	tokens(t, b, epoch, 0)
	tokens(t, b, at(500*ms), 5)
	b.Throttled(at(500*ms), Mark{}, 0) // belongs to the cut, and empties all the same
	tokens(t, b, at(500*ms), 0)
	if takes(b, at(599*ms)) || !takes(b, at(600*ms)) {
		t.Error("the next token is not there exactly a tenth of a second later")
	}
	// Debt stays debt.
	b = drained(2, 20)
	b.Join(epoch, Terms{Patience: epoch})
	b.Throttled(epoch, Mark{}, 0)
	tokens(t, b, epoch, -1)
}

// S3.4: a cut reaches those who queue: their turns move at once.
func TestS3_4CutMovesThoseWhoQueue(t *testing.T) {
	b := drained(2, 1)
	w := newWorld(t)
	for range 4 {
		w.join(b, "c", Terms{})
	}
	w.run(750 * ms)
	b.Throttled(w.now, Mark{}, 0)
	w.run(time.Minute)
	w.expect("500ms c granted", "1.75s c granted", "2.75s c granted", "3.75s c granted")
}

// S4.3 with S3.4: so does a raise.
func TestS3_4RaiseMovesThoseWhoQueue(t *testing.T) {
	b := drained(20, 1)
	for i := range 6 {
		b.Throttled(at(time.Duration(i)*sec), Mark{}, 0)
	}
	w := newWorld(t) // 0.5 rps from 5 s on
	w.now = at(9 * sec)
	drain(b, w.now)
	w.run(10 * sec)
	for range 2 {
		w.join(b, "c", Terms{})
	}
	w.run(10500 * ms)
	tokens(t, b, w.now, 0.75)
	b.Succeeded(w.now, Mark{}) // 1.5 rps
	w.run(time.Minute)
	w.expect("10.666666667s c granted", "11.333333334s c granted")
}

// S4.3: a twentieth of the ceiling every 5 s, after 5 s of calm.
func TestS4_3RecoverySchedule(t *testing.T) {
	b := adaptive()
	b.Throttled(epoch, Mark{}, 0) // 10 rps
	for _, step := range []struct {
		at   time.Duration
		rate float64
	}{
		{0, 10}, {5*sec - 1, 10},
		{5 * sec, 11}, {5 * sec, 11}, {10*sec - 1, 11},
		{10 * sec, 12},
		{17 * sec, 13}, {20 * sec, 13}, {22*sec - 1, 13}, // five seconds after the last raise
		{22 * sec, 14},
	} {
		b.Succeeded(at(step.at), Mark{})
		if s := b.State(at(step.at)); s.Rate != step.rate || s.Burst != 2*step.rate || s.Lowest != 10 {
			t.Errorf("%s: %+v; want rate %v, burst %v", step.at, s, step.rate, 2*step.rate)
		}
	}
	// A throttle delays the next raise, and cuts what was regained.
	b.Throttled(at(26*sec), Mark{}, 0)
	for _, step := range []struct {
		at   time.Duration
		rate float64
	}{{27 * sec, 7}, {31*sec - 1, 7}, {31 * sec, 8}, {36 * sec, 9}} {
		b.Succeeded(at(step.at), Mark{})
		if s := b.State(at(step.at)); s.Rate != step.rate || s.Lowest != 7 {
			t.Errorf("%s: %+v; want rate %v, lowest 7", step.at, s, step.rate)
		}
	}
}

// S4.3: throttles that cut nothing, being part of a cut, are no calm either.
func TestS4_3ThrottleWithoutCutIsNoCalm(t *testing.T) {
	b := adaptive()
	b.Throttled(epoch, Mark{}, 0)
	b.Throttled(at(900*ms), Mark{}, 0)
	b.Succeeded(at(5899*ms), Mark{})
	if r := b.State(at(5899 * ms)).Rate; r != 10 {
		t.Errorf("rate %v at 5.899 s, want 10", r)
	}
	b.Succeeded(at(5900*ms), Mark{})
	if r := b.State(at(5900 * ms)).Rate; r != 11 {
		t.Errorf("rate %v at 5.9 s, want 11", r)
	}
}

// S4.3: at least 0.01 rps a step, and never above the ceiling.
func TestS4_3SmallRates(t *testing.T) {
	b := New(Options{Rate: 0.1, Burst: 1, Adaptive: true, MinRate: 0.025}, nil, epoch)
	b.Throttled(epoch, Mark{}, 0)
	b.Throttled(at(sec), Mark{}, 0)
	now := at(sec)
	for _, want := range []float64{0.035, 0.045, 0.055, 0.065, 0.075, 0.085, 0.095, 0.1, 0.1} {
		now = now.Add(5 * sec)
		b.Succeeded(now, Mark{})
		if r := b.State(now).Rate; !near(r, want) {
			t.Errorf("%s: rate %v, want %v", now.Sub(epoch), r, want)
		}
	}
	if b.State(now).Slowed() {
		t.Error("still slowed at the ceiling")
	}
}

// S4.3: the burst follows the rate, is at least 1, and adds no tokens by growing.
func TestS4_3BurstFollowsRate(t *testing.T) {
	b := New(Options{Rate: 8, Burst: 4, Adaptive: true, MinRate: 0.5}, nil, epoch)
	b.Throttled(epoch, Mark{}, 0)     // 4 rps, burst 2
	b.Throttled(at(sec), Mark{}, 0)   // 2 rps, burst 1
	b.Throttled(at(2*sec), Mark{}, 0) // 1 rps, burst 1
	if s := b.State(at(2 * sec)); s.Rate != 1 || s.Burst != 1 {
		t.Errorf("%+v, want 1 rps and a burst of 1", s)
	}
	for i := range 5 { // 0.4 rps each: 3 rps, burst 1.5
		b.Succeeded(at(time.Duration(7+5*i)*sec), Mark{})
	}
	s := b.State(at(27 * sec))
	if !near(s.Rate, 3) || !near(s.Burst, 1.5) || !near(s.Tokens, 1.3) {
		t.Errorf("%+v, want 3 rps, burst 1.5, and the 1.3 tokens of the burst before", s)
	}
	tokens(t, b, at(28*sec), 1.5)
}

// S4.3: a cut takes away what the smaller burst has no room for, at once.
func TestS4_3SmallerBurstHoldsLess(t *testing.T) {
	b := adaptive()
	b.Throttled(epoch, Mark{}, 0)
	if n := drain(b, at(time.Hour)); n != 20 {
		t.Errorf("%d tokens at half the rate, want half the burst of 40", n)
	}
}

func TestS4_4NotAdaptive(t *testing.T) {
	b := New(Options{Rate: 20, Burst: 40, MinRate: 0.5, MaxPause: 300 * sec}, nil, epoch)
	for i := range 5 {
		rate, cut := b.Throttled(at(time.Duration(i)*sec), Mark{}, 2*sec)
		if rate != 20 || cut {
			t.Errorf("throttle %d: rate %v, cut %v", i, rate, cut)
		}
	}
	s := b.State(at(4 * sec))
	if s.Rate != 20 || s.Burst != 40 || s.Lowest != 20 || s.PausedFor != 2*sec || s.Tokens != 0 {
		t.Errorf("%+v; want the fixed rate, no tokens, and the pause", s)
	}
	if takes(b, at(6*sec-1)) || !takes(b, at(6*sec)) {
		t.Error("the pause of a fixed bucket does not end at 6 s")
	}
}

// S4.2: a hint cuts and pauses in one step; the halved rate is what follows.
func TestS4_2HintCutsAndPauses(t *testing.T) {
	b := adaptive()
	rate, cut := b.Throttled(epoch, Mark{}, 3*sec)
	if rate != 10 || !cut {
		t.Fatalf("rate %v, cut %v", rate, cut)
	}
	w := newWorld(t)
	for range 3 {
		w.join(b, "c", Terms{})
	}
	w.run(time.Minute)
	w.expect("3s c granted", "3.1s c granted", "3.2s c granted")
}

// E28: throttled down to the floor, then healthy under light load. A call every 2 s
// sees 5 s of calm after 6, the first time after 4 because a second has passed
// already. 80 % of 20 rps are 16 raises of 1 rps from 0.5: 4 s + 15 x 6 s.
func TestE28RecoversUnderLightLoad(t *testing.T) {
	b := adaptive()
	now := epoch
	for range 20 {
		b.Throttled(now, Mark{}, 0)
		now = now.Add(sec)
	}
	if r := b.State(now).Rate; r != 0.5 {
		t.Fatalf("rate %v, want the floor", r)
	}
	healthy := now
	for b.State(now).Rate < 16 {
		now = now.Add(2 * sec)
		if takes(b, now) {
			b.Succeeded(now, Mark{})
		}
		if now.Sub(healthy) > 10*time.Minute {
			t.Fatalf("rate %v after ten minutes", b.State(now).Rate)
		}
	}
	if d := now.Sub(healthy); d != 94*sec {
		t.Errorf("back at 80 %% after %s, want 94 s", d)
	}
}

// E28: a success is no reason to touch a rate that was never cut.
func TestE28OnlyThrottlesCut(t *testing.T) {
	b := adaptive()
	for i := range 100 {
		b.Succeeded(at(time.Duration(i)*10*sec), Mark{})
	}
	if s := b.State(at(1000 * sec)); s.Rate != 20 || s.Lowest != 20 || s.Burst != 40 {
		t.Errorf("%+v", s)
	}
}
