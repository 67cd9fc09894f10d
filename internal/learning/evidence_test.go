package learning

import (
	"math"
	"testing"
)

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

func TestStrayThrottle(t *testing.T) {
	c := firm(t)
	c.throttled(0) // what was told is measured from here
	for range 5 {
		c.to(c.When(c.now), true)
		c.cruising(1, 0.001)
	}
	c.to(c.When(c.now), true)
	c.early = 0 // the last one came in a probe
	rate, at := c.rate, c.now
	c.throttled(0)
	c.want("rate", c.rate, rate)
	c.want("level", c.level, 0)
	c.want("the rest", c.When(c.now), at+c.reserve()/rate)
}

func TestStragglersAreOneEvent(t *testing.T) {
	c := newClient(t, 10, 40)
	var under []Mark
	for range 5 {
		under = append(under, c.send(true))
	}
	c.to(1.2, true)
	for _, k := range under {
		c.Throttled(c.now, k, 0)
	}
	if c.judged != 1 || c.failures != 1 || c.kept != 5 {
		t.Errorf("%d events, %d failures, %d throttled; want 1, 1, 5", c.judged, c.failures, c.kept)
	}
}

func TestRefutedUpwards(t *testing.T) {
	c := newClient(t, 10, 5)
	c.cruise, c.trip = 1, 0.1
	c.level = -10
	c.Succeeded(1.1, Mark{at: 1, n: 1, level: -10})
	c.want("rate", c.rate, 20) // nothing is known yet, so it probes at twice the rate
	c.want("level", c.level, 0)
	c.want("weight", c.weight, 16)
	c.Succeeded(1.2, Mark{at: 1.11, n: 2, level: -10})
	c.want("rate, too soon", c.rate, 20)
	c.Succeeded(1.9, Mark{at: 1.8, n: 3, level: -10})
	c.want("rate", c.rate, 40)

	c = firm(t)
	c.trip = 0.01
	c.filled, c.level = true, -10
	c.Succeeded(2, Mark{at: 2, n: 1, level: -20})
	c.want("rate", c.rate, 100)
	c.want("burst", c.burst, 75)
	c.level = -10
	c.Succeeded(3, Mark{at: 3, n: 2, level: -30})
	c.want("rate after the burst", c.rate, 100) // it cruises: that is its pace
	if c.weight > 51 {
		t.Errorf("a refuted rate has %g calls behind it", c.weight)
	}
}

func TestFromEmpty(t *testing.T) {
	for _, tt := range []struct {
		calls, seconds float64
		rate, weight   float64
	}{
		{100, 1, 100, 500},
		{104, 1.01, (400. + 104) / (4 + 1.01), 504},
		{10, 1, 50, 16},   // far too few
		{60, 1, 60.5, 60}, // too few
		{300, 1, 300.5, 300},
	} {
		c := firm(t)
		c.noise = 0
		c.filled, c.tie = false, 0
		c.fromEmpty(tt.calls, tt.seconds, moment{at: 3})
		c.want("rate", c.rate, tt.rate)
		c.want("weight", c.weight, tt.weight)
	}
	c := firm(t) // four calls too many or too few say nothing, and the count goes on
	anchor := c.anchor
	c.fromEmpty(3, 0.05, moment{at: 3})
	c.want("rate", c.rate, 100)
	if c.anchor != anchor {
		t.Error("the count begins anew")
	}
}

func TestFromFull(t *testing.T) {
	c := firm(t) // sure of the rate, not of the burst
	c.noise, c.burstWeight = 0, burstWeightFirst
	c.fromFull(30+100, 1)
	if c.rate < 90 || c.burst > 40 {
		t.Errorf("rate %g, burst %g; want at least 90 and at most 40", c.rate, c.burst)
	}
	c = newClient(t, 100, 50) // of neither, and the stretch is long: it is the rate
	c.fromFull(50+1000, 20)
	if math.Abs(c.rate-50) > 5 {
		t.Errorf("rate %g, want about 50", c.rate)
	}
	c = newClient(t, 100, 50) // and a moment: it is the burst
	c.fromFull(20, 0.001)
	if math.Abs(c.burst-20) > 1 || math.Abs(c.rate-100) > 1 {
		t.Errorf("rate %g, burst %g; want about 100 and 20", c.rate, c.burst)
	}
}

func TestTie(t *testing.T) {
	c := newClient(t, 100, 50)
	c.noise = 0
	c.fromFull(40+50*2, 2) // so many in two seconds: 40 and 50, or others
	if c.tie >= 0 {
		t.Fatalf("tied by %g, want the burst the less the more the rate", c.tie)
	}
	rate, burst, tie := c.rate, c.burst, c.tie
	c.move(rate + 1)
	c.want("burst", c.burst, burst+tie)
}

func TestWastedTime(t *testing.T) {
	c := firm(t)
	c.throttled(3)
	c.to(c.now+3, true) // half a second would have filled it
	c.want("wasted", c.wasted, 3-c.burst/c.rate)
	if c.filled {
		t.Error("a pause with callers that wait counts as idle time")
	}
}

func TestEarlyThrottles(t *testing.T) {
	c := firm(t)
	c.judged, c.cruise = 3, 0
	c.doubtful(64)
	c.want("rate after one", c.rate, 100)
	c.doubtful(64)
	c.want("rate after two", c.rate, 80) // halfway to what got through
	c.early, c.cruise = 0, 1
	c.doubtful(10)
	c.doubtful(10)
	c.want("rate in probes", c.rate, 80)
}

func TestRecalledLevelIsAccountedFor(t *testing.T) {
	for _, level := range []float64{0, 45, 90} {
		c := newClient(t, 10, 100)
		c.Recall(State{Rate: 10, Burst: 100, Level: level, Calls: 100, Bursts: 4, Taught: true})
		c.to(1.5, true)
		for range int(level) + 5 {
			c.Succeeded(c.now, c.Send(c.now, true))
		}
		c.Throttled(c.now, c.Send(c.now, true), 0)
		if math.Abs(c.rate-10) > 0.2 || math.Abs(c.burst-100) > 2 {
			t.Errorf("level %g: rate %g, burst %g; want 10 and 100", level, c.rate, c.burst)
		}
	}
}

// How unsure the level is grows from when it was known: empty, or full.
func TestFullBucketIsKnown(t *testing.T) {
	c := newClient(t, 10, 20)
	c.Recall(State{Rate: 10, Burst: 20, Calls: 16, Bursts: 4, Noise: 1, Taught: true})
	c.throttled(0)
	c.to(1000, false) // full, and idle for long
	c.trip = 0.1
	rate := c.rate
	c.Succeeded(1001, Mark{at: 1000.9, n: 1, level: -6})
	if c.level != 0 || c.weight != weightLeast || !c.raised {
		t.Errorf("six calls beyond what the model had leave the rate at %g of %g", c.rate, rate)
	}
}
