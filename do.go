package cloudpace

import (
	"context"
	"fmt"
	"time"

	"github.com/cloudpace/cloudpace/internal/backoff"
	"github.com/cloudpace/cloudpace/verdict"
)

// Do calls fn in a scope, paced, and calls it again when the outcome was throttled
// or transient. Each attempt asks the circuit breaker, waits for its tokens and
// its slot, and counts as a call. Between attempts it sleeps, at least as long as
// the server's hint says. fn must be safe to repeat: see [Idempotent]. The
// context that fn is given carries the call, so that governed clients used in fn
// take no second slot.
//
// Do gives up at the first of: the retries of the provider's settings (8) or
// [WithMaxRetries]; its deadline (900 s) or [WithDeadline] or ctx's, at once when
// the next sleep or wait would pass it; the provider's retry budget; an open
// circuit. The error then is a [*DeadlineExceededError], a
// [*RetryBudgetExhaustedError], a [*CircuitOpenError], or an error that tells the
// attempts, with the provider's own inside. An error that is not to be repeated is
// returned as fn returned it.
//
// Where the governor or the provider is disabled, Do calls fn once.
func Do(ctx context.Context, scope Scope, fn func(context.Context) error, opts ...CallOption) error {
	var o CallOption
	if len(opts) > 0 {
		o = opts[0] // most have no other
		for i := range opts[1:] {
			o.add(&opts[1+i])
		}
	}
	return o.run(ctx, scope, fn)
}

// DoValue is [Do] for a function that returns a value. On an error the value is
// what the last attempt returned.
func DoValue[T any](ctx context.Context, scope Scope, fn func(context.Context) (T, error), opts ...CallOption) (T, error) {
	var v T
	err := Do(ctx, scope, func(ctx context.Context) (err error) {
		v, err = fn(ctx)
		return err
	}, opts...)
	return v, err
}

func (o *CallOption) run(ctx context.Context, scope Scope, fn func(context.Context) error) error {
	g := o.governor
	if g == nil {
		g = Default()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var c Call // on the stack: what calls under this one may keep is in its context alone
	c.resolve(ctx, g, scope, &callContext{})
	o.fill(&c.lane.provider.settings)
	start := g.now()
	deadline := start.Add(o.deadline)
	c.opt.deadline, c.opt.unpaid = deadline, o.noBudget
	if err := c.begin(start, nil); err != nil {
		return err
	}
	if c.inert {
		return fn(c.Context())
	}
	defer c.Drop()
	var sleep time.Duration
	for attempt := 1; ; attempt++ {
		err := fn(c.Context())
		if err == nil {
			c.End(nil)
			return nil
		}
		f := c.fail(err)
		if !o.repeats(f) {
			c.End(err)
			return err
		}
		if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
			deadline = d
		}
		if attempt > o.maxRetries {
			return c.endWith(&gaveUpError{scope: c.lane.scope, attempts: attempt, elapsed: time.Since(start), err: err})
		}
		sleep = backoff.Next(o.base, o.cap, sleep)
		wait := max(sleep, f.hint)
		if time.Now().Add(wait).After(deadline) {
			return c.endWith(&DeadlineExceededError{Scope: c.lane.leaf.scope, RetryAfter: wait, Err: err})
		}
		if stop := c.Retry(); stop != nil {
			return c.endWith(stop)
		}
		if ended := backoff.Rest(ctx, wait); ended != nil {
			return c.endWith(fmt.Errorf("cloudpace: %s: %w while waiting to repeat after: %w", c.lane.scope, ended, err))
		}
		if stop := c.Next(ctx); stop != nil {
			return c.endWith(stop)
		}
	}
}

// endWith ends the call with the very error that the caller gets, so that a call
// around this one knows it again.
func (c *Call) endWith(err error) error {
	c.End(err)
	return err
}

// repeats tells whether an outcome may be repeated at all.
func (o *CallOption) repeats(f *failure) bool {
	if f.final || f.kind != verdict.Throttled && f.kind != verdict.Transient {
		return false
	}
	return !o.once || f.unprocessed
}

// gaveUpError is what Do returns when its retries are used up.
type gaveUpError struct {
	scope    Scope
	attempts int
	elapsed  time.Duration
	err      error
}

func (e *gaveUpError) Error() string {
	return fmt.Sprintf("cloudpace: %s: gave up after %d attempts in %s: %s", e.scope, e.attempts, seconds(e.elapsed), e.err)
}

func (e *gaveUpError) Unwrap() error { return e.err }

// CallOption changes one [Do]. It is a plain value, so that options cost nothing.
type CallOption struct {
	governor   *Governor
	maxRetries int
	hasRetries bool
	deadline   time.Duration
	base, cap  time.Duration
	once       bool
	hasOnce    bool
	noBudget   bool
}

// add lets a later option win over an earlier one.
func (o *CallOption) add(more *CallOption) {
	if more.governor != nil {
		o.governor = more.governor
	}
	if more.hasRetries {
		o.maxRetries, o.hasRetries = more.maxRetries, true
	}
	if more.deadline > 0 {
		o.deadline = more.deadline
	}
	if more.base > 0 {
		o.base = more.base
	}
	if more.cap > 0 {
		o.cap = more.cap
	}
	if more.hasOnce {
		o.once = more.once
	}
	o.noBudget = o.noBudget || more.noBudget
}

// fill puts the provider's settings where no option says otherwise.
func (o *CallOption) fill(p *Provider) {
	if !o.hasRetries {
		o.maxRetries = p.MaxRetries
	}
	if o.deadline <= 0 {
		o.deadline = p.Deadline
	}
	if o.base <= 0 {
		o.base = backoff.Base
	}
	if o.cap <= 0 {
		o.cap = p.MaxBackoff
	}
}

// WithGovernor uses g instead of [Default].
func WithGovernor(g *Governor) CallOption { return CallOption{governor: g} }

// WithMaxRetries allows n attempts after the first; 0 makes Do call once.
func WithMaxRetries(n int) CallOption { return CallOption{maxRetries: max(0, n), hasRetries: true} }

// WithDeadline bounds all attempts, sleeps and waits together. Zero or less means
// the provider's setting.
func WithDeadline(d time.Duration) CallOption { return CallOption{deadline: d} }

// WithBackoff sets the least and the longest sleep between two attempts, hints
// aside. Zero or less means the default: 500 ms, and the provider's setting.
func WithBackoff(base, longest time.Duration) CallOption {
	return CallOption{base: base, cap: longest}
}

// Idempotent says whether fn may run twice, which it may without this option. If
// not, only outcomes that prove it was not carried out are repeated: throttling by
// the provider's code, a 429, a 503 with a hint, and a connection that was never
// made.
func Idempotent(yes bool) CallOption { return CallOption{once: !yes, hasOnce: true} }

// WithoutBudget makes retries cost nothing.
func WithoutBudget() CallOption { return CallOption{noBudget: true} }
