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
	Slots int // that it may use until it asks again, at most for what the ask said it lasts
	// Crowded: others want more than they have. A member with more than its share gives
	// some back as they come free.
	Crowded bool
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
// what those leave that want less. A member never loses slots that it uses; what it has
// too much of comes back as it asks again. One that is not heard of for as long as it
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
	h.slots = max(a.InUse, min(want, s.share(a.Max), a.Max-others))
	return SlotGrant{Slots: h.slots, Crowded: crowded}
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
