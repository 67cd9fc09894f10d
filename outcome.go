package cloudpace

import (
	"time"

	"github.com/cloudpace/cloudpace/verdict"
)

// record enters the end of an operation into numbers and ledger. The lock is held.
func (c *Call) record(e *ending, opened bool) {
	if opened {
		c.count(func(n *counters) { n.trips.Add(1) })
	}
	if e.kind == verdict.Throttled {
		lost := e.lost
		c.count(func(n *counters) {
			n.gaveUp.Add(1)
			n.lastGiveUp.Store(&lost)
		})
	}
	c.lose(e.lost)
}

// lose enters an operation that was given up into the ledger.
func (c *Call) lose(why string) {
	if why != "" {
		c.own.in.ledger.giveUp(c.lane.service.scope.String() + ": " + why)
	}
}

// reject makes the error of a call that the circuit refuses, and records it. A
// call that has been answered before says what with.
func (c *Call) reject(wait time.Duration, cause error) error {
	if c.last != nil {
		cause = c.last.err
	}
	e := &CircuitOpenError{Scope: c.lane.leaf.scope, RetryAfter: wait, Err: cause}
	c.count(func(n *counters) { n.rejected.Add(1) })
	reason := c.lane.service.scope.String() + ": circuit open"
	if cause != nil {
		reason += " after " + verdict.DescribeFor(c.lane.scope.Provider, cause)
	}
	c.own.in.ledger.skip(reason)
	return e
}
