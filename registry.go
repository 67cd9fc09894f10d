package cloudpace

import (
	"sync/atomic"
	"time"

	"github.com/cloudpace/cloudpace/internal/breaker"
	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/budget"
	"github.com/cloudpace/cloudpace/internal/bulkhead"
)

// provider is one provider under one set of settings. When those change it is
// retired and another takes its place.
type provider struct {
	name     string
	settings Provider
	enabled  bool
	budget   *budget.Budget
	retired  atomic.Bool

	// Guarded by Governor.mu.
	bucket  *bucket.Bucket                // over all accounts, nil when off
	buckets table[string, *bucket.Bucket] // over all leaves of an account, empty when off
	leaves  table[Scope, *leaf]
}

// leaf is where a rate is learned and a circuit opens.
type leaf struct {
	scope   Scope
	bucket  *bucket.Bucket
	account *bucket.Bucket // over all leaves of the account, nil when off
	breaker *breaker.Breaker
	bar     atomic.Pointer[bar] // nil but for a quota that is used up until a known time
	barring bell                // rung when that begins
	lanes   int                 // guarded by Governor.mu
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

// lane resolves a scope. The caller releases the lane when its call is over.
func (g *Governor) lane(s Scope) *lane {
	hash := g.lanes.hash(s)
	if l := g.lanes.find(hash, s); l != nil && l.acquire() {
		return l
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lanes.find(hash, s)
	if l == nil {
		now := time.Now()
		g.forgetIdle(now)
		g.forgetOrphans()
		l = g.makeLane(s.normal(), now)
		l.written, l.hash = s, hash
		g.lanes.add(l)
	}
	l.acquire() // which nobody has claimed, under g.mu
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
		}
		if settings.GlobalMaxRPS > 0 {
			p.bucket = p.sharedBucket(settings.GlobalMaxRPS, settings.GlobalBurst, nil, now)
			g.recallBucket(p.bucket, Scope{Provider: p.name}, levelProvider, now)
			g.met(p, Scope{Provider: p.name}, levelProvider, p.bucket, nil)
		}
		g.recallBudget(p, now)
		g.providers[s.Provider] = p
	}
	l := &lane{g: g, scope: s, provider: p, leaf: g.makeLeaf(p, s, now)}
	l.leaf.lanes++
	g.restoreBar(l.leaf)

	key := accountKey{s.Provider, s.Account}
	l.account = g.accounts.get(key)
	if l.account == nil {
		l.account = &account{slots: bulkhead.New(p.settings.MaxConcurrency)}
		g.accounts.set(key, l.account)
		g.metPool(key, l.account)
	}
	l.account.lanes++

	l.service = g.services.get(s.service())
	if l.service == nil {
		l.service = &service{scope: s.service()}
		g.services.set(s.service(), l.service)
	}
	l.service.lanes++
	return l
}

func (g *Governor) makeLeaf(p *provider, s Scope, now time.Time) *leaf {
	lim, own := p.settings.leaf(s.Service, s.Operation)
	at := s
	if !own {
		at = s.service()
	}
	if l := p.leaves.get(at); l != nil {
		return l
	}
	parent := p.bucket
	var account *bucket.Bucket
	if p.settings.AccountMaxRPS > 0 {
		if account = p.buckets.get(s.Account); account == nil {
			account = p.sharedBucket(p.settings.AccountMaxRPS, p.settings.AccountBurst, p.bucket, now)
			p.buckets.set(s.Account, account)
			g.recallBucket(account, Scope{Provider: p.name, Account: s.Account}, levelAccount, now)
			g.met(p, Scope{Provider: p.name, Account: s.Account}, levelAccount, account, nil)
		}
		parent = account
	}
	learn, soft := p.settings.learning(s.Service, s.Operation)
	l := &leaf{
		scope:   at,
		account: account,
		bucket: bucket.New(bucket.Options{
			Rate:     lim.rate,
			Burst:    lim.burst,
			Adaptive: p.settings.Adaptive && !learn,
			Learn:    learn,
			Soft:     soft,
			MinRate:  p.settings.MinRPS,
			MaxPause: p.settings.MaxPause,
		}, parent, now),
		breaker: breaker.New(p.settings.BreakerThreshold, p.settings.BreakerCooldown),
	}
	p.leaves.set(at, l)
	g.recallLeaf(l, now)
	g.met(p, at, levelLeaf, l.bucket, l)
	return l
}

// sharedBucket is a level above the leaves: its rate is fixed, but it can pause.
func (p *provider) sharedBucket(rate, burst float64, parent *bucket.Bucket, now time.Time) *bucket.Bucket {
	lim := newLimits(rate, burst)
	return bucket.New(bucket.Options{Rate: lim.rate, Burst: lim.burst, MaxPause: p.settings.MaxPause}, parent, now)
}

// looks is how many scopes a newcomer has looked at, to forget those that are
// idle. It is more than one, so that a crowd that came at once goes too.
const looks = 8

// From crowded scopes on, those are forgotten that are idle and had no call for a while;
// below, it costs little to know the numbers of every scope apart. From overcrowded on
// they go as soon as they are idle, so that newcomers never fill the memory, however
// fast they come. Between the two, ten thousand scopes in use stay known.
const (
	crowded     = 2048
	overcrowded = 12_288
	aWhile      = 5 * time.Second
)

// forgetIdle drops some lanes that lose nothing by it: no call in flight, full buckets,
// nothing learned. g.mu is held.
func (g *Governor) forgetIdle(now time.Time) {
	if g.lanes.n < crowded {
		return
	}
	g.lanes.look(looks, func(l *lane) {
		if n := l.service.calls.Load(); l.since.IsZero() || n != l.counted {
			l.counted, l.since = n, now
		}
		if g.lanes.n < overcrowded && now.Sub(l.since) < aWhile || !l.claim() {
			return
		}
		if !l.idle(now) {
			l.unclaim()
			return
		}
		g.lanes.drop(l)
		if l.leaf.lanes--; l.leaf.lanes == 0 {
			l.provider.leaves.drop(l.leaf.scope)
			g.gone(l.leaf.bucket)
		}
		g.leave(l)
	})
}

// idle tells that forgetting the lane, which is claimed, loses nothing.
func (l *lane) idle(now time.Time) bool {
	barred, _, _ := l.leaf.barred(now)
	shared := l.leaf.account
	return !barred && l.leaf.breaker.Idle() && l.leaf.bucket.Idle(now) && (shared == nil || shared.Idle(now))
}

// forgetOrphans drops lanes of retired providers whose last call is over.
func (g *Governor) forgetOrphans() {
	for l := range g.orphans {
		if l.claim() {
			delete(g.orphans, l)
			g.leave(l)
		}
	}
}

// leave takes a lane that is gone off its account and its service, and these with
// it when it was their last.
func (g *Governor) leave(l *lane) {
	if l.account.lanes--; l.account.lanes == 0 {
		g.accounts.drop(accountKey{l.scope.Provider, l.scope.Account})
		if g.watcher != nil {
			g.watcher.LeftPool(l.account.slots)
		}
		if p := g.providers[l.scope.Provider]; p != nil {
			g.gone(p.buckets.get(l.scope.Account))
			p.buckets.drop(l.scope.Account)
		}
	}
	if l.service.lanes--; l.service.lanes == 0 {
		g.fold(l.service)
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
	g.services.drop(s.scope)
}

// retire takes a provider's lanes and buckets out of use. Those who queue are told
// to resolve their scope again. g.mu is held.
func (g *Governor) retire(p *provider) {
	delete(g.providers, p.name)
	p.retired.Store(true)
	g.lanes.each(func(l *lane) {
		if l.provider != p {
			return
		}
		g.lanes.drop(l)
		if l.claim() {
			g.leave(l)
		} else {
			g.orphans[l] = struct{}{} // its calls still count, and hold slots
		}
	})
	g.gone(p.bucket)
	for _, b := range p.buckets.m {
		g.gone(b)
	}
	now := time.Now()
	for _, l := range p.leaves.m {
		g.gone(l.bucket)
		g.keepBar(l, now)
		l.bucket.Retire()
	}
}
