package bucket

import (
	"fmt"
	"testing"
	"time"
)

func TestS3_4FirstComeFirstServed(t *testing.T) {
	b := drained(2, 1)
	w := newWorld(t)
	for i := range 3 {
		w.join(b, fmt.Sprint("early", i), Terms{})
	}
	w.run(400 * ms)
	for i := range 2 {
		w.join(b, fmt.Sprint("late", i), Terms{})
	}
	w.run(time.Minute)
	w.expect(
		"500ms early0 granted",
		"1s early1 granted",
		"1.5s early2 granted",
		"2s late0 granted",
		"2.5s late1 granted",
	)
}

// E09: who comes when the token is there, but not yet fetched, doesn't overtake.
func TestE09FreshCallerDoesNotOvertake(t *testing.T) {
	b := drained(1, 10)
	sleeper, _ := b.Join(epoch, Terms{})
	if takes(b, at(sec)) {
		t.Fatal("a fresh caller took the sleeper's token")
	}
	fresh, status := b.Join(at(sec), Terms{})
	if status != Waiting {
		t.Fatalf("a fresh caller is %s", status)
	}
	if status, _ := sleeper.Poll(at(sec)); status != Granted {
		t.Errorf("the sleeper is %s, want granted: it came first", status)
	}
	if !fresh.Leave(at(2*sec)) && b.State(at(2*sec)).Waiting != 0 {
		t.Error("the fresh caller is still in the queue")
	}
}

// E09: with fifty waiting, nobody waits longer than its place in the queue says.
func TestE09LongestWaitIsPlaceInQueue(t *testing.T) {
	b := drained(4, 2)
	w := newWorld(t)
	var want []string
	for i := range 50 {
		w.join(b, fmt.Sprint(i), Terms{})
		want = append(want, fmt.Sprintf("%s %d granted", time.Duration(i+1)*250*ms, i))
	}
	// Arrivals never cease.
	for i := range 50 {
		w.run(time.Duration(i) * 250 * ms)
		w.join(b, "later", Terms{})
	}
	w.run(12500 * ms)
	w.expect(want...)
}

// S3.4, E01: three hundred waiters that give up leave the next caller no wait.
func TestS3_4LeavingFreesThePlaceAtOnce(t *testing.T) {
	b := drained(5, 10)
	w := newWorld(t)
	for range 300 {
		w.joinFor(b, "quitter", 100*ms)
	}
	w.run(100 * ms)
	if s := b.State(w.now); s.Waiting != 0 || s.Tokens != 0.5 {
		t.Fatalf("%+v, want nobody waiting and the half token of 100 ms at 5 rps", s)
	}
	w.log = nil
	w.join(b, "next", Terms{Deadline: at(200 * ms)})
	w.run(sec)
	w.expect("200ms next granted")
}

// E01 with its own numbers: 200 waiters cancelled after 300 ms, then two a second
// with 300 ms of patience for 5 s, of which at least 9 of 10 must succeed.
func TestE01TrickleAfterCancelledCrowd(t *testing.T) {
	b := New(Options{Rate: 5, Burst: 10}, nil, epoch)
	w := newWorld(t)
	for i := range 200 {
		w.joinFor(b, fmt.Sprint("crowd", i), 300*ms)
	}
	w.run(300 * ms)
	served := 0
	for _, line := range w.log {
		var d, name, status string
		_, _ = fmt.Sscan(line, &d, &name, &status)
		if status == "granted" {
			served++
		}
	}
	if served != 11 {
		t.Errorf("%d of the crowd served, want the burst of 10 and one more at 200 ms", served)
	}
	w.log = nil
	var want []string
	for i := range 10 {
		start := 300*ms + time.Duration(i)*500*ms
		w.run(start)
		w.joinFor(b, "trickle", 300*ms)
		want = append(want, fmt.Sprintf("%s trickle granted", start))
	}
	w.run(time.Minute)
	// The crowd left half a token behind at 300 ms: the first has to wait for the
	// other half.
	want[0] = "400ms trickle granted"
	w.expect(want...)
}

// S3.4: leaving from the head, the middle and the end moves exactly those behind.
func TestS3_4LeaveFromAnywhere(t *testing.T) {
	for _, test := range []struct {
		leaver int
		want   []string
	}{
		{0, []string{"500ms c0 left", "1s c1 granted", "2s c2 granted", "3s c3 granted"}},
		{1, []string{"500ms c1 left", "1s c0 granted", "2s c2 granted", "3s c3 granted"}},
		{3, []string{"500ms c3 left", "1s c0 granted", "2s c1 granted", "3s c2 granted"}},
	} {
		b := drained(1, 1)
		w := newWorld(t)
		for i := range 4 {
			c := w.join(b, fmt.Sprint("c", i), Terms{})
			if i == test.leaver {
				c.gives = at(500 * ms)
			}
		}
		w.run(time.Minute)
		w.expect(test.want...)
	}
}

// S3.4: a waiter has no token before it is granted one, and leaving tells.
func TestS3_4LeaveTellsWhetherGranted(t *testing.T) {
	b := drained(1, 5)
	first, _ := b.Join(epoch, Terms{})
	second, _ := b.Join(epoch, Terms{})
	second.Poll(at(sec)) // grants to the first, which doesn't know yet
	if !first.Leave(at(sec)) {
		t.Error("the first left without the token that was its own")
	}
	if second.Leave(at(sec)) {
		t.Error("the second left with a token")
	}
	tokens(t, b, at(sec), 0)
	b.Return(at(sec), Mark{})
	tokens(t, b, at(sec), 1)
	if second.Leave(at(sec)) || first.Leave(at(sec)) != true {
		t.Error("leaving again tells something else")
	}
	tokens(t, b, at(sec), 1)
}

// S3.4: the token of a call that gave up before sending goes to the next at once.
func TestS3_4ReturnedTokenGoesToTheNext(t *testing.T) {
	b := New(Options{Rate: 1, Burst: 1}, nil, epoch)
	b.Take(epoch)
	w := newWorld(t)
	w.join(b, "a", Terms{})
	w.join(b, "b", Terms{})
	w.run(300 * ms)
	b.Return(w.now, Mark{})
	w.run(time.Minute)
	w.expect("300ms a granted", "1s b granted")
}

func TestS3_4ReturnNeverExceedsBurst(t *testing.T) {
	root := New(Options{Rate: 1, Burst: 3}, nil, epoch)
	b := New(Options{Rate: 1, Burst: 2}, root, epoch)
	b.Return(epoch, Mark{})
	tokens(t, b, epoch, 2)
	tokens(t, root, epoch, 3)
	b.Take(epoch)
	b.Return(epoch, Mark{})
	tokens(t, b, epoch, 2)
	tokens(t, root, epoch, 3)
}

// A place once held is held: who was granted a token, returned it and queues again
// is not put behind those that came later.
func TestS3_4PlaceIsKept(t *testing.T) {
	b := drained(1, 1)
	w := newWorld(t)
	first := w.join(b, "first", Terms{})
	w.join(b, "second", Terms{})
	w.join(b, "third", Terms{})
	w.run(sec)
	w.expect("1s first granted")
	b.Pause(w.now, sec)
	b.Return(w.now, Mark{})
	w.join(b, "first", Terms{Place: first.w.Place()})
	w.run(time.Minute)
	w.expect("2s first granted", "3s second granted", "4s third granted")
}

// S3.5 with it: those it was put before count it.
func TestS3_5PlaceAheadIsCounted(t *testing.T) {
	b := drained(1, 1)
	w := newWorld(t)
	first := w.join(b, "first", Terms{})
	w.run(sec)
	w.expect("1s first granted")
	w.join(b, "second", Terms{Deadline: at(2500 * ms)})
	w.join(b, "first again", Terms{Place: first.w.Place()})
	w.run(time.Minute)
	w.expect("1s second refused", "2s first again granted")
}

// A place from a bucket that was replaced is good in the new one, and newcomers
// don't get before those who moved.
func TestS3_4PlaceOutlivesTheBucket(t *testing.T) {
	old := drained(1, 1)
	w := newWorld(t)
	var places []uint64
	for range 3 {
		places = append(places, w.join(old, "x", Terms{}).w.Place())
	}
	old.Retire()
	w.settle()
	w.expect("0s x moved", "0s x moved", "0s x moved")

	b := drained(1, 1)
	w.join(b, "second", Terms{Place: places[1]})
	w.join(b, "newcomer", Terms{})
	w.join(b, "first", Terms{Place: places[0]})
	w.join(b, "third", Terms{Place: places[2]})
	w.join(b, "last", Terms{})
	w.run(time.Minute)
	// The newcomer and the third have the same number: who queued first is first.
	w.expect("1s first granted", "2s second granted", "3s newcomer granted", "4s third granted", "5s last granted")
}

func TestS9_2RetireMovesEverybody(t *testing.T) {
	root := New(Options{Rate: 1, Burst: 1}, nil, epoch)
	a, b := New(Options{Rate: 1, Burst: 1}, root, epoch), New(Options{Rate: 1, Burst: 1}, root, epoch)
	a.Take(epoch)
	w := newWorld(t)
	for i := range 3 {
		w.join(a, fmt.Sprint("a", i), Terms{})
		w.join(b, fmt.Sprint("b", i), Terms{Deadline: at(time.Hour), Patience: at(time.Minute)})
	}
	a.Retire()
	w.settle()
	if len(w.callers) != 0 || len(w.log) != 6 {
		t.Errorf("%d still wait, %q", len(w.callers), w.log)
	}
	for _, line := range w.log {
		var d, name, status string
		if _, _ = fmt.Sscan(line, &d, &name, &status); d != "0s" || status != "moved" {
			t.Error(line)
		}
	}
	for _, l := range []*Bucket{root, a, b} {
		if takes(l, at(time.Hour)) {
			t.Error("a retired bucket gave a token")
		}
		moved, status := l.Join(at(time.Hour), Terms{})
		if status != Moved {
			t.Errorf("a retired bucket let queue: %s", status)
		}
		if moved.Leave(at(time.Hour)) {
			t.Error("who was moved had a token")
		}
		l.Return(at(time.Hour), Mark{}) // a call from before: nothing to do, no harm
	}
}
