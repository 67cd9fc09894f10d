package fleet_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet"
)

// learning makes EC2's bucket one that learns.
func learning(rps, burst float64, ceiling cloudpace.Ceiling) func(*cloudpace.Config) {
	return func(c *cloudpace.Config) {
		p := c.Providers["aws"]
		p.Services = nil
		p.MaxRPS, p.Burst, p.Controller, p.Ceiling, p.MaxConcurrency = rps, burst, cloudpace.ControllerLearn, ceiling, 1000
		c.Providers["aws"] = p
	}
}

// A store that goes and comes back while calls are under way frees nobody from a hard
// ceiling, and leaves nobody waiting.
func TestLearnStoreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		_, calls, stop := crowd(t, store, 50*time.Millisecond, learning(20, 100, cloudpace.CeilingHard))
		during := calls.during
		during(10 * time.Second)
		if n := during(10 * time.Second); n < 190 || n > 202 {
			t.Errorf("%d calls in 10 s while it is there", n)
		}
		for range 3 {
			store.set(errors.New("gone"))
			during(time.Second)
			if n := during(10 * time.Second); n < 180 || n > 202 {
				t.Errorf("%d calls in 10 s while it is gone, by four with a quarter each", n)
			}
			store.set(nil)
			during(4 * time.Second)
			if n := during(10 * time.Second); n < 190 || n > 202 {
				t.Errorf("%d calls in 10 s when it is back", n)
			}
		}
		stop()
	})
}

// Members get the same, however many they are and however much one of them wants.
func TestLearnFairShares(t *testing.T) {
	for _, members := range []int{3, 8, 16} {
		for _, rate := range []float64{2, 20, 50, 100, 400} {
			if members*int(rate) > 4000 || raced && (members > 3 || rate > 50) {
				continue // they ask so often that chance decides, or it takes too long
			}
			greedy := 8
			if members%2 == 0 {
				greedy = 200
			}
			synctest.Test(t, func(t *testing.T) {
				store := newWatched()
				store.away = time.Millisecond
				shares := make([]int64, members)
				long := time.Duration(max(60, 40*float64(members)/rate)) * time.Second
				var work sync.WaitGroup
				for i := range shares {
					g := governed(t, learning(rate, 20, cloudpace.CeilingHard))
					joined(t, store, g)
					workers := 8
					if i == 0 {
						workers = greedy
					}
					for range workers {
						work.Go(func() {
							start := time.Now()
							for time.Since(start) < 10*time.Second+long {
								c := admit(t, g, ec2) // what was stored goes to those that come first
								if d := time.Since(start); d > 10*time.Second && d < 10*time.Second+long {
									atomic.AddInt64(&shares[i], 1)
								}
								time.Sleep(30 * time.Millisecond)
								c.End(nil)
							}
						})
					}
				}
				work.Wait()
				sum := int64(0)
				for _, n := range shares {
					sum += n
				}
				fair := sum / int64(members)
				t.Logf("%d members at %g a second, %d callers in one: %v", members, rate, greedy, shares)
				if slices.Min(shares) < fair*7/10 || slices.Max(shares) > fair*13/10 || float64(sum) < 0.95*rate*long.Seconds() || float64(sum) > rate*long.Seconds()+20 {
					t.Errorf("%d members at %g a second, %d callers in one: %v", members, rate, greedy, shares)
				}
			})
		}
	}
}

// What a bucket that learns costs the store: it hands out no more than a twentieth of a
// second ahead, of which eight members get six tokens each, for two questions.
func TestLearnRoundTrips(t *testing.T) {
	roundTrips(t, learning(1000, 1000, cloudpace.CeilingHard), 0.4)
}

// books are a store that adds up the tokens of which a member has not told the end.
type books struct {
	*watched
	mu   sync.Mutex
	open int
}

func (b *books) Exchange(ctx context.Context, member string, asks []fleet.BucketAsk) ([]fleet.BucketGrant, error) {
	grants, err := b.watched.Exchange(ctx, member, asks)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, a := range asks {
		b.open += a.Debt - a.Back - a.Served - a.Unknown - a.Refused - a.Dropped
		if err == nil {
			b.open += grants[i].Tokens
		}
	}
	return grants, err
}

// A member tells the end of every token that it was handed or took, what was taken before
// it joined, pauses, refusals and callers that leave included.
func TestLearnEveryTokenEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := governed(t, learning(50, 100, cloudpace.CeilingHard))
		for range 80 {
			admit(t, g, ec2).End(nil)
		}
		store := &books{watched: newWatched()}
		joined(t, store, g)
		var work sync.WaitGroup
		for i := range 400 {
			work.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%50)*time.Second)
				if i%10 == 0 {
					ctx = cloudpace.WithMaxWait(ctx, time.Second)
				}
				defer cancel()
				c, err := g.Begin(ctx, ec2)
				if err != nil {
					return
				}
				time.Sleep(time.Duration(i%7) * 10 * time.Millisecond)
				switch {
				case i%40 == 1:
					c.End(refusal())
				case i%60 == 3:
					c.Pause(2 * time.Second)
					c.Drop()
				default:
					c.End(nil)
				}
			})
			time.Sleep(15 * time.Millisecond)
		}
		work.Wait()
		time.Sleep(time.Minute)
		admit(t, g, ec2).End(nil) // and with it comes what was not worth a question
		time.Sleep(time.Second)
		admit(t, g, ec2).End(nil)
		store.mu.Lock()
		defer store.mu.Unlock()
		if store.open < 0 || store.open > 3 {
			t.Errorf("%d tokens have not come to an end", store.open)
		}
	})
}

// A burst that is stored goes within some round trips, however slowly it refills: what
// holds it back is only what a member has not told yet.
func TestLearnBurstOfASlowBucket(t *testing.T) {
	for _, rate := range []float64{0.33, 1, 10} {
		synctest.Test(t, func(t *testing.T) {
			g := governed(t, learning(rate, 100, cloudpace.CeilingHard))
			store := newWatched()
			store.away = time.Millisecond
			joined(t, store, g)
			start := time.Now()
			var work sync.WaitGroup
			for range 80 {
				work.Go(func() {
					c := admit(t, g, ec2)
					time.Sleep(50 * time.Millisecond)
					c.End(nil)
				})
			}
			work.Wait()
			if took := time.Since(start); took > 600*time.Millisecond {
				t.Errorf("%g a second: a burst of 80 of 100 took %s", rate, took)
			}
		})
	}
}
