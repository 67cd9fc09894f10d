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

// The whole burst goes at once but for the reserve, in a slow start; what follows is paced

// at the rate.
func TestBurstKeepsTheReserve(t *testing.T) {
	c := newClient(t, 10, 20)
	c.want("reserve", c.reserve(), 2+1.5*math.Sqrt(0.1*16)) // 3.9
	if n := c.burstOut(); n != 16 {
		t.Errorf("%d calls went at once, want 16", n)
	}
	first := 1 + (c.reserve()+1-4)/10 // when a token is to be had beyond it
	for i := range 3 {
		c.want("the next call", c.When(c.now), first+0.1*float64(i))
		c.to(c.When(c.now), true)
		c.Succeeded(c.now, c.send(true))
	}

	// Nothing has come back: five are under way, and then it is one by one.
	c = newClient(t, 10, 20)
	n := 0
	for ; c.Ready(c.now); n++ {
		c.Send(c.now, true)
	}
	if n != 5 {
		t.Errorf("%d calls went before the first came back, want 5", n)
	}
	c.want("the next call", c.When(c.now), 1.1)
}

// An idle gap brings back what refills in it, and no more than fits.
func TestIdleGapRefills(t *testing.T) {
	c := newClient(t, 10, 20)
	first := c.burstOut()
	c.to(1.5, false)
	if n := c.burstOut(); n != 5 {
		t.Errorf("%d calls went after half a second, want 5", n)
	}
	c.to(100, false)
	if n := c.burstOut(); n != first {
		t.Errorf("%d calls went from the full bucket, want %d", n, first)
	}
}

// It cruises at exactly the rate, a known number of calls; then it probes, faster by about

// a token for each round trip, doubling, up to twice the rate.
func TestCruiseThenProbe(t *testing.T) {
	c := firm(t)
	c.throttled(0)
	c.to(c.When(c.now), true)
	calls := 0
	for ; !c.probing(); calls++ {
		c.want("pace", c.Pace(), c.rate)
		c.cruising(1, 0.001)
		if calls > 1000 {
			t.Fatal("it never probes")
		}
	}
	if want := c.horizon(); math.Abs(float64(calls)-want) > 2 {
		t.Errorf("a cruise of %d calls, want %g", calls, want)
	}
	for _, climb := range []float64{0, 1, 3} {
		c.climb, c.trip = climb, 0.1
		c.want("pace", c.Pace(), c.rate+math.Exp2(climb)/c.trip)
	}
	c.climb = 9
	c.want("pace", c.Pace(), 2*c.rate)
}

// A throttle that nothing explains costs a rest, and no rate.

// Rests double while nothing but throttles comes, up to what the lowest rate takes for one

// call, and begin anew with a success.
func TestRestsDouble(t *testing.T) {
	c := newClient(t, 100, 10)
	var last float64
	for i := range 12 {
		c.to(math.Max(c.now, c.When(c.now)), true)
		at := c.now
		k := c.send(true)
		c.Throttled(c.now, k, 0)
		rest := c.pause - at
		if most := 1 / c.floor(); rest > most+1e-9 || i > 0 && rest < math.Min(most, 2*last)-1e-9 {
			t.Errorf("rest %d is %g s after one of %g s", i, rest, last)
		}
		last = rest
	}
	c.want("the longest rest", last, 5)
	c.to(c.When(c.now), true)
	c.Succeeded(c.now, c.send(true))
	c.to(c.When(c.now), true)
	at := c.now
	c.Throttled(c.now, c.send(true), 0)
	c.want("the rest after a success", c.pause-at, math.Min(5, c.reserve()/c.rate))
}

// Throttles of calls that were sent before the last one was known are the same event.

// The server gives more than the model has: the rate becomes what was sent at, not more

// often than every six round trips, and a rate that is sure blames the burst first.

// From an empty bucket what got through is the refill: what agrees is averaged in, what

// does not replaces the rate, which is halved at most.

// From a full bucket burst and refill gave it together: the discrepancy goes where the

// doubt is.

// What was learned of rate and burst together stays tied: when the rate turns out to be

// another, the burst moves with it along all that explains what was seen.

// A hint longer than the bucket is deep makes every throttle cost what would have been

// refilled: probes are rarer then.
func TestCostOfLongHints(t *testing.T) {
	c := firm(t)
	c.weight = 1e5
	c.noise = 0
	c.want("horizon", c.horizon(), 20*100)
	c.throttled(10) // half a second of it fills the bucket
	c.noise, c.weight = 0, 1e6
	c.want("cost", c.cost, 10-c.burst/c.rate)
	c.want("horizon", c.horizon(), 20*c.rate*c.cost)
	c.weight = 16
	c.want("horizon", c.horizon(), 4*c.rate*c.cost)
	c.to(c.now+100, true)
	c.throttled(0)
	c.want("cost", c.cost, 0)
}

// Time in which the bucket stood full while callers had to wait is none in which the

// server gave.

// Calls that keep nothing waiting fill the bucket: that is an idle moment.
func TestIdleFills(t *testing.T) {
	c := firm(t)
	c.throttled(0)
	if c.filled {
		t.Fatal("full after a throttle")
	}
	c.owed++ // one is to be repeated
	c.to(c.now+10, false)
	if c.filled {
		t.Error("full while a call waits for its repetition")
	}
	c.owed--
	c.to(c.now+10, false)
	if !c.filled {
		t.Error("not full after ten idle seconds")
	}
}

// Throttle after throttle in a cruise: burst and rate are both wrong in a way that explains

// each of them. The rate gives way.

// A hard model promises.
func TestHard(t *testing.T) {
	m := New(Limits{Rate: 10, Burst: 5}, true, 1)
	m.cruise, m.climb, m.trip = 1, 9, 0.1
	if m.Pace() != 10 {
		t.Errorf("a pace of %g, promised 10", m.Pace())
	}
	m.level = -5
	m.Succeeded(1.1, Mark{at: 1, n: 1, level: -5})
	if m.rate != 10 || m.taught {
		t.Errorf("rate %g, promised 10", m.rate)
	}
	m.Recall(State{Rate: 50, Burst: 60, Calls: 100, Bursts: 3, Taught: true})
	if m.rate != 10 || m.burst != 5 {
		t.Errorf("rate %g, burst %g; promised 10 and 5", m.rate, m.burst)
	}
}

// The numbers of calls end in 32 bits in a mark, and are whole all the same; 0 is none.
func TestMarksWrap(t *testing.T) {
	c := newClient(t, 1e6, 1e6)
	const wrap = 1 << 32
	c.sent = wrap - 3
	c.full = c.moment(1)
	var marks []Mark
	for range 5 {
		marks = append(marks, c.Send(1, true))
	}
	for i, want := range []int64{wrap - 2, wrap - 1, wrap + 1, wrap + 2, wrap + 3} {
		if got := c.number(marks[i]); got != want || marks[i].n == 0 {
			t.Errorf("call %d has number %d, want %d", i, got, want)
		}
	}
	c.want("served before the last", c.served(c.full, marks[4]), 5)
}

// A call that was held counts from when it goes, at the level of then.
func TestHoldAndGo(t *testing.T) {
	c := newClient(t, 10, 20)
	k := c.Wait(c.send(false))
	if k == (Mark{}) || c.sent != 0 || c.inFlight != 1 {
		t.Fatalf("held: %+v, %d sent, %d in flight", k, c.sent, c.inFlight)
	}
	other := c.send(false)
	c.want("level of another", float64(other.level), 19)
	c.to(5, false)
	k = c.Leave(5)
	if k.at != 5 || c.number(k) != 2 || c.held != 0 {
		t.Errorf("gone: %+v, number %d, %d held", k, c.number(k), c.held)
	}
	c.Succeeded(5.1, k)
	c.Succeeded(5.1, other)
	if !c.Idle() {
		t.Errorf("not idle: %+v", *c.Model)
	}
}

// A memory that says the bucket is nearly empty, or nearly full, makes no rate of it.
