package cloudpace

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Summary is what a run remembers: see [Governor.Summary]. Scopes are service
// scopes, in the order of their text.
type Summary struct {
	Totals   Totals         `json:"totals"`
	Messages []string       `json:"messages"` // a line for each scope where something happened
	Skipped  []SkippedScope `json:"skipped"`  // scopes that lost calls
	Scopes   []ScopeSummary `json:"scopes"`
	Breakers []BreakerState `json:"breakers"` // circuits that are not closed, and bars on a provider that was called
	Slowed   []BucketState  `json:"slowed"`   // buckets that throttles hold down, or that are paused
}

// ScopeSummary has the numbers of one service scope.
type ScopeSummary struct {
	Scope string `json:"scope"`
	Totals
	LongestWaitSeconds float64 `json:"longest_wait_seconds"`
	RPS                float64 `json:"rps,omitempty"`        // now, of the slowest of its buckets; 0 when all are forgotten, or none has a limit
	LowestRPS          float64 `json:"lowest_rps,omitempty"` // that a throttle cut to; 0 when none did
	LastError          string  `json:"last_error,omitempty"`

	lastGiveUp string // why a call was last given up
}

// SkippedScope is a scope that lost calls.
type SkippedScope struct {
	Scope    string `json:"scope"`
	GaveUp   int    `json:"gave_up"`
	Rejected int    `json:"rejected"`
	Reason   string `json:"reason"`
}

// Summary words what happened to the calls that s collected, or to all of the
// governor's lifetime when s is nil. Numbers of scopes that were forgotten since
// are in the lifetime totals only.
func (g *Governor) Summary(s *Stats) Summary {
	numbers, folded := g.numbers(s)
	state := g.Snapshot()
	rates := lowestRates(state.Buckets)
	sum := Summary{
		Totals:   folded,
		Messages: []string{},
		Skipped:  []SkippedScope{},
		Scopes:   []ScopeSummary{},
		Breakers: []BreakerState{},
		Slowed:   []BucketState{},
	}
	for scope, n := range numbers {
		sum.Scopes = append(sum.Scopes, summarize(scope.String(), n, rates))
	}
	slices.SortFunc(sum.Scopes, func(a, b ScopeSummary) int { return strings.Compare(a.Scope, b.Scope) })
	concerned, asked := map[string]bool{}, map[string]bool{}
	for _, sc := range sum.Scopes {
		concerned[sc.Scope] = true
		provider, _, _ := strings.Cut(sc.Scope, "/")
		asked[provider] = true
		sum.Totals.add(sc.Totals)
		if m := sc.message(); m != "" {
			sum.Messages = append(sum.Messages, m)
		}
		if sc.GaveUp+sc.Rejected > 0 {
			reason := sc.lastGiveUp
			if reason == "" {
				reason = "circuit open"
			}
			sum.Skipped = append(sum.Skipped, SkippedScope{sc.Scope, sc.GaveUp, sc.Rejected, reason})
		}
	}
	for _, b := range state.Breakers {
		// A bar is on what calls are charged to, which need not be what they are of.
		provider, _, _ := strings.Cut(b.Scope, "/")
		if b.State != "closed" && concerned[b.service] || b.State == barredState && asked[provider] {
			sum.Breakers = append(sum.Breakers, b)
		}
	}
	for _, b := range state.Buckets {
		if b.slowed && (b.Level != "leaf" || concerned[b.service]) {
			sum.Slowed = append(sum.Slowed, b)
		}
	}
	return sum
}

// numbers are the counters by service scope, and what was folded away.
func (g *Governor) numbers(s *Stats) (map[Scope]*counters, Totals) {
	if s != nil {
		return s.all(), Totals{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var folded Totals
	for _, n := range g.folded {
		folded.add(n.totals())
	}
	all := make(map[Scope]*counters, len(g.services.m))
	for scope, svc := range g.services.m {
		all[scope] = &svc.counters
	}
	return all, folded
}

func summarize(scope string, n *counters, rates map[string]float64) ScopeSummary {
	sc := ScopeSummary{
		Scope:              scope,
		Totals:             n.totals(),
		LongestWaitSeconds: time.Duration(n.longest.Load()).Seconds(),
		RPS:                rates[scope],
		LowestRPS:          math.Float64frombits(n.lowest.Load()),
	}
	if e := n.lastError.Load(); e != nil {
		sc.LastError = *e
	}
	if e := n.lastGiveUp.Load(); e != nil {
		sc.lastGiveUp = *e
	}
	return sc
}

// message is the line of an eventful scope, empty for a quiet one:
//
//	aws/111122223333/us-east-1/ec2: throttled 11x, slowed to 5.0 rps, 10 retries, 1 call gave up
func (s ScopeSummary) message() string {
	var parts []string
	if s.Throttled > 0 {
		parts = append(parts, fmt.Sprintf("throttled %dx", s.Throttled))
	}
	if s.LowestRPS > 0 {
		parts = append(parts, fmt.Sprintf("slowed to %s rps", rps(s.LowestRPS)))
	}
	if s.TransientErrors > 0 {
		parts = append(parts, plural(s.TransientErrors, "transient error"))
	}
	if s.Retries > 0 {
		parts = append(parts, plural(s.Retries, "retry"))
	}
	if s.GaveUp > 0 {
		parts = append(parts, plural(s.GaveUp, "call")+" gave up")
	}
	if s.Rejected > 0 {
		parts = append(parts, plural(s.Rejected, "call")+" skipped (circuit open)")
	}
	if s.BreakerTrips > 0 {
		parts = append(parts, "circuit opened "+fmt.Sprint(s.BreakerTrips)+"x")
	}
	if parts == nil {
		return ""
	}
	return s.Scope + ": " + strings.Join(parts, ", ")
}

// rps shows tenths, and more where a rate is so low that tenths say nothing.
func rps(rate float64) string {
	if rate < 1 {
		return fmt.Sprintf("%.2g", rate)
	}
	return fmt.Sprintf("%.1f", rate)
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	if stem, ok := strings.CutSuffix(word, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// lowestRates gives for each service scope the rate of its slowest leaf.
func lowestRates(buckets []BucketState) map[string]float64 {
	rates := map[string]float64{}
	for _, b := range buckets {
		if b.Level != "leaf" {
			continue
		}
		if r, ok := rates[b.service]; !math.IsInf(b.RPS, 1) && (!ok || b.RPS < r) {
			rates[b.service] = b.RPS
		}
	}
	return rates
}
