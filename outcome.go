package cloudpace

import (
	"errors"
	"time"

	"github.com/cloudpace/cloudpace/internal/breaker"
	"github.com/cloudpace/cloudpace/verdict"
)

// outcome says how an operation that ended with err counts for its breaker, and
// of what kind the end was. Canceled stands for every end that is to leave no
// trace. c.mu is held.
func (c *Call) outcome(err error) (breaker.Outcome, verdict.Kind) {
	if c.own.Context.Err() != nil && !isOwn(err) {
		return breaker.Neutral, verdict.Canceled
	}
	var (
		exhausted *RetryBudgetExhaustedError
		deadline  *DeadlineExceededError
	)
	if errors.As(err, &deadline) && deadline.Err != nil && c.last.err != nil && !c.last.alien {
		// What the provider said before the wait that would have been too long.
		err = deadline.Err
	}
	f := c.judge(err)
	switch {
	case c.nested != nil && errors.Is(err, c.nested):
		return breaker.Neutral, verdict.Canceled // that call's own end has been recorded
	case errors.As(err, &exhausted) && c.last.err != nil:
		return breaker.Neutral, verdict.Throttled // given up without a mark against the service
	case f.alien:
		return breaker.Neutral, verdict.Canceled
	}
	switch kind := f.kind; kind {
	case verdict.Throttled, verdict.Transient:
		return breaker.Failure, kind
	case verdict.Fatal:
		if f.answered {
			return breaker.Success, kind
		}
		return breaker.Neutral, kind
	default:
		return breaker.Success, kind
	}
}

func isOwn(err error) bool {
	var own verdict.Own
	return errors.As(err, &own)
}

// record enters the end of an operation into numbers and ledger.
func (c *Call) record(err error, kind verdict.Kind, opened bool) {
	if opened {
		c.count(func(n *counters) { n.trips.Add(1) })
	}
	if kind != verdict.Throttled && kind != verdict.Transient {
		return
	}
	text := verdict.Describe(err)
	if kind == verdict.Throttled {
		c.count(func(n *counters) {
			n.gaveUp.Add(1)
			n.lastGiveUp.Store(&text)
		})
	}
	c.carrier.ledger.giveUp(c.lane.service.scope.String() + ": " + text)
}

// reject makes the error of a call that the circuit refuses, and records it. A
// call that has been answered before says what with.
func (c *Call) reject(wait time.Duration, cause error) error {
	if c.last.err != nil {
		cause = c.last.err
	}
	e := &CircuitOpenError{Scope: c.lane.leaf.scope, RetryAfter: wait, Err: cause}
	c.count(func(n *counters) { n.rejected.Add(1) })
	reason := c.lane.service.scope.String() + ": circuit open"
	if cause != nil {
		reason += " after " + verdict.Describe(cause)
	}
	c.carrier.ledger.skip(reason)
	return e
}
