package bucket

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// One waiter has a wake-up, whoever else queues without patience: the others sleep
// until they are told.
func TestDriverIsOne(t *testing.T) {
	b := drained(1, 1)
	w := newWorld(t)
	for i := range 5 {
		w.join(b, fmt.Sprint(i), Terms{})
	}
	for i := range 5 {
		w.run(time.Duration(i)*sec + 500*ms)
		want := []string{fmt.Sprintf("%d %ds", i, i+1)}
		if got := w.awake(); !slices.Equal(got, want) {
			t.Errorf("%s: awake are %q, want %q", w.now.Sub(epoch), got, want)
		}
	}
}

// Fifty waiters on fifty leaves need a look each to be granted, one to become
// driver, one to join, and no more: they don't wake one another up.
func TestDriverSparesTheOthers(t *testing.T) {
	_, leaves := levels(1, slices.Repeat([]float64{100}, 50)...)
	w := newWorld(t)
	for i, l := range leaves {
		w.join(l, fmt.Sprint(i), Terms{})
	}
	w.settle()
	joined := w.polls
	w.run(time.Minute)
	if len(w.log) != 50 {
		t.Fatalf("%d of 50 granted", len(w.log))
	}
	if looks := w.polls - joined; looks > 3*50 {
		t.Errorf("%d looks for 50 grants", looks)
	}
}

// The driver leaves, and another drives from that moment.
func TestDriverLeaves(t *testing.T) {
	b := drained(1, 1)
	w := newWorld(t)
	driver := w.join(b, "driver", Terms{})
	w.join(b, "a", Terms{})
	w.join(b, "b", Terms{})
	w.run(300 * ms)
	w.leave(driver)
	w.settle()
	if got, want := w.awake(), []string{"a 1s"}; !slices.Equal(got, want) {
		t.Errorf("awake are %q, want %q", got, want)
	}
	w.run(time.Minute)
	w.expect("300ms driver left", "1s a granted", "2s b granted")
}

// The driver of one leaf leaves while only other leaves have waiters.
func TestDriverLeavesForAnotherLeaf(t *testing.T) {
	_, leaves := levels(100, 1, 0.5)
	w := newWorld(t)
	driver := w.join(leaves[0], "driver", Terms{})
	w.join(leaves[1], "a", Terms{})
	w.run(300 * ms)
	w.leave(driver)
	w.run(time.Minute)
	w.expect("300ms driver left", "2s a granted")
}

// The driver is refused by a cut or a pause.
func TestDriverIsRefused(t *testing.T) {
	b := drained(1, 1)
	w := newWorld(t)
	w.join(b, "driver", Terms{Deadline: at(1500 * ms)})
	w.join(b, "a", Terms{})
	w.run(500 * ms)
	b.Throttled(w.now, Mark{}, 0)
	w.run(time.Minute)
	w.expect("500ms driver refused", "2.5s a granted")
}

// A waiter in another leaf may be ready before the driver's next look.
func TestDriverLooksForQuickerLeaves(t *testing.T) {
	_, leaves := levels(100, 0.1, 2)
	w := newWorld(t)
	w.join(leaves[0], "slow", Terms{})
	w.run(100 * ms)
	w.join(leaves[1], "quick", Terms{})
	w.settle()
	if got, want := w.awake(), []string{"slow 500ms"}; !slices.Equal(got, want) {
		t.Errorf("awake are %q, want %q", got, want)
	}
	w.run(time.Minute)
	w.expect("500ms quick granted", "10s slow granted")
}

// What brings the next grant forward reaches the driver at once.
func TestDriverIsToldOfEarlierEvents(t *testing.T) {
	for name, c := range map[string]struct {
		event func(b *Bucket, now time.Time)
		want  []string
	}{
		"return": {func(b *Bucket, now time.Time) { b.Return(now, Mark{}) }, []string{"7s a granted", "10s b granted"}},
		"raise":  {func(b *Bucket, now time.Time) { b.Succeeded(now, Mark{}) }, []string{"8.5s a granted", "13.5s b granted"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := New(Options{Rate: 2, Burst: 1, Adaptive: true, MinRate: 0.1}, nil, epoch)
			for i := range 5 {
				b.Throttled(at(time.Duration(i)*sec-5*sec), Mark{}, 0)
			}
			w := newWorld(t) // 0.1 rps, empty
			w.join(b, "a", Terms{})
			w.join(b, "b", Terms{})
			w.run(7 * sec)
			c.event(b, w.now)
			w.run(time.Minute)
			w.expect(c.want...)
		})
	}
}

// A waiter with patience wakes up for itself, driver or not.
func TestDriverAndPatience(t *testing.T) {
	b := drained(1, 10)
	w := newWorld(t)
	w.join(b, "driver", Terms{})
	w.join(b, "hasty", Terms{Patience: at(200 * ms)})
	w.join(b, "third", Terms{})
	want := []string{"driver 1s", "hasty 200ms"}
	if got := w.awake(); !slices.Equal(got, want) {
		t.Errorf("awake are %q, want %q", got, want)
	}
}

// A deadline alone is no reason to wake up, where no neighbour can spoil it.
func TestDriverAndDeadline(t *testing.T) {
	b := drained(1, 1)
	w := newWorld(t)
	w.join(b, "driver", Terms{Deadline: at(time.Hour)})
	w.join(b, "second", Terms{Deadline: at(time.Hour)})
	if got, want := w.awake(), []string{"driver 1s"}; !slices.Equal(got, want) {
		t.Errorf("awake are %q, want %q", got, want)
	}
}

// A driver that looks too early, or with a stale time, is told to look again.
func TestDriverLooksTooEarly(t *testing.T) {
	b := drained(1, 1)
	d, _ := b.Join(epoch, Terms{})
	for _, now := range []time.Duration{0, -sec, 750 * ms, sec - 2} {
		status, wake := d.Poll(at(now))
		if status != Waiting || !wake.After(at(now)) || wake.After(at(sec+1)) { // a rounded nanosecond late, never early
			t.Errorf("%s: %s, wake-up at %s; want to look again by 1s", now, status, wake.Sub(epoch))
		}
	}
	if status, _ := d.Poll(at(sec)); status != Granted {
		t.Errorf("%s at 1s", status)
	}
}
