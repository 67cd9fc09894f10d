package learning

import "math"

// told is what the server said of its bucket last.
type told struct {
	moment
	left float64
}

// tellsLeast is how many tokens the rate must have brought between two tellings for the
// second to say something of it.
const tellsLeast = 4.0

// Told takes in that the server said how many tokens were left after a call: that is the
// level, and worth more than any probe. What came in between two tellings is the rate.
func (m *Model) Told(now float64, k Mark, left float64) {
	if k.n == 0 {
		return
	}
	if left > m.burst {
		m.burst, m.taught = left, true
		m.Promise()
	}
	since := float64(m.sent - m.number(k))
	m.level = math.Min(m.burst, left+m.rate*(now-k.at)-since)
	m.empty = k.at // the level is known from then on
	was := m.told
	t := k.at - was.at
	begins := was.at == 0 || t < 0 || left >= m.burst-1
	if !begins && m.rate*t < tellsLeast {
		return
	}
	m.told = told{moment{k.at, m.number(k), m.kept}, left}
	if begins {
		return
	}
	if s := m.served(was.moment, k) + left - was.left; s > 0 {
		m.rate = m.bounded(math.Max(m.floor(), (m.weight+s)/(m.weight/m.rate+t)))
		m.weigh(math.Min(m.weight+s, m.rate*weightSpan+weightMost))
		m.taught = true
	}
}
