// Package backoff is the sleep between two attempts: how long, and the sleeping.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Base is the least sleep between two attempts where nothing else is said.
const Base = 500 * time.Millisecond

// Next is the next sleep: decorrelated jitter, between base and three times the
// sleep before, at most limit.
func Next(base, limit, previous time.Duration) time.Duration {
	return Drawn(base, limit, previous, rand.Int64N)
}

// Drawn is [Next] with other dice: below gives a number from 0 up to one below n.
func Drawn(base, limit, previous time.Duration, below func(n int64) int64) time.Duration {
	base = min(base, limit)
	top := 3 * max(base, previous)
	if top < base { // overflow
		return limit
	}
	return min(limit, base+time.Duration(below(int64(top-base+1))))
}

// Rest sleeps. It returns ctx.Err() when the context ends first.
func Rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
