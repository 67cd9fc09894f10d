package bucket

import (
	"fmt"
	"testing"
	"time"
)

// plenty never runs out.
func plenty(parent *Bucket) *Bucket {
	return New(Options{Rate: 1e12, Burst: 1e12, Adaptive: true, MinRate: 1}, parent, epoch)
}

// The calm path allocates nothing: a call with a token in stock, its success.
func TestNoAllocations(t *testing.T) {
	b := plenty(plenty(plenty(nil)))
	now := epoch
	for name, f := range map[string]func(){
		"take":      func() { b.Take(now) },
		"return":    func() { b.Return(now, Mark{}) },
		"succeeded": func() { b.Succeeded(now, Mark{}) },
		"paused":    func() { b.Paused(now) },
		"state":     func() { b.State(now) },
		"idle":      func() { b.Idle(now) },
	} {
		if n := testing.AllocsPerRun(100, func() { now = now.Add(1); f() }); n != 0 {
			t.Errorf("%s: %v allocations, want none", name, n)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	for name, leaf := range map[string]*Bucket{
		"levels=1": plenty(nil),
		"levels=3": plenty(plenty(plenty(nil))),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			now := epoch
			for b.Loop() {
				now = now.Add(1)
				if !takes(leaf, now) {
					b.Fatal("out of tokens")
				}
			}
		})
	}
}

func BenchmarkTakeParallel(b *testing.B) {
	leaf := plenty(nil)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		now := epoch
		for pb.Next() {
			now = now.Add(1)
			leaf.Take(now)
		}
	})
}

// Success of a call whose bucket was never slowed: no lock at all.
func BenchmarkSucceeded(b *testing.B) {
	leaf := plenty(nil)
	b.ReportAllocs()
	for b.Loop() {
		leaf.Succeeded(epoch, Mark{})
	}
}

// One caller that comes, waits and is served.
func BenchmarkWait(b *testing.B) {
	leaf := drained(1000, 1)
	b.ReportAllocs()
	now := epoch
	for b.Loop() {
		w, _ := leaf.Join(now, Terms{})
		now = now.Add(ms)
		if status, _ := w.Poll(now); status != Granted {
			b.Fatal(status)
		}
	}
}

// A queue of n, from which one gives up and into which one comes.
func BenchmarkLeave(b *testing.B) {
	for _, n := range []int{1, 300, 10_000} {
		b.Run(fmt.Sprint("queue=", n), func(b *testing.B) {
			leaf := drained(1, 1)
			var waiting []*Waiter
			for range n {
				w, _ := leaf.Join(epoch, Terms{})
				waiting = append(waiting, w)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i = (i + 1) % n {
				waiting[i].Leave(epoch)
				waiting[i], _ = leaf.Join(epoch, Terms{})
			}
		})
	}
}

// busyLeaves is a provider's bucket with n leaves, of which each has two waiters.
func busyLeaves(n int, shared, rate float64) (leaves []*Bucket) {
	root := New(Options{Rate: shared, Burst: 1, MaxPause: time.Minute}, nil, epoch)
	for range n {
		l := New(Options{Rate: rate, Burst: 1, Adaptive: true, MinRate: rate / 2, MaxPause: time.Minute}, root, epoch)
		l.tokens = 0
		leaves = append(leaves, l)
	}
	root.tokens = 0
	for range 2 {
		for _, l := range leaves {
			l.Join(epoch, Terms{Deadline: at(1e6 * time.Hour)})
		}
	}
	return leaves
}

// One grant where thousands of leaves wait for the provider's bucket, with the look
// of the next driver and a new caller in the place of the one that was served.
func BenchmarkGrantAmongBusyLeaves(b *testing.B) {
	for _, n := range []int{1, 100, 5000} {
		b.Run(fmt.Sprint("leaves=", n), func(b *testing.B) {
			leaves := busyLeaves(n, 1000, 1000)
			group := leaves[0].group
			b.ReportAllocs()
			now := at(sec)
			for b.Loop() {
				now = now.Add(ms)
				d := group.driver
				if status, _ := d.Poll(now); status != Granted {
					b.Fatal(status)
				}
				group.driver.Poll(now)
				d.b.Join(now, Terms{Deadline: at(1000 * time.Hour)})
			}
		})
	}
}

// A caller that joins while the provider has tokens and 5,000 slow leaves don't.
func BenchmarkJoinAmongSlowLeaves(b *testing.B) {
	for _, n := range []int{1, 100, 5000} {
		b.Run(fmt.Sprint("leaves=", n), func(b *testing.B) {
			leaves := busyLeaves(n, 1e9, 1e-6)
			extra := plenty(leaves[0].parent)
			b.ReportAllocs()
			now := at(sec)
			for b.Loop() {
				now = now.Add(1000)
				if _, status := extra.Join(now, Terms{}); status != Granted {
					b.Fatal(status)
				}
			}
		})
	}
}

// A pause of the provider looks at everybody who waits.
func BenchmarkPauseOverBusyLeaves(b *testing.B) {
	for _, n := range []int{100, 5000} {
		b.Run(fmt.Sprint("waiters=", 2*n), func(b *testing.B) {
			leaves := busyLeaves(n, 1, 1)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				leaves[0].parent.Pause(at(time.Duration(i)), sec)
			}
		})
	}
}
