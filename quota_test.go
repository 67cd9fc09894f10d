package cloudpace_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
)

// modelQuota is a server's token bucket, in virtual time.
type modelQuota struct {
	mu           sync.Mutex
	rate, burst  float64
	tokens       float64
	last         time.Time
	asked, spent int
}

func (q *modelQuota) take() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	q.tokens = min(q.burst, q.tokens+q.rate*now.Sub(q.last).Seconds())
	q.last = now
	q.asked++
	if q.tokens < 1 {
		return false
	}
	q.tokens--
	q.spent++
	return true
}

// TestManyClientsOnOneQuota: 40 clients against EC2's documented quota, 4,000
// calls: within 1.10 of the ideal, under 1 % throttled, none lost.
func TestManyClientsOnOneQuota(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		const calls = 4000
		g := governor(t, nil)
		q := &modelQuota{rate: 20, burst: 100, tokens: 100, last: time.Now()}
		ec2 := scope
		ec2.Service, ec2.Operation = "ec2", "DescribeImageAttribute"
		around := func(d time.Duration) time.Duration { return time.Duration(float64(d) * (0.7 + 0.6*rand.Float64())) }
		var left, done atomic.Int64
		left.Store(calls)
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() {
				for left.Add(-1) >= 0 {
					err := cloudpace.Do(t.Context(), ec2, func(context.Context) error {
						if q.take() {
							time.Sleep(around(100 * time.Millisecond))
							return nil
						}
						time.Sleep(around(30 * time.Millisecond))
						return answer(503, "RequestLimitExceeded")
					}, cloudpace.WithGovernor(g))
					if err != nil {
						t.Errorf("lost: %v", err)
						continue
					}
					done.Add(1)
				}
			})
		}
		wg.Wait()
		ideal := (calls - q.burst) / q.rate
		ratio := clock().Seconds() / ideal
		throttled := float64(q.asked-q.spent) / float64(q.asked)
		t.Logf("T/ideal %.3f, throttled %.2f %% of %d", ratio, 100*throttled, q.asked)
		if done.Load() != calls || ratio > 1.10 || throttled >= 0.01 {
			t.Errorf("%d of %d done, T/ideal %.3f, throttled %.4f", done.Load(), calls, ratio, throttled)
		}
	})
}

// TestB15_TotalOutage: 256 callers against a server that always answers 503: what
// is sent is bounded by breaker and pace, and callers are refused at once.
func TestB15_TotalOutage(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		var sent atomic.Int64
		for range 256 {
			go func() {
				for clock() < 10*time.Second {
					_ = cloudpace.Do(t.Context(), scope, func(context.Context) error {
						sent.Add(1)
						time.Sleep(20 * time.Millisecond)
						return answer(503, "")
					}, cloudpace.WithGovernor(g), cloudpace.WithMaxRetries(3))
					time.Sleep(100 * time.Millisecond)
				}
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := sent.Load(); n > 128+60 {
			t.Errorf("%d requests in an outage of ten seconds", n)
		}
	})
}

// TestB17_ThrottledAtTheStart: the server's bucket was empty when a run of 3,000
// calls began, so that its first calls are throttled. Half a minute later it uses at
// least 80 % of the limit, and the numbers say what the slowdown cost.
func TestB17_ThrottledAtTheStart(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.Services = 10, 100, nil })
		q := &modelQuota{rate: 10, burst: 100, last: time.Now()}
		var done atomic.Int64
		var wg sync.WaitGroup
		for range 3000 {
			wg.Go(func() {
				if err := cloudpace.Do(t.Context(), scope, func(context.Context) error {
					time.Sleep(50 * time.Millisecond)
					if !q.take() {
						return answer(400, "ThrottlingException")
					}
					done.Add(1)
					return nil
				}, cloudpace.WithGovernor(g)); err != nil {
					t.Errorf("lost: %v", err)
				}
			})
		}
		time.Sleep(30 * time.Second)
		before := done.Load()
		time.Sleep(30 * time.Second)
		if rate := float64(done.Load()-before) / 30; rate < 8 {
			t.Errorf("%.1f calls a second after half a minute, want 8", rate)
		}
		wg.Wait()
		n := g.Summary(nil).Scopes[0]
		t.Logf("%s; %.0f s; %+v", clock(), n.WaitSeconds, n.Totals)
		if n.Throttled == 0 || n.Waits < 2000 || n.WaitSeconds < 1000 {
			t.Errorf("%+v: not what the slowdown cost", n.Totals)
		}
	})
}

// TestE24_RetriesArePaidWhenDecided: a thousand calls at once against a server that
// answers nothing but 503 schedule two free retries each and 500 paid ones, however
// long these back off before they are sent.
func TestE24_RetriesArePaidWhenDecided(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) {
			p.MaxRPS, p.Burst, p.Services, p.MaxConcurrency, p.BreakerThreshold = 1e6, 1e6, nil, 1024, 1000
		})
		var sent atomic.Int64
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				_ = cloudpace.Do(t.Context(), scope, func(context.Context) error {
					sent.Add(1)
					return answer(500, "InternalError")
				}, cloudpace.WithGovernor(g), cloudpace.WithMaxRetries(8))
			})
		}
		wg.Wait()
		if n := sent.Load(); n != 1000+2*1000+500 {
			t.Errorf("%d requests, want 3500", n)
		}
	})
}
