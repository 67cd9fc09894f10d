package cloudpace

import (
	"errors"
	"math"
	"time"

	"github.com/cloudpace/cloudpace/internal/learning"
)

// LearnedQuota is what a leaf whose controller is [ControllerLearn] believes of the
// server's bucket, and on what evidence.
type LearnedQuota struct {
	RPS   float64 `json:"rps"`   // tokens a second
	Burst float64 `json:"burst"` // tokens that it can store
	// Calls stand behind RPS: so many were served between throttles, or as many as would
	// make one as sure. 16 is a guess, 400 is sure to some percent.
	Calls float64 `json:"calls"`
	// FullBuckets stand behind Burst: so often a stretch that began with a full bucket
	// ended with a throttle, 8 at most; 2 is what a configured one is worth.
	FullBuckets float64 `json:"full_buckets"`
	// Noise is how unevenly the server gave: about 0 where nobody else has part in the
	// quota, about 1 where others take half of it.
	Noise float64 `json:"noise"`
	// Throttles were measured so far. Those that came too close behind one another count
	// once.
	Throttles int `json:"throttles"`
}

func newLearnedQuota(s *learning.State) *LearnedQuota {
	if s == nil || !s.Taught {
		return nil
	}
	return &LearnedQuota{RPS: s.Rate, Burst: s.Burst, Calls: s.Calls, FullBuckets: s.Bursts, Noise: s.Noise, Throttles: s.Throttles}
}

// check finds what makes no sense.
func (q *LearnedQuota) check() error {
	if q == nil {
		return nil
	}
	for _, x := range []float64{q.RPS, q.Burst, q.Calls, q.FullBuckets} {
		if !(x > 0) || math.IsInf(x, 0) {
			return errors.New("a quota that cannot be")
		}
	}
	if !(q.Noise >= 0) || math.IsInf(q.Noise, 0) || q.Throttles < 0 {
		return errors.New("a quota that cannot be")
	}
	return nil
}

// state ages the quota: what stands behind it is worth half as much each hour, so that
// what has changed since is soon noticed.
func (q *LearnedQuota) state(age time.Duration) *learning.State {
	if q == nil {
		return nil
	}
	half := math.Exp2(-math.Max(0, age.Hours()))
	return &learning.State{
		Rate: q.RPS, Burst: q.Burst, Calls: q.Calls * half, Bursts: q.FullBuckets * half, Noise: q.Noise, Throttles: q.Throttles, Taught: true,
	}
}

// quotaLasts is how long a quota is remembered. Providers change them, but not every week.
const quotaLasts = 7 * 24 * time.Hour
