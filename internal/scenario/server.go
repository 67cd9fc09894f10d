package scenario

import (
	"math"
	"math/rand/v2"
	"time"
)

// Model is a server at work. It is not safe for concurrent use.
type Model struct {
	spec  Scenario
	start time.Time
	rng   *rand.Rand

	burst, refill float64
	tokens        float64
	last          time.Time
	changes       []Change
	neighbour     time.Time // its next call; zero: there is none

	// Neighbour counts the calls of the neighbours, and Refused those of them that were
	// throttled. Accepted and Throttled are those of the clients.
	Neighbour, Refused, Accepted, Throttled int
}

// Answer is what becomes of one call.
type Answer struct {
	OK         bool
	After      time.Duration // the answer arrives
	RetryAfter time.Duration // the hint of one that is throttled; 0: none
	Left       float64       // tokens, after it
}

// NewModel makes a server whose bucket is full. The same seed gives the same neighbours
// and latencies to the same calls.
func NewModel(s Scenario, start time.Time, seed uint64) *Model {
	m := &Model{
		spec: s, start: start, rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)),
		burst: s.Server.Burst, refill: s.Server.Refill, tokens: s.Server.Burst, last: start, changes: s.Server.Changes,
	}
	if s.NeighbourRPS > 0 {
		m.neighbour = m.next(start.Add(seconds(s.NeighbourFromS)))
	}
	return m
}

// Call is a call that arrives now.
func (m *Model) Call(now time.Time) Answer {
	m.advance(now)
	if m.take() {
		m.Accepted++
		return Answer{OK: true, After: m.jitter(m.spec.Server.LatencyS, latency), Left: m.tokens}
	}
	m.Throttled++
	return Answer{After: m.jitter(m.spec.Server.ThrottledS, throttled), RetryAfter: seconds(m.spec.Server.RetryAfterS), Left: m.tokens}
}

// Path is how long a call is on its way to the bucket.
func (m *Model) Path() time.Duration { return m.jitter(m.spec.Server.PathS, path) }

// Tokens tells what the bucket holds.
func (m *Model) Tokens(now time.Time) float64 {
	m.advance(now)
	return m.tokens
}

func (m *Model) take() bool {
	if m.tokens >= 1 {
		m.tokens--
		return true
	}
	if cost := m.spec.Server.ThrottleCost; cost > 0 {
		m.tokens = math.Min(m.tokens, math.Max(m.tokens-cost, m.spec.Server.Floor))
	}
	return false
}

// advance lets everything happen that comes before now.
func (m *Model) advance(now time.Time) {
	for {
		change := len(m.changes) > 0 && !m.start.Add(seconds(m.changes[0].AtS)).After(now)
		neighbour := !m.neighbour.IsZero() && !m.neighbour.After(now)
		switch {
		case change && (!neighbour || !m.start.Add(seconds(m.changes[0].AtS)).After(m.neighbour)):
			c := m.changes[0]
			m.fill(m.start.Add(seconds(c.AtS)))
			m.changes = m.changes[1:]
			m.burst, m.refill = c.Burst, c.Refill
			m.tokens = math.Min(m.tokens, m.burst)
		case neighbour:
			m.fill(m.neighbour)
			m.Neighbour++
			if !m.take() {
				m.Refused++
			}
			m.neighbour = m.next(m.neighbour)
		default:
			m.fill(now)
			return
		}
	}
}

func (m *Model) fill(at time.Time) {
	m.tokens = math.Min(m.burst, m.tokens+m.refill*at.Sub(m.last).Seconds())
	m.last = at
}

// next is when the neighbour calls again.
func (m *Model) next(after time.Time) time.Time {
	at := after.Add(seconds(m.rng.ExpFloat64() / m.spec.NeighbourRPS))
	if to := m.spec.NeighbourToS; to > 0 && at.After(m.start.Add(seconds(to))) {
		return time.Time{}
	}
	return at
}

func (m *Model) jitter(configured float64, otherwise time.Duration) time.Duration {
	return time.Duration(float64(usual(configured, otherwise)) * (1 + spread*(2*m.rng.Float64()-1)))
}

// usual is how long something takes on average.
func usual(configured float64, otherwise time.Duration) time.Duration {
	if configured > 0 {
		return seconds(configured)
	}
	return otherwise
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
