package learning

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
}

// State tells what is believed.
func (m *Model) State() State {
	return State{m.rate, m.burst, m.level, m.weight, m.burstWeight, m.noise, m.judged}
}

// Taught tells whether something else is believed than what was configured, or whether the
// outcome of a call is still to come.
func (m *Model) Taught() bool { return m.taught || m.inFlight > 0 || m.owed > 0 }

// Full tells whether a whole burst is stored.
func (m *Model) Full() bool { return m.level >= m.burst-epsilon }

// Settled takes in that a call that was throttled is repeated now, or never.
func (m *Model) Settled() { m.owed-- }

// Unknown takes in that nothing is known of what the server did with a call.
func (m *Model) Unknown() { m.inFlight-- }

// Resume ends what is left of a pause.
func (m *Model) Resume(now float64) { m.pause = min(m.pause, now) }

// Lends tells whether the level is not a whole burst below nothing yet.
func (m *Model) Lends() bool { return m.level-1 >= -m.burst-epsilon }
