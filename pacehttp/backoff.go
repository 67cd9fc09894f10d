package pacehttp

import (
	"context"
	"math/rand/v2"
	"time"
)

// base is the least sleep between two attempts.
const base = 500 * time.Millisecond

// backoff is the next sleep: decorrelated jitter, between base and three times
// the sleep before, at most limit.
func backoff(limit, previous time.Duration) time.Duration {
	least := min(base, limit)
	top := 3 * max(least, previous)
	if top < least { // overflow
		return limit
	}
	return min(limit, least+rand.N(top-least+1))
}

// rest sleeps. It returns ctx.Err() when the context ends first.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
