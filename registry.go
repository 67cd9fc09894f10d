package cloudpace

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudpace/cloudpace/internal/breaker"
	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/budget"
	"github.com/cloudpace/cloudpace/internal/bulkhead"
)

// lane is what a scope is resolved to, once: pointers to all that governs it.
type lane struct {
	scope    Scope // normal form
	provider *provider
	leaf     *leaf
	account  *account
	service  *service

	calls atomic.Int64 // in flight; guarded against forgetting by the shard's lock
}

func (l *lane) release() { l.calls.Add(-1) }

// provider is one provider under one set of settings. When those change it is
// retired and another takes its place.
type provider struct {
	name     string
	settings Provider
	enabled  bool
	budget   *budget.Budget
	retired  atomic.Bool

	// Guarded by Governor.mu.
	bucket  *bucket.Bucket            // over all accounts, nil when off
	buckets map[string]*bucket.Bucket // over all leaves of an account, empty when off
	leaves  map[Scope]*leaf
}

// leaf is where a rate is learned and a circuit opens.
type leaf struct {
	scope   Scope
	bucket  *bucket.Bucket
	breaker *breaker.Breaker
	lanes   int // guarded by Governor.mu
}

type accountKey struct{ provider, account string }

// account outlives changes of settings, so that slots in use stay counted.
type account struct {
	slots *bulkhead.Bulkhead
	lanes int // guarded by Governor.mu
}

// service is what numbers are kept for. It outlives changes of settings.
type service struct {
	scope Scope
	counters
	lanes int // guarded by Governor.mu
}

// lanes is a sharded map, so that many cores can look up at once.
type lanes struct {
	seed   maphash.Seed
	shards [32]laneShard
}

type laneShard struct {
	mu    sync.RWMutex
	lanes map[Scope]*lane // by scope as it was written
	sweep int             // look for scopes to forget at this size
}

// sweepFrom is the size from which a shard is worth sweeping.
const sweepFrom = 64

func (ls *lanes) init() {
	ls.seed = maphash.MakeSeed()
	for i := range ls.shards {
		ls.shards[i].lanes = map[Scope]*lane{}
		ls.shards[i].sweep = sweepFrom
	}
}

func (ls *lanes) shard(s Scope) *laneShard {
	return &ls.shards[maphash.Comparable(ls.seed, s)%uint64(len(ls.shards))]
}

// lane resolves a scope. The caller releases the lane when its call is over.
func (g *Governor) lane(s Scope) *lane {
	sh := g.lanes.shard(s)
	sh.mu.RLock()
	if l := sh.lanes[s]; l != nil {
		l.calls.Add(1)
		sh.mu.RUnlock()
		return l
	}
	sh.mu.RUnlock()

	g.mu.Lock()
	defer g.mu.Unlock()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	l := sh.lanes[s]
	if l == nil {
		now := time.Now()
		if len(sh.lanes) >= sh.sweep {
			g.forgetIdle(sh, now)
			sh.sweep = max(sweepFrom, 2*len(sh.lanes))
		}
		l = g.makeLane(s.normal(), now)
		sh.lanes[s] = l
	}
	l.calls.Add(1)
	return l
}

// chargeLane resolves the scope that a call in lane own is charged to. The caller
// releases both, or own alone when they are the same.
func (g *Governor) chargeLane(s Scope, own *lane) *lane {
	l := g.lane(s)
	if l == own {
		l.release()
	}
	return l
}

// makeLane builds what is missing for a scope. g.mu is held.
func (g *Governor) makeLane(s Scope, now time.Time) *lane {
	p := g.providers[s.Provider]
	if p == nil {
		cfg := g.cfg.Load()
		settings := cfg.Provider(s.Provider)
		p = &provider{
			name:     s.Provider,
			settings: settings,
			enabled:  cfg.Enabled && settings.Enabled,
			budget:   budget.New(settings.RetryBudget),
			buckets:  map[string]*bucket.Bucket{},
			leaves:   map[Scope]*leaf{},
		}
		if settings.GlobalMaxRPS > 0 {
			p.bucket = p.sharedBucket(settings.GlobalMaxRPS, settings.GlobalBurst, nil, now)
		}
		g.providers[s.Provider] = p
	}
	l := &lane{scope: s, provider: p, leaf: p.makeLeaf(s, now)}
	l.leaf.lanes++

	key := accountKey{s.Provider, s.Account}
	l.account = g.accounts[key]
	if l.account == nil {
		l.account = &account{slots: bulkhead.New(p.settings.MaxConcurrency)}
		g.accounts[key] = l.account
	}
	l.account.lanes++

	l.service = g.services[s.service()]
	if l.service == nil {
		l.service = &service{scope: s.service()}
		g.services[s.service()] = l.service
	}
	l.service.lanes++
	return l
}

func (p *provider) makeLeaf(s Scope, now time.Time) *leaf {
	lim, own := p.settings.leaf(s.Service, s.Operation)
	at := s
	if !own {
		at = s.service()
	}
	if l := p.leaves[at]; l != nil {
		return l
	}
	parent := p.bucket
	if p.settings.AccountMaxRPS > 0 {
		if p.buckets[s.Account] == nil {
			p.buckets[s.Account] = p.sharedBucket(p.settings.AccountMaxRPS, p.settings.AccountBurst, p.bucket, now)
		}
		parent = p.buckets[s.Account]
	}
	l := &leaf{
		scope: at,
		bucket: bucket.New(bucket.Options{
			Rate:     lim.rate,
			Burst:    lim.burst,
			Adaptive: p.settings.Adaptive,
			MinRate:  p.settings.MinRPS,
			MaxPause: p.settings.MaxPause,
		}, parent, now),
		breaker: breaker.New(p.settings.BreakerThreshold, p.settings.BreakerCooldown),
	}
	p.leaves[at] = l
	return l
}

// sharedBucket is a level above the leaves: its rate is fixed, but it can pause.
func (p *provider) sharedBucket(rate, burst float64, parent *bucket.Bucket, now time.Time) *bucket.Bucket {
	lim := newLimits(rate, burst)
	return bucket.New(bucket.Options{Rate: lim.rate, Burst: lim.burst, MaxPause: p.settings.MaxPause}, parent, now)
}

// forgetIdle drops the lanes of a shard that lose nothing by it: no call in
// flight, full buckets, nothing learned. g.mu and the shard's lock are held.
func (g *Governor) forgetIdle(sh *laneShard, now time.Time) {
	for key, l := range sh.lanes {
		if l.calls.Load() != 0 || !l.leaf.breaker.Idle() || !l.leaf.bucket.Idle(now) {
			continue
		}
		shared := l.provider.buckets[l.scope.Account]
		if shared != nil && !shared.Idle(now) {
			continue
		}
		delete(sh.lanes, key)
		if l.leaf.lanes--; l.leaf.lanes == 0 {
			delete(l.provider.leaves, l.leaf.scope)
		}
		if l.account.lanes--; l.account.lanes == 0 && l.account.slots.State().Used == 0 {
			delete(g.accounts, accountKey{l.scope.Provider, l.scope.Account})
			delete(l.provider.buckets, l.scope.Account)
		}
		if l.service.lanes--; l.service.lanes == 0 {
			g.fold(l.service)
		}
	}
}

// fold adds a forgotten service's numbers to its provider's totals.
func (g *Governor) fold(s *service) {
	into := g.folded[s.scope.Provider]
	if into == nil {
		into = &counters{}
		g.folded[s.scope.Provider] = into
	}
	into.add(&s.counters)
	delete(g.services, s.scope)
}

// retire takes a provider's lanes and buckets out of use. Those who queue are told
// to resolve their scope again. g.mu is held.
func (g *Governor) retire(p *provider, settings Provider) {
	delete(g.providers, p.name)
	p.retired.Store(true)
	for i := range g.lanes.shards {
		sh := &g.lanes.shards[i]
		sh.mu.Lock()
		for key, l := range sh.lanes {
			if l.provider == p {
				delete(sh.lanes, key)
				if l.calls.Load() == 0 { // else its calls still count there
					l.account.lanes--
					l.service.lanes--
				}
			}
		}
		sh.mu.Unlock()
	}
	for _, l := range p.leaves {
		l.bucket.Retire()
	}
	for key, a := range g.accounts {
		if key.provider == p.name && settings.Enabled {
			a.slots.Resize(settings.MaxConcurrency)
		}
	}
}
