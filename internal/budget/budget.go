// Package budget is a retry budget: tokens that retries cost and successes give
// back in part, shared by all calls of one provider.
package budget

import (
	"sync/atomic"
	"time"
)

// unit is one token in the tenths that are counted; a success gives back one tenth.
const unit = 10

// Budget is safe for concurrent use. Make one with [New].
type Budget struct {
	capacity int64
	tenths   atomic.Int64
}

// New makes a full budget of so many tokens.
func New(tokens int) *Budget {
	b := &Budget{capacity: int64(tokens) * unit}
	b.tenths.Store(b.capacity)
	return b
}

// Spend takes one token. It reports false, and takes nothing, when less than one
// is left.
func (b *Budget) Spend() bool {
	for {
		have := b.tenths.Load()
		if have < unit {
			return false
		}
		if b.tenths.CompareAndSwap(have, have-unit) {
			return true
		}
	}
}

// GiveBack returns the token of a retry that was never sent.
func (b *Budget) GiveBack() { b.add(unit) }

// Refund gives back a tenth of a token for a call that succeeded.
func (b *Budget) Refund() { b.add(1) }

func (b *Budget) add(tenths int64) {
	for {
		have := b.tenths.Load()
		if have >= b.capacity {
			return
		}
		if b.tenths.CompareAndSwap(have, min(b.capacity, have+tenths)) {
			return
		}
	}
}

// Left tells how many tokens there are.
func (b *Budget) Left() float64 { return float64(b.tenths.Load()) / unit }

// Capacity tells how many tokens there are at most.
func (b *Budget) Capacity() int { return int(b.capacity / unit) }

// Refill is how long a time without calls takes to fill an empty budget that was
// remembered. Only successes fill it otherwise, and who remembers sees none.
const Refill = 10 * time.Minute

// Recall takes tokens away, so that no more are there than were left that long ago and
// time has given back since. It never adds any.
func (b *Budget) Recall(left float64, ago time.Duration) {
	left = max(0, left) + float64(b.Capacity())*max(0, ago.Seconds())/Refill.Seconds()
	if left >= float64(b.Capacity()) {
		return
	}
	most := int64(left * unit)
	for {
		have := b.tenths.Load()
		if have <= most || b.tenths.CompareAndSwap(have, most) {
			return
		}
	}
}
