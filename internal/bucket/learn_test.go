package bucket

import (
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/internal/learning"
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

// sane fails where a learned number cannot be.

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
