package cloudpace

import (
	"context"
	"time"
)

// carrier is all that cloudpace puts into a context, under one key, so that a
// call finds it with one look.
type carrier struct {
	call    *Call // the call that this context runs under
	stats   *Stats
	ledger  *Ledger
	bounded bool
	maxWait time.Duration
}

type carrierKey struct{}

func carried(ctx context.Context) *carrier {
	c, _ := ctx.Value(carrierKey{}).(*carrier)
	return c
}

// carry gives ctx a carrier that differs from the one it has by change.
func carry(ctx context.Context, change func(*carrier)) context.Context {
	next := &carrier{}
	if c := carried(ctx); c != nil {
		*next = *c
	}
	change(next)
	return context.WithValue(ctx, carrierKey{}, next)
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

// callContext is the context that a call's own work runs under. It lives inside
// the Call, so that making it costs nothing.
type callContext struct {
	context.Context
	call *Call
}

func (c *callContext) Value(key any) any {
	if _, ok := key.(carrierKey); ok {
		return &c.call.carrier
	}
	return c.Context.Value(key)
}
