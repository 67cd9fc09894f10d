package bulkhead

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

func ready(w *Waiter) bool {
	select {
	case <-w.Ready:
		return true
	default:
		return false
	}
}

func TestS5_1_FirstComeFirstServed(t *testing.T) {
	b := New(1)
	if !b.Take() || b.Take() {
		t.Fatal("a pool of one gave none or two")
	}
	first, second, third := b.Join(), b.Join(), b.Join()
	if b.Leave(second) {
		t.Error("a slot for one that left")
	}
	b.Release()
	if !ready(first) || ready(third) {
		t.Error("the slot went to the wrong waiter")
	}
	if b.Take() {
		t.Error("a newcomer overtook the queue")
	}
	b.Release()
	if !ready(third) || ready(second) {
		t.Error("the slot went to one that had left")
	}
	if s := b.State(); s != (State{Cap: 1, Used: 1}) {
		t.Errorf("%+v", s)
	}
}

// A slot that is granted while the waiter leaves is its own to release.
func TestS5_1_LeavingTooLate(t *testing.T) {
	b := New(1)
	b.Take()
	w := b.Join()
	b.Release()
	if !b.Leave(w) {
		t.Fatal("the slot is lost")
	}
	b.Release()
	if !b.Take() {
		t.Error("the slot did not come back")
	}
}

// S9.2: slots in use stay counted.
func TestS9_2_Resize(t *testing.T) {
	b := New(3)
	for range 3 {
		b.Take()
	}
	b.Resize(1)
	w := b.Join()
	b.Release()
	b.Release()
	if ready(w) {
		t.Error("granted while one of one is in use")
	}
	b.Release()
	if !ready(w) {
		t.Error("not granted when the pool is free")
	}
	v := b.Join()
	b.Resize(2)
	if !ready(v) {
		t.Error("a larger pool does not reach those who wait")
	}
}

func TestS5_3_ReleasingTwicePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(1).Release()
}

func TestNeverMoreThanTheCap(t *testing.T) {
	b := New(3)
	var in, most atomic.Int64
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			for n := range 100 {
				if !b.Take() {
					w := b.Join()
					if (i+n)%3 == 0 { // impatient
						if b.Leave(w) {
							b.Release()
						}
						continue
					}
					<-w.Ready
				}
				now := in.Add(1)
				for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
				}
				in.Add(-1)
				b.Release()
			}
		})
	}
	wg.Wait()
	if s := b.State(); most.Load() > 3 || s.Used != 0 || s.Waiting != 0 {
		t.Errorf("at most %d at once, then %+v", most.Load(), s)
	}
}

func TestTakingAllocatesNothing(t *testing.T) {
	b := New(1)
	if n := testing.AllocsPerRun(100, func() { b.Take(); b.Release() }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkTakeRelease(b *testing.B) {
	pool := New(128)
	b.ReportAllocs()
	for b.Loop() {
		pool.Take()
		pool.Release()
	}
}

// A pool that is held lets nobody in, and tells how many are inside.
func TestHold(t *testing.T) {
	b := New(3)
	if !b.Take() {
		t.Fatal("no slot")
	}
	told := 0
	b.Watch(func() { told++ })
	if used := b.Hold(); used != 1 || b.Take() {
		t.Errorf("%d in use, and one more was let in", used)
	}
	w := b.Join()
	if told != 1 {
		t.Errorf("told %d times that somebody waits", told)
	}
	b.Resize(2)
	select {
	case <-w.Ready:
	default:
		t.Error("it still waits")
	}
}

// A slot that comes back without the lock while somebody joins the queue is not lost to
// it, nor to who comes later, and a pool that shrinks and grows meanwhile stays right.
func TestS5_1_JoiningWhileSlotsComeBack(t *testing.T) {
	const most = 3
	b := New(1)
	var in atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 2000 {
				switch w := (*Waiter)(nil); {
				case (i+n)%4 == 0:
					w = b.Join() // though one may be free
					if !ready(w) && b.Take() {
						t.Error("a newcomer overtook the queue")
						b.Release()
					}
					<-w.Ready
				case !b.Take():
					continue
				}
				if now := in.Add(1); now > most {
					t.Errorf("%d at once", now)
				}
				in.Add(-1)
				b.Release()
			}
		})
	}
	for n := range 2000 {
		if n%2 == 0 {
			b.Resize(n % (most + 1))
		} else if used := b.Hold(); used > most {
			t.Errorf("%d in use", used)
		}
	}
	b.Resize(most)
	wg.Wait()
	if s := b.State(); s != (State{Cap: most}) {
		t.Errorf("%+v", s)
	}
}

// TestAsAQueueWould: whatever is done to a pool, it grants what the plainest of pools would.
func TestAsAQueueWould(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, want := New(2), State{Cap: 2}
		var queue, granted []*Waiter
		grant := func() {
			for want.Used < want.Cap && len(queue) > 0 {
				want.Used++
				granted, queue = append(granted, queue[0]), queue[1:]
			}
			want.Waiting = len(queue)
		}
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				free := want.Used < want.Cap && len(queue) == 0
				if b.Take() != free {
					t.Fatalf("a slot is taken, or not, of %+v", want)
				}
				if free {
					want.Used++
				}
			},
			"join": func(*rapid.T) { queue = append(queue, b.Join()) },
			"leave": func(t *rapid.T) {
				if n := len(queue) + len(granted); n > 0 {
					i := rapid.IntRange(0, n-1).Draw(t, "waiter")
					if i >= len(queue) {
						if !b.Leave(granted[i-len(queue)]) {
							t.Fatal("a granted slot is lost")
						}
						return
					}
					if b.Leave(queue[i]) {
						t.Fatal("granted out of turn")
					}
					queue = slices.Delete(queue, i, i+1)
				}
			},
			"release": func(*rapid.T) {
				if want.Used > 0 {
					b.Release()
					want.Used--
				}
			},
			"resize": func(t *rapid.T) {
				want.Cap = rapid.IntRange(0, 4).Draw(t, "cap")
				b.Resize(want.Cap)
			},
			"hold": func(t *rapid.T) {
				if used := b.Hold(); used != want.Used {
					t.Fatalf("%d in use, want %d", used, want.Used)
				}
				want.Cap = min(want.Cap, want.Used)
			},
			"": func(t *rapid.T) {
				grant()
				if s := b.State(); s != want {
					t.Fatalf("%+v, want %+v", s, want)
				}
				for _, w := range granted {
					if !ready(w) {
						t.Fatal("a waiter is not told")
					}
				}
				if slices.ContainsFunc(queue, ready) {
					t.Fatal("told out of turn")
				}
			},
		})
	})
}
