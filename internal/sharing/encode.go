package sharing

import (
	"maps"
	"slices"
	"time"

	"github.com/cloudpace/cloudpace/internal/learning"
	"github.com/cloudpace/cloudpace/internal/packed"
)

// form is which fields a bucket in bytes has, and in which order. What a model has counts
// for itself.
const form = 1

// ErrNewer is the error of bytes that a later version of this program wrote.
var ErrNewer = packed.ErrNewer

// farthest is when a store's clock can be at most, a hundred times as long after 1970 as
// today.
var farthest = time.Unix(1e11, 0)

// MarshalBinary gives the whole state, for a store that only keeps bytes. Times are kept
// in whole microseconds, which are all that the law knows. The same state gives the same
// bytes.
func (b *Bucket) MarshalBinary() ([]byte, error) {
	p := packed.Write(nil)
	b.pack(p)
	return p.Bytes(), p.Err()
}

// UnmarshalBinary takes a state over: the bucket answers as the one would that was made
// into bytes. Bytes that no bucket gives are refused, and leave a bucket that is new.
func (b *Bucket) UnmarshalBinary(data []byte) error {
	*b = Bucket{}
	p := packed.Read(data)
	b.pack(p)
	if err := p.Err(); err != nil {
		*b = Bucket{}
		return err
	}
	return nil
}

// pack writes or reads everything.
func (b *Bucket) pack(p *packed.Packer) {
	p.Form(form)
	b.limits.pack(p)
	p.Float(&b.rate)
	for _, t := range []*time.Time{&b.at, &b.free, &b.throttled, &b.cut, &b.raised, &b.paused, &b.opened} {
		p.Time(t)
	}
	b.circuit.pack(p)
	names := slices.Sorted(maps.Keys(b.members))
	n := len(names)
	p.Count(&n)
	for i := 0; i < n && p.Most(n-i); i++ {
		name, m := "", &member{}
		if !p.Reading() {
			name, m = names[i], b.members[names[i]]
		}
		p.Text(&name)
		p.Time(&m.seen)
		p.Time(&m.last)
		p.Bool(&m.hungry)
		p.Count(&m.out)
		p.Uint(&m.turn)
		p.Time(&m.due)
		if p.Reading() {
			if b.members == nil {
				b.members = make(map[string]*member)
			}
			b.members[name] = m
		}
	}
	learns := b.learner != nil
	p.Bool(&learns)
	if learns {
		if p.Reading() {
			b.learner = &learner{model: &learning.Model{}}
		}
		b.learner.pack(p)
	}
	if p.Reading() && !b.possible() {
		p.Fail()
	}
}

// possible tells whether a bucket that was read can be used.
func (b *Bucket) possible() bool {
	most := b.at.Add(2 * longest)
	for _, t := range []time.Time{b.free, b.throttled, b.cut, b.raised, b.paused, b.opened} {
		if t.After(most) {
			return false
		}
	}
	for _, m := range b.members {
		if m.seen.After(most) || m.last.After(most) {
			return false
		}
	}
	if b.learner != nil && !b.learner.possible(b) {
		return false
	}
	if b.limits == (Limits{}) { // a new one
		return b.rate == 0 && b.learner == nil
	}
	return !b.at.After(farthest) && b.at.Unix() >= 0 && sane(b.limits) && b.rate > 0 && b.rate <= mostRate
}

func (n *learner) possible(b *Bucket) bool {
	out := n.model.InFlight()
	for _, m := range b.members {
		if m.out > out {
			return false
		}
		out -= m.out
	}
	age := b.at.Sub(n.epoch)
	return age >= 0 && age <= longest && sane(n.under)
}

// sane tells whether limits are such as asks have that are sane.
func sane(l Limits) bool {
	a, err := Ask{Limits: l}.Sane()
	return err == nil && a.Limits == l
}

func (l *Limits) pack(p *packed.Packer) {
	for _, f := range []*float64{&l.Rate, &l.Burst, &l.MinRate} {
		p.Float(f)
	}
	for _, b := range []*bool{&l.Adaptive, &l.Learn, &l.Soft} {
		p.Bool(b)
	}
	p.Span(&l.MaxPause)
}

func (c *Circuit) pack(p *packed.Packer) {
	p.Span(&c.Left)
	p.Span(&c.Cooldown)
	p.Text(&c.Cause)
}

func (n *learner) pack(p *packed.Packer) {
	n.model.Pack(p)
	p.Time(&n.epoch)
	n.under.pack(p)
	p.Uint(&n.turns)
	lots := len(n.lots)
	p.Count(&lots)
	before := lot{}
	for i := 0; i < lots && p.Most(lots-i); i++ {
		l := lot{}
		if !p.Reading() {
			l = n.lots[i]
		}
		l.pack(p, before)
		if p.Reading() {
			if !(l.first <= longest.Seconds() && l.every >= 0 && l.every <= longest.Seconds() && n.model.Possible(l.last, l.n)) {
				p.Fail()
			}
			n.lots = append(n.lots, l)
		}
		before = l
	}
}

// pack takes a lot for one much like the last.
func (l *lot) pack(p *packed.Packer, before lot) {
	p.Near(&l.first, before.first)
	p.Near(&l.every, before.every)
	p.Count(&l.n)
	l.last.Pack(p, l.first, before.last)
}
