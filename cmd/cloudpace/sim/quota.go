package sim

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Quota gives the calls it matches a token bucket for each account and region. The
// account is the one that is charged.
type Quota struct {
	Match
	// Burst is what the bucket holds, Rate what it gains in a second.
	Burst, Rate float64
	// Shared makes all operations of a service that match use one bucket; otherwise
	// each has its own. Wide makes all services and regions of an account do so.
	Shared, Wide bool
	// Window, in seconds, fills the bucket at once, so long after the first call to
	// it, instead of bit by bit; 0 is bit by bit. Rate is then Burst / Window.
	Window float64
	// Layer tells quotas apart that a call needs a token of at the same time: one of
	// the first that matches in each. The service's own layer has no name.
	Layer string
	// Name is what the provider calls the quota, if it does.
	Name string
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
	Layer    Patterns // of the buckets that he uses
	Rate     float64  // requests a second to each bucket
	From, To float64  // seconds since the start; 0 as To is for ever
}

// quotas has the buckets of all that called.
type quotas struct {
	rules      []Quota
	layers     []string // in the order in which they are asked
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
	return &quotas{rules: p.Quotas, layers: layers(p.Quotas), neighbours: p.Neighbours, seed: p.Seed, speed: p.Speed, started: now, buckets: make(map[bucketKey]*bucket)}
}

// model gives the model's time: speed times as much as has passed.
func (q *quotas) model(now time.Time) time.Duration {
	return time.Duration(float64(now.Sub(q.started)) * q.speed)
}

// layers lists those that there are; the service's own comes last, as it does in a
// cloud that has a gate in front of its services.
func layers(rules []Quota) (list []string) {
	for _, r := range rules {
		if r.Layer != "" && !slices.Contains(list, r.Layer) {
			list = append(list, r.Layer)
		}
	}
	return append(list, "")
}

// Left is what a quota that a call was charged to has left.
type Left struct {
	*Quota
	Tokens float64
	Resets time.Duration // until it is full, if nobody else comes
}

// take charges a call, layer by layer. In a refusal Wait and RetryAfter are in the
// model's time, and so is Resets in what is left.
func (q *quotas) take(c *Call, clock time.Time) (left []Left, no *Refusal) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.model(clock)
	for _, layer := range q.layers {
		i := slices.IndexFunc(q.rules, func(r Quota) bool { return r.Layer == layer && r.hitsOf(c.payer(layer), c) })
		if i < 0 {
			continue
		}
		rule, b := &q.rules[i], q.bucket(i, c, now)
		ok, wait := b.take(now)
		left = append(left, Left{rule, b.tokens, b.resets(now)})
		if !ok {
			return left, &Refusal{Why: WhyThrottled, Quota: rule, Wait: wait, RetryAfter: seconds(rule.RetryAfter)}
		}
	}
	return left, nil
}

func seconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }

func (q *quotas) bucket(i int, c *Call, now time.Duration) *bucket {
	rule := &q.rules[i]
	key := bucketKey{rule: i, account: c.payer(rule.Layer), region: c.Region, service: c.Service, operation: c.Operation}
	switch {
	case rule.Wide:
		key.region, key.service, key.operation = "", "", ""
	case rule.Shared:
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
	rate := rule.Rate
	if rule.Window > 0 {
		rate = rule.Burst / rule.Window
	}
	b := &bucket{burst: rule.Burst, rate: rate, cost: rule.ThrottleCost, floor: rule.Floor, tokens: rule.Burst, window: seconds(rule.Window)}
	for n, neighbour := range q.neighbours {
		if neighbour.uses(rule, c) {
			seed := hash(q.seed, "neighbour", key.account, key.region, key.service, key.operation) + uint64(n)
			from, to := time.Duration(neighbour.From*float64(time.Second)), time.Duration(neighbour.To*float64(time.Second))
			b.neighbours = append(b.neighbours, newStream(neighbour.Rate, from, to, seed))
		}
	}
	q.buckets[key] = b
	return b
}

// uses tells whether the neighbour's requests take from a quota's bucket for a
// call. Where operations share one, it does not matter which ones he calls, and
// where services do, not whose.
func (n Neighbour) uses(rule *Quota, c *Call) bool {
	if !n.Layer.match(rule.Layer) {
		return false
	}
	payer := c.payer(rule.Layer)
	return rule.Wide && n.Account.match(payer) && n.Class.match(c.Class) || rule.Shared && n.covers(payer, c) || n.hitsOf(payer, c)
}

// BucketState is a bucket as reports show it.
type BucketState struct {
	Account   string  `json:"account"`
	Region    string  `json:"region"`
	Service   string  `json:"service"`
	Operation string  `json:"operation"` // "*" where operations share it
	Layer     string  `json:"layer,omitempty"`
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
			Account: key.account, Region: cmp.Or(key.region, "*"), Service: cmp.Or(key.service, "*"), Operation: cmp.Or(key.operation, "*"),
			Layer: rule.Layer, Class: strings.Join(rule.Class, ", "), Burst: b.burst, Rate: b.rate, Tokens: b.tokens, Source: rule.Source,
		}
		for _, n := range b.neighbours {
			s.NeighbourAsked += n.asked
			s.NeighbourRefused += n.refused
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b BucketState) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Class, b.Class))
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
