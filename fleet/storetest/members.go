package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// lease is long enough that a slow machine does not lose it, where time is real.
const lease = 2 * sec

// testSlots: all slots and no more are given to those that want them, until their lease
// ends.
func testSlots(t *testing.T, h Harness) {
	long := sharing.SlotAsk{Max: 6, Want: 9, Lasts: 1000 * sec}
	if g := slots(t, h.Store, "a", "p", long); g.Slots != 6 || g.Crowded {
		t.Errorf("alone: %+v", g)
	}
	if g := slots(t, h.other(), "b", "p", long); g.Slots != 0 {
		t.Errorf("while another has all: %+v", g)
	}
	for range 2 {
		slots(t, h.Store, "a", "p", long)
		slots(t, h.other(), "b", "p", long)
	}
	if g := slots(t, h.Store, "a", "p", long); g.Slots != 3 {
		t.Errorf("two that want all: %+v", g)
	}
	if g := slots(t, h.other(), "b", "p", sharing.SlotAsk{Max: 6, InUse: 5, Want: 5, Lasts: 1000 * sec}); g.Slots != 3 {
		t.Errorf("more in use than is its own: %+v", g)
	}
	if g := slots(t, h.Store, "a", "p", long); g.Slots != 1 {
		t.Errorf("beside one that uses five of six: %+v", g)
	}
	if g := slots(t, h.other(), "b", "p", sharing.SlotAsk{Max: 6}); g.Slots != 0 {
		t.Errorf("what is not wanted: %+v", g)
	}
	short := long
	short.Lasts = lease
	slots(t, h.Store, "a", "q", short)
	if g := slots(t, h.other(), "b", "q", long); g.Slots != 0 {
		t.Errorf("before a lease ends: %+v", g)
	}
	h.sleep(lease + 10*ms)
	if g := slots(t, h.other(), "b", "q", long); g.Slots != 6 {
		t.Errorf("after a lease has ended: %+v", g)
	}
}

func present(t *testing.T, s fleet.Store, id string, lasts time.Duration) int {
	t.Helper()
	n, err := s.Present(t.Context(), fleet.Member{ID: id, Name: "host-" + id, Started: started}, lasts)
	if err != nil {
		t.Fatalf("Present: %v", err)
	}
	return n
}

var started = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

// testMembers: members are counted while they say that they are there.
func testMembers(t *testing.T, h Harness) {
	if st := status(t, h.Store); len(st.Members) != 0 {
		t.Errorf("in the beginning there are %+v", st.Members)
	}
	for i := range 3 {
		if n := present(t, h.Store, fmt.Sprint(i), 1000*sec); n != i+1 {
			t.Errorf("%d members, want %d", n, i+1)
		}
	}
	if n := present(t, h.other(), "1", 1000*sec); n != 3 {
		t.Errorf("one that says it again makes %d", n)
	}
	if n := present(t, h.Store, "1", lease); n != 3 {
		t.Errorf("with a shorter time: %d", n)
	}
	h.sleep(lease + 10*ms)
	if n := present(t, h.other(), "2", 1000*sec); n != 2 {
		t.Errorf("when the time of one is over there are %d", n)
	}
}

// testLeave: who leaves is not counted, and its slots are free.
func testLeave(t *testing.T, h Harness) {
	present(t, h.Store, "a", 1000*sec)
	present(t, h.other(), "b", 1000*sec)
	all := sharing.SlotAsk{Max: 5, Want: 5, Lasts: 1000 * sec}
	for _, pool := range []string{"p", "q"} {
		slots(t, h.Store, "a", pool, all)
	}
	for range 2 { // again does no harm
		if err := h.Store.Leave(t.Context(), "a"); err != nil {
			t.Fatalf("Leave: %v", err)
		}
	}
	if n := present(t, h.other(), "b", 1000*sec); n != 1 {
		t.Errorf("%d members, after one of two has left", n)
	}
	for _, pool := range []string{"p", "q"} {
		if g := slots(t, h.other(), "b", pool, all); g.Slots != 5 {
			t.Errorf("pool %s, after all that had slots have left: %+v", pool, g)
		}
	}
	if err := h.Store.Leave(t.Context(), "nobody"); err != nil {
		t.Errorf("one that was never there leaves: %v", err)
	}
}

// testStatus: everything is told, in order, and looking changes nothing.
func testStatus(t *testing.T, h Harness) {
	if st := status(t, h.Store); st.Store == "" || st.Members == nil || st.Buckets == nil || st.Slots == nil || len(st.Buckets)+len(st.Slots) > 0 {
		t.Errorf("in the beginning: %+v", st)
	}
	l := ec2()
	present(t, h.Store, "b", 1000*sec)
	present(t, h.Store, "a", 1000*sec)
	one(t, h.Store, "a", "z", sharing.Ask{Limits: l, Throttled: true, Hint: 100 * sec, Opened: &sharing.Circuit{Left: 200 * sec, Cause: "gone"}})
	one(t, h.Store, "b", "y", sharing.Ask{Limits: l, Want: 1})
	one(t, h.Store, "a", "y", sharing.Ask{Limits: l, Want: 1})
	slots(t, h.Store, "a", "p", sharing.SlotAsk{Max: 8, Want: 3, Lasts: 1000 * sec})
	status(t, h.Store)
	st := status(t, h.other())
	if len(st.Members) != 2 || len(st.Buckets) != 2 || len(st.Slots) != 1 {
		t.Fatalf("%+v", st)
	}
	if m := st.Members[0]; m.ID != "a" || m.Name != "host-a" || !m.Started.Equal(started) || m.Left <= 900 || m.Left > 1000 || st.Members[1].ID != "b" {
		t.Errorf("members: %+v", st.Members)
	}
	y, z := st.Buckets[0], st.Buckets[1]
	if y.Key != "y" || y.RPS != 20 || y.MaxRPS != 20 || y.Burst != 100 || y.Tokens < 98 || y.Tokens > 100 || y.PausedSeconds != 0 || y.OpenSeconds != 0 || !reflect.DeepEqual(y.Active, []string{"a", "b"}) {
		t.Errorf("bucket: %+v", y)
	}
	if z.Key != "z" || z.RPS != 10 || z.MaxRPS != 20 || z.Burst != 50 || z.Tokens > 0 || z.PausedSeconds <= 60 || z.PausedSeconds > 100 || z.OpenSeconds <= 160 || z.OpenSeconds > 200 || z.Cause != "gone" || z.Active == nil || len(z.Active) != 0 {
		t.Errorf("bucket: %+v", z)
	}
	if !reflect.DeepEqual(st.Slots[0], fleet.SlotsStatus{Key: "p", Max: 8, Slots: map[string]int{"a": 3}}) {
		t.Errorf("slots: %+v", st.Slots)
	}
}

// testEnded: no method does anything for a context that has ended.
func testEnded(t *testing.T, h Harness) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ask := sharing.Ask{Limits: ec2(), Want: 1}
	_, exchange := h.Store.Exchange(ctx, "a", []fleet.BucketAsk{{Key: "k", Ask: ask}})
	_, slots := h.Store.Slots(ctx, "a", []fleet.SlotsAsk{{Key: "k", SlotAsk: sharing.SlotAsk{Max: 1, Want: 1, Lasts: sec}}})
	_, present := h.Store.Present(ctx, fleet.Member{ID: "a"}, sec)
	leave := h.Store.Leave(ctx, "a")
	_, looked := h.Store.Status(ctx)
	for what, err := range map[string]error{"Exchange": exchange, "Slots": slots, "Present": present, "Leave": leave, "Status": looked} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if st := status(t, h.Store); len(st.Members)+len(st.Buckets)+len(st.Slots) != 0 {
		t.Errorf("something came of it: %+v", st)
	}
}

// testConcurrent: everything at once.
func testConcurrent(t *testing.T, h Harness) {
	l := ec2()
	together(h, 16, func(i int, s fleet.Store) {
		me := fmt.Sprint(i)
		for k := range 20 {
			var asks []fleet.BucketAsk
			for b := range 5 {
				asks = append(asks, fleet.BucketAsk{Key: fmt.Sprint("b", b), Ask: sharing.Ask{Limits: l, Want: k, Throttled: k == 10, Succeeded: true}})
			}
			if _, err := s.Exchange(t.Context(), me, asks); err != nil {
				t.Errorf("Exchange: %v", err)
			}
			if _, err := s.Slots(t.Context(), me, []fleet.SlotsAsk{{Key: "p", SlotAsk: sharing.SlotAsk{Max: 8, Want: k % 4, Lasts: sec}}}); err != nil {
				t.Errorf("Slots: %v", err)
			}
			if _, err := s.Present(t.Context(), fleet.Member{ID: me}, sec); err != nil {
				t.Errorf("Present: %v", err)
			}
			if k%7 == 0 {
				if _, err := s.Status(t.Context()); err != nil {
					t.Errorf("Status: %v", err)
				}
			}
		}
		if err := s.Leave(t.Context(), me); err != nil {
			t.Errorf("Leave: %v", err)
		}
	})
	if st := status(t, h.Store); len(st.Members) != 0 || len(st.Buckets) != 5 || len(st.Slots) != 0 {
		t.Errorf("in the end there are %d members, %d buckets, %d pools", len(st.Members), len(st.Buckets), len(st.Slots))
	}
}

// testExpiry: whatever was said last, nothing is kept for longer than it matters.
func testExpiry(t *testing.T, h Harness) {
	if h.Left == nil {
		return
	}
	check := func(what string, most time.Duration) {
		t.Helper()
		left := h.Left(t)
		if len(left) == 0 {
			t.Errorf("%s: nothing is kept", what)
		}
		for key, d := range left {
			if d <= 0 || d > most {
				t.Errorf("%s: %q is kept for %s, want at most %s", what, key, d, most)
			}
		}
	}
	const soon = 15 * sec // a bucket that is calm again within a second or two
	l := sharing.Limits{Rate: 1e6, Burst: 1e6, MinRate: 1, Adaptive: true, MaxPause: 300 * sec}
	one(t, h.Store, "a", "k", sharing.Ask{Limits: l})
	check("full", soon)
	one(t, h.Store, "a", "k", sharing.Ask{Limits: l, Want: 1})
	check("one token", soon)
	one(t, h.Store, "a", "k", sharing.Ask{Limits: ec2(), Want: 1})
	check("other limits", 5*sec+soon)
	one(t, h.Store, "a", "k", sharing.Ask{Limits: ec2(), Throttled: true})
	check("a rate that was cut", 100*sec+soon)
	one(t, h.Store, "a", "k", sharing.Ask{Limits: ec2(), Pause: 200 * sec})
	check("a pause", 300*sec+soon)
	one(t, h.Store, "a", "k", sharing.Ask{Limits: ec2(), Opened: &sharing.Circuit{Left: 1000 * sec}})
	check("an open circuit", 1000*sec+soon)
	one(t, h.Store, "a", "k", sharing.Ask{Limits: sharing.Limits{Rate: 1e-6, Burst: 1e9, MinRate: 1e-6}, Want: 1000, Debt: 1000})
	check("a bucket that never fills", 100*365*24*time.Hour)
	one(t, h.Store, "a", "l", sharing.Ask{Limits: learning(true), Want: 100, Throttled: true, Hint: 100 * sec})
	check("what was learned", 100*365*24*time.Hour)
	slots(t, h.Store, "a", "p", sharing.SlotAsk{Max: 1, Want: 1, Lasts: 1})
	slots(t, h.Store, "a", "q", sharing.SlotAsk{Max: 1, Want: 1, Lasts: 1000 * time.Hour})
	present(t, h.Store, "a", 1000*time.Hour)
	check("slots and members", 100*365*24*time.Hour)
}
