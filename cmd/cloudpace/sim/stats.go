package sim

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// Counts are what a scope was asked and what became of it: Asked is the sum of
// Served, Throttled, all of Faulted, and Open.
type Counts struct {
	Asked  int `json:"asked"`
	Served int `json:"served"`
	// Errors are those among Served that were answered with a client error: not
	// signed, no such thing, not modelled.
	Errors    int            `json:"errors"`
	Throttled int            `json:"throttled"`
	Faulted   map[string]int `json:"faulted,omitempty"` // by kind of fault
	Open      int            `json:"open"`              // not answered yet
	Delayed   int            `json:"delayed,omitempty"` // by latency
	// PeakRPS is the most that arrived within one second of the clock.
	PeakRPS int `json:"peak_rps"`

	second  int64 // the one that is being counted
	arrived int
}

func (c *Counts) arrive(second int64) {
	c.Asked++
	c.Open++
	if second != c.second {
		c.second, c.arrived = second, 0
	}
	c.arrived++
	c.PeakRPS = max(c.PeakRPS, c.arrived)
}

func (c *Counts) fault(kind string) {
	if c.Faulted == nil {
		c.Faulted = make(map[string]int)
	}
	c.Faulted[kind]++
}

// ScopeCounts are those of one operation in an account and region.
type ScopeCounts struct {
	Account   string `json:"account"`
	Region    string `json:"region"`
	Service   string `json:"service"`
	Operation string `json:"operation"`
	Counts
}

// Report is all that a server knows about itself.
type Report struct {
	Provider string        `json:"provider"`
	Profile  string        `json:"profile"`
	Seed     uint64        `json:"seed"`
	Speed    float64       `json:"speed"`
	Upstream string        `json:"upstream,omitempty"`
	Started  time.Time     `json:"started"`
	Seconds  float64       `json:"seconds"`
	Accounts int           `json:"accounts"`
	Regions  int           `json:"regions"`
	Assets   int           `json:"assets"`
	Totals   Counts        `json:"totals"`
	Scopes   []ScopeCounts `json:"scopes"`
	Buckets  []BucketState `json:"buckets"`
	// Executions are there where statements run.
	Executions *ExecutionCounts `json:"executions,omitempty"`
}

type stats struct {
	mu     sync.Mutex
	totals *Counts
	scopes map[scopeKey]*Counts
}

type scopeKey struct{ account, region, service, operation string }

// others gathers what comes after the first so many scopes: names are made up by
// whoever asks.
var others = scopeKey{"*", "*", "(others)", "(others)"}

func newStats() *stats { return &stats{totals: new(Counts), scopes: make(map[scopeKey]*Counts)} }

// visit is a call while it is there, and where it is counted. After a reset these
// are numbers that nobody looks at any more.
type visit struct {
	stats         *stats
	scope, totals *Counts
	over          bool
}

func (s *stats) arrive(c *Call, now time.Time) *visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := scopeKey{c.Account, c.Region, c.Service, c.Operation}
	scope, ok := s.scopes[key]
	if !ok {
		if len(s.scopes) >= manyScopes {
			key = others
		}
		if scope, ok = s.scopes[key]; !ok {
			scope = new(Counts)
			s.scopes[key] = scope
		}
	}
	s.totals.arrive(now.Unix())
	scope.arrive(now.Unix())
	return &visit{stats: s, scope: scope, totals: s.totals}
}

// end counts what became of the call, once.
func (v *visit) end(count func(*Counts)) {
	v.stats.mu.Lock()
	defer v.stats.mu.Unlock()
	if v.over {
		return
	}
	v.over = true
	for _, c := range []*Counts{v.scope, v.totals} {
		c.Open--
		count(c)
	}
}

func (v *visit) served(status int) {
	v.end(func(c *Counts) {
		c.Served++
		if status >= 400 && status < 500 {
			c.Errors++
		}
	})
}

func (v *visit) throttled() { v.end(func(c *Counts) { c.Throttled++ }) }

func (v *visit) faulted(kind FaultKind) { v.end(func(c *Counts) { c.fault(string(kind)) }) }

func (v *visit) delayed() {
	v.stats.mu.Lock()
	defer v.stats.mu.Unlock()
	v.scope.Delayed++
	v.totals.Delayed++
}

// reset starts from nothing. Calls that are open belong to what was before.
func (s *stats) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.totals = new(Counts)
	clear(s.scopes)
}

func (s *stats) report() (totals Counts, scopes []ScopeCounts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	scopes = make([]ScopeCounts, 0, len(s.scopes))
	for k, c := range s.scopes {
		scopes = append(scopes, ScopeCounts{k.account, k.region, k.service, k.operation, c.copy()})
	}
	slices.SortFunc(scopes, func(a, b ScopeCounts) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Operation, b.Operation))
	})
	return s.totals.copy(), scopes
}

func (c *Counts) copy() Counts {
	d := *c
	d.Faulted = maps.Clone(c.Faulted)
	return d
}
