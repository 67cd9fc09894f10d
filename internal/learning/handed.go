package learning

import "math"

// What follows is for a model whose calls are other processes': it hands their moments out
// in advance, and hears of what became of them later, many at once.

// Awaits tells that calls may go at once as soon as it is heard what became of those in
// flight, and after how long that is, on average; 0: not known.
func (m *Model) Awaits(now float64) (trip float64, ok bool) {
	return m.trip, now >= m.pause && m.Surplus() >= 1 && !m.starting()
}

// Last is the time that the model has come to.
func (m *Model) Last() float64 { return m.last }

// Paused is when a pause ends; it may be past.
func (m *Model) Paused() float64 { return m.pause }

// Before tells whether a call was let go before a time, or by nobody that is known here.
func (k Mark) Before(at float64) bool { return k.at < at }

// Handed gives the mark of one of the calls that were handed out with an evenly spaced
// batch: the n-th before the last.
func (m *Model) Handed(last Mark, n int, at float64) Mark {
	level := float64(last.level) + float64(n) - m.rate*(last.at-at)
	return Mark{at: at, n: last.n - uint32(n), level: float32(level)}
}

// ServedLate takes in that the server served n calls, the last of them k, which took trip
// seconds.
func (m *Model) ServedLate(k Mark, n int, trip float64) {
	if n <= 0 {
		return
	}
	m.inFlight -= n
	m.streak += n
	if k.n != 0 {
		m.heard(trip)
		m.exceeded(m.last, k)
	}
}

// RefusedLate takes in that the server refused n calls, the first of them k, and asked for
// a pause of hint seconds.
func (m *Model) RefusedLate(k Mark, n int, hint float64) {
	if n <= 0 {
		return
	}
	m.Throttled(m.last, k, hint)
	if k.n != 0 {
		m.owed-- // who is asked for tokens says so
		n--
	}
	m.inFlight -= n // the others were sent after the first, which is judged without them
	m.kept += int64(n)
}

// Taken takes in that n calls went without leave.
func (m *Model) Taken(n int) {
	if n <= 0 {
		return
	}
	m.Send(m.last, true)
	m.sent += int64(n - 1)
	m.level -= float64(n - 1)
	m.inFlight += n - 1
}

// Unused takes in that n calls never went: their tokens are there still where back says so.
func (m *Model) Unused(n int, back bool) {
	m.inFlight -= n
	m.kept += int64(max(0, n))
	if back {
		m.level = math.Min(m.burst, m.level+float64(n))
	}
}

// UnknownLate takes in that nothing is known of n calls.
func (m *Model) UnknownLate(n int) { m.inFlight -= n }

// Drain takes in that no more is stored than so many tokens.
func (m *Model) Drain(to float64) { m.level = math.Min(m.level, to) }

// Confine puts other limits in force. What was learned stays, within them if they are
// hard, and no tokens come of it.
func (m *Model) Confine(conf Limits, hard bool) {
	m.conf, m.hard = conf, hard
	if !m.taught {
		m.rate, m.burst = conf.Rate, conf.Burst
		m.weigh(m.weight)
		m.level = math.Min(m.level, m.burst)
	}
	m.rate = m.bounded(m.rate)
	m.Promise()
}

// Promise keeps a hard model to the burst that was configured, whatever the server has:
// nobody else counts what goes.
func (m *Model) Promise() {
	if m.hard {
		m.burst = math.Min(m.burst, math.Max(1, m.conf.Burst))
		m.level = math.Min(m.level, m.burst)
	}
}
