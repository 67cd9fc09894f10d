package sharing

import (
	"math"
	"time"

	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/learning"
)

// Outcomes are what became of the tokens of a bucket that learns, since the member last
// told: those that were used.
type Outcomes = bucket.Outcomes

// learner is what a bucket has besides that learns: a model, to which a token that is
// handed out is a call that goes at its moment.
type learner struct {
	model *learning.Model
	epoch time.Time // the beginning of the model's time
	lots  []lot     // handed out lately, in order
	turns uint64    // taken so far by members that came too early
	under Limits    // those that the model keeps to
}

// lot is a batch that was handed out.
type lot struct {
	first, every float64
	n            int
	last         learning.Mark
}

// learnHorizon is what a batch reaches ahead of a bucket that learns: what is handed out when
// a throttle is heard of is sent all the same.
const learnHorizon = 50 * time.Millisecond

// lead is how long before its moment a token is handed out at most. It is longer than it
// takes to ask.
const lead = 20 * time.Millisecond

// lotsKept bounds what is remembered of handed-out moments; who is told later which of
// them was refused learns nothing from it.
const lotsKept = 256

// lotMost bounds one batch: who wants more asks again.
const lotMost = 10_000

func newLearner(now time.Time, l Limits) *learner {
	n := &learner{epoch: now.Add(-time.Second), under: l}
	n.model = learning.New(l.learned(), !l.Soft, n.since(now))
	return n
}

// learned gives the limits as a model has them.
func (l Limits) learned() learning.Limits {
	return learning.Limits{Rate: l.Rate, Burst: math.Max(1, l.Burst), Floor: l.MinRate}
}

func (n *learner) since(t time.Time) float64 { return t.Sub(n.epoch).Seconds() }
func (n *learner) at(s float64) time.Time    { return n.epoch.Add(duration(s)) }

// learns makes the bucket one that learns, under the limits of who asks. What is stored,
// what is handed out already, and a pause stay as they were.
func (b *Bucket) learns(now time.Time, l Limits) *learner {
	switch n := b.learner; {
	case n == nil:
		n = newLearner(now, l)
		n.model.Drain(math.Min(b.burst(), b.stored(now)))
		n.model.Hold(n.since(b.free.Add(b.span(1))))
		n.model.Hold(n.since(b.paused))
		for _, m := range b.members {
			m.out = 0 // of before
		}
		b.learner = n
	case n.under != l: // of a member that was configured otherwise
		n.model.Confine(l.learned(), !l.Soft)
		n.under = l
	}
	return b.learner
}

// unlearn makes it one that does not learn.
func (b *Bucket) unlearn(now time.Time) {
	n := b.learner
	if n == nil {
		return
	}
	b.learner = nil
	n.model.Advance(n.since(now), b.hungry(now))
	from := n.at(n.model.Last())
	if level := n.model.State().Level; level > 0 {
		from = from.Add(-b.past(level))
	} else {
		from = from.Add(b.span(-level))
	}
	if from.After(b.free) {
		b.free = from
	}
	b.pause(now, n.at(n.model.Paused()).Sub(now))
}

// mark finds the call that was sent at a time, as near as its moment tells.
func (n *learner) mark(at float64) (k learning.Mark) {
	for i := len(n.lots) - 1; i >= 0; i-- {
		l := n.lots[i]
		if l.first > at+1e-6 {
			continue
		}
		nth := l.n - 1
		if l.every > 0 {
			nth = min(nth, int((at-l.first)/l.every+1e-6))
		}
		return n.model.Handed(l.last, l.n-1-nth, l.first+float64(nth)*l.every)
	}
	return k
}

// askLearned is Ask of a bucket that learns.
func (b *Bucket) askLearned(now time.Time, name string, a Ask) Grant {
	n := b.learns(now, a.Limits)
	m, t := n.model, n.since(now)
	m.Advance(t, b.hungry(now))
	me := b.member(name)
	back := max(0, min(a.Back, me.out))
	m.Unused(back, true)
	me.out -= back
	debt := min(a.Debt, int(math.Ceil(a.Burst)))
	m.Taken(debt)
	me.out += debt // before what became of it is heard
	n.hear(now, me, a)
	m.Promise()
	m.Hold(t + min(a.Pause, a.MaxPause).Seconds())
	if a.Drained {
		m.Drain(0)
	}
	b.turn(now, a)
	if me.hungry = a.Want > 0; me.hungry {
		me.seen = now
	}
	g := b.handLearned(now, me, a.Want)
	if me.hungry {
		me.seen = now.Add(g.Again) // it wants them all the time until it may come again
	}
	s := m.State()
	g.Rate, g.Burst, g.Active = s.Rate, math.Max(1, s.Burst), b.active(now)
	g.Paused = max(0, duration(m.Paused()-t))
	return b.withCircuit(now, g)
}

// hear learns from what a member tells.
func (n *learner) hear(now time.Time, me *member, a Ask) {
	m := n.model
	o := a.Outcomes
	me.out -= o.Total()
	if me.out < 0 { // of before this bucket was made anew
		m.UnknownLate(me.out)
		me.out = 0
	}
	m.ServedLate(n.mark(n.since(now.Add(-o.Last))), o.Served, o.Trip.Seconds())
	m.UnknownLate(o.Unknown)
	switch hint := max(0, min(a.Hint, a.MaxPause)-a.Ago).Seconds(); {
	case o.Refused > 0:
		m.RefusedLate(n.mark(n.since(now.Add(-o.First))), o.Refused, hint)
	case a.Throttled: // a call that the bucket did not hand out
		m.Throttled(m.Last(), learning.Mark{}, hint)
	}
	m.Unused(o.Dropped, false)
}

// ahead counts the members whose turn is before a member's, and not past.
func (b *Bucket) ahead(now time.Time, me *member) (n int) {
	for _, m := range b.members {
		if m != me && m.waits(now) && (!me.waits(now) || m.turn < me.turn) {
			n++
		}
	}
	return n
}

// handLearned gives a member its batch, unless it has enough ahead or it is the turn of
// others: what is stored at once, or else what comes at the pace.
func (b *Bucket) handLearned(now time.Time, me *member, want int) Grant {
	if want <= 0 {
		me.turn = 0
		return Grant{}
	}
	if ahead := me.last.Sub(now); ahead > learnHorizon/2 {
		return Grant{Again: ahead - learnHorizon/2}
	}
	n := b.learner
	m, t := n.model, n.since(now)
	at := m.When(math.Max(t, m.Last()))
	q := m.Pace()
	most := min(lotMost, max(1, int(q*learnHorizon.Seconds()/float64(b.active(now)))))
	others := b.ahead(now, me)
	far := duration(at - t)
	if far > lead || others > 0 && m.Surplus() < float64((others+1)*most) {
		if !me.waits(now) {
			n.turns++
			me.turn = n.turns
		}
		again := max(far-lead/2, time.Millisecond) + duration(float64(others*most)/q)
		if trip, ok := m.Awaits(t); ok { // a member tells when it asks
			again = min(again, max(learnHorizon, duration(trip)))
		}
		me.due = now.Add(again)
		return Grant{Again: again}
	}
	me.turn = 0
	m.Advance(at, true)
	l := lot{first: at}
	if m.Spares(at) && m.Surplus() > float64(most) {
		for l.n < min(want, lotMost) && m.Spares(at) {
			l.last = m.Send(at, true)
			l.n++
		}
	} else {
		l.every = Every(q).Seconds()
		for most = min(want, most); l.n < most; l.n++ {
			at = l.first + float64(l.n)*l.every
			m.Advance(at, true)
			l.last = m.Send(at, true)
		}
	}
	if len(n.lots) >= lotsKept {
		n.lots = append(n.lots[:0], n.lots[lotsKept/2:]...)
	}
	n.lots = append(n.lots, l)
	me.out += l.n
	me.last = n.at(at)
	return Grant{
		Tokens: l.n, After: duration(l.first - t), Every: time.Duration(l.every * float64(time.Second)),
		Again: max(0, me.last.Sub(now)-learnHorizon/2),
	}
}
