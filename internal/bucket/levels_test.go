package bucket

import (
	"fmt"
	"testing"
	"time"
)

// levels makes an account's bucket with leaves under it; all start empty, the
// leaves with room for one.
func levels(shared float64, rates ...float64) (account *Bucket, leaves []*Bucket) {
	account = New(Options{Rate: shared, Burst: 1000, MaxPause: 300 * sec}, nil, epoch)
	for _, r := range rates {
		l := New(Options{Rate: r, Burst: 1, Adaptive: true, MinRate: 0.1, MaxPause: 300 * sec}, account, epoch)
		drain(l, epoch)
		leaves = append(leaves, l)
	}
	filler := New(Options{Rate: 1, Burst: 2000}, account, epoch)
	drain(filler, epoch)
	return account, leaves
}

// S3.1: the slowest of three levels decides, whichever it is.
func TestS3_1SlowestLevelDecides(t *testing.T) {
	for _, c := range []struct {
		provider, account, leaf float64
		want                    time.Duration // of the first caller
	}{
		{1, 10, 10, sec},
		{10, 2, 10, 500 * ms},
		{10, 10, 4, 250 * ms},
	} {
		provider := New(Options{Rate: c.provider, Burst: 1}, nil, epoch)
		account := New(Options{Rate: c.account, Burst: 1}, provider, epoch)
		leaf := New(Options{Rate: c.leaf, Burst: 1}, account, epoch)
		drain(leaf, epoch)
		w := newWorld(t)
		for i := range 3 {
			w.join(leaf, fmt.Sprint(i), Terms{})
		}
		w.run(time.Minute)
		w.expect(
			fmt.Sprintf("%s 0 granted", c.want),
			fmt.Sprintf("%s 1 granted", 2*c.want),
			fmt.Sprintf("%s 2 granted", 3*c.want),
		)
	}
}

// S3.4: all levels or none. The level that waits for another spends nothing.
func TestS3_4AllLevelsOrNone(t *testing.T) {
	account, leaves := levels(10, 1)
	w := newWorld(t)
	w.join(leaves[0], "a", Terms{})
	w.run(900 * ms)
	tokens(t, account, w.now, 9)
	tokens(t, leaves[0], w.now, 0.9)
	w.run(sec)
	w.expect("1s a granted")
	tokens(t, account, w.now, 9)
	tokens(t, leaves[0], w.now, 0)
}

// S3.4: a slow leaf never blocks its neighbours, though it queued first.
func TestS3_4SlowLeafBlocksNobody(t *testing.T) {
	_, leaves := levels(10, 0.1, 10)
	slow, quick := leaves[0], leaves[1]
	w := newWorld(t)
	for i := range 2 {
		w.join(slow, fmt.Sprint("slow", i), Terms{})
	}
	for i := range 3 {
		w.join(quick, fmt.Sprint("quick", i), Terms{})
	}
	w.run(time.Minute)
	w.expect("100ms quick0 granted", "200ms quick1 granted", "300ms quick2 granted",
		"10s slow0 granted", "20s slow1 granted")
}

// S3.4: who asks a leaf without a queue isn't held up by a neighbour's queue
// either, where the shared level has enough for both.
func TestS3_4NeighbourJoinsPastAQueue(t *testing.T) {
	_, leaves := levels(10, 0.1, 2)
	w := newWorld(t)
	w.join(leaves[0], "slow", Terms{})
	w.run(sec)
	w.join(leaves[1], "quick", Terms{})
	w.expect("1s quick granted")
}

// S3.4: a scarce shared level serves the longest-waiting whose leaf can grant now,
// over all leaves.
func TestS3_4SharedLevelServesLongestWaiting(t *testing.T) {
	_, leaves := levels(1, 100, 100, 100)
	w := newWorld(t)
	for i, leaf := range []int{2, 0, 0, 1, 2, 1} {
		w.join(leaves[leaf], fmt.Sprint(i), Terms{})
	}
	w.run(time.Minute)
	w.expect("1s 0 granted", "2s 1 granted", "3s 2 granted", "4s 3 granted", "5s 4 granted", "6s 5 granted")
}

// … so a leaf that cannot grant loses its turn, not its place.
func TestS3_4TurnLostPlaceKept(t *testing.T) {
	_, leaves := levels(1, 100, 100)
	leaves[0].Pause(epoch, 2500*ms)
	w := newWorld(t)
	w.join(leaves[0], "paused", Terms{})
	for i := range 4 {
		w.join(leaves[1], fmt.Sprint(i), Terms{})
	}
	w.run(time.Minute)
	w.expect("1s 0 granted", "2s 1 granted", "3s paused granted", "4s 2 granted", "5s 3 granted")
}

// S4.4: a paused account stops all its leaves, and no other account's.
func TestS4_4AccountPauseStopsItsLeaves(t *testing.T) {
	provider := New(Options{Rate: 1000, Burst: 1000, MaxPause: time.Minute}, nil, epoch)
	one := New(Options{Rate: 4, Burst: 100, MaxPause: time.Minute}, provider, epoch)
	two := New(Options{Rate: 4, Burst: 100, MaxPause: time.Minute}, provider, epoch)
	leaf := func(parent *Bucket) *Bucket { return New(Options{Rate: 100, Burst: 100}, parent, epoch) }
	a, b, c := leaf(one), leaf(one), leaf(two)

	one.Pause(epoch, 10*sec)
	for name, l := range map[string]*Bucket{"a": a, "b": b} {
		if takes(l, at(9*sec)) {
			t.Errorf("leaf %s of the paused account gave a token", name)
		}
		if !l.Paused(at(9*sec)) || l.Paused(at(10*sec)) {
			t.Errorf("leaf %s: paused at 9 s and at 10 s: %v, %v", name, l.Paused(at(9*sec)), l.Paused(at(10*sec)))
		}
	}
	if c.Paused(at(9*sec)) || !takes(c, at(9*sec)) {
		t.Error("the other account is held too")
	}
	w := newWorld(t)
	w.now = at(9 * sec)
	w.join(a, "a0", Terms{})
	w.join(b, "b0", Terms{})
	w.join(a, "a1", Terms{})
	w.join(b, "b1", Terms{})
	w.run(time.Minute)
	w.expect("10s a0 granted", "10.25s b0 granted", "10.5s a1 granted", "10.75s b1 granted")
}

// S4.4: a fixed rate stays what it is, whatever is reported to it.
func TestS4_4SharedRatesAreFixed(t *testing.T) {
	account, _ := levels(20)
	for i := range 10 {
		account.Throttled(at(time.Duration(i)*10*sec), Mark{}, 0)
	}
	if s := account.State(at(91 * sec)); s.Rate != 20 || s.Lowest != 20 || s.Slowed() || s.Burst != 1000 {
		t.Errorf("%+v, want the rate of 20 and the burst of 1000 it began with", s)
	}
}

// A returned token goes back to every level, and a neighbour can have the shared one.
func TestS3_4ReturnServesANeighbour(t *testing.T) {
	account := New(Options{Rate: 0.1, Burst: 1}, nil, epoch)
	a, b := New(Options{Rate: 1, Burst: 1}, account, epoch), New(Options{Rate: 1, Burst: 1}, account, epoch)
	a.Take(epoch)
	w := newWorld(t)
	w.join(b, "neighbour", Terms{})
	w.run(3 * sec)
	a.Return(w.now, Mark{})
	w.run(time.Minute)
	w.expect("3s neighbour granted")
}
