// Package learning finds out how fast a server's token bucket fills and how many tokens it
// stores, from what comes back of the calls. It knows no scopes, clocks or networks: every
// method is given the time.
package learning

import "math"

// Model is what a bucket that learns believes of the server's bucket: how many tokens it
// holds, how fast it fills and how many fit. It cruises at exactly the rate it believes in,
// probes from time to time for more, and takes a throttle for a measurement, not for a
// verdict: the server's bucket is empty at that moment, so what got through since the last
// such moment is what the server gives.
//
// Its times are seconds by a clock of its user's, which never shows 0. It is not safe for
// concurrent use. Make one with [New].
type Model struct {
	conf Limits // what was configured: where it begins
	hard bool   // what was configured is never exceeded

	rate, weight       float64 // tokens a second, and the calls that stand behind it
	burst, burstWeight float64 // tokens that fit, and the full buckets that stand behind it
	unsure             float64 // the variance of the rate, where it is learned together with the burst
	tie                float64 // calls that the burst is larger for each call a second that the rate is
	before             float64 // the rate before it was raised
	noise              float64 // the variance of counts, beyond that of a steady refill's, over the count: others' calls

	level, last float64 // tokens that the server has, at that time
	empty       float64 // when the level was last known to be that of an empty bucket
	pause       float64 // nothing is sent before
	next        float64 // when the next paced call may go
	paced       float64 // when the last one went
	trip        float64 // seconds from a call to its answer, on average; 0: not known
	cost        float64 // seconds in which the server's bucket stood full in the pause that the last throttle asked for

	cruise float64 // how much of a cruise is over, from 0 to 1; then it probes
	climb  float64 // doublings of the probe

	sent     int64 // calls so far
	kept     int64 // of them throttled, and numbers that were left out
	inFlight int
	owed     int // calls that were throttled and are to be repeated
	held     int // calls that have their token and wait for something else
	streak   int // successes in a row
	failures int // reactions in a row without a success between them
	early    int // judged throttles in a row that came in a cruise

	anchor  moment  // the last throttle that was judged
	full    moment  // when the bucket was last full, with nobody waiting
	fuller  moment  // the end of the time before that in which it was
	filled  bool    // it was full after the anchor
	grown   bool    // the burst was raised since it was full
	raised  bool    // the rate was refuted upwards since the anchor
	raise   moment  // when
	reacted float64 // when a throttle was last reacted to
	wasted  float64 // seconds since the anchor in which the bucket was full while callers had to wait

	sounded int64 // the last call that measured the burst alone

	told   told // what the server said
	judged int  // throttles
	taught bool // it believes something else than what was configured
}

// moment is a point in time and in the count of calls.
type moment struct {
	at         float64
	sent, kept int64
}

// Limits are those of a bucket.
type Limits struct {
	Rate  float64 // tokens a second
	Burst float64 // tokens that it can store
	Floor float64 // tokens a second that throttles leave at least; 0: none is asked for
}

// epsilon forgives the rounding of sums of fractions.
const epsilon = 1e-9

// The constants of the law. None is finely tuned: within twice and half of them the
// scenarios come out much alike.
const (
	weightFirst = 16.0  // calls that stand behind a rate that was configured
	weightLeast = 16.0  // and behind one that was just refuted
	weightMost  = 384.0 // a cruise has so many calls at most, or those of
	weightSpan  = 20.0  // so many seconds, whichever is more
	weightFirm  = 64.0  // from this on a rate is not blamed for what the burst explains
	weightSure  = 32.0  // a rate with so much behind it is off by the whole of itself at most

	burstWeightFirst = 2.0
	burstWeightMost  = 8.0

	noiseFirst = 0.1
	noiseGain  = 0.2
	noiseDoubt = 0.2 // at least, where the rate turns out to be another

	reserveLeast = 2.0 // tokens that are not spent in a burst,
	reserveNoise = 1.5 // and as many for each standard deviation of a cruise's noise

	tooFew  = 3.0 // standard deviations under what was expected that refute a rate
	tooMany = 2.0 // and over it

	cruiseFirst = 0.5  // how much of the first cruise is over when it begins
	cruiseTrips = 4.0  // round trips that a cruise takes at least
	climbCalls  = 8.0  // calls for each doubling of a probe
	climbTrips  = 3.0  // and round trips
	shortTrips  = 30.0 // round trips in which a bucket that was full is not full again
	raiseTrips  = 6.0  // round trips between two raises of the rate

	costSpan  = 20.0 // a cruise lasts up to so many times what a throttle costs,
	costLeast = 4.0  // and so many times at least

	rateMost   = 1e9   // a second
	burstMost  = 1e9   // tokens
	callsMost  = 1e9   // that stand behind a rate that was learned elsewhere
	noiseMost  = 1e3   // of a quota that was learned elsewhere
	floorRate  = 0.2   // a second: the slowest that throttles make,
	floorShare = 0.25  // of the configured rate, where that is less
	late       = 0.002 // seconds that a paced call may make up for a timer that was late
	tie        = 1e-6  // seconds before its time in which a call is taken for a paced one
	slowStart  = 4     // calls in flight beyond the successes in a row, in a burst
)

// New makes a model that believes in what is configured. A hard one never goes beyond it.
func New(conf Limits, hard bool, now float64) *Model {
	conf.Rate, conf.Burst = math.Min(conf.Rate, rateMost), within(1, conf.Burst, burstMost)
	m := &Model{
		conf: conf, hard: hard,
		rate: conf.Rate, burst: conf.Burst, burstWeight: burstWeightFirst, noise: noiseFirst,
		level: conf.Burst, last: now, empty: now, cruise: cruiseFirst,
		filled: true, full: moment{at: now}, fuller: moment{at: now}, anchor: moment{at: now},
		reacted: math.Inf(-1), raise: moment{at: math.Inf(-1)},
	}
	m.weigh(weightFirst)
	return m
}

// horizon is how many calls a cruise has: as many as stand behind the rate, within bounds.
// Where a throttle costs a pause that is longer than the bucket is deep, probes are rare.
func (m *Model) horizon() float64 {
	most := math.Max(weightMost, m.rate*math.Max(weightSpan, costSpan*m.cost)) / (1 + m.noise)
	least := math.Max(weightLeast, costLeast*m.rate*m.cost)
	return math.Max(least, math.Min(m.weight, most))
}

// reserve is how many tokens are left at the server in a burst: others may take some, and
// the model may be wrong by some.
func (m *Model) reserve() float64 {
	most := math.Max(m.burst, 4) / 2
	if m.burstWeight == burstWeightFirst {
		most = math.Max(most, m.conf.Burst/2)
	}
	return math.Min(most, reserveLeast+reserveNoise*math.Sqrt(m.noise*m.horizon()))
}

// probing tells that the cruise is over.
func (m *Model) probing() bool { return m.cruise >= 1 }

// sounding tells that a burst leaves nothing in reserve, to find out how deep the server's
// bucket is.
func (m *Model) sounding() bool {
	return m.probing() && float64(m.sent-m.sounded) >= m.horizon()
}

// Pace is the rate at which calls go that are no part of a burst: in a cruise what is
// believed, in a probe about a token more for each round trip, doubling, at most twice it.
func (m *Model) Pace() float64 {
	q := m.rate
	switch {
	case !m.probing():
	case m.judged == 0:
		q *= 2 // nothing is known yet
	case m.trip > 0:
		q *= 1 + math.Min(1, math.Exp2(m.climb)/(m.rate*m.trip))
	}
	return m.bounded(q)
}

func (m *Model) bounded(rate float64) float64 {
	if m.hard {
		return math.Min(rate, m.conf.Rate)
	}
	return rate
}

func (m *Model) floor() float64 {
	return math.Max(math.Min(m.conf.Floor, m.conf.Rate), math.Min(floorRate, floorShare*m.conf.Rate))
}

// Advance brings the level up to now. waiting tells that callers waited since the last
// time.
func (m *Model) Advance(now float64, waiting bool) {
	dt := now - m.last
	if dt <= 0 {
		return
	}
	m.last = now
	before := m.level
	m.level += m.rate * dt
	if m.level < m.burst {
		return
	}
	m.level = m.burst
	if (waiting || m.owed > 0) && !m.Spares(now) {
		// A pause with callers that wait proves nothing: without this the model would
		// settle for a burst too small and a rate too high, which explain it as well.
		if m.weight >= weightFirm {
			m.wasted += math.Max(0, dt-(m.burst-before)/m.rate)
		}
		return
	}
	if m.sent > m.full.sent {
		m.fuller = m.full
	}
	m.filled, m.grown, m.raised = true, false, false
	m.full = m.moment(now)
}

func (m *Model) moment(now float64) moment { return moment{now, m.sent, m.kept} }

// spending is how much of the level a burst keeps, and what share of the rest is counted
// on.
func (m *Model) spending() (keep, share float64) {
	switch {
	case !m.filled:
		// What has refilled since a throttle is as sure as the rate is.
		return m.reserve(), 1 - math.Min(1, weightSure/m.weight)
	case m.sounding():
		return 0, 1
	}
	return m.reserve(), 1
}

// Surplus is how many tokens may go at once, as far as is known.
func (m *Model) Surplus() float64 {
	keep, share := m.spending()
	return (m.level - keep) * share
}

// Ready tells whether a call may go. The model is up to date.
func (m *Model) Ready(now float64) bool {
	return m.Spares(now) || now >= m.pause && m.due(now)
}

// Spares tells whether a call may go as part of a burst.
func (m *Model) Spares(now float64) bool {
	return now >= m.pause && m.Surplus() >= 1-epsilon && m.starting()
}

// due tells whether the next paced call may go.
func (m *Model) due(now float64) bool { return now >= m.next-tie }

// starting tells that no more calls are in flight than a burst may have that begins slowly.
func (m *Model) starting() bool { return m.inFlight <= slowStart+m.streak }

// When tells when the next call may go, if nothing is heard until then.
func (m *Model) When(now float64) float64 {
	at := m.next
	if need := m.needed(); need <= m.burst && m.starting() {
		at = math.Min(at, now+(need-m.level)/m.rate)
	}
	return math.Max(at, math.Max(now, m.pause))
}

// needed is the level at which a call may go as part of a burst; +Inf: at none.
func (m *Model) needed() float64 {
	keep, share := m.spending()
	return keep + 1/share
}

// Soonest is a lower bound of when the n-th of those who wait can go, whatever is heard.
func (m *Model) Soonest(now float64, n int) float64 {
	at := math.Max(now, m.pause)
	level := math.Max(0, m.level)
	if level < 1 {
		at = math.Max(at, math.Min(m.next-tie, now+m.refill(1-level)))
	}
	return math.Max(at, now+m.refill((float64(n)-1-level)/2-late*m.rate))
}

// refill is a lower bound of the seconds in which so many tokens refill: the rate may have
// doubled at once, and again with each raise.
func (m *Model) refill(tokens float64) float64 {
	between := raiseTrips * m.trip
	if tokens <= 0 || between <= 0 {
		return 0
	}
	return between * math.Log2(1+tokens*math.Ln2/(2*m.rate*between))
}

// Hold lets nothing go before a time.
func (m *Model) Hold(until float64) {
	m.pause = math.Max(m.pause, until)
	m.next = math.Max(m.next, m.pause)
}

// Send counts a call that goes. waiting tells that callers wait.
func (m *Model) Send(now float64, waiting bool) Mark {
	q := m.Pace()
	if m.due(now) || now < m.pause {
		m.next = math.Max(m.next, now-late) + 1/q
		if waiting {
			m.progress(now - m.paced)
		}
		m.paced = now
	} else {
		m.next = now + 1/q
	}
	m.level--
	m.inFlight++
	return m.mark(now)
}

// progress is one more call of a cruise or of a probe.
func (m *Model) progress(dt float64) {
	trips := math.Inf(1)
	if m.trip > 0 {
		trips = dt / m.trip
	}
	if m.probing() && m.trip > 0 {
		m.climb += math.Min(1/climbCalls, trips/climbTrips)
	} else if !m.probing() {
		m.cruise += math.Min(1/m.horizon(), trips/cruiseTrips)
	}
}
