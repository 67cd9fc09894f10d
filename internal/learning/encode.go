package learning

import (
	"math"

	"github.com/cloudpace/cloudpace/internal/packed"
)

// form is which fields a model in bytes has, and in which order.
const form = 1

// farthest bounds the times of a model, in seconds: 31 years.
const farthest = 1e9

// largest bounds what is stored at a server, and what is counted.
const largest = 1e15

// Pack writes a model, or reads it into m: all that it believes and waits for, so that it
// goes on as if nothing had been. What no model can have come to is refused.
func (m *Model) Pack(p *packed.Packer) {
	p.Form(form)
	p.Bool(&m.hard)
	for _, f := range m.floats() {
		p.Float(f)
	}
	for _, never := range []*float64{&m.reacted, &m.raise.at} { // -Inf: it never was
		p.Number(never)
	}
	for _, n := range m.counts() {
		p.Int(n)
	}
	for _, n := range []*int{&m.inFlight, &m.owed, &m.held, &m.streak, &m.failures, &m.early, &m.judged} {
		p.Count(n)
	}
	for _, b := range []*bool{&m.filled, &m.grown, &m.raised, &m.taught} {
		p.Bool(b)
	}
	if p.Reading() && !m.possible() {
		p.Fail()
	}
}

func (m *Model) floats() []*float64 {
	return []*float64{
		&m.conf.Rate, &m.conf.Burst, &m.conf.Floor,
		&m.rate, &m.weight, &m.burst, &m.burstWeight, &m.unsure, &m.tie, &m.before, &m.noise,
		&m.level, &m.last, &m.empty, &m.pause, &m.next, &m.paced, &m.trip, &m.cost,
		&m.cruise, &m.climb, &m.anchor.at, &m.full.at, &m.fuller.at, &m.wasted, &m.told.at, &m.told.left,
	}
}

func (m *Model) counts() []*int64 {
	list := []*int64{&m.sent, &m.kept, &m.sounded}
	for _, at := range []*moment{&m.anchor, &m.full, &m.fuller, &m.raise, &m.told.moment} {
		list = append(list, &at.sent, &at.kept)
	}
	return list
}

// possible tells whether a model can be used: everything is finite by now.
func (m *Model) possible() bool {
	for _, x := range []float64{m.conf.Rate, m.rate, m.weight, m.burstWeight} {
		if !(x > 0 && x <= largest) {
			return false
		}
	}
	for _, x := range []float64{m.conf.Burst, m.conf.Floor, m.told.left, m.burst, m.unsure, m.noise, m.trip, m.cost, m.cruise, m.climb, m.wasted, m.before} {
		if !(x >= 0 && x <= largest*largest) {
			return false
		}
	}
	for _, t := range []float64{m.last, m.empty, m.pause, m.next, m.paced, m.anchor.at, m.full.at, m.fuller.at, m.reacted, m.raise.at, m.told.at} {
		if !(t <= farthest && (t >= -farthest || math.IsInf(t, -1))) {
			return false
		}
	}
	for _, n := range m.counts() {
		if *n > largest || *n < -largest {
			return false
		}
	}
	return m.burst >= 1 && m.burst <= largest && math.Abs(m.level) <= largest &&
		m.weight >= weightLeast && math.Abs(m.tie) <= largest
}

// Pack writes a mark or reads it. It is close to a time and follows a mark that both sides
// know.
func (k *Mark) Pack(p *packed.Packer, at float64, after Mark) {
	p.Near(&k.at, at)
	n := uint64(k.n - after.n)
	p.Uint(&n)
	k.n = after.n + uint32(n)
	level := uint64(math.Float32bits(k.level) ^ math.Float32bits(after.level))
	p.Uint(&level)
	k.level = math.Float32frombits(uint32(level) ^ math.Float32bits(after.level))
	if n > math.MaxUint32 || level > math.MaxUint32 || !(math.Abs(float64(k.level)) <= largest) {
		p.Fail()
	}
}

// Possible tells whether n calls in a row, the last of them with a mark, can be of this
// model.
func (m *Model) Possible(last Mark, n int) bool {
	back := int64(uint32(m.sent) - last.n)
	return last.n != 0 && n > 0 && back < m.sent && int64(n) <= m.sent-back
}

// InFlight is how many calls have no outcome yet.
func (m *Model) InFlight() int { return m.inFlight }
