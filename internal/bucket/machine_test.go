package bucket

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// machine drives two accounts' leaves under one provider at random, and checks
// after each step what must hold for any history.
type machine struct {
	*world
	all    []*Bucket
	leaves []*Bucket
	bound  map[*Bucket]*bound
	names  int
	held   []*caller // granted tokens that may still be given back
}

// bound is how much a bucket can have granted at most.
type bound struct {
	rate, burst float64 // the most there ever was
	granted     float64 // and not given back
}

func newMachine(rt *rapid.T) *machine {
	m := &machine{world: newWorld(rt), bound: map[*Bucket]*bound{}}
	rates := rapid.SampledFrom([]float64{0.25, 1, 3, 10, 100})
	bursts := rapid.SampledFrom([]float64{1, 2.5, 10})
	bucket := func(label string, parent *Bucket, adaptive bool) *Bucket {
		opt := Options{Rate: rates.Draw(rt, label+" rate"), Burst: bursts.Draw(rt, label+" burst"), MaxPause: 20 * sec}
		opt.Adaptive, opt.MinRate = adaptive, opt.Rate/8
		b := New(opt, parent, epoch)
		m.all = append(m.all, b)
		m.bound[b] = &bound{rate: opt.Rate, burst: opt.Burst}
		return b
	}
	var root *Bucket
	if rapid.Bool().Draw(rt, "shared level") {
		root = bucket("provider", nil, false)
		account := bucket("account", root, false)
		m.leaves = append(m.leaves, bucket("b", account, true), bucket("c", account, true))
	}
	m.leaves = append(m.leaves, bucket("a", root, true))
	return m
}

func (m *machine) leaf(rt *rapid.T) *Bucket {
	return m.leaves[rapid.IntRange(0, len(m.leaves)-1).Draw(rt, "leaf")]
}

// charge counts n granted tokens at a leaf and above.
func (m *machine) charge(leaf *Bucket, n float64) {
	for l := leaf; l != nil; l = l.parent {
		m.bound[l].granted += n
	}
}

// queue joins n callers with random terms.
func (m *machine) queue(rt *rapid.T) {
	leaf := m.leaf(rt)
	after := func(label string) time.Time {
		d := rapid.SampledFrom([]time.Duration{-1, 0, 100 * ms, sec, 7 * sec, time.Minute}).Draw(rt, label)
		if d < 0 {
			return time.Time{}
		}
		return m.now.Add(d)
	}
	terms := Terms{Deadline: after("deadline")}
	if rapid.IntRange(0, 3).Draw(rt, "patient") == 0 {
		terms.Patience = after("patience")
	}
	for range rapid.IntRange(1, 5).Draw(rt, "callers") {
		m.names++
		m.join(leaf, fmt.Sprint(m.names), terms)
	}
}

// step lets callers look, and counts whom it served.
func (m *machine) step(f func()) {
	f()
	m.settle()
	for _, c := range m.done {
		if c.status == Granted {
			m.charge(c.b, 1)
			m.held = append(m.held, c)
		}
	}
	m.done = nil
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"join": func(rt *rapid.T) { m.step(func() { m.queue(rt) }) },
		"take": func(rt *rapid.T) {
			leaf := m.leaf(rt)
			if takes(leaf, m.now) {
				m.charge(leaf, 1)
			}
		},
		"leave": func(rt *rapid.T) {
			if len(m.callers) == 0 {
				rt.Skip()
			}
			m.step(func() { m.leave(m.callers[rapid.IntRange(0, len(m.callers)-1).Draw(rt, "caller")]) })
		},
		"return": func(rt *rapid.T) {
			if len(m.held) == 0 {
				rt.Skip()
			}
			i := rapid.IntRange(0, len(m.held)-1).Draw(rt, "held")
			c := m.held[i]
			m.held = slices.Delete(m.held, i, i+1)
			again := rapid.Bool().Draw(rt, "queue again")
			m.charge(c.b, -1)
			m.step(func() {
				c.b.Return(m.now, Mark{})
				if again {
					m.names++
					m.join(c.b, fmt.Sprint(m.names), Terms{Place: c.w.Place()})
				}
			})
		},
		"throttled": func(rt *rapid.T) {
			leaf := m.leaf(rt)
			hint := rapid.SampledFrom([]time.Duration{0, 0, 100 * ms, 3 * sec, time.Hour}).Draw(rt, "hint")
			m.step(func() { leaf.Throttled(m.now, Mark{}, hint) })
		},
		"succeeded": func(rt *rapid.T) { m.step(func() { m.leaf(rt).Succeeded(m.now, Mark{}) }) },
		"pause": func(rt *rapid.T) {
			b := m.all[rapid.IntRange(0, len(m.all)-1).Draw(rt, "bucket")]
			m.step(func() { b.Pause(m.now, rapid.SampledFrom([]time.Duration{ms, sec, 30 * sec}).Draw(rt, "pause")) })
		},
		"pass": func(rt *rapid.T) {
			d := rapid.SampledFrom([]time.Duration{1, 10 * ms, 333 * ms, sec, 5 * sec, time.Minute}).Draw(rt, "time")
			m.step(func() { m.run(m.now.Add(d).Sub(epoch)) })
		},
		"next": func(*rapid.T) {
			if next, ok := m.next(); ok {
				m.step(func() { m.run(max(next.Sub(epoch), m.now.Sub(epoch))) })
			}
		},
		"": func(rt *rapid.T) { m.check(rt) },
	}
}

// ready tells from the outside when a leaf's first waiter can have its token.
func (m *machine) ready(leaf *Bucket) time.Time {
	at := m.now
	for l := leaf; l != nil; l = l.parent {
		s := l.State(m.now)
		have := s.Tokens
		if s.PausedFor > 0 {
			have += min(1, s.Rate*l.pause.until.Sub(l.last).Seconds()) // the pause began at last
		}
		t := m.now.Add(s.PausedFor + time.Duration(math.Ceil(math.Max(0, 1-have)/s.Rate*1e9)))
		if t.After(at) {
			at = t
		}
	}
	return at
}

func (m *machine) check(rt *rapid.T) {
	waiting := map[*Bucket]int{}
	var first, wake time.Time // the next possible grant, the next wake-up
	for _, c := range m.callers {
		waiting[c.b]++
		if t := m.ready(c.b); first.IsZero() || t.Before(first) {
			first = t
		}
		if !c.wake.IsZero() && (wake.IsZero() || c.wake.Before(wake)) {
			wake = c.wake
		}
		if p := c.w.terms.Patience; !p.IsZero() && !p.After(m.now) {
			rt.Fatalf("%s waits on after its patience of %s", c.name, p.Sub(epoch))
		}
		if d := c.w.terms.Deadline; !d.IsZero() && d.Before(m.now) {
			rt.Fatalf("%s waits on after its deadline of %s", c.name, d.Sub(epoch))
		}
	}
	if len(m.callers) > 0 {
		if wake.IsZero() || wake.After(first.Add(time.Microsecond)) {
			rt.Fatalf("%s: a token can be granted at %s, but nobody wakes up before %s", m.now.Sub(epoch), first.Sub(epoch), wake.Sub(epoch))
		}
	}
	for _, b := range m.all {
		s, bound := b.State(m.now), m.bound[b]
		if s.Waiting != waiting[b] {
			rt.Fatalf("the bucket has %d waiters, %d callers wait", s.Waiting, waiting[b])
		}
		if s.Tokens > s.Burst+1e-6 || s.Tokens < -bound.burst-1e-6 {
			rt.Fatalf("%v tokens with a burst of %v (of %v)", s.Tokens, s.Burst, bound.burst)
		}
		if s.Rate > bound.rate || s.Rate < bound.rate/8 || s.Lowest > s.Rate || s.Burst < 1 {
			rt.Fatalf("impossible state %+v", s)
		}
		// A stored burst, a burst of debt, and the rate.
		most := 2*bound.burst + bound.rate*m.now.Sub(epoch).Seconds() + 1e-6
		if bound.granted > most {
			rt.Fatalf("%v tokens granted by %s, at most %v can have been", bound.granted, m.now.Sub(epoch), most)
		}
	}
	m.order(rt)
}

// order checks that nobody without patience was served before one that had
// queued in the same leaf before, and that still waits.
func (m *machine) order(rt *rapid.T) {
	for _, h := range m.held {
		if !h.w.terms.Patience.IsZero() {
			continue
		}
		for _, c := range m.callers {
			if c.b == h.b && c.w.Place() < h.w.Place() && c.joinedBefore(h) {
				rt.Fatalf("%s was served before %s, which came first", h.name, c.name)
			}
		}
	}
}

// joinedBefore leaves out those who came back with an old place.
func (c *caller) joinedBefore(o *caller) bool {
	var a, b int
	_, _ = fmt.Sscan(c.name, &a)
	_, _ = fmt.Sscan(o.name, &b)
	return a < b
}

// S3.4, S3.5, S3.6: whatever happens, in whatever order.
func TestS3_4AnyHistory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(rt)
		rt.Repeat(m.actions())
		// Left alone, everybody is served or refused: no wake-up was lost. The
		// slowest grant takes a minute (a quarter of a token a second, cut thrice).
		m.step(func() { m.run(m.now.Sub(epoch) + time.Duration(len(m.callers)+12)*time.Minute) })
		if len(m.callers) != 0 {
			rt.Fatalf("%d callers wait for ever", len(m.callers))
		}
		m.check(rt)
	})
}
