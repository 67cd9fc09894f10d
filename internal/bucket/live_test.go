package bucket

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wait queues as the package's documentation says, with a real clock, which in
// a bubble is a fake one. It returns false when the context ended first.
func wait(ctx context.Context, b *Bucket, terms Terms) bool {
	w, status := b.Join(time.Now(), terms)
	for status == Waiting {
		var wake time.Time
		if status, wake = w.Poll(time.Now()); status != Waiting {
			break
		}
		var tick <-chan time.Time
		if !wake.IsZero() {
			tick = time.After(time.Until(wake))
		}
		select {
		case <-w.C:
		case <-tick:
		case <-ctx.Done():
			if w.Leave(time.Now()) {
				b.Return(time.Now(), Mark{})
			}
			return false
		}
	}
	return status == Granted
}

// E01 with goroutines: three hundred that give up leave the next one no wait.
func TestE01GoroutinesThatGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Options{Rate: 5, Burst: 1}, nil, time.Now())
		b.Take(time.Now())
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		var wg sync.WaitGroup
		for range 300 {
			wg.Go(func() {
				if wait(ctx, b, Terms{}) {
					t.Error("served before its time")
				}
			})
		}
		wg.Wait()
		start := time.Now()
		if !wait(t.Context(), b, Terms{}) || time.Since(start) != 100*ms {
			t.Errorf("the next one waited %s, want 100ms", time.Since(start))
		}
	})
}

// A thousand goroutines on four leaves of one account, some of which give up, some
// without patience, under throttles and pauses: nobody is forgotten, and no more
// are served than the account's rate allows.
func TestS3_4CrowdOfGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		account := New(Options{Rate: 100, Burst: 10, MaxPause: time.Minute}, nil, start)
		leaves := make([]*Bucket, 4)
		for i := range leaves {
			leaves[i] = New(Options{Rate: 50, Burst: 5, Adaptive: true, MinRate: 5, MaxPause: time.Minute}, account, start)
		}
		var served, gone atomic.Int64
		var wg sync.WaitGroup
		for i := range 1000 {
			leaf := leaves[i%4]
			wg.Go(func() {
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if i%5 == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(i)*ms)
				}
				defer cancel()
				time.Sleep(time.Duration(i%10) * ms)
				var terms Terms
				if i%7 == 0 {
					terms.Patience = time.Now().Add(sec)
				}
				if !wait(ctx, leaf, terms) {
					gone.Add(1)
					return
				}
				served.Add(1)
				switch {
				case i%50 == 0:
					leaf.Throttled(time.Now(), Mark{}, 200*ms)
				case i%51 == 0:
					account.Pause(time.Now(), 300*ms)
				case i%11 == 0:
					leaf.Return(time.Now(), Mark{})
				default:
					leaf.Succeeded(time.Now(), Mark{})
				}
			})
		}
		wg.Wait()
		if n := served.Load() + gone.Load(); n != 1000 {
			t.Errorf("%d of 1000 came back", n)
		}
		// Burst, debt of a burst, the rate, and what was given back (at most 91).
		if most := 10 + 10 + 91 + 100*time.Since(start).Seconds(); float64(served.Load()) > most {
			t.Errorf("%d served in %s, at most %v can have been", served.Load(), time.Since(start), most)
		}
		for i, l := range leaves {
			if n := l.State(time.Now()).Waiting; n != 0 {
				t.Errorf("leaf %d has %d waiters that nobody is", i, n)
			}
		}
	})
}

// Every method at once, for the race detector: granted and returned tokens add up.
func TestHammer(t *testing.T) {
	root := New(Options{Rate: 1e6, Burst: 1000, MaxPause: time.Microsecond}, nil, epoch)
	leaves := []*Bucket{
		New(Options{Rate: 1e6, Burst: 100, Adaptive: true, MinRate: 1e5, MaxPause: time.Microsecond}, root, epoch),
		New(Options{Rate: 1e6, Burst: 100, Adaptive: true, MinRate: 1e5, MaxPause: time.Microsecond}, root, epoch),
	}
	var clock atomic.Int64 // nanoseconds since the epoch; readings go stale by themselves
	now := func() time.Time { return at(time.Duration(clock.Add(100))) }
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 2000 {
				b := leaves[r.IntN(2)]
				switch r.IntN(10) {
				case 0:
					b.Throttled(now(), Mark{}, time.Duration(r.IntN(2)))
				case 1:
					root.Pause(now(), 10)
				case 2, 3:
					b.Succeeded(now(), Mark{})
				case 4:
					b.State(now())
					root.Idle(now())
					b.Paused(now())
				case 5:
					if takes(b, now()) {
						b.Return(now(), Mark{})
					}
				default:
					w, status := b.Join(now(), Terms{})
					for i := 0; status == Waiting && i < 50; i++ {
						status, _ = w.Poll(now())
					}
					if w.Leave(now()) && r.IntN(2) == 0 {
						b.Return(now(), Mark{})
					}
				}
			}
		})
	}
	wg.Wait()
	for i, b := range leaves {
		if s := b.State(now()); s.Waiting != 0 || s.Tokens > s.Burst {
			t.Errorf("leaf %d: %+v", i, s)
		}
	}
	if len(root.group.busy) != 0 || root.group.driver != nil {
		t.Error("the group has waiters left that nobody is")
	}
}
