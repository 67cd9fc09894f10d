package budget

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestS7_4_SpendAndGiveBack(t *testing.T) {
	b := New(2)
	for i, want := range []bool{true, true, false} {
		if b.Spend() != want {
			t.Fatalf("spend %d of a budget of 2: want %v", i+1, want)
		}
	}
	for range 9 {
		b.Refund()
	}
	if b.Spend() {
		t.Error("nine tenths bought a token")
	}
	b.Refund()
	if !b.Spend() {
		t.Error("ten successes are not a token")
	}
	b.GiveBack()
	if b.Left() != 1 {
		t.Errorf("%v left, want 1", b.Left())
	}
	for range 100 {
		b.GiveBack()
	}
	if b.Left() != 2 || b.Capacity() != 2 {
		t.Errorf("%v of %d, want the capacity and no more", b.Left(), b.Capacity())
	}
}

func TestABudgetOfNothing(t *testing.T) {
	b := New(0)
	b.Refund()
	if b.Spend() || b.Left() != 0 {
		t.Errorf("%v left", b.Left())
	}
}

// B16: after any drain, successes bring tokens back.
func TestB16_ItRefills(t *testing.T) {
	b := New(500)
	for b.Spend() {
	}
	for range 10 {
		b.Refund()
	}
	if b.Left() != 1 {
		t.Errorf("%v left, want 1", b.Left())
	}
}

func TestNoTokenIsSpentTwice(t *testing.T) {
	b := New(1000)
	var spent atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for b.Spend() {
				spent.Add(1)
			}
		})
	}
	wg.Wait()
	if spent.Load() != 1000 || b.Left() != 0 {
		t.Errorf("%d spent, %v left", spent.Load(), b.Left())
	}
}

// A budget that was nearly gone is nearly gone in the next process, and full again
// after ten minutes.
func TestRecall(t *testing.T) {
	for _, c := range []struct {
		left float64
		ago  time.Duration
		want float64
	}{
		{3, 0, 3}, {3, time.Minute, 53}, {3, 9 * time.Minute, 453}, {3, time.Hour, 500}, {-7, 0, 0}, {3, -time.Hour, 3}, {1e300, 0, 500},
	} {
		b := New(500)
		b.Recall(c.left, c.ago)
		if got := b.Left(); got != c.want {
			t.Errorf("%g left %s ago is %g now, want %g", c.left, c.ago, got, c.want)
		}
	}
	b := New(500)
	b.Recall(3, 0)
	b.Recall(100, 0)
	if got := b.Left(); got != 3 {
		t.Errorf("%g: a memory has added tokens", got)
	}
}
