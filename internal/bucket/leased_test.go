package bucket

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// leasing is a bucket that learns, and may go beyond its limits.
func leasing(now time.Time) *Bucket {
	return New(Options{Rate: 20, Burst: 100, Learn: true, Soft: true, MaxPause: time.Minute}, nil, now)
}

// What is told of calls that another model let go teaches a new one nothing.
func TestLearnMarksOfBefore(t *testing.T) {
	ways := map[string]func(*Bucket, time.Time){
		"leased and freed": func(b *Bucket, now time.Time) { b.Lease(now, 20, 100, func() {}); b.Free(now) },
		"alone and freed":  func(b *Bucket, now time.Time) { b.Own(now, 5, 25); b.Free(now) },
		"alone":            func(b *Bucket, now time.Time) { b.Lease(now, 20, 100, func() {}); b.Own(now, 5, 25) },
	}
	for name, way := range ways {
		for _, later := range []time.Duration{0, time.Second} {
			now := time.Unix(1000, 0)
			b := leasing(now)
			var marks []Mark
			for range 4 {
				k, ok := b.Take(now)
				if !ok {
					t.Fatal("no token")
				}
				marks = append(marks, k)
			}
			marks[2] = b.Hold(marks[2])
			now = now.Add(later)
			way(b, now)
			want := b.model.State()
			b.Succeeded(now, marks[0])
			b.Throttled(now, marks[1], 0)
			b.Settled(now, marks[1])
			marks[2] = b.Go(now, marks[2])
			b.Unknown(marks[2])
			b.Return(now, marks[3])
			if got := b.model.State(); got.Rate != want.Rate || got.Burst != want.Burst || got.Throttles != 0 || got.Level > got.Burst {
				t.Errorf("%s, %s later: %+v, want %+v", name, later, got, want)
			}
			if now = now.Add(time.Hour); !b.Idle(now) {
				t.Errorf("%s, %s later: it is not idle in the end: %+v", name, later, b.State(now))
			}
		}
	}
}

// Tokens that a pause takes away are told as such, wherever the pause came from.
func TestLearnDroppedTokens(t *testing.T) {
	for name, pause := range map[string]func(*Bucket, time.Time, Mark){
		"a throttle": func(b *Bucket, now time.Time, k Mark) { b.Throttled(now, k, time.Second) },
		"no hint":    func(b *Bucket, now time.Time, k Mark) { b.Throttled(now, k, 0) },
		"a pause":    func(b *Bucket, now time.Time, k Mark) { b.Succeeded(now, k); b.Pause(now, time.Second) },
		"elsewhere": func(b *Bucket, now time.Time, k Mark) {
			b.Succeeded(now, k)
			b.Deposit(now, Lease{Pause: time.Second, Rate: 20, Burst: 100})
		},
	} {
		now := time.Unix(1000, 0)
		b := leasing(now)
		b.Lease(now, 20, 100, func() {})
		b.Deposit(now, Lease{Lot: Lot{At: now, N: 3}, Rate: 20, Burst: 100})
		b.Deposit(now, Lease{Lot: Lot{At: now.Add(time.Second), N: 4}, Rate: 20, Burst: 100})
		k, _ := b.Take(now)
		pause(b, now.Add(time.Millisecond), k)
		if r := b.Report(now.Add(time.Millisecond)); r.Dropped != 6 || r.Served+r.Refused != 1 {
			t.Errorf("%s: %+v, want 6 tokens dropped of the 7", name, r.Outcomes)
		}
	}
}

// Whether there is something to learn is asked without the lock.
func TestLearnSlowedWhileItIsMadeAnew(t *testing.T) {
	now := time.Unix(1000, 0)
	b := leasing(now)
	var over atomic.Bool
	var work sync.WaitGroup
	for range 2 {
		work.Go(func() {
			for !over.Load() {
				if !b.Slowed() {
					t.Error("it has stopped learning")
				}
			}
		})
	}
	for range 2000 {
		b.Lease(now, 20, 100, func() {})
		b.Own(now, 5, 25)
		b.Free(now)
	}
	over.Store(true)
	work.Wait()
}
