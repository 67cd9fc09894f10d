package scenario

import (
	"fmt"
	"math"
)

// The most that a scenario has: beyond, a slip of the finger is likelier than a server.
const (
	mostTokens  = 1e9
	mostRate    = 1e6 // calls a second
	mostCalls   = 10_000_000
	mostWorkers = 100_000
	mostSeconds = 1e7
	mostLatency = 3600
)

// Check gives all that is wrong with a scenario, with the paths of its fields after at.
func (s Scenario) Check(at string) []*Fault {
	c := checker{at: at}
	c.server(s.Server)
	c.amount("neighbour_rps", s.NeighbourRPS, 0, mostRate)
	c.amount("neighbour_from_s", s.NeighbourFromS, 0, mostSeconds)
	if to := s.NeighbourToS; to != 0 {
		c.want("neighbour_to_s", to, to > s.NeighbourFromS && to <= mostSeconds, fmt.Sprintf("more than neighbour_from_s, at most %.0f; 0 is to the end", float64(mostSeconds)))
	}
	c.rate("client.rate", s.Client.Rate)
	c.amount("client.burst", s.Client.Burst, 1, mostTokens)
	c.count("calls", s.Calls, 1, mostCalls)
	c.count("workers", s.Workers, 1, mostWorkers)
	c.count("burst_calls", s.BurstCalls, 0, mostCalls)
	c.amount("gap_s", s.GapS, 0, mostSeconds)
	c.amount("ideal_s", s.IdealS, 0, mostSeconds)
	return c.faults
}

type checker struct {
	at     string
	faults []*Fault
}

func (c *checker) server(s Server) {
	c.amount("server.burst", s.Burst, 1, mostTokens)
	c.rate("server.refill", s.Refill)
	c.amount("server.retry_after_s", s.RetryAfterS, 0, mostLatency)
	c.amount("server.throttle_cost", s.ThrottleCost, 0, mostTokens)
	c.amount("server.floor", s.Floor, -mostTokens, 0)
	c.amount("server.latency_s", s.LatencyS, 0, mostLatency)
	c.amount("server.throttled_s", s.ThrottledS, 0, mostLatency)
	c.amount("server.path_s", s.PathS, 0, mostLatency)
	before := 0.0
	for i, change := range s.Changes {
		at := fmt.Sprintf("server.changes[%d].", i)
		c.want(at+"at_s", change.AtS, change.AtS >= before && change.AtS <= mostSeconds, fmt.Sprintf("%s to %s, in order", plain(before), plain(mostSeconds)))
		c.amount(at+"burst", change.Burst, 1, mostTokens)
		c.rate(at+"refill", change.Refill)
		before = max(before, change.AtS)
	}
}

func (c *checker) rate(path string, x float64) {
	c.want(path, x, x >= least && x <= mostRate, fmt.Sprintf("%g to %s a second", least, plain(mostRate)))
}

func (c *checker) amount(path string, x, least, most float64) {
	c.want(path, x, x >= least && x <= most, plain(least)+" to "+plain(most))
}

func (c *checker) count(path string, n, least, most int) {
	if n < least || n > most {
		c.reject(path, n, fmt.Sprintf("%d to %d", least, most))
	}
}

func (c *checker) want(path string, x float64, ok bool, allowed string) {
	if !ok || math.IsNaN(x) {
		c.reject(path, x, allowed)
	}
}

func (c *checker) reject(path string, value any, allowed string) {
	c.faults = append(c.faults, &Fault{c.at + path, value, allowed})
}

// plain writes a number without an exponent.
func plain(x float64) string { return fmt.Sprintf("%.0f", x) }
