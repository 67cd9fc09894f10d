package cloudpace_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
)

// TestS3_7_AMillionScopes come and go: no memory stays, and no number is lost.
func TestS3_7_AMillionScopes(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 50_000
	}
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, nil)
		before := heap()
		for i := range n {
			s := scope
			s.Account = strconv.Itoa(i)
			begin(t, g, s).End(nil)
			if i%100 == 0 {
				time.Sleep(100 * time.Millisecond) // the buckets fill up again
			}
		}
		if grew := heap() - before; grew > 32<<20 {
			t.Errorf("heap grew by %d MiB", grew>>20)
		}
		s := g.Snapshot()
		if len(s.Buckets) > 10_000 || len(s.Bulkheads) > 10_000 {
			t.Errorf("%d buckets and %d bulkheads remain", len(s.Buckets), len(s.Bulkheads))
		}
		if calls := g.Summary(nil).Totals.Calls; calls != n {
			t.Errorf("%d calls counted, want %d", calls, n)
		}
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestS3_7_WhatWasLearnedStays while scopes around it are forgotten.
func TestS3_7_WhatWasLearnedStays(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, nil)
		fail(t, g, scope, throttle())
		for i := range 20_000 {
			s := scope
			s.Account = strconv.Itoa(i)
			begin(t, g, s).End(nil)
			time.Sleep(time.Millisecond)
		}
		if b := bucketOf(t, g, sqs); b.RPS != 10 {
			t.Errorf("rate %v, want the learned 10", b.RPS)
		}
	})
}

// TestS3_7_ChargedScopesComeAndGo, those charged to themselves included.
func TestS3_7_ChargedScopesComeAndGo(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, nil)
		for i := range 20_000 {
			s, payer := scope, scope
			s.Account, payer.Account = strconv.Itoa(i), strconv.Itoa(i/2*2)
			begin(t, g, s, cloudpace.ChargedTo(payer)).End(nil)
			time.Sleep(time.Millisecond)
		}
		if n := len(g.Snapshot().Buckets); n > 10_000 {
			t.Errorf("%d buckets remain", n)
		}
	})
}

// TestS3_7_NothingStaysOfOldSettings, not even where calls were in flight when the
// settings changed. No number is lost.
func TestS3_7_NothingStaysOfOldSettings(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, nil)
		account := func(i int) cloudpace.Scope {
			s := scope
			s.Account = strconv.Itoa(i)
			return s
		}
		var calls []*cloudpace.Call
		for i := range 5000 {
			c := begin(t, g, account(i))
			if i%2 == 0 {
				c.End(nil)
			} else {
				calls = append(calls, c)
			}
		}
		cfg := g.Config()
		p := cfg.Providers["aws"]
		p.MaxRPS++
		cfg.Providers["aws"] = p
		if err := g.Configure(cfg); err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			c.End(nil)
		}
		time.Sleep(time.Hour)
		for i := range 100 {
			begin(t, g, account(10_000+i)).End(nil)
		}
		if n := len(g.Snapshot().Bulkheads); n > 200 {
			t.Errorf("%d bulkheads remain", n)
		}
		if n := g.Summary(nil).Totals.Calls; n != 5100 {
			t.Errorf("%d calls counted, want 5100", n)
		}
	})
}

// TestS3_7_ACrowdThatCameAtOnce goes when others come later.
func TestS3_7_ACrowdThatCameAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, nil)
		one := func(i int) {
			s := scope
			s.Account = strconv.Itoa(i)
			begin(t, g, s).End(nil)
		}
		before := heap()
		for i := range 100_000 {
			one(i)
		}
		crowd := heap() - before
		time.Sleep(24 * time.Hour)
		for i := range 20_000 {
			one(100_000 + i)
			time.Sleep(100 * time.Millisecond)
		}
		if n := len(g.Snapshot().Buckets); n > 32*64 {
			t.Errorf("%d buckets remain", n)
		}
		if left := heap() - before; left > crowd/10 {
			t.Errorf("%d MiB of %d remain", left>>20, crowd>>20)
		}
	})
}

// TestS3_7_ForgottenWhileOthersBegin: a call that comes as its scope is forgotten is in
// neither two lanes nor none. No number is lost, and no account has a second pool of slots.
func TestS3_7_ForgottenWhileOthersBegin(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MaxConcurrency = 1e9, 1e9, 1 })
		const accounts, each, workers = 6000, 20_000, 8
		var in [accounts]atomic.Int32
		var all sync.WaitGroup
		for w := range workers {
			random := rand.New(rand.NewPCG(uint64(w), 1))
			all.Go(func() {
				for i := range each {
					n := random.IntN(accounts)
					if i%2 == 0 {
						n = random.IntN(50) // where they meet
					}
					s := scope
					s.Account = strconv.Itoa(n)
					err := cloudpace.Do(t.Context(), s, func(context.Context) error {
						if in[n].Add(1) > 1 {
							t.Error("two slots of one")
						}
						runtime.Gosched()
						in[n].Add(-1)
						return nil
					}, cloudpace.WithGovernor(g))
					if err != nil {
						t.Error(err)
					}
					if i%100 == 0 {
						time.Sleep(time.Second) // the others' scopes are idle for a while
					}
					if i%5000 == 4999 {
						cfg := g.Config()
						p := cfg.Providers["aws"]
						p.MaxRPS++
						cfg.Providers["aws"] = p
						if err := g.Configure(cfg); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		all.Wait()
		if n := g.Summary(nil).Totals.Calls; n != workers*each {
			t.Errorf("%d calls counted, want %d", n, workers*each)
		}
		for _, b := range g.Snapshot().Bulkheads {
			if b.InUse != 0 || b.Waiting != 0 {
				t.Errorf("%+v", b)
			}
		}
	})
}

// TestS3_7_TenThousandInUseStay known, from one of their calls to the next.
func TestS3_7_TenThousandInUseStay(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, nil)
		for range 3 {
			for i := range 10_000 {
				s := scope
				s.Account = strconv.Itoa(i)
				begin(t, g, s).End(nil)
			}
			if n := len(g.Snapshot().Bulkheads); n != 10_000 {
				t.Fatalf("%d scopes are known", n)
			}
			time.Sleep(time.Minute)
		}
	})
}
