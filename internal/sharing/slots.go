package sharing

import "time"

// SlotAsk is what a member says of a pool of slots that all members share.
type SlotAsk struct {
	Max   int // slots of all members together; those of the last that asks count
	InUse int // that it cannot give back now
	Want  int // that it has use for, those in use included
	Lasts time.Duration
}

// SlotGrant is the answer.
type SlotGrant struct {
	// Slots is how many it may use until it asks again, at most for as long as the ask
	// said. Where it uses more, it is to let those come free and say so.
	Slots   int
	Crowded bool // others want more than they have
}

// turn is how long a member keeps a slot above its share while others would like it.
const turn = 5 * time.Second

// Slots is the state of one pool. The zero Slots is empty: nobody has any.
type Slots struct {
	at      time.Time // when it was last asked
	max     int
	members map[string]*holder
}

type holder struct {
	until time.Time // its slots are everybody's again then
	slots int
	want  int
	// A slot above the share is had in turns.
	since time.Time // the beginning of its turn
	above time.Time // when it last had one
}

// Ask answers a member; the ask is one that [SlotAsk.Sane] has passed. Where there is not
// enough for all, each gets an equal share of what those leave that want less, and what
// cannot be divided goes around. Slots in use count as the member's until it says that
// they are free. One that is not heard of for as long as it said has none.
func (s *Slots) Ask(now time.Time, name string, a SlotAsk) SlotGrant {
	s.follow(now)
	s.max = a.Max
	crowded := false
	for other, h := range s.members {
		if !h.until.After(now) {
			delete(s.members, other)
		} else if other != name {
			crowded = crowded || h.want > h.slots
		}
	}
	want := max(a.InUse, a.Want)
	if want <= 0 {
		delete(s.members, name)
		return SlotGrant{Crowded: crowded}
	}
	h := s.members[name]
	if h == nil {
		if s.members == nil {
			s.members = make(map[string]*holder)
		}
		h = &holder{}
		s.members[name] = h
	}
	h.until, h.want = now.Add(a.Lasts), want
	fair := max(0, s.give(now, h, want))
	h.slots = max(a.InUse, fair)
	return SlotGrant{Slots: fair, Crowded: crowded}
}

// Leave frees what a member has.
func (s *Slots) Leave(now time.Time, name string) { s.Ask(now, name, SlotAsk{Max: s.max}) }

// give tells how many slots a member gets that wants so many.
func (s *Slots) give(now time.Time, me *holder, want int) int {
	share := s.share()
	free, owed, waiting := s.max, 0, false
	for _, h := range s.members {
		if h == me {
			continue
		}
		free -= h.slots
		owed += max(0, min(h.want, share)-h.slots)
		waiting = waiting || h.want > share && h.slots <= share && h.above.Before(me.above)
	}
	if want <= share || free-owed <= share {
		return min(want, share, free)
	}
	// There is one above the share that nobody else is entitled to.
	has := me.slots > share
	if waiting && (!has || now.Sub(me.since) >= turn) {
		return share
	}
	if !has {
		me.since = now
	}
	me.above = now
	return share + 1
}

// share is the level up to which every wish can be filled.
func (s *Slots) share() int {
	level, left := 0, s.max
	for {
		open, step := 0, left // step: as far as the next wish that is filled
		for _, h := range s.members {
			if h.want > level {
				open++
				step = min(step, h.want-level)
			}
		}
		if open == 0 {
			return s.max
		}
		if step = min(step, left/open); step <= 0 {
			return level
		}
		level += step
		left -= step * open
	}
}

// follow goes along with a clock that was set back; see [Bucket].
func (s *Slots) follow(now time.Time) {
	if back := now.Sub(s.at); back < 0 && !s.at.IsZero() {
		for _, h := range s.members {
			h.until, h.since, h.above = h.until.Add(back), h.since.Add(back), h.above.Add(back)
		}
	}
	s.at = now
}
