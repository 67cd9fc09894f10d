package storetest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/internal/eventloop"
	"github.com/cloudpace/cloudpace/internal/scenario"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// learning is a bucket that begins with what EC2 documents, and learns.
func learning(soft bool) sharing.Limits {
	return sharing.Limits{Rate: 20, Burst: 100, MinRate: 0.2, MaxPause: 300 * sec, Learn: true, Soft: soft}
}

// testLearnedByAll: what one member finds out of a server holds for the others.
func testLearnedByAll(t *testing.T, h Harness) {
	s, o, l := h.Store, h.other(), learning(true)
	g := one(t, s, "a", "k", sharing.Ask{Limits: l, Want: 100})
	if g.Tokens < 2 || g.Rate != 20 || g.Burst != 100 || g.Active != 1 {
		t.Errorf("in the beginning: %+v", g)
	}
	one(t, s, "a", "k", sharing.Ask{Limits: l, Throttled: true, Hint: 100 * sec, Outcomes: sharing.Outcomes{Refused: 1}})
	g = one(t, o, "b", "k", sharing.Ask{Limits: l, Want: 100})
	if g.Tokens != 0 || g.Rate > 20 || g.Burst >= 100 || g.Paused <= 60*sec || g.Paused > 100*sec || g.Again <= 50*sec {
		t.Errorf("after a throttle with a pause of 100 s another member sees %+v", g)
	}
	if b := bucket(t, o, "k"); b.RPS != g.Rate || b.MaxRPS != 20 || b.Burst != g.Burst || b.Tokens > 1 || b.PausedSeconds <= 60 || b.PausedSeconds > 100 || len(b.Active) == 0 {
		t.Errorf("the status of what gives %+v: %+v", g, b)
	}
	one(t, s, "a", "l", sharing.Ask{Limits: l, Pause: 900 * sec})
	if g := one(t, o, "b", "l", sharing.Ask{Limits: l, Want: 1}); g.Tokens != 0 || g.Rate != 20 || g.Paused <= 250*sec || g.Paused > 300*sec {
		t.Errorf("after a pause of 900 s, of which 300 are allowed: %+v", g)
	}
	opened := sharing.Circuit{Left: 100 * sec, Cooldown: 200 * sec, Cause: "503 \"slow\ndown\" ü"}
	one(t, s, "a", "m", sharing.Ask{Limits: l, Opened: &opened})
	g = one(t, o, "b", "m", sharing.Ask{Limits: l})
	if b := bucket(t, o, "m"); g.Circuit == nil || g.Circuit.Left <= 60*sec || g.Circuit.Left > 100*sec || g.Circuit.Cooldown != 200*sec ||
		g.Circuit.Cause != opened.Cause || b.OpenSeconds <= 60 || b.Cause != opened.Cause {
		t.Errorf("an open circuit is seen as %+v, and in the status as %+v", g.Circuit, b)
	}
	one(t, o, "b", "m", sharing.Ask{Limits: l, Closed: true})
	if g := one(t, s, "a", "m", sharing.Ask{Limits: l}); g.Circuit != nil {
		t.Errorf("a circuit that was closed is seen as %+v", g.Circuit)
	}
	one(t, s, "a", "o", sharing.Ask{Limits: l, Debt: 60})
	if got := bucket(t, o, "o").Tokens; got < 40 || got > 90 {
		t.Errorf("%g tokens after a debt of 60 of 100", got)
	}
	one(t, s, "a", "o", sharing.Ask{Limits: l, Drained: true})
	if got := bucket(t, o, "o").Tokens; got < -1 || got > 30 {
		t.Errorf("%g tokens where members say that none are left", got)
	}
}

// testLearnerGone: what a member had that is gone keeps the others back no longer than it
// counts as there.
func testLearnerGone(t *testing.T, h Harness) {
	l := learning(true)
	had := one(t, h.Store, "a", "k", sharing.Ask{Limits: l, Want: 100})
	if err := h.Store.Leave(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	g := one(t, h.other(), "b", "k", sharing.Ask{Limits: l, Want: 100})
	if h.Now != nil && g.Tokens >= had.Tokens { // a burst begins slowly: no more at once until some are served
		t.Errorf("one gets %d tokens, and right after it another %d", had.Tokens, g.Tokens)
	}
	h.sleep(1500 * ms)
	g = one(t, h.other(), "b", "k", sharing.Ask{Limits: l, Want: 100, Outcomes: sharing.Outcomes{Unknown: g.Tokens}})
	if g.Tokens < had.Tokens || g.Active != 1 {
		t.Errorf("after it has gone the other gets %+v, where the first got %d tokens", g, had.Tokens)
	}
}

// testTwoWays: a learning bucket and one that does not, in one question.
func testTwoWays(t *testing.T, h Harness) {
	asks := []fleet.BucketAsk{
		{Key: "a", Ask: sharing.Ask{Limits: learning(false), Want: 1}},
		{Key: "b", Ask: sharing.Ask{Limits: ec2(), Want: 1}},
		{Key: "c", Ask: sharing.Ask{Limits: sharing.Limits{Rate: math.NaN(), Learn: true}, Want: 1}},
		{Key: "a", Ask: sharing.Ask{Limits: learning(false), Want: 1}},
		{Key: "d", Ask: sharing.Ask{Limits: learning(true), Want: 1}},
	}
	g, err := h.Store.Exchange(t.Context(), "m", asks)
	if err != nil {
		t.Fatal(err)
	}
	for i := range g {
		if bad := i == 2; (g[i].Err != nil) != bad || (g[i].Tokens != 1) != bad {
			t.Errorf("answer %d: %+v", i, g[i])
		}
	}
	if st := status(t, h.Store); len(st.Buckets) != 3 {
		t.Errorf("status: %+v", st.Buckets)
	}
}

// testLearnsQuota: four members that want all they can get learn what a server gives, with
// few refusals, and get the same of it.
func testLearnsQuota(t *testing.T, h Harness) {
	if h.Now == nil {
		return
	}
	for _, c := range []struct {
		name         string
		rate, server float64 // configured, and the server's
		lasts        time.Duration
	}{
		{"right", 20, 20, 120 * sec},
		{"too high", 100, 20, 120 * sec},
		{"too low", 20, 100, 60 * sec},
	} {
		l := learning(true)
		l.Rate = c.rate
		w := &world{h: h, t: t, key: c.name, limits: l, loop: eventloop.New(h.Now()), end: h.Now().Add(c.lasts)}
		w.server = scenario.NewModel(scenario.Scenario{Server: scenario.Server{Burst: 100, Refill: c.server}}, h.Now(), 1)
		var members []*learner
		for i := range 4 {
			m := &learner{w: w, name: fmt.Sprint(i)}
			members = append(members, m)
			w.in(0, m.ask)
		}
		for w.loop.Step() {
		}
		got, want := float64(w.server.Accepted), 100+c.server*c.lasts.Seconds()
		refused := float64(w.server.Throttled) / (got + float64(w.server.Throttled))
		rate := bucket(t, h.Store, c.name).RPS
		t.Logf("%s: %g of %g calls served, %.2f %% refused, a rate of %.2f is believed in", c.name, got, want, 100*refused, rate)
		if got < 0.95*want || refused > 0.02 || math.Abs(rate/c.server-1) > 0.05 {
			t.Errorf("%s: %g of %g calls served, %.2f %% refused, a rate of %.2f for %g", c.name, got, want, 100*refused, rate, c.server)
		}
		for _, m := range members {
			if share := float64(m.served) / (got / 4); share < 0.7 || share > 1.3 {
				t.Errorf("%s: member %s was served %d of %g", c.name, m.name, m.served, got)
			}
		}
	}
}

// world is a modelled server and its members, in the store's time.
type world struct {
	h      Harness
	t      *testing.T
	key    string
	limits sharing.Limits
	loop   *eventloop.Loop
	server *scenario.Model
	end    time.Time
}

// in does something in a while, in whole microseconds.
func (w *world) in(d time.Duration, what func()) {
	d = (max(0, d) + time.Microsecond - 1).Truncate(time.Microsecond)
	w.loop.After(d, func() {
		if d := w.loop.Now().Sub(w.h.Now()); d > 0 {
			w.h.sleep(d)
		}
		what()
	})
}

// learner is a member that always has calls to make.
type learner struct {
	w      *world
	name   string
	news   sharing.Ask // since it last asked
	told   time.Time   // when that was last added to
	served int
	asks   int // how often it has asked: what was planned before the last is off
}

func (m *learner) ask() {
	now := m.w.loop.Now()
	if now.After(m.w.end) {
		return
	}
	a := m.news
	a.Outcomes = a.Outcomes.Add(sharing.Outcomes{}, now.Sub(m.told))
	a.Limits, a.Want = m.w.limits, 20
	m.news, m.told = sharing.Ask{}, now
	m.asks++
	nth := m.asks
	g := one(m.w.t, m.w.h.Store, m.name, m.w.key, a)
	for k := range g.Tokens {
		m.w.in(g.After+time.Duration(k)*g.Every, m.call)
	}
	m.w.in(max(ms, g.Again), func() {
		if nth == m.asks {
			m.ask()
		}
	})
}

func (m *learner) call() {
	sent := m.w.loop.Now()
	answer := m.w.server.Call(sent)
	m.w.in(answer.After, func() {
		now := m.w.loop.Now()
		o := sharing.Outcomes{Served: 1, Last: now.Sub(sent), Trip: now.Sub(sent)}
		if !answer.OK {
			o = sharing.Outcomes{Refused: 1, First: now.Sub(sent)}
		}
		m.news.Outcomes = m.news.Outcomes.Add(o, now.Sub(m.told))
		m.told = now
		if answer.OK {
			m.served++
		} else {
			m.news.Throttled = true
			m.ask()
		}
	})
}
