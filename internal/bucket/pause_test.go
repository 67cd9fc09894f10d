package bucket

import (
	"testing"
	"time"
)

// paused makes a bucket of 2 rps that was full when a pause of 10 s began.
func paused() *Bucket {
	b := New(Options{Rate: 2, Burst: 20, Adaptive: true, MinRate: 0.5, MaxPause: 300 * sec}, nil, epoch)
	b.Pause(epoch, 10*sec)
	return b
}

// S4.2: nothing leaves in a pause, the first caller at its end, and the others at
// the bucket's rate: no burst has gathered meanwhile.
func TestS4_2CallersLeaveAtTheRateAfterAPause(t *testing.T) {
	b := paused()
	w := newWorld(t)
	for range 4 {
		w.join(b, "c", Terms{})
	}
	w.run(time.Minute)
	w.expect("10s c granted", "10.5s c granted", "11s c granted", "11.5s c granted")
}

func TestS4_2NoRefillInAPause(t *testing.T) {
	b := paused()
	tokens(t, b, at(9*sec), 0)
	tokens(t, b, at(10*sec), 1)
	tokens(t, b, at(11*sec), 3)
	// The same for one that looks only long after.
	tokens(t, paused(), at(12*sec), 5)
	tokens(t, paused(), at(time.Minute), 20)
}

func TestS4_2PauseOfAnEmptyBucket(t *testing.T) {
	b := paused()
	if takes(b, at(10*sec-1)) {
		t.Error("a token one nanosecond before the end")
	}
	if !takes(b, at(10*sec)) {
		t.Error("no token at the end")
	}
	if takes(b, at(10500*ms-1)) {
		t.Error("a second token before its time")
	}
	if !takes(b, at(10500*ms)) {
		t.Error("no second token in its time")
	}
}

// S4.2: pauses shorter than a token takes add nothing to the rate. A server that
// answers each call with a hint of 100 ms gets no more than the floor of 12 a
// minute, although each of its pauses ends long before the next token is there.
func TestS4_2ShortHintsKeepTheRate(t *testing.T) {
	b := New(Options{Rate: 20, Burst: 40, Adaptive: true, MinRate: 0.2, MaxPause: 300 * sec}, nil, epoch)
	now := epoch
	for range 10 { // down to the floor
		b.Throttled(now, Mark{}, 0)
		now = now.Add(sec)
	}
	sent, from := 0, now
	for ; now.Before(from.Add(10 * time.Minute)); now = now.Add(10 * ms) {
		if takes(b, now) {
			sent++
			b.Throttled(now, Mark{}, 100*ms)
		}
	}
	if sent < 119 || sent > 121 {
		t.Errorf("%d calls in ten minutes at a floor of 12 a minute, want 120", sent)
	}
}

// S4.2: each pause empties what was there, so of several in a row only the last
// one's time counts towards the next token.
func TestS4_2PausesInARow(t *testing.T) {
	b := drained(1, 20)
	for i := range 5 { // 400 ms each, back to back
		b.Pause(at(time.Duration(i)*400*ms), 400*ms)
		tokens(t, b, at(time.Duration(i)*400*ms), 0) // stored before, so gone
	}
	w := newWorld(t)
	w.now = at(1600 * ms)
	w.join(b, "c", Terms{})
	w.join(b, "c", Terms{})
	w.run(time.Minute)
	w.expect("2.6s c granted", "3.6s c granted")
}

// S3.4: a pause moves everybody who queues, and so does its end.
func TestS3_4PauseMovesThoseWhoQueue(t *testing.T) {
	b := drained(1, 1)
	w := newWorld(t)
	for range 3 {
		w.join(b, "c", Terms{})
	}
	w.run(1500 * ms)
	b.Pause(w.now, 5*sec)
	w.run(time.Minute)
	w.expect("1s c granted", "6.5s c granted", "7.5s c granted")
}

// S4.2: a pause is extended, never shortened.
func TestS4_2ExtensionNeverShortens(t *testing.T) {
	for _, c := range []struct {
		at, more time.Duration
		end      time.Duration
	}{
		{sec, 2 * sec, 10 * sec},
		{sec, 9 * sec, 10 * sec},
		{sec, 9*sec + 1, 10*sec + 1},
		{9 * sec, 10 * sec, 19 * sec},
		{5 * sec, -sec, 10 * sec},
		{5 * sec, 0, 10 * sec},
		{10 * sec, 10 * sec, 20 * sec}, // a new one at the very end of the first
	} {
		b := paused()
		b.Pause(at(c.at), c.more)
		if got := b.State(at(c.at)).PausedFor; got != c.end-c.at {
			t.Errorf("+%s at %s: %s left, want %s", c.more, c.at, got, c.end-c.at)
		}
		if takes(b, at(c.end-1)) || !takes(b, at(c.end)) || takes(b, at(c.end)) {
			t.Errorf("+%s at %s: not exactly one token at %s", c.more, c.at, c.end)
		}
	}
}

func TestS4_2MaxPause(t *testing.T) {
	for _, c := range []struct{ hint, want time.Duration }{
		{299 * sec, 299 * sec}, {300 * sec, 300 * sec}, {301 * sec, 300 * sec}, {1 << 62, 300 * sec},
		{1, 1}, {0, 0}, {-time.Hour, 0},
	} {
		b := New(Options{Rate: 2, Burst: 20, MaxPause: 300 * sec}, nil, epoch)
		b.Throttled(epoch, Mark{}, c.hint)
		if got := b.State(epoch).PausedFor; got != c.want {
			t.Errorf("hint %s: paused for %s, want %s", c.hint, got, c.want)
		}
		if got := b.Paused(epoch); got != (c.want > 0) {
			t.Errorf("hint %s: paused is %v", c.hint, got)
		}
	}
	// The limit counts from the report that extends, not from the first.
	b := New(Options{Rate: 2, Burst: 20, MaxPause: 300 * sec}, nil, epoch)
	b.Throttled(epoch, Mark{}, time.Hour)
	b.Throttled(at(100*sec), Mark{}, time.Hour)
	if got := b.State(at(100 * sec)).PausedFor; got != 300*sec {
		t.Errorf("paused for %s, want 300s", got)
	}
	b = New(Options{Rate: 2, Burst: 20}, nil, epoch)
	b.Pause(epoch, time.Hour)
	if b.Paused(epoch) {
		t.Error("paused where pauses may last no time at all")
	}
}

// S4.2: what was there before a pause doesn't leave after it, and debt is not
// forgiven.
func TestS4_2PauseForgivesNoDebt(t *testing.T) {
	b := drained(2, 20)
	w := newWorld(t)
	for range 3 {
		w.join(b, "debtor", Terms{Patience: epoch})
	}
	w.expect("0s debtor granted", "0s debtor granted", "0s debtor granted")
	b.Pause(epoch, 10*sec)
	w.join(b, "next", Terms{})
	w.run(time.Minute)
	// Three in debt; the end of the pause gives one, the rate the other three.
	w.expect("11.5s next granted")
}

// A token given back in a pause pays debt, and stores nothing for its end.
func TestS4_2ReturnInAPauseStoresNothing(t *testing.T) {
	b := paused()
	for range 5 {
		b.Return(at(5*sec), Mark{})
	}
	tokens(t, b, at(5*sec), 0)
	tokens(t, b, at(10*sec), 1)

	b = drained(2, 20)
	b.Join(epoch, Terms{Patience: epoch})
	b.Join(epoch, Terms{Patience: epoch})
	b.Pause(epoch, 10*sec)
	b.Return(at(5*sec), Mark{})
	tokens(t, b, at(5*sec), -1)
}

// E27: the wall clock says that a pause is over though the timers stood still with
// the machine: a pause of 60 minutes, 45 of them slept through from minute 10 on.
func TestE27PauseEndsByTheWallClock(t *testing.T) {
	start := time.Now() // with a monotonic reading
	b := New(Options{Rate: 2, Burst: 20, MaxPause: 2 * time.Hour}, nil, start)
	b.Pause(start, time.Hour)
	// The wall clock is 45 minutes ahead of the monotonic one from now on. Times
	// with two readings apart cannot be made, so the pause's own end is moved.
	b.pause.wall = b.pause.wall.Add(-45 * time.Minute)

	wake := start.Add(10 * time.Minute) // minute 55 on the wall
	if takes(b, wake) || !b.Paused(wake) {
		t.Error("the pause ended at minute 55")
	}
	end := start.Add(15*time.Minute - 1)
	if takes(b, end) || !b.Paused(end) {
		t.Error("the pause ended before minute 60")
	}
	end = start.Add(15 * time.Minute)
	if b.Paused(end) || !takes(b, end) {
		t.Error("the pause did not end at minute 60 by the wall clock")
	}
	// From there on the bucket's rate, not what the sleep would have gathered.
	if takes(b, end.Add(499*ms)) {
		t.Error("a burst after the sleep")
	}
	if !takes(b, end.Add(500*ms)) {
		t.Error("the rate does not go on after the sleep")
	}
}

// E27: times without a monotonic reading are compared by the wall clock.
func TestE27ResumeWithoutMonotonicReading(t *testing.T) {
	start := time.Now()
	b := New(Options{Rate: 2, Burst: 20, MaxPause: 2 * time.Hour}, nil, start)
	b.Pause(start, time.Hour)
	wall := start.Round(0)
	if takes(b, wall.Add(55*time.Minute)) {
		t.Error("a token at minute 55")
	}
	if !takes(b, wall.Add(time.Hour)) || takes(b, wall.Add(time.Hour)) {
		t.Error("not exactly one token at minute 60")
	}
	if n := drain(b, wall.Add(48*time.Hour)); n != 20 {
		t.Errorf("%d tokens two days later, want one burst of 20", n)
	}
}

// E27: a wall clock that is set back doesn't prolong a pause: the timers end it.
func TestE27ClockSetBack(t *testing.T) {
	start := time.Now()
	b := New(Options{Rate: 2, Burst: 20, MaxPause: 2 * time.Hour}, nil, start)
	b.Pause(start, time.Minute)
	b.pause.wall = b.pause.wall.Add(24 * time.Hour)
	if takes(b, start.Add(time.Minute-1)) || !takes(b, start.Add(time.Minute)) {
		t.Error("the pause did not end by the timers")
	}
}
