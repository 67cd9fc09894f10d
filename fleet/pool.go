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
	again time.Time // not to be asked about before
	told  int       // in use, as the store knows

	failing  time.Time // the store has not answered for it since then; zero: it does
	wasAlone bool      // it lives on its share
}

// pace is the least time between two questions about one pool. Slots come free all the
// time, and so the store is asked again as long as somebody waits for one.
const pace = 50 * time.Millisecond

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
	switch {
	case now.Before(p.again):
		return ask, false
	case p.wasAlone: // one of a few that fail
		return p.shared(lasts), true
	case want > p.has:
	case p.has > 0 && s.Used >= p.has && now.Sub(p.again) >= soon: // somebody may have come who has none
	case p.told > p.has && s.Used < p.told: // others wait for what has come free
	case p.has > 0 && p.until.Sub(now) < lasts*2/3:
	default:
		return ask, false // what is too much goes back when the lease is renewed
	}
	// What is begun while the answer is on its way would not be counted.
	p.told, p.again = p.Slots.Hold(), now.Add(pace)
	return SlotsAsk{Key: p.Key, SlotAsk: sharing.SlotAsk{Max: p.Max, InUse: p.told, Want: want, Lasts: lasts}}, true
}

// lost goes on with what it had: the question was not answered.
func (p *pool) lost() {
	if !p.wasAlone {
		p.Slots.Resize(p.has)
	}
}

// trouble notes that the store failed for this pool, while it answers for others. When
// that goes on the pool has its share, until a question is answered. It tells when that
// begins.
func (p *pool) trouble(now time.Time, members int) (begins bool) {
	if p.failing.IsZero() {
		p.failing = now
	}
	p.lost()
	if begins = !p.wasAlone && now.Sub(p.failing) >= patience; begins {
		p.alone(members)
	}
	if p.wasAlone {
		p.again = now.Add(retries)
	}
	return begins
}

// shared says that the share of a pool which is alone is taken.
func (p *pool) shared(lasts time.Duration) SlotsAsk {
	s := p.Slots.State()
	n := max(s.Cap, s.Used)
	return SlotsAsk{Key: p.Key, SlotAsk: sharing.SlotAsk{Max: p.Max, InUse: n, Want: n, Lasts: lasts}}
}

// lease puts the pool on what the store gives.
func (p *pool) lease() {
	p.has, p.wasAlone, p.failing = 0, false, time.Time{}
	p.Slots.Resize(0)
}

// restless tells whether to look again soon.
func (p *pool) restless() bool { return p.told > p.has || p.Slots.State().Waiting > 0 }

// take puts a grant in force. sent is when it was asked for, so that the lease ends here
// no later than there.
func (p *pool) take(sent time.Time, ask SlotsAsk, g sharing.SlotGrant) {
	p.failing, p.wasAlone = time.Time{}, false
	p.has, p.until = g.Slots, sent.Add(ask.Lasts)
	p.Slots.Resize(g.Slots)
}

// alone lets the pool have its share, which is one slot at least.
func (p *pool) alone(members int) {
	p.wasAlone = true
	p.has, p.until = 0, time.Time{}
	p.Slots.Resize(max(1, p.Max/max(1, members)))
}
