package cloudpace

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// carrier is all that cloudpace puts into a context, under one key, so that a
// call finds it with one look.
type carrier struct {
	call    *callContext // of the call that this context runs under
	stats   *Stats
	ledger  *Ledger
	bounded bool
	maxWait time.Duration
}

type carrierKey struct{}

// carriesNothing stands for the carrier of a context that has none.
var carriesNothing carrier

// carried gives what a context has, and the call that it runs under or nil.
func carried(ctx context.Context) (*carrier, *callContext) {
	switch c := ctx.Value(carrierKey{}).(type) {
	case *callContext:
		return c.in, c
	case *carrier:
		return c, c.call
	}
	return &carriesNothing, nil
}

// carry gives ctx a carrier that differs from the one it has by change.
func carry(ctx context.Context, change func(*carrier)) context.Context {
	in, call := carried(ctx)
	next := *in
	next.call = call
	change(&next)
	return context.WithValue(ctx, carrierKey{}, &next)
}

// WithMaxWait bounds how long a call under ctx waits for its token, pauses
// included, waits for a slot not. After d the call goes on and takes its token
// into debt, which those behind it wait off; where the debt would exceed one
// burst it fails with a [*DeadlineExceededError]. It is meant for callers that
// care more for their latency than for their turn; a second is a good figure for
// an event handler. With d of zero or less a call never waits for a token.
func WithMaxWait(ctx context.Context, d time.Duration) context.Context {
	return carry(ctx, func(c *carrier) { c.bounded, c.maxWait = true, max(0, d) })
}

// callContext is the context that a call's own work runs under, and all of the call
// that calls begun under it ask for. They may outlive it, so it is apart from the Call
// and small: it is the one thing that each call leaves to the garbage collector.
type callContext struct {
	context.Context // what Begin was given: only that one's end is a cancellation
	in              *carrier
	parent          *callContext
	lane            *lane                   // as it was at first: settings change, the scope does not
	nested          atomic.Pointer[[]error] // how calls begun under this attempt ended badly; never changed in place
}

func (c *callContext) Value(key any) any {
	if _, ok := key.(carrierKey); ok {
		return c
	}
	return c.Context.Value(key)
}

// inert tells that everything passes and nothing is held: the provider was disabled
// when the call began.
func (c *callContext) inert() bool { return !c.lane.provider.enabled }

// covers tells whether a call under this one, in account a, is part of its
// work and needs no slot of its own. That stays so when this one has ended: its
// work may go on, as a look-up of credentials does that others wait for too, and
// those others may hold all slots.
func (c *callContext) covers(g *Governor, a accountKey) bool {
	for ; c != nil; c = c.parent {
		if !c.inert() && c.lane.g == g && a == c.lane.scope.account() {
			return true
		}
	}
	return false
}

// nestedKept bounds what a call remembers of the calls under one attempt of it: the
// first and the last of those that ended badly, since those are what callers
// return.
const nestedKept = 32

// noteNested remembers how a call under this one ended, to know the error again. A
// call that is not governed passes it on, since the one above gets it too.
func (c *callContext) noteNested(err error) {
	for c != nil && c.inert() {
		c = c.parent
	}
	if c == nil {
		return
	}
	for {
		was := c.nested.Load()
		var kept []error
		if was != nil {
			kept = slices.Clone(*was)
		}
		if len(kept) == nestedKept {
			kept = slices.Delete(kept, nestedKept/2, nestedKept/2+1)
		}
		kept = append(kept, err)
		if c.nested.CompareAndSwap(was, &kept) {
			return
		}
	}
}

// nestedErrors are those that noteNested has kept for the attempt under way.
func (c *callContext) nestedErrors() []error {
	if kept := c.nested.Load(); kept != nil {
		return *kept
	}
	return nil
}
