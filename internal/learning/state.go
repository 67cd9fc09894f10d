package learning

import "math"

// State is what is believed, and on what evidence.
type State struct {
	Rate   float64 // tokens a second
	Burst  float64 // tokens that fit
	Level  float64 // tokens that the server has now
	Calls  float64 // that stand behind the rate
	Bursts float64 // full buckets that stand behind the burst
	Noise  float64 // how uneven the counts are: about 0 alone, 1 where others take half
	// Throttles that were measured. Those that came too close behind one another count once.
	Throttles int
	// Taught tells whether anything was learned.
	Taught bool
}

// State tells what is believed.
func (m *Model) State() State {
	return State{m.rate, m.burst, m.level, m.weight, m.burstWeight, m.noise, m.judged, m.taught}
}

// Idle tells whether nothing is lost when the model is: it believes what was configured, no
// call is under way, and a whole burst is stored.
func (m *Model) Idle() bool { return !m.busy() && m.level >= m.burst-epsilon }

// busy tells whether something else is believed than what was configured, or whether the
// outcome of a call is still to come.
func (m *Model) busy() bool { return m.taught || m.inFlight > 0 || m.owed > 0 }

// Settled takes in that a call that was throttled is repeated now, or never.
func (m *Model) Settled() { m.owed-- }

// Unknown takes in that nothing is known of what the server did with a call.
func (m *Model) Unknown() { m.inFlight-- }

// Resume ends a pause that was to go on for so many seconds, which have passed by another
// clock.
func (m *Model) Resume(now, left float64) {
	m.pause = math.Max(now, m.pause-left)
	m.next = math.Max(m.pause, m.next-left)
}

// Lends tells whether the level is not a whole burst below nothing yet.
func (m *Model) Lends() bool { return m.level-1 >= -m.burst-epsilon }

// Recall takes over what another model believed. The level is what the server holds now as
// far as is known; where more was sent here than that leaves, that counts.
func (m *Model) Recall(s State) {
	spent := m.burst - m.level
	m.rate = m.bounded(within(m.floor(), s.Rate, rateMost))
	m.burst = within(1, s.Burst, burstMost)
	if m.hard {
		m.burst = math.Min(m.burst, m.conf.Burst)
	}
	m.weigh(math.Min(s.Calls, callsMost))
	m.burstWeight = within(burstWeightFirst, s.Bursts, burstWeightMost)
	m.noise = within(0, s.Noise, noiseMost)
	m.judged, m.taught = s.Throttles, s.Taught
	m.level = within(-m.burst, math.Min(s.Level, m.burst-spent), m.burst)
	m.cruise, m.climb, m.tie = 0, 0, 0
	m.begin()
}

// Spend takes in that the server has no more than a level.
func (m *Model) Spend(level float64) {
	m.level = math.Min(m.level, math.Max(-m.burst, level))
	m.begin()
}

// begin begins the count of what the server gives at the level that is believed: as if its
// bucket had been full, and what is missing had been sent since.
func (m *Model) begin() {
	m.anchor = m.moment(m.last)
	m.full = m.anchor
	m.full.sent -= int64(m.burst - m.level)
	m.fuller, m.filled = m.full, true
	m.reacted = m.last
}

func within(least, x, most float64) float64 { return math.Max(least, math.Min(x, most)) }
