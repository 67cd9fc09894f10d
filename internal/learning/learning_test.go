package learning

import (
	"math"
	"testing"
)

// client is a model at work in a world without delays: what is sent is answered when the
// test says so.
type client struct {
	*Model
	tb  testing.TB
	now float64
}

func newClient(tb testing.TB, rate, burst float64) *client {
	return &client{New(Limits{Rate: rate, Burst: burst}, false, 1), tb, 1}
}

// to lets time pass; waiting tells whether somebody waits meanwhile.
func (c *client) to(now float64, waiting bool) {
	c.now = now
	c.Advance(now, waiting)
}

// send sends one call, which must be possible.
func (c *client) send(waiting bool) Mark {
	c.tb.Helper()
	c.Advance(c.now, waiting)
	if !c.Ready(c.now) {
		c.tb.Fatalf("%g: not ready before %g", c.now, c.When(c.now))
	}
	return c.Send(c.now, waiting)
}

// burst sends all that may go at once, and has it served.
func (c *client) burstOut() (n int) {
	for c.Ready(c.now) {
		c.Succeeded(c.now, c.Send(c.now, true))
		n++
	}
	return n
}

// throttled sends a call that is throttled, and repeated later.
func (c *client) throttled(hint float64) {
	c.tb.Helper()
	k := c.send(true)
	c.Throttled(c.now, k, hint)
	c.Settled()
}

// cruise sends calls as they may go, each served after trip seconds.
func (c *client) cruising(calls int, trip float64) {
	for range calls {
		if at := c.When(c.now); at > c.now {
			c.to(at, true)
		}
		k := c.send(true)
		c.now += trip
		c.Advance(c.now, true)
		c.Succeeded(c.now, k)
	}
}

func (c *client) want(what string, got, want float64) {
	c.tb.Helper()
	if math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
		c.tb.Errorf("%g: %s %.9g, want %.9g", c.now, what, got, want)
	}
}

// firm is a model that knows its rate well: 100 a second, 400 calls behind it, its bucket
// empty a second ago.
func firm(tb testing.TB) *client {
	c := newClient(tb, 100, 50)
	c.Recall(State{Rate: 100, Burst: 50, Calls: 400, Bursts: 8, Throttles: 5, Taught: true})
	c.to(2, true)
	return c
}

// Calls that wait for a slot, or come back unsent, are none that the server served: a
// throttle of a call before them changes no rate.
func TestHeldCallsAreNotCounted(t *testing.T) {
	for name, after := range map[string]func(*client){
		"held": func(c *client) {
			for range 30 {
				c.Wait(c.Send(c.now, true))
			}
		},
		"unsent": func(c *client) {
			for range 30 {
				c.Unsent(c.Send(c.now, true))
			}
		},
		"given up while held": func(c *client) {
			for range 30 {
				c.Unsent(c.Wait(c.Send(c.now, true)))
			}
		},
	} {
		c := firm(t)
		c.throttled(0)
		for range 2 { // anchored, a second is 100 calls
			c.to(c.now+1, true)
			for range 99 {
				c.Succeeded(c.now, c.Send(c.now, true))
			}
			k := c.Send(c.now, true)
			after(c)
			c.Throttled(c.now, k, 0)
			c.Settled()
			if math.Abs(c.rate-100) > 2 {
				t.Errorf("%s: the rate is %g", name, c.rate)
			}
		}
	}
}
