package main

import (
	"slices"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// quotaWait is a quota that is waited for.
type quotaWait struct {
	scope    cloudpace.Scope
	rate     float64 // now, a second
	most     float64
	queued   int
	paused   time.Duration // until the provider may be asked again
	duration time.Duration // for one that would come now
}

type shownWait struct {
	quotaWait
	seen time.Time // waiting, last
}

// waits finds the quotas that are waited for. Callers queue for the bucket of their
// service; where the account's or the provider's, which they need a token of as well,
// makes them wait longer, it is that one.
func waits(s cloudpace.Snapshot) (list []quotaWait) {
	queued := make(map[cloudpace.Scope]int) // for wider buckets: by all of the services
	wider := make(map[cloudpace.Scope]cloudpace.BucketState)
	type leaf struct {
		scope cloudpace.Scope
		cloudpace.BucketState
	}
	var leaves []leaf
	for _, b := range s.Buckets {
		scope, err := cloudpace.ParseScope(b.Scope)
		if err != nil {
			continue // nothing that could be told
		}
		if scope.Service == "" {
			wider[scope] = b
			continue
		}
		if b.Waiting > 0 {
			leaves = append(leaves, leaf{scope, b})
			queued[cloudpace.Scope{Provider: scope.Provider, Account: scope.Account}] += b.Waiting
			queued[cloudpace.Scope{Provider: scope.Provider}] += b.Waiting
		}
	}
	for _, l := range leaves {
		longest := waitFor(l.scope, l.BucketState, l.Waiting)
		for _, scope := range []cloudpace.Scope{{Provider: l.scope.Provider, Account: l.scope.Account}, {Provider: l.scope.Provider}} {
			if b, ok := wider[scope]; ok {
				if w := waitFor(scope, b, queued[scope]); w.duration > longest.duration {
					longest = w
				}
			}
		}
		if !slices.ContainsFunc(list, func(w quotaWait) bool { return w.scope == longest.scope }) {
			list = append(list, longest)
		}
	}
	return list
}

// waitFor tells how long one would wait for a bucket with so many before him.
func waitFor(scope cloudpace.Scope, b cloudpace.BucketState, queued int) quotaWait {
	w := quotaWait{scope: scope, rate: b.RPS, most: b.MaxRPS, queued: queued, paused: words.Seconds(b.PausedSeconds)}
	if b.RPS > 0 {
		w.duration = w.paused + words.Seconds(max(0, float64(queued+1)-b.Tokens)/b.RPS)
	}
	return w
}

// waitsShown is how many quotas there is room for.
const waitsShown = 3

// choose takes those that wait longest. One that is shown already keeps its line
// until it has not waited for a moment or another waits clearly longer, so that what
// is read stays where it is.
func choose(shown []shownWait, waiting []quotaWait, now time.Time) []shownWait {
	var kept []shownWait
	for _, s := range shown {
		i := slices.IndexFunc(waiting, func(w quotaWait) bool { return w.scope == s.scope })
		switch {
		case i >= 0:
			kept = append(kept, shownWait{waiting[i], now})
			waiting = slices.Delete(slices.Clone(waiting), i, i+1)
		case now.Sub(s.seen) < lingers:
			s.queued, s.paused, s.duration = 0, 0, 0
			kept = append(kept, s)
		}
	}
	waiting = slices.Clone(waiting)
	slices.SortStableFunc(waiting, func(a, b quotaWait) int { return int(b.duration - a.duration) })
	for _, w := range waiting {
		if len(kept) < waitsShown {
			kept = append(kept, shownWait{w, now})
			continue
		}
		least := slices.MinFunc(kept, func(a, b shownWait) int { return int(a.duration - b.duration) })
		if w.duration <= least.duration+least.duration/4+lingers/5 {
			break
		}
		i := slices.IndexFunc(kept, func(s shownWait) bool { return s.scope == least.scope })
		kept[i] = shownWait{w, now}
	}
	return kept
}
