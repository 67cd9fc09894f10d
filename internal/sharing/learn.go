package sharing

import (
	"math"
	"time"

	"github.com/cloudpace/cloudpace/internal/learning"
)

// Outcomes are what became of the tokens of a bucket that learns, since the member last
// told: those that were used.
type Outcomes struct {
	Served  int           // calls that the server took in
	Last    time.Duration // the last of them was sent so long ago
	Trip    time.Duration // from sending one to its answer, on average
	Unknown int           // calls of which nothing is known
	Refused int           // calls that the server refused
	First   time.Duration // the first of them was sent so long ago
	Dropped int           // tokens that nobody will use and that are not to be used again
}

// Add gives what two tell, the second later by some time.
func (o Outcomes) Add(more Outcomes, later time.Duration) Outcomes {
	if more.Served > 0 {
		o.Trip = (o.Trip*time.Duration(o.Served) + more.Trip*time.Duration(more.Served)) / time.Duration(o.Served+more.Served)
		o.Last = more.Last
	} else {
		o.Last += later
	}
	if o.Refused == 0 {
		o.First = more.First
	} else {
		o.First += later
	}
	o.Served += more.Served
	o.Unknown += more.Unknown
	o.Refused += more.Refused
	o.Dropped += more.Dropped
	return o
}

// total is how many tokens have come to an end.
func (o Outcomes) total() int { return o.Served + o.Unknown + o.Refused + o.Dropped }

// learner is what a bucket has besides that learns: a model, to which a token that is
// handed out is a call that goes at its moment.
type learner struct {
	model *learning.Model
	epoch time.Time // the beginning of the model's time
	lots  []lot     // handed out lately, in order
	turns int       // members that came too early for the next token
	under Limits    // those that the model was made for
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

func newLearner(now time.Time, l Limits) *learner {
	n := &learner{epoch: now.Add(-time.Second), under: l}
	n.model = learning.New(learning.Limits{Rate: l.Rate, Burst: math.Max(1, l.Burst), Floor: l.MinRate}, !l.Soft, n.since(now))
	return n
}

func (n *learner) since(t time.Time) float64 { return t.Sub(n.epoch).Seconds() }

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

// begin makes a learner, or one for other limits in the place of another: the tokens of
// that are nobody's, and no more are handed out for it, nor sooner.
func (b *Bucket) begin(now time.Time, l Limits) {
	n, before := newLearner(now, l), b.learner
	if before != nil {
		t := before.since(now)
		n.model.Drain()
		n.model.Hold(n.since(now) + before.model.When(math.Max(t, before.model.Last())) - t)
	}
	for _, m := range b.members {
		m.out = 0
	}
	b.learner = n
}

// askLearned is Ask of a bucket that learns.
func (b *Bucket) askLearned(now time.Time, name string, a Ask) Grant {
	if b.learner == nil || b.learner.under != a.Limits {
		b.begin(now, a.Limits)
	}
	n := b.learner
	m, t := n.model, n.since(now)
	m.Advance(t, b.hungry(now))
	me := b.member(name)
	back := max(0, min(a.Back, me.out))
	m.Unused(back, true)
	me.out -= back
	n.hear(now, me, a)
	m.Hold(t + min(a.Pause, a.MaxPause).Seconds())
	for range min(a.Debt, int(math.Ceil(a.Burst))) {
		m.Send(m.Last(), true)
		me.out++
	}
	if a.Drained {
		m.Drain()
	}
	b.turn(now, a)
	if me.hungry = a.Want > 0; me.hungry {
		me.seen = now
	}
	g := n.hand(now, me, a.Want, b.active(now))
	s := m.State()
	g.Rate, g.Burst, g.Active = s.Rate, math.Max(1, s.Burst), b.active(now)
	g.Paused = max(0, duration(m.Paused()-t))
	return b.withCircuit(now, g)
}

// hear learns from what a member tells.
func (n *learner) hear(now time.Time, me *member, a Ask) {
	m := n.model
	o := a.Outcomes
	me.out -= o.total()
	if me.out < 0 { // of before this bucket was made anew
		m.UnknownLate(me.out)
		me.out = 0
	}
	m.ServedLate(n.mark(n.since(now.Add(-o.Last))), o.Served, o.Trip.Seconds())
	m.UnknownLate(o.Unknown)
	m.RefusedLate(n.mark(n.since(now.Add(-o.First))), o.Refused, min(max(0, a.Hint-a.Ago), a.MaxPause).Seconds())
	m.Unused(o.Dropped, false)
}

// hand gives a member its batch, unless it has enough ahead: what is stored at once, or
// else what comes at the pace.
func (n *learner) hand(now time.Time, me *member, want, active int) Grant {
	if want <= 0 {
		return Grant{}
	}
	if ahead := me.last.Sub(now); ahead > learnHorizon/2 {
		return Grant{Again: ahead - learnHorizon/2}
	}
	m, t := n.model, n.since(now)
	at := m.When(math.Max(t, m.Last()))
	if far := duration(at - t); far > lead {
		n.turns++ // those that come too early are to come one after another
		return Grant{Again: far - lead/2 + duration(float64(n.turns-1)/m.Pace())}
	}
	n.turns = 0
	m.Advance(at, true)
	l := lot{first: at}
	if m.Spares(at) {
		for l.n < want && m.Spares(at) {
			l.last = m.Send(at, true)
			l.n++
		}
	} else {
		q := m.Pace()
		l.every = Every(q).Seconds()
		most := min(want, max(1, int(q*learnHorizon.Seconds()/float64(active))))
		for ; l.n < most; l.n++ {
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
	me.last = n.epoch.Add(duration(at))
	return Grant{
		Tokens: l.n, After: duration(l.first - t), Every: time.Duration(l.every * float64(time.Second)),
		Again: max(0, me.last.Sub(now)-learnHorizon/2),
	}
}
