package redisstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/fleet/internal/redistest"
	"github.com/cloudpace/cloudpace/fleet/redisstore"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// One Exchange, over loopback: what is said of the buckets costs more than the way.
func BenchmarkExchange(b *testing.B) {
	server := redistest.Start(b)
	s, err := redisstore.Open(b.Context(), "redis://"+server.Addr, redisstore.Options{Timeout: patient})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	l := sharing.Limits{Rate: 1e6, Burst: 1e6, MinRate: 1, Adaptive: true, MaxPause: time.Minute}
	for _, learns := range []bool{false, true} {
		l.Learn = learns
		exchange(b, s, l)
	}
}

func exchange(b *testing.B, s *redisstore.Store, l sharing.Limits) {
	b.Helper()
	for _, members := range []int{1, 40} {
		for _, buckets := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("learn=%t/buckets=%d/members=%d", l.Learn, buckets, members), func(b *testing.B) {
				var asks []fleet.BucketAsk
				for i := range buckets {
					asks = append(asks, fleet.BucketAsk{Key: fmt.Sprint(members, " ", i), Ask: sharing.Ask{Limits: l, Want: 1, Succeeded: true}})
				}
				n := 0
				for b.Loop() {
					if _, err := s.Exchange(b.Context(), fmt.Sprint("member ", n%members), asks); err != nil {
						b.Fatal(err)
					}
					n++
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n*buckets), "µs/bucket")
			})
		}
	}
}
