package bucket

import (
	"fmt"
	"testing"
	"time"
)

// S3.6: after d the token is taken into debt, down to one burst.
func TestS3_6DebtDownToOneBurst(t *testing.T) {
	b := drained(1, 3)
	w := newWorld(t)
	for i := range 6 {
		w.join(b, fmt.Sprint(i), Terms{Patience: at(500 * ms)})
	}
	w.run(499 * ms)
	w.expect()
	w.run(500 * ms)
	// 0.5 tokens: three fit above -3, a fourth would make it -3.5.
	w.expect("500ms 0 granted", "500ms 1 granted", "500ms 2 granted",
		"500ms 3 refused", "500ms 4 refused", "500ms 5 refused")
	tokens(t, b, w.now, -2.5)
}

// S3.6: exactly one burst is allowed.
func TestS3_6DebtOfExactlyOneBurst(t *testing.T) {
	b := drained(1, 3)
	w := newWorld(t)
	for i := range 4 {
		w.join(b, fmt.Sprint(i), Terms{Patience: epoch})
	}
	w.expect("0s 0 granted", "0s 1 granted", "0s 2 granted", "0s 3 refused")
	tokens(t, b, epoch, -3)
	last, status := b.Join(epoch, Terms{Patience: epoch})
	if status != Refused || last.Need() != 4*sec {
		t.Errorf("%s, needing %s; want refused, 4s", status, last.Need())
	}
}

// S3.6: at each level; where one has no room, none is charged.
func TestS3_6DebtAtEachLevel(t *testing.T) {
	account := New(Options{Rate: 1, Burst: 2}, nil, epoch)
	a, b := New(Options{Rate: 1, Burst: 5}, account, epoch), New(Options{Rate: 1, Burst: 5}, account, epoch)
	drain(a, epoch)
	tokens(t, a, epoch, 3)
	w := newWorld(t)
	now := Terms{Patience: epoch}
	w.join(a, "a0", now)
	w.join(b, "b0", now)
	w.join(a, "a1", now)
	w.join(b, "b1", now)
	w.expect("0s a0 granted", "0s b0 granted", "0s a1 refused", "0s b1 refused")
	tokens(t, account, epoch, -2)
	tokens(t, a, epoch, 2)
	tokens(t, b, epoch, 4)
}

// S3.6: who can be served in time pays in the ordinary way.
func TestS3_6NoDebtWhenServedInTime(t *testing.T) {
	b := drained(4, 1)
	w := newWorld(t)
	w.join(b, "a", Terms{Patience: at(sec)})
	w.run(time.Minute)
	w.expect("250ms a granted")
	b = New(Options{Rate: 4, Burst: 1}, nil, epoch)
	w = newWorld(t)
	w.join(b, "b", Terms{Patience: epoch})
	w.expect("0s b granted")
	tokens(t, b, epoch, 0)
}

// S3.6: pauses are included in what d bounds, at any level.
func TestS3_6PatienceBeatsPause(t *testing.T) {
	account := New(Options{Rate: 10, Burst: 10, MaxPause: time.Hour}, nil, epoch)
	b := New(Options{Rate: 10, Burst: 2, MaxPause: time.Hour}, account, epoch)
	b.Pause(epoch, time.Minute)
	account.Pause(epoch, 2*time.Minute)
	w := newWorld(t)
	for i := range 3 {
		w.join(b, fmt.Sprint(i), Terms{Patience: at(sec)})
	}
	w.run(sec)
	w.expect("1s 0 granted", "1s 1 granted", "1s 2 refused")
	tokens(t, b, w.now, -2)
	tokens(t, account, w.now, -2)
	if !b.Paused(w.now) || !account.Paused(w.now) {
		t.Error("the pause is over for all because one had no patience")
	}
}

// S3.6: who goes into debt does so from anywhere in the queue, and those who stay
// pay for it with their wait.
func TestS3_6DebtDelaysOthers(t *testing.T) {
	b := drained(1, 2)
	w := newWorld(t)
	w.join(b, "first", Terms{})
	w.join(b, "hasty", Terms{Patience: at(500 * ms)})
	w.join(b, "third", Terms{})
	w.run(time.Minute)
	w.expect("500ms hasty granted", "2s first granted", "3s third granted")
}

// S3.5: a debt that makes a deadline impossible ends the wait of its owner.
func TestS3_5DebtRefusesDeadlines(t *testing.T) {
	b := drained(1, 2)
	w := newWorld(t)
	w.join(b, "tight", Terms{Deadline: at(1500 * ms)})
	w.join(b, "hasty", Terms{Patience: at(500 * ms)})
	w.run(time.Minute)
	w.expect("500ms hasty granted", "500ms tight refused")
}

// S3.6: the debtor's token, given back, pays the debt.
func TestS3_6ReturnPaysDebt(t *testing.T) {
	b := drained(1, 2)
	w := newWorld(t)
	w.join(b, "hasty", Terms{Patience: epoch})
	w.join(b, "next", Terms{})
	w.expect("0s hasty granted")
	w.run(500 * ms)
	b.Return(w.now, Mark{})
	w.run(time.Minute)
	w.expect("1s next granted")
}

// S3.6: a cut makes the burst, and with it the limit of debt, smaller.
func TestS3_6DebtFollowsTheBurst(t *testing.T) {
	b := drained(8, 8)
	b.Throttled(epoch, Mark{}, 0)
	b.Throttled(at(sec), Mark{}, 0) // 2 rps, burst 2
	w := newWorld(t)
	w.now = at(sec)
	for i := range 3 {
		w.join(b, fmt.Sprint(i), Terms{Patience: at(sec)})
	}
	w.expect("1s 0 granted", "1s 1 granted", "1s 2 refused")
}

// Somebody else must drive when a waiter that drove is refused for its patience.
func TestS3_6RefusedDriverIsReplaced(t *testing.T) {
	b := drained(1, 1)
	w := newWorld(t)
	w.join(b, "hasty", Terms{Patience: epoch}) // all the debt there can be
	w.join(b, "driver", Terms{Patience: at(500 * ms)})
	w.join(b, "next", Terms{})
	w.run(time.Minute)
	w.expect("0s hasty granted", "500ms driver refused", "2s next granted")
}
