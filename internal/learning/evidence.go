package learning

import "math"

// Succeeded takes in that the server served a call.
func (m *Model) Succeeded(now float64, k Mark) {
	m.inFlight--
	m.streak++
	m.heard(now - k.at)
	m.exceeded(now, k)
}

// heard learns how long an answer takes.
func (m *Model) heard(trip float64) {
	if m.trip == 0 {
		m.trip = trip
	} else {
		m.trip += 0.1 * (trip - m.trip)
	}
}

// exceeded finds whether the server gave more than it can have had.
func (m *Model) exceeded(now float64, k Mark) {
	if k.at < m.empty || now-m.raise.at < raiseTrips*m.trip {
		return
	}
	known := m.empty
	if m.filled {
		known = math.Max(known, math.Min(m.full.at, k.at))
	}
	sure := math.Min(1, m.weight/weightFirm)
	if -float64(k.level) > 1+tooMany*math.Sqrt(sure*(1+m.noise*m.rate*(k.at-known))) {
		m.refute(now)
	}
}

// refute takes in that the server gave more than the model had.
func (m *Model) refute(now float64) {
	if m.hard && m.rate >= m.conf.Rate {
		return // what it gives beyond is not to be used
	}
	if m.filled && m.weight >= weightFirm && !m.grown {
		m.grown = true
		m.burst = math.Max(1.5*m.burst, m.burst-m.level)
	} else {
		if !m.raised {
			m.before = m.rate
		}
		m.rate = math.Min(m.Pace(), rateMost)
		m.weigh(m.weight / 8)
		m.climb = math.Max(0, m.climb-1)
		m.raised, m.raise = true, m.moment(now)
	}
	m.level, m.empty, m.taught = 0, now, true
}

// Refused takes in that the server refused a call, of which nothing is learned.
func (m *Model) Refused(k Mark) {
	if k.n != 0 {
		m.inFlight--
		m.kept++
		m.owed++
	}
}

// Throttled takes in that the server refused a call and asked for a pause of hint
// seconds, or 0. Nothing is sent for a moment then.
func (m *Model) Throttled(now float64, k Mark, hint float64) {
	m.Refused(k)
	deep := false                      // it measured the burst alone
	if k.n != 0 && k.at >= m.reacted { // else it was sent before the last one was known
		deep = m.judge(k)
		m.failures++
		if m.streak > 0 {
			m.failures = 1
		}
		m.rate = math.Max(m.floor(), m.bounded(math.Min(m.rate, rateMost)))
		m.reacted, m.taught = now, true
		m.judged++
	}
	m.level, m.empty = 0, now
	m.streak = 0
	if deep {
		m.sounded = m.sent
	} else if m.climb = 0; m.probing() {
		m.cruise = 0 // a stray in a cruise does not begin it anew
	}
	m.cost = math.Max(0, hint-m.burst/m.rate)
	rest := math.Min(1/m.floor(), m.reserve()/m.rate*math.Exp2(float64(m.failures-1)))
	m.Hold(now + math.Max(hint, rest))
}

// served counts the calls from a moment to a mark that the server served.
func (m *Model) served(from moment, k Mark) float64 {
	return float64(m.number(k)) - float64(from.sent) - float64(m.kept-from.kept)
}

// judge learns from a throttle: what the server gave since the last one, or since its
// bucket was full. It tells whether that was a burst alone, which says nothing of the rate.
func (m *Model) judge(k Mark) (deep bool) {
	from, filled := m.since(k)
	s, t := m.served(from, k), math.Max(epsilon, k.at-from.at)
	whole := m.served(m.anchor, k) / math.Max(epsilon, k.at-m.anchor.at)
	here := moment{k.at, m.number(k), m.kept}
	switch {
	case filled:
		m.fromFull(s, t)
		m.settle(here)
	case m.raised:
		m.between(s / t)
		m.settle(here)
	default:
		m.fromEmpty(s, math.Max(t-m.wasted, epsilon), here)
	}
	if !filled || m.rate*t > s/2 {
		m.doubtful(whole)
	}
	return filled && m.rate*t < reserveLeast
}

// since tells where the count begins that ends with a call: when the bucket was last full
// before it was sent, or else at the last throttle.
func (m *Model) since(k Mark) (from moment, filled bool) {
	if m.filled {
		for _, from := range []moment{m.full, m.fuller} {
			if from.at <= k.at && from.at >= m.anchor.at {
				return from, true
			}
		}
	}
	return m.anchor, false
}

// settle makes a throttle the one that the next is measured from.
func (m *Model) settle(here moment) {
	m.anchor, m.filled, m.raised, m.wasted = here, false, false, 0
}

// fromFull learns from a stretch that began with a full bucket: burst and refill together
// gave s calls in t seconds, and both are corrected by how unsure each is. From then on
// they are tied: the more the one was, the less the other. Stretches of different lengths
// tell them apart.
func (m *Model) fromFull(s, t float64) {
	high, raised := 2*m.rate, 0.0
	if m.raised {
		if t > shortTrips*m.trip {
			m.between((s - m.burst) / t)
			m.tie = 0
			return
		}
		// By the same calls. They are judged once, by what was believed before.
		high, raised = m.recent(), m.rate-m.before
		m.rate = m.before
		m.weigh(0)
	}
	e := s - m.rate*t - m.burst
	va := 1 + m.noise*m.rate*t
	vb := m.burst * m.burst / m.burstWeight
	h := t + m.tie
	vr := math.Max(m.unsure, raised*raised) * h * h
	dr := 0.0
	if h != 0 {
		dr = e * vr / (va + vr + vb) / h
	}
	low := m.rate / 2
	dr = math.Max(low, math.Min(math.Max(low, high), m.rate+dr)) - m.rate
	m.rate += dr
	m.burst += m.tie * dr
	share := vb / (va + vb)
	m.burst = math.Max(1, m.burst+share*(s-m.rate*t-m.burst))
	m.tie -= share * h
	m.unsure *= (va + vb) / (va + vr + vb)
	m.burstWeight = math.Min(burstWeightMost, m.burstWeight+1)
	if math.Abs(e) > 1+tooFew*math.Sqrt(va) {
		m.weigh(m.weight / 2)
		return
	}
	m.weight += m.rate * t
	m.hear(e, t, va)
}

// weigh says how many calls stand behind the rate.
func (m *Model) weigh(calls float64) {
	m.weight = math.Max(weightLeast, calls)
	m.unsure = m.rate * m.rate * weightSure / m.weight
}

// move changes the rate, and the burst that is tied to it: as far as the rate was unsure,
// and not where the server's has changed.
func (m *Model) move(to float64) {
	dr := to - m.rate
	if share := math.Min(1, m.unsure/math.Max(epsilon, dr*dr)); m.tie != 0 {
		m.burst = math.Max(1, m.burst+m.tie*dr*share)
		m.tie *= share
	}
	m.rate = to
}

// fromEmpty learns from a stretch that began with an empty bucket: what got through is
// what was refilled.
func (m *Model) fromEmpty(s, t float64, here moment) {
	e := s - m.rate*t
	va := 1 + m.noise*m.rate*t
	agrees := math.Abs(e) <= 1+tooFew*math.Sqrt(va)
	switch {
	case !agrees:
		m.move(math.Max(m.rate/2, (s+0.5)/t))
		m.weigh(s)
		m.noise = math.Max(m.noise, noiseDoubt) // somebody else may have come
	case s >= climbCalls:
		m.move((m.weight + s) / (m.weight/m.rate + t))
		m.weigh(m.weight + s)
		m.hear(e, t, va)
	}
	if s >= climbCalls { // else they are too few to tell, and the count goes on
		m.settle(here)
	}
}

// hear learns how uneven the counts are.
func (m *Model) hear(e, t, va float64) {
	excess := math.Max(0, math.Min(e*e, 3*va)-1) / math.Max(1, m.rate*t)
	m.noise += noiseGain * (excess - m.noise)
}

// doubtful lowers a rate under which throttles come again and again while it cruises: that
// is a burst too small and a rate too high, which explain what was seen as well as what is
// true does. The server gives at least what got through in the whole, pauses counted.
func (m *Model) doubtful(whole float64) {
	m.early++
	if m.probing() {
		m.early = 0
	}
	if m.early >= 2 && m.judged > 0 && whole > 0 && whole < m.rate {
		m.move(math.Max(m.rate/2, math.Sqrt(m.rate*whole)))
		m.weigh(0)
	}
}

// between puts the rate between what the server gave since the last throttle and what it
// gave since the rate was raised, nearer the first.
func (m *Model) between(low float64) {
	high := m.recent()
	low = math.Max(high/8, math.Min(high, low))
	m.rate = m.before
	m.move(low * math.Pow(high/low, 0.25))
	m.weigh(0)
}

// recent is the rate at which the server gave since the rate was raised, or that rate
// where it is less.
func (m *Model) recent() float64 {
	if t := m.last - m.raise.at; t > 0 {
		n := float64(m.sent-m.raise.sent) - float64(m.kept-m.raise.kept)
		if r := n / t; r > 0 {
			return math.Min(m.rate, r)
		}
	}
	return m.rate
}
