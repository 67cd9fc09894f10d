package fleet_test

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

var ec2 = cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "ec2", Operation: "DescribeInstanceTypes"}

// server is a cloud's token bucket.
type server struct {
	mu                     sync.Mutex
	rate, burst, tokens    float64
	last                   time.Time
	asked, refused, served int
}

func newServer(rate, burst float64) *server {
	return &server{rate: rate, burst: burst, tokens: burst, last: time.Now()}
}

func (s *server) call(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.tokens = math.Min(s.burst, s.tokens+s.rate*now.Sub(s.last).Seconds())
	s.last = now
	s.asked++
	if s.tokens < 1 {
		s.refused++
		return &verdict.ResponseError{Provider: "aws", StatusCode: 503, Code: "RequestLimitExceeded"}
	}
	s.tokens--
	s.served++
	return nil
}

// Eight processes with eight callers each on one of EC2's buckets: no slower than the
// bucket, nearly nothing throttled, all alike.
func TestEightProcessesOnOneBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 4000
		store := newWatched()
		store.away = time.Millisecond
		quota := newServer(20, 100)
		start := time.Now()
		var left atomic.Int64
		left.Store(calls)
		shares := make([]atomic.Int64, 8)
		var work sync.WaitGroup
		for i := range shares {
			g := governed(t)
			joined(t, store, g)
			for range 8 {
				work.Go(func() {
					for left.Add(-1) >= 0 {
						err := cloudpace.Do(t.Context(), ec2, func(ctx context.Context) error {
							err := quota.call(ctx)
							time.Sleep(50 * time.Millisecond)
							return err
						}, cloudpace.WithGovernor(g))
						if err != nil {
							t.Error(err)
						}
						shares[i].Add(1)
					}
				})
			}
		}
		work.Wait()
		took := time.Since(start)
		ideal := time.Duration(float64(calls-100) / 20 * float64(time.Second))
		t.Logf("%s, ideal %s, %.3f; refused %d of %d; %d trips, %.3f a token", took, ideal, took.Seconds()/ideal.Seconds(), quota.refused, quota.asked, store.asked(), float64(store.asked())/calls)
		if took > ideal*102/100 || quota.refused*100 >= quota.asked {
			t.Errorf("%s, where %s are needed; %d of %d refused", took, ideal, quota.refused, quota.asked)
		}
		for i := range shares {
			if n := shares[i].Load(); n < calls/8*9/10 || n > calls/8*11/10 {
				t.Errorf("process %d made %d of %d calls", i, n, calls)
			}
		}
	})
}
