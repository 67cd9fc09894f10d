package sharing

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// However members ask, what they may use is never more than there is, but for what those
// had in use that came with it.
func TestNeverMoreSlotsThanThereAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Slots
		now := epoch
		most := rapid.IntRange(0, 40).Draw(t, "max")
		granted, until := map[string]int{}, map[string]time.Time{}
		for range rapid.IntRange(1, 200).Draw(t, "asks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * ms)
			name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "member")
			inUse := 0
			if until[name].After(now) {
				inUse = rapid.IntRange(0, granted[name]).Draw(t, "in use") // a member keeps to its grant
			}
			a, err := SlotAsk{Max: most, InUse: inUse, Want: rapid.IntRange(-1, 60).Draw(t, "want"), Lasts: 5 * sec}.Sane()
			if err != nil {
				t.Fatal(err)
			}
			g := s.Ask(now, name, a)
			granted[name], until[name] = max(g.Slots, inUse), now.Add(5*sec)
			total := 0
			for n, slots := range granted {
				if until[n].After(now) {
					total += slots
				}
			}
			if total > most {
				t.Fatalf("%v of %d", granted, most)
			}
			if g.Slots < 0 || g.Slots > max(a.Want, inUse) {
				t.Fatalf("%d in use, %d wanted, %d granted", inUse, a.Want, g.Slots)
			}
		}
	})
}

// pool lets members ask once a second, which use all they get, and gives what each had
// over the last while, and what was used of the pool.
func pool(most int, seconds int, wants ...int) (had []int, used int) {
	var s Slots
	had = make([]int, len(wants))
	slots := make([]int, len(wants))
	for second := range seconds {
		for i, want := range wants {
			now := at(time.Duration(second)*sec + time.Duration(i)*10*ms)
			slots[i] = s.Ask(now, fmt.Sprint(i), SlotAsk{Max: most, Want: want, Lasts: 5 * sec}).Slots
			if second >= 10 {
				had[i] += slots[i]
				used += slots[i]
			}
		}
	}
	return had, used
}

// Who wants less than its share gets that; the others get the same of what is left, and
// all of it, though it cannot be divided or there are fewer slots than members.
func TestEqualSlots(t *testing.T) {
	const seconds = 410
	for _, c := range []struct {
		most  int
		wants []int
		want  []float64
	}{
		{10, []int{100}, []float64{10}},
		{10, []int{3, 4}, []float64{3, 4}},
		{12, []int{100, 100, 100}, []float64{4, 4, 4}},
		{10, []int{1, 2, 100, 100}, []float64{1, 2, 3.5, 3.5}},
		{10, []int{5, 5, 5, 5, 5, 5}, []float64{10. / 6, 10. / 6, 10. / 6, 10. / 6, 10. / 6, 10. / 6}},
		{1, []int{4, 4, 4}, []float64{1. / 3, 1. / 3, 1. / 3}},
		{2, []int{1, 1, 1, 1, 1}, []float64{.4, .4, .4, .4, .4}},
	} {
		had, used := pool(c.most, seconds, c.wants...)
		for i := range c.want {
			got := float64(had[i]) / (seconds - 10)
			if got < 0.8*c.want[i] || got > 1.2*c.want[i] {
				t.Errorf("%d slots, wanted %v: member %d had %.2f on the average, want %.2f", c.most, c.wants, i, got, c.want[i])
			}
		}
		wanted := 0
		for _, w := range c.wants {
			wanted += w
		}
		if got := float64(used) / (seconds - 10); got < 0.85*float64(min(c.most, wanted)) {
			t.Errorf("%d slots, wanted %v: %.2f were used on the average", c.most, c.wants, got)
		}
	}
}

// One that comes later gets its share as the others ask again, and they keep what they
// use until then.
func TestSlotsForOneThatComesLater(t *testing.T) {
	var s Slots
	lasts := 5 * sec
	if g := s.Ask(at(0), "a", SlotAsk{Max: 10, Want: 10, Lasts: lasts}); g != (SlotGrant{Slots: 10}) {
		t.Errorf("alone: %+v", g)
	}
	if g := s.Ask(at(sec), "b", SlotAsk{Max: 10, Want: 10, Lasts: lasts}); g != (SlotGrant{}) {
		t.Errorf("while all are taken: %+v", g)
	}
	if g := s.Ask(at(2*sec), "a", SlotAsk{Max: 10, InUse: 7, Want: 10, Lasts: lasts}); g != (SlotGrant{Slots: 5, Crowded: true}) {
		t.Errorf("with seven in use: %+v", g)
	}
	if g := s.Ask(at(3*sec), "b", SlotAsk{Max: 10, Want: 10, Lasts: lasts}); g.Slots != 3 {
		t.Errorf("what is free: %+v", g)
	}
	if g := s.Ask(at(4*sec), "a", SlotAsk{Max: 10, Lasts: lasts}); g.Slots != 0 {
		t.Errorf("who wants none: %+v", g)
	}
	if g := s.Ask(at(5*sec), "b", SlotAsk{Max: 10, Want: 10, Lasts: lasts}); g != (SlotGrant{Slots: 10}) {
		t.Errorf("alone again: %+v", g)
	}
}

// Slots of a member that is heard of no more are free when its lease ends.
func TestSlotsOfTheDead(t *testing.T) {
	var s Slots
	s.Ask(at(0), "a", SlotAsk{Max: 4, InUse: 4, Want: 4, Lasts: 3 * sec})
	if g := s.Ask(at(3*sec-ms), "b", SlotAsk{Max: 4, Want: 4, Lasts: 3 * sec}); g.Slots != 0 {
		t.Errorf("before the end: %+v", g)
	}
	if got := s.Status(at(2 * sec)).Slots; got["a"] != 4 {
		t.Errorf("status before the end: %v", got)
	}
	if g := s.Ask(at(3*sec), "b", SlotAsk{Max: 4, Want: 4, Lasts: 3 * sec}); g != (SlotGrant{Slots: 4}) {
		t.Errorf("at the end: %+v", g)
	}
	if left := s.Lasts(at(3 * sec)); left != 3*sec {
		t.Errorf("lasts %s", left)
	}
}

// A clock that is set back frees no slots and freezes none.
func TestSlotsWithAClockSetBack(t *testing.T) {
	var s Slots
	s.Ask(at(0), "a", SlotAsk{Max: 4, Want: 4, Lasts: 3 * sec})
	if g := s.Ask(at(-time.Hour), "b", SlotAsk{Max: 4, Want: 4, Lasts: 3 * sec}); g.Slots != 0 {
		t.Errorf("at once: %+v", g)
	}
	if g := s.Ask(at(-time.Hour+3*sec), "b", SlotAsk{Max: 4, Want: 4, Lasts: 3 * sec}); g.Slots != 4 {
		t.Errorf("when the lease is over: %+v", g)
	}
}

func TestSlotsTakeAnyNumber(t *testing.T) {
	numbers := rapid.SampledFrom([]int{0, 1, 7, -1, 1 << 40, -1 << 62, 1<<63 - 1})
	rapid.Check(t, func(t *rapid.T) {
		var s Slots
		for i := range rapid.IntRange(1, 30).Draw(t, "asks") {
			a := SlotAsk{Max: numbers.Draw(t, "max"), InUse: numbers.Draw(t, "in use"), Want: numbers.Draw(t, "want"), Lasts: time.Duration(numbers.Draw(t, "lasts"))}
			sane, err := a.Sane()
			if err != nil {
				if a.Lasts > 0 {
					t.Fatalf("%+v: %v", a, err)
				}
				continue
			}
			g := s.Ask(at(time.Duration(i)), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "member"), sane)
			if g.Slots < 0 || g.Slots > min(max(sane.InUse, sane.Want), sane.Max) {
				t.Fatalf("%+v of %+v", g, sane)
			}
		}
	})
}

// What a member says is cut to what can be reckoned with, and causes stay text.
func TestSane(t *testing.T) {
	long := ""
	for range 400 {
		long += "ü€"
	}
	a, err := Ask{Limits: ec2(), Opened: &Circuit{Left: 8000 * time.Hour, Cause: "\xff" + long}}.Sane()
	if err != nil || a.Opened.Left != Longest || len(a.Opened.Cause) > mostCause || len(a.Opened.Cause) < mostCause-4 {
		t.Errorf("%+v, %v", a.Opened, err)
	}
	if r := []rune(a.Opened.Cause); slices.Contains(r, '�') {
		t.Errorf("%q", a.Opened.Cause)
	}
	if a, _ := (Ask{Limits: ec2(), Hint: 1500}).Sane(); a.Hint != 2*time.Microsecond {
		t.Errorf("1500 ns became %s", a.Hint)
	}
}
