package bucket

import (
	"fmt"
	"testing"
	"time"
)

// S3.5: whoever cannot be served by the deadline is refused at once, counting those
// ahead; a token at the very deadline will do.
func TestS3_5RefusedAtOnceCountingThoseAhead(t *testing.T) {
	b := drained(2, 1)
	w := newWorld(t)
	for i := range 4 {
		w.join(b, fmt.Sprint(i), Terms{})
	}
	late := w.join(b, "late", Terms{Deadline: at(2500*ms - 1)})
	if late.w.Need() != 2500*ms {
		t.Errorf("needs %s, want 2.5s", late.w.Need())
	}
	w.join(b, "just", Terms{Deadline: at(2500 * ms)})
	w.run(time.Minute)
	w.expect("0s late refused", "500ms 0 granted", "1s 1 granted", "1.5s 2 granted", "2s 3 granted", "2.5s just granted")
}

func TestS3_5DeadlineThatHasPassed(t *testing.T) {
	b := drained(1, 1)
	w := newWorld(t)
	w.now = at(500 * ms)
	w.join(b, "a", Terms{Deadline: at(400 * ms)})
	w.expect("500ms a refused")
	tokens(t, b, w.now, 0.5)
}

// S3.5: every level counts.
func TestS3_5SlowestLevelDecidesTheDeadline(t *testing.T) {
	account, leaves := levels(0.5, 100)
	w := newWorld(t)
	c := w.join(leaves[0], "a", Terms{Deadline: at(1999 * ms)})
	if c.w.Need() != 2*sec {
		t.Errorf("needs %s, want 2s", c.w.Need())
	}
	account.Pause(epoch, 30*sec)
	w.join(leaves[0], "b", Terms{Deadline: at(29 * sec)})
	w.join(leaves[0], "c", Terms{Deadline: at(30 * sec)})
	w.run(time.Minute)
	w.expect("0s a refused", "0s b refused", "30s c granted")
}

// S3.4, S3.5: a cut refuses those whose deadline it made impossible, at once, and
// nobody else.
func TestS3_5CutRefusesAtOnce(t *testing.T) {
	b := drained(2, 1)
	w := newWorld(t)
	first := w.join(b, "1", Terms{Deadline: at(600 * ms)})
	w.join(b, "2", Terms{Deadline: at(1900 * ms)})
	third := w.join(b, "3", Terms{Deadline: at(1800 * ms)})
	w.join(b, "4", Terms{})
	w.join(b, "5", Terms{Deadline: at(4 * sec)})
	w.run(250 * ms)
	b.Throttled(w.now, Mark{}, 0) // now 1 rps and nothing stored
	w.settle()
	w.expect("250ms 1 refused", "250ms 3 refused")
	if first.w.Need() != sec || third.w.Need() != 2*sec {
		t.Errorf("they need %s and %s, want 1s and 2s", first.w.Need(), third.w.Need())
	}
	w.run(time.Minute)
	w.expect("1.25s 2 granted", "2.25s 4 granted", "3.25s 5 granted")
}

func TestS3_5PauseRefusesAtOnce(t *testing.T) {
	for name, pause := range map[string]func(leaf, account *Bucket){
		"leaf":    func(leaf, _ *Bucket) { leaf.Pause(at(100*ms), 5*sec) },
		"account": func(_, account *Bucket) { account.Pause(at(100*ms), 5*sec) },
		"hint":    func(leaf, _ *Bucket) { leaf.Throttled(at(100*ms), Mark{}, 5*sec) },
	} {
		t.Run(name, func(t *testing.T) {
			account := New(Options{Rate: 100, Burst: 100, MaxPause: time.Minute}, nil, epoch)
			leaf := New(Options{Rate: 1, Burst: 1, MaxPause: time.Minute}, account, epoch)
			leaf.Take(epoch)
			w := newWorld(t)
			w.join(leaf, "short", Terms{Deadline: at(5*sec + 99*ms)})
			w.join(leaf, "long", Terms{Deadline: at(5*sec + 100*ms)})
			w.run(100 * ms)
			pause(leaf, account)
			w.settle()
			w.expect("100ms short refused")
			w.run(time.Minute)
			w.expect("5.1s long granted")
		})
	}
}

// A pause at a shared level is told to every leaf.
func TestS3_5PauseRefusesInEveryLeaf(t *testing.T) {
	account, leaves := levels(100, 1, 1, 1)
	w := newWorld(t)
	for i, l := range leaves {
		w.join(l, fmt.Sprint(i), Terms{Deadline: at(2 * sec)})
	}
	account.Pause(epoch, 10*sec)
	w.settle()
	w.expect("0s 0 refused", "0s 1 refused", "0s 2 refused")
}

// S3.5: what a deadline counted on may go to neighbours at a shared level that have
// waited longer. The wait ends at the deadline at the latest.
func TestS3_5SharedLevelKeepsDeadlines(t *testing.T) {
	_, leaves := levels(1, 100, 100)
	w := newWorld(t)
	for i := range 20 {
		w.join(leaves[0], fmt.Sprint(i), Terms{})
	}
	w.join(leaves[1], "bounded", Terms{Deadline: at(4500 * ms)})
	w.run(4500 * ms)
	w.expect("1s 0 granted", "2s 1 granted", "3s 2 granted", "4s 3 granted", "4.5s bounded refused")
}

// S3.5: patience that ends before the deadline keeps hope alive.
func TestS3_5PatienceBeforeDeadline(t *testing.T) {
	b := drained(0.01, 2)
	w := newWorld(t)
	w.join(b, "in debt", Terms{Deadline: at(2 * sec), Patience: at(sec)})
	w.join(b, "too late", Terms{Deadline: at(2 * sec), Patience: at(3 * sec)})
	w.run(time.Minute)
	w.expect("0s too late refused", "1s in debt granted")
}

// S3.5: those who leave or are refused make room for deadlines behind them.
func TestS3_5RefusedOnesDontCount(t *testing.T) {
	b := drained(1, 1)
	w := newWorld(t)
	for range 100 {
		w.join(b, "hopeless", Terms{Deadline: at(500 * ms)})
	}
	w.log = nil
	w.join(b, "a", Terms{Deadline: at(sec)})
	quitter := w.join(b, "quitter", Terms{})
	w.leave(quitter)
	w.join(b, "b", Terms{Deadline: at(2 * sec)})
	w.run(time.Minute)
	w.expect("0s quitter left", "1s a granted", "2s b granted")
}
