package cloudpace

import (
	"context"
	"maps"
	"sync"
)

// Stats collects the numbers of the calls under one context, apart from those of
// other runs side by side. [Governor.Summary] reads it. It is safe for concurrent
// use, also while it is being read.
type Stats struct {
	outer *Stats

	mu       sync.Mutex
	services map[Scope]*counters
}

// WithStats gives a context whose calls are counted in the returned Stats too, by
// every governor. Contexts with Stats may be nested: a call counts in each.
func WithStats(ctx context.Context) (context.Context, *Stats) {
	s := &Stats{services: map[Scope]*counters{}}
	return carry(ctx, func(c *carrier) { s.outer, c.stats = c.stats, s }), s
}

// of gives the numbers of a service scope.
func (s *Stats) of(scope Scope) *counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.services[scope]
	if n == nil {
		n = &counters{}
		s.services[scope] = n
	}
	return n
}

// Totals adds up the numbers of all scopes. It costs less than a Summary, which
// also reads the governor's state.
func (s *Stats) Totals() Totals {
	s.mu.Lock()
	defer s.mu.Unlock()
	var t Totals
	for _, n := range s.services {
		t.add(n.totals())
	}
	return t
}

func (s *Stats) all() map[Scope]*counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.services)
}

// count does one step of counting for all who count this call: the governor for
// its lifetime, and each Stats in the context.
func (c *Call) count(step func(*counters)) {
	step(&c.lane.service.counters)
	for s := c.own.in.stats; s != nil; s = s.outer {
		step(s.of(c.lane.service.scope))
	}
}
