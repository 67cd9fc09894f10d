package sharing

import (
	"math"
	"time"
)

// Limits are those of one bucket, as a member knows them from its configuration.
// Members are to be configured alike: the last that asks counts.
type Limits struct {
	Rate     float64 // tokens a second: the ceiling
	Burst    float64 // tokens that can be stored at that rate, at least 1
	MinRate  float64 // the floor of cuts
	Adaptive bool    // throttles cut the rate, successes bring it back
	Learn    bool    // … or teach the bucket the rate and burst that the server has
	Soft     bool    // a bucket that learns may go beyond Rate and Burst
	MaxPause time.Duration
}

// Ask is what a member says when it asks for tokens: what it wants, and what it has
// found out since it last asked.
type Ask struct {
	Limits
	Want int // tokens it has use for
	Back int // all that it has left of earlier batches and has no use for
	Debt int // tokens it took without leave
	// Drained says that members went on by themselves while they could not ask, so that
	// what seems to be stored is not there.
	Drained bool

	Throttled bool          // the server refused
	Ago       time.Duration // so long ago
	Hint      time.Duration // and asked for this pause, from then
	Pause     time.Duration // a pause that was asked for otherwise, from now
	Succeeded bool          // the server served

	Outcomes // of a bucket that learns

	Opened *Circuit // its circuit opened
	Closed bool     // its circuit closed: a try succeeded
}

// Circuit is an open circuit.
type Circuit struct {
	Left     time.Duration // until a call may try
	Cooldown time.Duration
	Cause    string // with secrets removed
}

// Grant is the answer. Token k, from 0, may be used After + k x Every after the answer
// has arrived, or at once where that is past.
type Grant struct {
	Tokens       int
	After, Every time.Duration
	// Again is when asking for more is of use: not before.
	Again time.Duration

	Rate, Burst float64 // in force
	Active      int     // members that want tokens, this one included
	Paused      time.Duration
	Circuit     *Circuit // nil where it is closed or may be tried
}

const (
	horizon  = 500 * time.Millisecond // what a batch of all members together reaches ahead
	early    = horizon / 2            // who has less than this ahead gets the next batch
	lingers  = 2 * horizon            // how long a member counts as active after its last token
	cutShare = 0.5                    // what a throttle leaves of the rate
	// The law of a bucket that one process has for itself; see internal/bucket.
	cutWindow  = time.Second
	calm       = 5 * time.Second
	raiseShare = 20
	raiseLeast = 0.01
)

// Bucket is the state of one. The zero Bucket is full and calm.
type Bucket struct {
	limits Limits
	rate   float64
	// free is where the stored tokens and those to come begin: the n-th next token
	// is there at free + n/rate. It is in the future where tokens are handed out in
	// advance.
	free time.Time

	at                     time.Time // when it was last asked
	throttled, cut, raised time.Time // when each last happened
	paused                 time.Time // until then
	circuit                Circuit   // until opened
	opened                 time.Time

	members map[string]*member
	learner *learner // nil but for a bucket that learns
}

// member is what is known of one that asks.
type member struct {
	seen   time.Time // when it last wanted something, or was told to come again
	last   time.Time // the moment of its last token
	hungry bool
	// Of a bucket that learns.
	out  int       // tokens of which nothing was told yet
	turn uint64    // among those that came too early; 0: it did not
	due  time.Time // when it was told to come for it
}

// waits tells that a member's turn is still to come: who is late for it has lost it.
func (m *member) waits(now time.Time) bool { return m.turn > 0 && now.Sub(m.due) <= lead }

// active tells whether a member still counts when shares are made.
func (m *member) active(now time.Time) bool {
	at := m.seen
	if m.last.After(at) {
		at = m.last
	}
	return m.hungry && now.Sub(at) <= lingers
}

// Ask answers a member. The ask is one that [Ask.Sane] has passed.
func (b *Bucket) Ask(now time.Time, name string, a Ask) Grant {
	b.follow(now)
	b.settle(now, a.Limits)
	if a.Learn {
		return b.askLearned(now, name, a)
	}
	b.unlearn(now)
	me := b.member(name)
	b.give(now, name, a.Back)
	b.learn(now, a)
	if a.Drained && b.free.Before(now) {
		b.free = now
	}
	if debt := math.Min(float64(a.Debt), math.Ceil(b.limits.Burst)); debt > 0 {
		b.spend(now, debt)
	}
	if me.hungry = a.Want > 0; me.hungry {
		me.seen = now
	}
	g := b.hand(now, me, a.Want)
	g.Rate, g.Burst, g.Active = b.rate, b.burst(), b.active(now)
	g.Paused = max(0, b.paused.Sub(now))
	return b.withCircuit(now, g)
}

// member finds a member, or makes it one.
func (b *Bucket) member(name string) *member {
	me := b.members[name]
	if me == nil {
		if b.members == nil {
			b.members = make(map[string]*member)
		}
		me = &member{}
		b.members[name] = me
	}
	return me
}

// withCircuit adds the circuit to an answer, where it is open.
func (b *Bucket) withCircuit(now time.Time, g Grant) Grant {
	if left := b.opened.Sub(now); left > 0 {
		c := b.circuit
		c.Left = left
		g.Circuit = &c
	}
	return g
}

// follow goes along with a clock that was set back, as it is where another server takes
// over: as if no time had passed, so that nothing is handed out twice, and nobody waits
// for the old time to come again.
func (b *Bucket) follow(now time.Time) {
	if back := now.Sub(b.at); back < 0 && !b.at.IsZero() {
		for _, t := range []*time.Time{&b.free, &b.throttled, &b.cut, &b.raised, &b.paused, &b.opened} {
			*t = t.Add(back)
		}
		for _, m := range b.members {
			m.seen, m.last, m.due = m.seen.Add(back), m.last.Add(back), m.due.Add(back)
		}
		if b.learner != nil {
			b.learner.epoch = b.learner.epoch.Add(back)
		}
	}
	b.at = now
}

// settle takes over the limits, and forgets stored tokens beyond the burst and members
// that have gone.
func (b *Bucket) settle(now time.Time, l Limits) {
	switch {
	case b.limits == Limits{}:
		b.limits, b.rate = l, l.Rate
		b.free = now.Add(-b.past(l.Burst))
	case b.limits != l:
		rate := l.Rate // of a member that was configured otherwise
		if b.rate < b.limits.Rate {
			rate = math.Min(rate, b.rate) // still slowed
		}
		stored := b.stored(now)
		b.limits = l
		b.setRate(now, stored, rate)
	}
	b.fill(now)
	b.leave(now)
}

// leave forgets members that have gone.
func (b *Bucket) leave(now time.Time) {
	for name, m := range b.members {
		// One with tokens in the future is kept for the sake of give.
		if !m.active(now) && now.Sub(m.seen) > lingers && !m.last.After(now) {
			if b.learner != nil {
				b.learner.model.UnknownLate(m.out)
			}
			delete(b.members, name)
		}
	}
}

// hungry tells whether a member wanted tokens lately.
func (b *Bucket) hungry(now time.Time) bool {
	for _, m := range b.members {
		if m.active(now) {
			return true
		}
	}
	return false
}

// fill forgets what is stored beyond the burst.
func (b *Bucket) fill(now time.Time) {
	if full := now.Add(-b.past(b.burst())); b.free.Before(full) {
		b.free = full
	}
}

// spend takes the next n tokens.
func (b *Bucket) spend(now time.Time, n float64) {
	b.free = b.free.Add(b.span(n))
	if far := now.Add(longest); b.free.After(far) {
		b.free = far
	}
}

// span is how long n tokens take, and past how long ago they began where they are there
// now: both so that rounding adds none.
func (b *Bucket) span(n float64) time.Duration { return duration(n / b.rate) }
func (b *Bucket) past(n float64) time.Duration { return whole(math.Floor(n / b.rate * perSecond)) }

// burst is the one in force, in proportion to the rate.
func (b *Bucket) burst() float64 { return math.Max(1, b.limits.Burst*b.rate/b.limits.Rate) }

// stored is how many tokens are there; below zero is handed out in advance.
func (b *Bucket) stored(now time.Time) float64 { return seconds(now.Sub(b.free)) * b.rate }

// setRate puts a rate in force. What is stored stays, up to the burst, and so do the
// moments that are handed out already.
func (b *Bucket) setRate(now time.Time, stored, rate float64) {
	b.rate = math.Min(b.limits.Rate, math.Max(b.limits.MinRate, rate))
	if stored > 0 {
		b.free = now.Add(-b.past(math.Min(stored, b.burst())))
	}
}

// give takes tokens back: never so that a moment is handed out twice, so only what comes
// after the last moment of every other member.
func (b *Bucket) give(now time.Time, name string, n int) {
	if n <= 0 {
		return
	}
	to := b.free.Add(-b.past(float64(n)))
	for other, m := range b.members {
		if other != name && m.last.After(to) {
			to = m.last
		}
	}
	if to.Before(b.free) {
		b.free = to
		b.fill(now)
	}
	if m := b.members[name]; m.last.After(now) {
		m.last = now
	}
}

// learn follows what the server said.
func (b *Bucket) learn(now time.Time, a Ask) {
	if a.Throttled && a.Ago < calm {
		at := now.Add(-a.Ago)
		if at.After(b.throttled) {
			b.throttled = at
		}
		stored := b.stored(now)
		if b.limits.Adaptive && now.Sub(b.cut) >= cutWindow {
			b.cut = now
			b.setRate(now, stored, b.rate*cutShare)
		}
		if b.free.Before(now) {
			b.free = now // what was stored is gone
		}
		b.pause(now, a.Hint-a.Ago)
	}
	b.pause(now, a.Pause)
	if a.Succeeded && b.rate < b.limits.Rate && now.Sub(b.throttled) >= calm && now.Sub(b.raised) >= calm {
		b.raised = now
		b.setRate(now, b.stored(now), b.rate+math.Max(b.limits.Rate/raiseShare, raiseLeast))
	}
	b.turn(now, a)
}

// turn follows what the member says of the circuit.
func (b *Bucket) turn(now time.Time, a Ask) {
	switch {
	case a.Opened != nil:
		b.circuit, b.opened = *a.Opened, now.Add(a.Opened.Left)
	case a.Closed:
		b.circuit, b.opened = Circuit{}, time.Time{}
	}
}

// pause hands out nothing before its end, and then at the rate: the first token at the
// end of a pause that is longer than a token takes.
func (b *Bucket) pause(now time.Time, d time.Duration) {
	if d = min(d, b.limits.MaxPause); d <= 0 || !now.Add(d).After(b.paused) {
		return
	}
	b.paused = now.Add(d)
	from := b.paused.Add(-b.past(1))
	if from.Before(now) {
		from = now
	}
	if from.After(b.free) {
		b.free = from
	}
}

// active counts the members that share.
func (b *Bucket) active(now time.Time) (n int) {
	for _, m := range b.members {
		if m.active(now) {
			n++
		}
	}
	return max(1, n)
}

// hand gives a member its batch, unless it has enough ahead.
func (b *Bucket) hand(now time.Time, me *member, want int) Grant {
	if ahead := me.last.Sub(now); want > 0 && ahead > early {
		return Grant{Again: ahead - early}
	}
	n := min(want, max(1, int(b.rate*horizon.Seconds()/float64(b.active(now)))))
	if n <= 0 {
		return Grant{}
	}
	every := Every(b.rate)
	g := Grant{Tokens: n, After: b.free.Sub(now) + every, Every: every}
	b.spend(now, float64(n))
	if b.free.After(me.last) {
		me.last = b.free
	}
	g.Again = max(0, me.last.Sub(now)-early)
	return g
}

// Every is the time between two tokens.
func Every(rate float64) time.Duration {
	return time.Duration(math.Min(math.Ceil(float64(time.Second)/rate), float64(longest)))
}

// The law reckons in whole microseconds, as stores do whose clock has no more, so that
// all of them come to the same numbers.
const (
	longest   = 1e15 * time.Microsecond // any stretch of time, 31 years
	perSecond = float64(time.Second / time.Microsecond)
)

// duration rounds up, so that nothing is early.
func duration(seconds float64) time.Duration { return whole(math.Ceil(seconds * perSecond)) }

// whole takes whole microseconds.
func whole(us float64) time.Duration {
	return time.Duration(math.Min(us, float64(longest/time.Microsecond))) * time.Microsecond
}

func seconds(d time.Duration) float64 { return float64(d.Microseconds()) / perSecond }
