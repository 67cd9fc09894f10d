package sim

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Quota gives the calls it matches a token bucket for each account and region.
type Quota struct {
	Match
	// Burst is what the bucket holds, Rate what it gains in a second.
	Burst, Rate float64
	// Shared makes all operations of a service that match use one bucket; otherwise
	// each has its own.
	Shared bool
	// RetryAfter, in seconds, is a hint to send with every refusal; 0 is none
	// beyond what the service documents.
	RetryAfter float64
	// ThrottleCost is what a refused request takes from the bucket all the same,
	// Floor (0 or less) where that ends.
	ThrottleCost, Floor float64
	// Source is where the figures are from.
	Source string
}

// Neighbour is somebody else in the account, whose requests take tokens from the
// buckets that his match selects.
type Neighbour struct {
	Match
	Rate     float64 // requests a second to each bucket
	From, To float64 // seconds since the start; 0 as To is for ever
}

// quotas has the buckets of all that called.
type quotas struct {
	rules      []Quota
	neighbours []Neighbour
	seed       uint64
	speed      float64

	mu      sync.Mutex
	started time.Time
	buckets map[bucketKey]*bucket
}

type bucketKey struct {
	rule                                int
	account, region, service, operation string
}

// manyBuckets is when those that nobody uses are looked for.
const manyBuckets = 1 << 16

func newQuotas(p Profile, now time.Time) *quotas {
	return &quotas{rules: p.Quotas, neighbours: p.Neighbours, seed: p.Seed, speed: p.Speed, started: now, buckets: make(map[bucketKey]*bucket)}
}

// model gives the model's time: speed times as much as has passed.
func (q *quotas) model(now time.Time) time.Duration {
	return time.Duration(float64(now.Sub(q.started)) * q.speed)
}

// take charges a call. A refused one learns how long it takes until there is a
// token, and what the rule has for a hint, both in the model's time.
func (q *quotas) take(c *Call, now time.Time) (ok bool, wait, hint time.Duration) {
	i := slices.IndexFunc(q.rules, func(r Quota) bool { return r.hits(c) })
	if i < 0 {
		return true, 0, 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	ok, wait = q.bucket(i, c, q.model(now)).take(q.model(now))
	return ok, wait, time.Duration(q.rules[i].RetryAfter * float64(time.Second))
}

func (q *quotas) bucket(i int, c *Call, now time.Duration) *bucket {
	rule := &q.rules[i]
	key := bucketKey{rule: i, account: c.Account, region: c.Region, service: c.Service, operation: c.Operation}
	if rule.Shared {
		key.operation = ""
	}
	if b, ok := q.buckets[key]; ok {
		return b
	}
	if len(q.buckets) >= manyBuckets {
		for k, b := range q.buckets {
			if b.full(now) {
				delete(q.buckets, k)
			}
		}
	}
	b := &bucket{burst: rule.Burst, rate: rule.Rate, cost: rule.ThrottleCost, floor: rule.Floor, tokens: rule.Burst}
	for n, neighbour := range q.neighbours {
		// Where operations share a bucket, it does not matter which ones he calls.
		if rule.Shared && neighbour.covers(c) || neighbour.hits(c) {
			seed := hash(q.seed, "neighbour", key.account, key.region, key.service, key.operation) + uint64(n)
			from, to := time.Duration(neighbour.From*float64(time.Second)), time.Duration(neighbour.To*float64(time.Second))
			b.neighbours = append(b.neighbours, newStream(neighbour.Rate, from, to, seed))
		}
	}
	q.buckets[key] = b
	return b
}

// BucketState is a bucket as reports show it.
type BucketState struct {
	Account   string  `json:"account"`
	Region    string  `json:"region"`
	Service   string  `json:"service"`
	Operation string  `json:"operation"` // "*" where operations share it
	Class     string  `json:"class,omitempty"`
	Burst     float64 `json:"burst"`
	Rate      float64 `json:"rate"`
	Tokens    float64 `json:"tokens"`
	Source    string  `json:"source,omitempty"`
	// What the neighbours asked of it and were refused.
	NeighbourAsked   int `json:"neighbour_asked,omitempty"`
	NeighbourRefused int `json:"neighbour_refused,omitempty"`
}

func (q *quotas) states(clock time.Time) []BucketState {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.model(clock)
	list := make([]BucketState, 0, len(q.buckets))
	for key, b := range q.buckets {
		b.advance(now)
		rule := q.rules[key.rule]
		s := BucketState{
			Account: key.account, Region: key.region, Service: key.service, Operation: cmp.Or(key.operation, "*"),
			Class: strings.Join(rule.Class, ", "), Burst: b.burst, Rate: b.rate, Tokens: b.tokens, Source: rule.Source,
		}
		for _, n := range b.neighbours {
			s.NeighbourAsked += n.asked
			s.NeighbourRefused += n.refused
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b BucketState) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Class, b.Class))
	})
	return list
}

// since is when time began.
func (q *quotas) since() time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.started
}

// reset lets time begin anew, with full buckets.
func (q *quotas) reset(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.started = now
	clear(q.buckets)
}
