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

// Slots is the state of one pool. The zero Slots is empty: nobody has any.
type Slots struct {
	members map[string]*holder
}

type holder struct {
	until time.Time // its slots are everybody's again then
	slots int
	want  int
}

// Ask answers a member. Where there is not enough for all, each gets an equal share of
// what those leave that want less. Slots in use count as the member's until it says that
// they are free. One that is not heard of for as long as it
// said has none.
func (s *Slots) Ask(now time.Time, name string, a SlotAsk) SlotGrant {
	if s.members == nil {
		s.members = make(map[string]*holder)
	}
	others, crowded := 0, false
	for other, h := range s.members {
		switch {
		case !h.until.After(now):
			delete(s.members, other)
		case other != name:
			others += h.slots
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
		h = &holder{}
		s.members[name] = h
	}
	h.until, h.want = now.Add(a.Lasts), want
	fair := max(0, min(want, s.share(a.Max), a.Max-others))
	h.slots = max(a.InUse, fair)
	return SlotGrant{Slots: fair, Crowded: crowded}
}

// share is what a member gets where all want more than there is: the level up to which
// everybody's wish can be filled.
func (s *Slots) share(total int) int {
	level, left, open := 0, total, 0
	for _, h := range s.members {
		if h.want > 0 {
			open++
		}
	}
	for open > 0 && left >= open {
		// Raise the level as far as the next wish that it fills, or as there is.
		step := left / open
		for _, h := range s.members {
			if h.want > level {
				step = min(step, h.want-level)
			}
		}
		level += step
		left -= step * open
		open = 0
		for _, h := range s.members {
			if h.want > level {
				open++
			}
		}
	}
	if open == 0 {
		return total
	}
	return max(1, level)
}
