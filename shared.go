package cloudpace

import (
	"errors"
	"math"

	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// Share lets w see the buckets, circuits and slots of the governor, now and as they come
// and go, so that they can be shared with other processes. It is for the package fleet,
// whose Join is what others call. stop ends it; what w has changed stays for w to undo.
// A governor can be shared once at a time.
func (g *Governor) Share(w sharing.Watcher) (stop func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.watcher != nil {
		return nil, errors.New("cloudpace: the governor is shared already")
	}
	g.watcher = w
	for name, p := range g.providers {
		if p.bucket != nil {
			g.met(p, Scope{Provider: name}, levelProvider, p.bucket, nil)
		}
		for account, b := range p.buckets.m {
			g.met(p, Scope{Provider: name, Account: account}, levelAccount, b, nil)
		}
		for scope, l := range p.leaves.m {
			g.met(p, scope, levelLeaf, l.bucket, l)
		}
	}
	for key, a := range g.accounts.m {
		g.metPool(key, a)
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.watcher = nil
	}, nil
}

// met tells the watcher of a bucket. One without a limit has nothing to share. g.mu is
// held.
func (g *Governor) met(p *provider, s Scope, level string, b *bucket.Bucket, l *leaf) {
	if g.watcher == nil || !p.enabled {
		return
	}
	lim := p.limitsOf(s, level)
	if math.IsInf(lim.rate, 1) {
		return
	}
	// One token of the burst is kept back, where there is more than one: the calls of
	// several processes reach the server closer together than they left, and one that comes
	// too early would be refused, and halve the rate for all.
	limits := sharing.Limits{Rate: lim.rate, Burst: max(1, lim.burst-1), MaxPause: p.settings.MaxPause}
	lane := sharing.Lane{Key: s.String() + " " + level, Limits: limits, Bucket: b}
	if l != nil {
		lane.MinRate, lane.Breaker = p.settings.MinRPS, l.breaker
		lane.Learn, lane.Soft = p.settings.learning(s.Service, s.Operation)
		lane.Adaptive = p.settings.Adaptive && !lane.Learn
	}
	g.watcher.Met(lane)
}

// limitsOf gives the limits of a bucket of one level.
func (p *provider) limitsOf(s Scope, level string) limits {
	switch level {
	case levelProvider:
		return newLimits(p.settings.GlobalMaxRPS, p.settings.GlobalBurst)
	case levelAccount:
		return newLimits(p.settings.AccountMaxRPS, p.settings.AccountBurst)
	}
	lim, _ := p.settings.leaf(s.Service, s.Operation)
	return lim
}

func (g *Governor) metPool(key accountKey, a *account) {
	settings := g.cfg.Load().Provider(key.provider)
	if g.watcher == nil || !settings.Enabled || !g.cfg.Load().Enabled {
		return
	}
	g.watcher.MetPool(sharing.Pool{Key: Scope{Provider: key.provider, Account: key.account}.String() + " slots", Max: settings.MaxConcurrency, Slots: a.slots})
}

// gone tells the watcher that a bucket is no more. g.mu is held.
func (g *Governor) gone(b *bucket.Bucket) {
	if g.watcher != nil && b != nil {
		g.watcher.Left(b)
	}
}

// turned tells the watcher of a circuit. It may be called without a lock.
func (g *Governor) turned(l *leaf) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.watcher != nil {
		g.watcher.Turned(l.bucket)
	}
}
