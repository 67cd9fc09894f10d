package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/verdict"
)

// fast is a bucket of 1,000 a second.
func fast(c *cloudpace.Config) {
	p := c.Providers["aws"]
	p.Services = map[string]cloudpace.Service{"ec2": {MaxRPS: 1000, Burst: 1000}}
	c.Providers["aws"] = p
}

func governed(t testing.TB, change ...func(*cloudpace.Config)) *cloudpace.Governor {
	t.Helper()
	c := cloudpace.DefaultConfig()
	for _, f := range change {
		f(&c)
	}
	g, err := cloudpace.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func joined(t testing.TB, store fleet.Store, g *cloudpace.Governor, o ...fleet.Options) *fleet.Membership {
	t.Helper()
	m, err := fleet.Join(t.Context(), g, store, append(o, fleet.Options{})[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// pair is two governors that share, of which the second has been in use.
func pair(t testing.TB, store fleet.Store) (a, b *cloudpace.Governor) {
	t.Helper()
	a, b = governed(t), governed(t)
	joined(t, store, a)
	joined(t, store, b)
	admit(t, b, ec2).End(nil)
	return a, b
}

// admit lets a call of a scope pass, and tells when.
func admit(t testing.TB, g *cloudpace.Governor, s cloudpace.Scope, opts ...cloudpace.BeginOption) *cloudpace.Call {
	t.Helper()
	c, err := g.Begin(t.Context(), s, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// At 1,000 tokens a second the store is asked for fewer than one in twenty, and nobody
// asks who has a token at hand.
func TestRoundTrips(t *testing.T) { roundTrips(t, fast, 0.05) }

// roundTrips holds one member and eight to the rate of 1,000 a second, and to at most so
// many exchanges with the store for each call.
func roundTrips(t *testing.T, settings func(*cloudpace.Config), most float64) {
	t.Helper()
	for _, members := range []int{1, 8} {
		t.Run(fmt.Sprint(members), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newWatched()
				store.away = time.Millisecond
				var work sync.WaitGroup
				var calls atomic.Int64
				for range members {
					g := governed(t, settings)
					joined(t, store, g)
					for range 64 {
						work.Go(func() {
							for end := time.Now().Add(10 * time.Second); time.Now().Before(end); calls.Add(1) {
								c := admit(t, g, ec2)
								time.Sleep(30 * time.Millisecond)
								c.End(nil)
							}
						})
					}
				}
				work.Wait()
				per := float64(store.asked()) / float64(calls.Load())
				t.Logf("%d members: %d calls, %.4f exchanges a call", members, calls.Load(), per)
				if n := calls.Load(); n < 10_500 || n > 11_600 || per > most {
					t.Errorf("%d calls in 10 s, %.3f exchanges a call", n, per)
				}
			})
		})
	}
}

// A single caller pays for its first call with a wait for the store, and seldom again.
func TestOneCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		store.away = 5 * time.Millisecond
		g := governed(t)
		joined(t, store, g)
		waits := 0
		for range 200 {
			before := time.Now()
			admit(t, g, ec2).End(nil)
			if time.Since(before) > 0 {
				waits++
			}
			time.Sleep(100 * time.Millisecond)
		}
		if waits > 20 {
			t.Errorf("%d of 200 calls waited for the store", waits)
		}
	})
}

// What one process is told by a server holds for all.
func TestThrottleIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		a, b := pair(t, store)
		admit(t, a, ec2).End(&verdict.ResponseError{Provider: "aws", StatusCode: 503, Code: "RequestLimitExceeded", Header: map[string][]string{"Retry-After": {"7"}}})
		synctest.Wait()
		start := time.Now()
		var work sync.WaitGroup
		for range 20 {
			work.Go(func() { admit(t, b, ec2).End(nil) })
		}
		work.Wait()
		// A pause of 7 s, and then 11 a second: it was calm for long enough.
		if took := time.Since(start); took < 8600*time.Millisecond || took > 9*time.Second {
			t.Errorf("20 calls of another process took %s", took)
		}
		for _, s := range b.Snapshot().Buckets {
			if s.RPS != 11 || s.MaxRPS != 20 {
				t.Errorf("%+v", s)
			}
		}
		// Success brings it back for everybody.
		for range 40 {
			admit(t, b, ec2).End(nil)
			time.Sleep(time.Second)
		}
		admit(t, a, ec2).End(nil)
		for _, s := range a.Snapshot().Buckets {
			if s.RPS < 16 {
				t.Errorf("after 40 s: %+v", s)
			}
		}
	})
}

// A circuit that opens in one process opens in all, and the try of one tells them.
func TestCircuitIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		a, b := pair(t, store)
		for range 5 {
			admit(t, a, ec2).End(&verdict.ResponseError{Provider: "aws", StatusCode: 500, Code: "InternalFailure"})
		}
		// The other hears of it when it next asks.
		c, err := b.Begin(t.Context(), ec2)
		if err == nil {
			c.End(nil)
		}
		time.Sleep(time.Second)
		_, err = b.Begin(t.Context(), ec2)
		var open *cloudpace.CircuitOpenError
		if !errors.As(err, &open) || open.RetryAfter > time.Minute || open.RetryAfter < 55*time.Second {
			t.Fatalf("the other process gets %v", err)
		}
		time.Sleep(open.RetryAfter)
		admit(t, b, ec2).End(nil)
		admit(t, b, ec2).End(nil)
		time.Sleep(2 * time.Second)
		late := governed(t)
		joined(t, store, late)
		admit(t, late, ec2).End(nil)
		admit(t, late, ec2).End(nil)
	})
}

// All processes together have no more calls in flight than the account may, and all
// get the same.
func TestSlotsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		var work sync.WaitGroup
		var now, most atomic.Int64
		shares := make([]int64, 4)
		for i := range shares {
			g := governed(t, func(c *cloudpace.Config) {
				p := c.Providers["aws"]
				p.MaxRPS, p.Burst, p.MaxConcurrency = 1e4, 1e4, 24
				c.Providers["aws"] = p
			})
			joined(t, store, g, fleet.Options{Lease: 3 * time.Second})
			for range 30 {
				s := ec2
				s.Service = "sqs"
				work.Go(func() {
					for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
						c := admit(t, g, s)
						n := now.Add(1)
						for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
						}
						time.Sleep(100 * time.Millisecond)
						now.Add(-1)
						c.End(nil)
						atomic.AddInt64(&shares[i], 1)
					}
				})
			}
		}
		work.Wait()
		t.Logf("at most %d, shares %v", most.Load(), shares)
		if most.Load() > 24 || most.Load() < 20 {
			t.Errorf("%d calls in flight at most, of 24", most.Load())
		}
		if float64(slices.Max(shares)) > 1.1*float64(slices.Min(shares)) {
			t.Errorf("shares: %v", shares)
		}
	})
}

// A store that is gone stops nobody and frees nobody: each goes on within its share, says
// so once, and shares again when it is back.
func TestStoreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		ms, calls, stop := crowd(t, store, 0)
		during := calls.during
		during(10 * time.Second)
		if n := during(10 * time.Second); n < 198 || n > 202 {
			t.Errorf("%d calls in 10 s while it is there", n)
		}
		store.set(errors.New("gone"))
		during(time.Second)
		if n := during(10 * time.Second); n < 190 || n > 202 {
			t.Errorf("%d calls in 10 s while it is gone, by four with a quarter each", n)
		}
		for _, m := range ms {
			if s := m.State(); !s.Alone || s.Outages != 1 || s.Members != 4 {
				t.Errorf("%+v", s)
			}
		}
		store.set(nil)
		before := calls.Load()
		during(3 * time.Second)
		if n := during(10 * time.Second); n < 198 || n > 202 {
			t.Errorf("%d calls in 10 s when it is back", n)
		}
		if n := calls.Load() - before; n > 13*20+30 {
			t.Errorf("%d calls in the 13 s of its return", n)
		}
		for _, m := range ms {
			if s := m.State(); s.Alone || s.Outages != 1 || s.AloneSeconds < 10 {
				t.Errorf("%+v", s)
			}
		}
		stop()
	})
}

// counted are calls that are counted as they are let go.
type counted struct{ atomic.Int64 }

// during tells how many there are in some time.
func (c *counted) during(d time.Duration) int64 {
	before := c.Load()
	time.Sleep(d)
	return c.Load() - before
}

// crowd is four members of a store, each with eight callers that call all the time, a call
// taking so long, until stop.
func crowd(t *testing.T, store fleet.Store, each time.Duration, change ...func(*cloudpace.Config)) (ms []*fleet.Membership, calls *counted, stop func()) {
	t.Helper()
	calls = new(counted)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for range 4 {
		g := governed(t, change...)
		ms = append(ms, joined(t, store, g))
		for range 8 {
			work.Go(func() {
				for {
					c, err := g.Begin(ctx, ec2)
					if err != nil {
						return
					}
					calls.Add(1)
					time.Sleep(each)
					c.End(nil)
				}
			})
		}
	}
	return ms, calls, func() {
		cancel()
		work.Wait()
	}
}

// Who leaves takes nothing along, and the governor has its limits for itself again.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		g := governed(t)
		m := joined(t, store, g)
		admit(t, g, ec2).End(nil)
		if _, err := fleet.Join(t.Context(), g, store, fleet.Options{}); err == nil {
			t.Error("it joined twice")
		}
		m.Close()
		m.Close()
		if s, err := store.Status(t.Context()); err != nil || len(s.Members) != 0 {
			t.Errorf("members: %+v, %v", s.Members, err)
		}
		start := time.Now()
		for range 20 {
			admit(t, g, ec2).End(nil)
		}
		if took := time.Since(start); took > 1100*time.Millisecond {
			t.Errorf("20 calls took %s", took)
		}
		joined(t, store, g).Close()
	})
}

// Settings that change while it is shared move to the new buckets.
func TestConfigure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		g := governed(t)
		joined(t, store, g)
		admit(t, g, ec2).End(nil)
		c := g.Config()
		fast(&c)
		if err := g.Configure(c); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for range 1000 {
			admit(t, g, ec2).End(nil)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("1000 calls took %s", took)
		}
	})
}

// Where several levels apply, each is shared, and a leaf that is slow does not keep the
// account's tokens from others.
func TestLevelsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		ctx, stop := context.WithTimeout(t.Context(), 60*time.Second)
		defer stop()
		var work sync.WaitGroup
		calls := map[string]*atomic.Int64{"storage": {}, "compute": {}, "network": {}}
		for range 4 {
			g := governed(t)
			joined(t, store, g)
			for service, n := range calls {
				s := cloudpace.Scope{Provider: "azure", Account: "00000000-0000-0000-0000-000000000001", Service: service}
				for range 16 {
					work.Go(func() {
						for {
							c, err := g.Begin(ctx, s)
							if err != nil {
								return
							}
							n.Add(1)
							c.End(nil)
						}
					})
				}
			}
		}
		work.Wait()
		storage, rest := calls["storage"].Load(), calls["compute"].Load()+calls["network"].Load()
		t.Logf("storage %d, compute %d, network %d", storage, calls["compute"].Load(), calls["network"].Load())
		if storage < 36 || storage > 40 { // 20 and 0.33 a second
			t.Errorf("%d calls of storage in 60 s", storage)
		}
		if all := storage + rest; all < 1380 || all > 1401 { // the account's 200 and 20 a second
			t.Errorf("%d calls in 60 s", all)
		}
	})
}

// A pause is heard of many times, and ends once.
func TestAPauseThatIsHeardOfAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		a, b := pair(t, store)
		c := admit(t, a, ec2)
		c.Pause(10 * time.Second)
		c.End(nil)
		synctest.Wait()
		start := time.Now()
		var work sync.WaitGroup
		for i := range 40 {
			work.Go(func() {
				time.Sleep(time.Duration(i) * 200 * time.Millisecond) // each asks anew
				admit(t, b, ec2).End(nil)
			})
		}
		work.Wait()
		if took := time.Since(start); took < 11500*time.Millisecond || took > 12300*time.Millisecond {
			t.Errorf("40 calls took %s, want those 10 s and 2", took)
		}
	})
}
