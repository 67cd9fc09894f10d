package budget

import (
	"sync"
	"sync/atomic"
	"testing"
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
