package cloudpace

import (
	"errors"
	"reflect"
	"slices"

	"github.com/cloudpace/cloudpace/internal/breaker"
	"github.com/cloudpace/cloudpace/verdict"
)

// judge says what an error means for this call. It runs the methods of errors that
// others made, so no lock is held, and one that panics is taken for an error that
// nothing is known about.
func (c *Call) judge(err error) (f *failure) {
	defer func() {
		if recover() != nil {
			f = &failure{err: err, kind: verdict.Fatal, final: true}
		}
	}()
	provider, nested := c.provider(), c.own.nestedErrors()
	r := verdict.Examine(provider, err)
	f = &failure{err: err, hint: r.Hint, kind: r.Kind, answered: r.Answered, unprocessed: r.Unprocessed}
	f.alien = r.Own || isNested(err, nested)
	f.final = f.alien || r.NoRepeat
	ended := c.own.Context.Err()
	gone := ended != nil && !r.Own && (!r.Answered || errors.Is(err, ended))
	switch {
	case gone:
		f.kind = verdict.Canceled
	case f.kind == verdict.Canceled:
		// Somebody else's context ended. That is local, and repeating cannot help.
		f.kind = verdict.Fatal
	}
	f.alien = f.alien || f.kind == verdict.Canceled
	if f.kind == verdict.Throttled || f.kind == verdict.Transient {
		f.text = verdict.DescribeFor(provider, err)
	}
	return f
}

// lastFailure is the last attempt's failure, and whether the attempt under way has
// been reported.
func (c *Call) lastFailure() (last *failure, reported bool) {
	c.lock()
	defer c.unlock()
	return c.last, c.reported
}

// lastErr is what the last attempt came back with, nil where there is none.
func (c *Call) lastErr() error {
	if last, _ := c.lastFailure(); last != nil {
		return last.err
	}
	return nil
}

// ending is how an operation ended.
type ending struct {
	failure *failure        // nil at a success
	outcome breaker.Outcome // for the breaker
	kind    verdict.Kind    // for the numbers; OK where they have none
	lost    string          // for the ledger; empty where nothing was lost
}

// ending says how an operation that ended with err counts. Like judge it holds no
// lock and survives errors that panic.
func (c *Call) ending(err error) (e ending) {
	e.failure = c.judge(err)
	defer func() {
		if recover() != nil {
			e = ending{failure: e.failure}
		}
	}()
	provider, nested := c.provider(), c.own.nestedErrors()
	if c.own.Context.Err() != nil && !isOwn(err) || isNested(err, nested) {
		return e // the caller's own end, or that of a call that has recorded it
	}
	last, reported := c.lastFailure()
	if !reported {
		last = e.failure // End reports it
	}
	var (
		exhausted *RetryBudgetExhaustedError
		deadline  *DeadlineExceededError
	)
	f := e.failure
	if errors.As(err, &deadline) {
		switch {
		case deadline.Err == nil:
			e.lost = verdict.DescribeFor(provider, err) // nothing was sent: no bearing on numbers (S2.9)
			return e
		case last != nil && !last.alien:
			// What the provider said before the wait that would have been too long.
			f = c.judge(deadline.Err)
		}
	}
	switch {
	case errors.As(err, &exhausted) && last != nil:
		e.kind = verdict.Throttled // given up without a mark against the service
	case f.alien:
	case f.kind == verdict.Throttled, f.kind == verdict.Transient:
		e.outcome, e.kind = breaker.Failure, f.kind
	case f.kind == verdict.Fatal && !f.answered:
	default:
		e.outcome = breaker.Success
	}
	if e.kind != verdict.OK {
		e.lost = e.failure.text
	}
	return e
}

func isOwn(err error) bool {
	var own verdict.Own
	return errors.As(err, &own)
}

// isNested tells whether one of the nested errors is in err's tree, the very same
// value and not one that calls itself alike.
func isNested(err error, nested []error) bool {
	if len(nested) == 0 || err == nil {
		return false
	}
	if slices.ContainsFunc(nested, func(n error) bool { return same(err, n) }) {
		return true
	}
	switch e := err.(type) { //nolint:errorlint // this is a walk of the tree
	case interface{ Unwrap() error }:
		return isNested(e.Unwrap(), nested)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), func(err error) bool { return isNested(err, nested) })
	}
	return false
}

// remade is an error that a call ended with where the caller gets another one: some
// SDKs hand an answer on, and an error is made of it anew after the call is over. It
// tells whether err is that one.
type remade interface{ RemadeAs(err error) bool }

// same is a == b, also for values that Go cannot compare, or what b was made into.
func same(a, b error) bool {
	if r, ok := b.(remade); ok && r.RemadeAs(a) {
		return true
	}
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	if reflect.ValueOf(a).Comparable() {
		return a == b //nolint:errorlint // identity is what is asked
	}
	return reflect.DeepEqual(a, b) //nolint:govet // the very values that == cannot compare
}
