package cloudpace

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/verdict"
)

// Snapshot is a governor as it stands, for monitoring. Its lists are ordered by
// scope. Each part is true for a moment; the parts are not read at the same one.
type Snapshot struct {
	Buckets   []BucketState   `json:"buckets"`
	Breakers  []BreakerState  `json:"breakers"`
	Budgets   []BudgetState   `json:"budgets"`
	Bulkheads []BulkheadState `json:"bulkheads"`
}

// BucketState is one token bucket. What has no limit is +Inf, and null in JSON.
type BucketState struct {
	Scope         string  `json:"scope"`
	Level         string  `json:"level"`          // "leaf", "account" or "provider"
	RPS           float64 `json:"rps"`            // in force
	MaxRPS        float64 `json:"max_rps"`        // the ceiling
	LowestRPS     float64 `json:"lowest_rps"`     // so far
	Burst         float64 `json:"burst"`          // in force
	Tokens        float64 `json:"tokens"`         // negative is debt
	PausedSeconds float64 `json:"paused_seconds"` // left of a pause
	Waiting       int     `json:"waiting"`        // callers in the queue
	// Quota is what was learned, where the leaf's controller learns; RPS, Burst and Tokens
	// are its own then, and may be above MaxRPS where the ceiling is soft.
	Quota *LearnedQuota `json:"quota,omitempty"`

	service string // the text of the service scope
	slowed  bool   // throttles hold the rate down, or the bucket is paused
}

// MarshalJSON writes null for +Inf, which JSON does not have.
func (b BucketState) MarshalJSON() ([]byte, error) {
	type fields BucketState // without this method
	return json.Marshal(struct {
		fields
		RPS       *float64 `json:"rps"`
		MaxRPS    *float64 `json:"max_rps"`
		LowestRPS *float64 `json:"lowest_rps"`
		Burst     *float64 `json:"burst"`
		Tokens    *float64 `json:"tokens"`
	}{fields(b), finite(b.RPS), finite(b.MaxRPS), finite(b.LowestRPS), finite(b.Burst), finite(b.Tokens)})
}

func finite(f float64) *float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return &f
}

// BreakerState is one circuit breaker.
type BreakerState struct {
	Scope             string  `json:"scope"`
	State             string  `json:"state"`    // "closed", "open" or "half-open"; "barred", whatever it is, after [Call.Bar]
	Failures          int     `json:"failures"` // in a row
	RetryAfterSeconds float64 `json:"retry_after_seconds"`
	Cause             string  `json:"cause,omitempty"` // of what opened it, or of the bar

	service string // the text of the service scope
}

// BudgetState is one provider's retry budget.
type BudgetState struct {
	Provider string  `json:"provider"`
	Tokens   float64 `json:"tokens"`
	Capacity int     `json:"capacity"`
}

// BulkheadState is one account's slots.
type BulkheadState struct {
	Provider string `json:"provider"`
	Account  string `json:"account"` // "*" where it is not known
	Slots    int    `json:"slots"`
	InUse    int    `json:"in_use"`
	Waiting  int    `json:"waiting"`
}

// Snapshot reads the governor. Looking changes nothing and takes no probe's lease.
func (g *Governor) Snapshot() Snapshot {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	s := newSnapshot()
	for name, p := range g.providers {
		if !p.enabled {
			continue
		}
		s.Budgets = append(s.Budgets, budgetState(p))
		if p.bucket != nil {
			s.Buckets = append(s.Buckets, bucketState(Scope{Provider: name}, levelProvider, p.bucket, now))
		}
		for account, b := range p.buckets.m {
			s.Buckets = append(s.Buckets, bucketState(Scope{Provider: name, Account: account}, levelAccount, b, now))
		}
		for scope, l := range p.leaves.m {
			s.Buckets = append(s.Buckets, bucketState(scope, levelLeaf, l.bucket, now))
			s.Breakers = append(s.Breakers, breakerState(scope, l, now))
		}
	}
	for key, a := range g.accounts.m {
		s.Bulkheads = append(s.Bulkheads, bulkheadState(key, a))
	}
	slices.SortFunc(s.Buckets, func(a, b BucketState) int {
		if c := strings.Compare(a.Scope, b.Scope); c != 0 {
			return c
		}
		return strings.Compare(a.Level, b.Level)
	})
	slices.SortFunc(s.Breakers, func(a, b BreakerState) int { return strings.Compare(a.Scope, b.Scope) })
	slices.SortFunc(s.Budgets, func(a, b BudgetState) int { return strings.Compare(a.Provider, b.Provider) })
	slices.SortFunc(s.Bulkheads, func(a, b BulkheadState) int {
		return strings.Compare(a.Provider+"/"+a.Account, b.Provider+"/"+b.Account)
	})
	return s
}

// Look reads what one call in a scope would meet: its buckets from the provider's down
// to the leaf's, as many as there are, one breaker, one budget and one bulkhead. Nothing
// is taken and nothing is counted, but the scope is one that the governor knows from then
// on: what [Governor.Restore] was told of it is in force, as it is now. Where nothing is
// governed the snapshot is empty.
func (g *Governor) Look(scope Scope) Snapshot {
	l := g.lane(scope)
	defer l.release()
	s := newSnapshot()
	p, leaf, now := l.provider, l.leaf, time.Now()
	if !p.enabled {
		return s
	}
	account := Scope{Provider: p.name, Account: l.scope.Account}
	if p.bucket != nil {
		s.Buckets = append(s.Buckets, bucketState(Scope{Provider: p.name}, levelProvider, p.bucket, now))
	}
	if leaf.account != nil {
		s.Buckets = append(s.Buckets, bucketState(account, levelAccount, leaf.account, now))
	}
	s.Buckets = append(s.Buckets, bucketState(leaf.scope, levelLeaf, leaf.bucket, now))
	s.Breakers = append(s.Breakers, breakerState(leaf.scope, leaf, now))
	s.Budgets = append(s.Budgets, budgetState(p))
	s.Bulkheads = append(s.Bulkheads, bulkheadState(accountKey{p.name, account.Account}, l.account))
	return s
}

func newSnapshot() Snapshot {
	return Snapshot{Buckets: []BucketState{}, Breakers: []BreakerState{}, Budgets: []BudgetState{}, Bulkheads: []BulkheadState{}}
}

func budgetState(p *provider) BudgetState {
	return BudgetState{p.name, p.budget.Left(), p.budget.Capacity()}
}

func bulkheadState(key accountKey, a *account) BulkheadState {
	st := a.slots.State()
	return BulkheadState{key.provider, escapeAccount(key.account), st.Cap, st.Used, st.Waiting}
}

func bucketState(scope Scope, level string, b *bucket.Bucket, now time.Time) BucketState {
	st := b.State(now)
	return BucketState{
		Scope:         scope.String(),
		Level:         level,
		RPS:           st.Rate,
		MaxRPS:        st.Ceiling,
		LowestRPS:     st.Lowest,
		Burst:         st.Burst,
		Tokens:        st.Tokens,
		PausedSeconds: st.PausedFor.Seconds(),
		Waiting:       st.Waiting,
		Quota:         newLearnedQuota(st.Learned),
		service:       scope.service().String(),
		slowed:        st.Slowed() || st.PausedFor > 0,
	}
}

func breakerState(scope Scope, l *leaf, now time.Time) BreakerState {
	st := l.breaker.State(now)
	s := BreakerState{
		Scope:             scope.String(),
		State:             st.Phase.String(),
		Failures:          st.Failures,
		RetryAfterSeconds: st.Wait.Seconds(),
		service:           scope.service().String(),
	}
	if st.Cause != nil {
		s.Cause = verdict.DescribeFor(scope.Provider, st.Cause)
	}
	l.showBar(&s, now)
	return s
}
