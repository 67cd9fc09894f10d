package bucket

import (
	"math"
	"testing"
	"time"
)

func TestS3_3GainsRateUpToBurst(t *testing.T) {
	b := New(Options{Rate: 10, Burst: 20}, nil, epoch)
	if n := drain(b, epoch); n != 20 {
		t.Fatalf("a new bucket had %d tokens, want its burst of 20", n)
	}
	if takes(b, at(100*ms-1)) {
		t.Error("a token one nanosecond before its time")
	}
	if !takes(b, at(100*ms)) {
		t.Error("no token after a tenth of a second at 10 rps")
	}
	tokens(t, b, at(100*ms), 0)
	tokens(t, b, at(1100*ms), 10)
	tokens(t, b, at(2100*ms), 20)
	tokens(t, b, at(time.Hour), 20)
}

func TestS3_3BurstIsAtLeastOne(t *testing.T) {
	for _, burst := range []float64{0, 0.2, -3, 1} {
		b := New(Options{Rate: 2, Burst: burst}, nil, epoch)
		if n := drain(b, epoch); n != 1 {
			t.Errorf("burst %v: %d tokens at first, want 1", burst, n)
		}
		if n := drain(b, at(time.Minute)); n != 1 {
			t.Errorf("burst %v: %d tokens after a minute, want 1", burst, n)
		}
	}
}

func TestS3_3FractionOfBurstIsKept(t *testing.T) {
	b := New(Options{Rate: 1, Burst: 2.5}, nil, epoch)
	if n := drain(b, epoch); n != 2 {
		t.Fatalf("%d tokens of 2.5, want 2", n)
	}
	if takes(b, at(499*ms)) {
		t.Error("half a token and 0.499 make one")
	}
	if !takes(b, at(500*ms)) {
		t.Error("half a token and half a token make none")
	}
}

// Ten thousand small steps are as good as one large one.
func TestS3_3ManyLooksLoseNothing(t *testing.T) {
	b := drained(3, 10_000)
	for i := range 10_000 {
		b.State(at(time.Duration(i) * 100 * ms))
	}
	tokens(t, b, at(1000*sec), 3000)
}

// E03: what is refused leaves the bucket as it was.
func TestE03RefusalHasNoSideEffect(t *testing.T) {
	b := drained(1, 1)
	for range 10 {
		if takes(b, at(500*ms)) {
			t.Fatal("a token that is not there yet")
		}
	}
	for range 10 {
		w, status := b.Join(at(500*ms), Terms{Deadline: at(900 * ms)})
		if status != Refused || w.Need() != 500*ms {
			t.Fatalf("%s, needing %s; want refused, 500ms", status, w.Need())
		}
	}
	if s := b.State(at(500 * ms)); s.Waiting != 0 || s.Tokens != 0.5 {
		t.Errorf("state %+v, want nobody waiting and half a token", s)
	}
	if !takes(b, at(sec)) {
		t.Error("the refused ones cost a token")
	}
}

// E03: a level that has a token keeps it when another has none.
func TestE03RefusalLeavesOtherLevels(t *testing.T) {
	root := New(Options{Rate: 1, Burst: 5}, nil, epoch)
	leaf := New(Options{Rate: 1, Burst: 1}, root, epoch)
	if n := drain(leaf, epoch); n != 1 {
		t.Fatalf("%d tokens, want 1", n)
	}
	tokens(t, root, epoch, 4)
	leaf.Take(epoch)
	tokens(t, root, epoch, 4)
}

// E04, literally: used at t+10, changed with t+9, read at t+11.
func TestE04StaleNowMintsNothing(t *testing.T) {
	for name, stale := range map[string]func(*Bucket){
		"take":      func(b *Bucket) { takes(b, at(9*sec)) },
		"join":      func(b *Bucket) { w, _ := b.Join(at(9*sec), Terms{}); w.Leave(at(9 * sec)) },
		"state":     func(b *Bucket) { b.State(at(9 * sec)) },
		"idle":      func(b *Bucket) { b.Idle(at(9 * sec)) },
		"throttled": func(b *Bucket) { b.Throttled(at(9*sec), Mark{}, 0) },
		"succeeded": func(b *Bucket) { b.Succeeded(at(9*sec), Mark{}) },
	} {
		t.Run(name, func(t *testing.T) {
			b := New(Options{Rate: 1, Burst: 100}, nil, epoch)
			if n := drain(b, at(10*sec)); n != 100 {
				t.Fatalf("%d tokens, want 100", n)
			}
			stale(b)
			tokens(t, b, at(11*sec), 1)
		})
	}
}

// E04: nor does a pause that was begun, and found over, with old readings.
func TestE04StalePauseMintsNothing(t *testing.T) {
	b := New(Options{Rate: 1, Burst: 100, MaxPause: time.Hour}, nil, epoch)
	drain(b, at(10*sec))
	b.Pause(at(9*sec), 500*ms)
	if s := b.State(at(9600 * ms)); s.PausedFor != 0 {
		t.Fatalf("the pause has %s left, want it over", s.PausedFor)
	}
	tokens(t, b, at(9600*ms), 0) // that half second was counted at 10 s
	tokens(t, b, at(11*sec), 1)
}

// E04: a stale throttle doesn't make the last one look older than it was.
func TestE04StaleThrottleKeepsCalm(t *testing.T) {
	b := drained(10, 1)
	b.Throttled(at(10*sec), Mark{}, 0)
	b.Throttled(at(6*sec), Mark{}, 0)
	b.Succeeded(at(12*sec), Mark{})
	if r := b.State(at(12 * sec)).Rate; r != 5 {
		t.Errorf("rate %v two seconds after a throttle, want 5", r)
	}
}

func TestE04JumpMintsOneBurst(t *testing.T) {
	for _, jump := range []time.Duration{24 * time.Hour, 100 * 365 * 24 * time.Hour, math.MaxInt64} {
		b := drained(1000, 7)
		if n := drain(b, at(jump)); n != 7 {
			t.Errorf("%d tokens after a jump of %s, want one burst of 7", n, jump)
		}
		if takes(b, epoch) {
			t.Errorf("a token after jumping back from %s", jump)
		}
	}
	// A difference that no Duration holds.
	b := drained(1, 7)
	if n := drain(b, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)); n != 7 {
		t.Errorf("%d tokens in the year 9999, want 7", n)
	}
}

func TestE07InfiniteRateNeverWaits(t *testing.T) {
	b := New(Options{Rate: math.Inf(1), Burst: 0, Adaptive: true, MinRate: 1, MaxPause: time.Minute}, nil, epoch)
	for range 1000 {
		if !takes(b, epoch) {
			t.Fatal("a bucket without a limit ran out")
		}
	}
	tokens(t, b, epoch, 1)
	b.Throttled(epoch, Mark{}, 0)
	if s := b.State(epoch); !math.IsInf(s.Rate, 1) || s.Slowed() || math.IsNaN(s.Burst) {
		t.Errorf("after a throttle: %+v", s)
	}
	if !takes(b, epoch) {
		t.Error("no token after a throttle without a hint")
	}
	b.Throttled(epoch, Mark{}, sec)
	if takes(b, at(sec-1)) {
		t.Error("a token in the pause")
	}
	for range 1000 {
		if !takes(b, at(sec)) {
			t.Fatal("no tokens after the pause")
		}
	}
}

// E07: a tiny rate makes a wait that saturates, and never one that wraps.
func TestE07TinyRateSaturates(t *testing.T) {
	const forever = time.Duration(math.MaxInt64)
	for _, rate := range []float64{0, 1e-12, 5e-324, 1e-10} {
		b := New(Options{Rate: rate, Burst: 1}, nil, epoch)
		if !takes(b, epoch) {
			t.Fatalf("rate %v: a full bucket had no token", rate)
		}
		w, status := b.Join(epoch, Terms{Deadline: at(100 * 365 * 24 * time.Hour)})
		if status != Refused || w.Need() != forever {
			t.Errorf("rate %v: %s, needing %s; want refused at once, %s", rate, status, w.Need(), forever)
		}
		w, _ = b.Join(epoch, Terms{})
		if status, wake := w.Poll(epoch); status != Waiting || wake.Before(at(forever)) {
			t.Errorf("rate %v: %s until %s, want to wait as long as can be", rate, status, wake)
		}
	}
}

func TestE07ZeroRateStaysANumber(t *testing.T) {
	b := New(Options{Rate: 0, Burst: 3, Adaptive: true, MinRate: 1, MaxPause: time.Minute}, nil, epoch)
	b.Throttled(epoch, Mark{}, 0)
	b.Succeeded(at(time.Minute), Mark{})
	s := b.State(at(time.Hour))
	if s.Rate != 0 || s.Burst != 3 || s.Tokens != 0 {
		t.Errorf("%+v, want rate 0, burst 3, no tokens", s)
	}
}

func TestE07HugeRateSaturates(t *testing.T) {
	b := New(Options{Rate: math.MaxFloat64, Burst: math.MaxFloat64}, nil, epoch)
	b.Throttled(epoch, Mark{}, 0)
	if !takes(b, at(1)) {
		t.Error("no token after a nanosecond of the largest rate")
	}
	s := b.State(at(time.Duration(math.MaxInt64)))
	if s.Tokens != math.MaxFloat64 {
		t.Errorf("%v tokens, want the burst", s.Tokens)
	}
}

// E37: 50 in a second are 50 in a second, whatever the unit somebody thinks in.
func TestE37FiftyInTheFirstSecond(t *testing.T) {
	b := drained(50, 1)
	w := newWorld(t)
	for range 100 {
		w.join(b, "c", Terms{})
	}
	w.run(sec)
	if len(w.log) != 50 {
		t.Errorf("%d left in the first second, want 50", len(w.log))
	}
	w.run(2 * sec)
	if len(w.log) != 100 {
		t.Errorf("%d left in two seconds, want 100", len(w.log))
	}
}

// S3.7: what is forgotten must be full, have learned nothing, and nobody waits.
func TestS3_7Idle(t *testing.T) {
	b := New(Options{Rate: 1, Burst: 2, Adaptive: true, MinRate: 0.1, MaxPause: time.Minute}, nil, epoch)
	idle := func(d time.Duration, want bool, why string) {
		t.Helper()
		if got := b.Idle(at(d)); got != want {
			t.Errorf("%s: idle is %v, want %v: %s", d, got, want, why)
		}
	}
	idle(0, true, "new")
	b.Take(epoch)
	idle(0, false, "a token is out")
	idle(999*ms, false, "still not full")
	idle(sec, true, "full again")
	drain(b, at(sec))
	w, _ := b.Join(at(sec), Terms{})
	idle(sec, false, "somebody waits")
	w.Leave(at(sec))
	idle(3*sec, true, "full again")
	b.Pause(at(3*sec), 10*sec)
	idle(4*sec, false, "paused")
	idle(13*sec, false, "after the pause there is one token")
	idle(14*sec, true, "full again")
	b.Throttled(at(14*sec), Mark{}, 0)
	idle(time.Hour, false, "a rate has been learned")
	for i := range 10 {
		b.Succeeded(at(time.Hour+time.Duration(i)*5*sec), Mark{})
	}
	idle(time.Hour+45*sec, false, "unlearned, but a larger burst is not full yet")
	idle(time.Hour+46*sec, true, "unlearned and full")
}
