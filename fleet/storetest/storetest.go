// Package storetest is what every [fleet.Store] has to pass: what its interface promises,
// and the law by which buckets and slots are shared, answer for answer.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T, test func(*testing.T, storetest.Harness)) {
//			t.Parallel()
//			test(t, storetest.Harness{Store: openEmptyStore(t)})
//		})
//	}
package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// Harness is a store that is empty, and what a test may do to it.
type Harness struct {
	Store fleet.Store
	// Other is the same store as another process sees it. nil: Store.
	Other fleet.Store
	// Now is the store's clock, where it can be read exactly: where it stands still but
	// for Sleep, in whole microseconds. nil: the answers are not compared with the law,
	// which they are to be in another run.
	Now func() time.Time
	// Sleep lets the store's time pass. nil: time.Sleep.
	Sleep func(time.Duration)
	// Back sets the store's clock back. nil: it is not tried.
	Back func(time.Duration)
	// Left tells for how long each thing is kept that the store holds. nil: it is not
	// looked at.
	Left func(*testing.T) map[string]time.Duration
}

func (h Harness) now() time.Time {
	if h.Now != nil {
		return h.Now()
	}
	return time.Now()
}

func (h Harness) sleep(d time.Duration) {
	if h.Sleep != nil {
		h.Sleep(d)
		return
	}
	time.Sleep(d)
}

func (h Harness) other() fleet.Store {
	if h.Other != nil {
		return h.Other
	}
	return h.Store
}

// Run runs the suite. For each of its tests it calls within, which opens a store, runs the
// test on it and closes it: in a synctest bubble, or in parallel with others.
func Run(t *testing.T, within func(t *testing.T, test func(*testing.T, Harness))) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Harness)
	}{
		{"Law", testLaw},
		{"LawOfLearning", testLawOfLearning},
		{"LawOfSlots", testLawOfSlots},
		{"EqualShares", testEqualShares},
		{"NeverMoreThanThereIs", testNeverMore},
		{"LostAnswers", testLostAnswers},
		{"WhatOneLearnsAllKnow", testLearned},
		{"WhatOneLearnsOfAServer", testLearnedByAll},
		{"QuotaIsLearned", testLearnsQuota},
		{"LearnerThatIsGone", testLearnerGone},
		{"LearningBesideNot", testTwoWays},
		{"NeverMoreWhileItLearns", testNeverMoreLearning},
		{"KeysAreIndependent", testIndependent},
		{"AnyName", testAnyName},
		{"BadAsks", testBadAsks},
		{"ThousandAsks", testThousand},
		{"Slots", testSlots},
		{"Members", testMembers},
		{"Leave", testLeave},
		{"Status", testStatus},
		{"EndedContext", testEnded},
		{"ManyAtOnce", testConcurrent},
		{"NothingIsKeptForEver", testExpiry},
	} {
		t.Run(c.name, func(t *testing.T) {
			within(t, func(t *testing.T, h Harness) {
				t.Helper()
				c.test(t, h)
			})
		})
	}
}

const (
	ms  = time.Millisecond
	sec = time.Second
)

// ec2 is a bucket of 20 a second that stores 100.
func ec2() sharing.Limits {
	return sharing.Limits{Rate: 20, Burst: 100, MinRate: 0.2, Adaptive: true, MaxPause: 300 * sec}
}

// one asks for one bucket.
func one(t *testing.T, s fleet.Store, member, key string, a sharing.Ask) sharing.Grant {
	t.Helper()
	g, err := s.Exchange(t.Context(), member, []fleet.BucketAsk{{Key: key, Ask: a}})
	if err != nil {
		t.Fatalf("Exchange: %v", err)
	}
	if len(g) != 1 {
		t.Fatalf("Exchange gave %d answers to one ask", len(g))
	}
	if g[0].Err != nil {
		t.Fatalf("Exchange: bucket %q: %v", key, g[0].Err)
	}
	return g[0].Grant
}

// slots asks for one pool.
func slots(t *testing.T, s fleet.Store, member, key string, a sharing.SlotAsk) sharing.SlotGrant {
	t.Helper()
	g, err := s.Slots(t.Context(), member, []fleet.SlotsAsk{{Key: key, SlotAsk: a}})
	if err != nil {
		t.Fatalf("Slots: %v", err)
	}
	if len(g) != 1 {
		t.Fatalf("Slots gave %d answers to one ask", len(g))
	}
	if g[0].Err != nil {
		t.Fatalf("Slots: pool %q: %v", key, g[0].Err)
	}
	return g[0].SlotGrant
}

// status looks at the store.
func status(t *testing.T, s fleet.Store) fleet.Status {
	t.Helper()
	st, err := s.Status(t.Context())
	if err != nil {
		t.Fatalf("Status: %v", err)
	}
	return st
}

// bucket finds one in a status.
func bucket(t *testing.T, s fleet.Store, key string) fleet.BucketStatus {
	t.Helper()
	for _, b := range status(t, s).Buckets {
		if b.Key == key {
			return b
		}
	}
	t.Fatalf("Status does not know bucket %q", key)
	return fleet.BucketStatus{}
}

// together runs something several times at once, with alternating stores.
func together(h Harness, n int, run func(i int, s fleet.Store)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if i%2 == 0 {
				run(i, h.Store)
			} else {
				run(i, h.other())
			}
		})
	}
	wg.Wait()
}
