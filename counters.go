package cloudpace

import (
	"math"
	"sync/atomic"
	"time"
)

// counters are the numbers of one service scope. They are atomics, so that a
// call counts without a lock; sums over several of them are not one moment's.
type counters struct {
	calls, throttled, transient, retries, gaveUp, rejected, trips, waits atomic.Int64

	waited, longest atomic.Int64  // nanoseconds
	lowest          atomic.Uint64 // bits of the lowest rate a throttle cut to; 0: none
	lastError       atomic.Pointer[string]
	lastGiveUp      atomic.Pointer[string]
}

func (n *counters) wait(d time.Duration) {
	n.waits.Add(1)
	n.waited.Add(int64(d))
	for {
		was := n.longest.Load()
		if int64(d) <= was || n.longest.CompareAndSwap(was, int64(d)) {
			return
		}
	}
}

func (n *counters) rate(rps float64) {
	for {
		was := n.lowest.Load()
		if was != 0 && math.Float64frombits(was) <= rps {
			return
		}
		if n.lowest.CompareAndSwap(was, math.Float64bits(rps)) {
			return
		}
	}
}

// add folds other numbers into these.
func (n *counters) add(o *counters) {
	n.calls.Add(o.calls.Load())
	n.throttled.Add(o.throttled.Load())
	n.transient.Add(o.transient.Load())
	n.retries.Add(o.retries.Load())
	n.gaveUp.Add(o.gaveUp.Load())
	n.rejected.Add(o.rejected.Load())
	n.trips.Add(o.trips.Load())
	n.waits.Add(o.waits.Load())
	n.waited.Add(o.waited.Load())
	if l := o.longest.Load(); l > n.longest.Load() {
		n.longest.Store(l)
	}
	if l := o.lowest.Load(); l != 0 {
		n.rate(math.Float64frombits(l))
	}
	if e := o.lastError.Load(); e != nil {
		n.lastError.Store(e)
	}
	if e := o.lastGiveUp.Load(); e != nil {
		n.lastGiveUp.Store(e)
	}
}

// totals reads the numbers.
func (n *counters) totals() Totals {
	return Totals{
		Calls:           int(n.calls.Load()),
		Throttled:       int(n.throttled.Load()),
		TransientErrors: int(n.transient.Load()),
		Retries:         int(n.retries.Load()),
		GaveUp:          int(n.gaveUp.Load()),
		Rejected:        int(n.rejected.Load()),
		BreakerTrips:    int(n.trips.Load()),
		Waits:           int(n.waits.Load()),
		WaitSeconds:     time.Duration(n.waited.Load()).Seconds(),
	}
}

// Totals are numbers of calls. What a call is depends on the wiring: an API call
// of the AWS SDK, an HTTP attempt of Azure's, a page request of Google's, an
// attempt of [Do] and of Databricks.
type Totals struct {
	Calls           int     `json:"calls"`            // sent
	Throttled       int     `json:"throttled"`        // answers that asked for less
	TransientErrors int     `json:"transient_errors"` // failures unrelated to rate
	Retries         int     `json:"retries"`          // attempts that were sent again
	GaveUp          int     `json:"gave_up"`          // operations that ended throttled, or that an empty retry budget ended
	Rejected        int     `json:"rejected"`         // refused by an open circuit
	BreakerTrips    int     `json:"breaker_trips"`    // circuits that opened
	Waits           int     `json:"waits"`            // admissions that had to queue for a token or a slot
	WaitSeconds     float64 `json:"wait_seconds"`     // … and for how long together
}

func (t *Totals) add(o Totals) {
	t.Calls += o.Calls
	t.Throttled += o.Throttled
	t.TransientErrors += o.TransientErrors
	t.Retries += o.Retries
	t.GaveUp += o.GaveUp
	t.Rejected += o.Rejected
	t.BreakerTrips += o.BreakerTrips
	t.Waits += o.Waits
	t.WaitSeconds += o.WaitSeconds
}
