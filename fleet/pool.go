package fleet

import (
	"time"

	"github.com/cloudpace/cloudpace/internal/sharing"
)

// pool is one account's slots. It belongs to the loop, with the membership's lock held.
type pool struct {
	sharing.Pool
	has   int       // slots that the store has given
	until time.Time // for so long
}

// spare is how many slots are held beyond those in use, so that a call that begins seldom
// waits for the store.
const spare = 4

// look finds whether there is something to ask.
func (p *pool) look(now time.Time, lasts time.Duration) (ask SlotsAsk, ok bool) {
	s := p.Slots.State()
	want := s.Used + s.Waiting
	if want > 0 {
		want = min(p.Max, want+spare)
	}
	old := p.until.Sub(now) < lasts*2/3
	switch {
	case want == 0 && p.has == 0:
		return ask, false
	case want > p.has, old:
	default:
		return ask, false // what is too much goes back when the lease is renewed
	}
	return SlotsAsk{Key: p.Key, SlotAsk: sharing.SlotAsk{Max: p.Max, InUse: s.Used, Want: want, Lasts: lasts}}, true
}

// take puts a grant in force. sent is when it was asked for, so that the lease ends here
// no later than there.
func (p *pool) take(sent time.Time, ask SlotsAsk, g sharing.SlotGrant) {
	p.has, p.until = g.Slots, sent.Add(ask.Lasts)
	p.Slots.Resize(g.Slots)
}

// alone lets the pool have its share.
func (p *pool) alone(members int) {
	p.has, p.until = 0, time.Time{}
	p.Slots.Resize(max(1, p.Max/max(1, members)))
}
