package fleet_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/fleet/storetest"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T, test func(*testing.T, storetest.Harness)) {
		synctest.Test(t, func(t *testing.T) {
			test(t, storetest.Harness{Store: fleet.NewMemory(), Now: time.Now})
		})
	})
}

// What has come and gone leaves nothing behind.
func TestMemoryForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := fleet.NewMemory()
		l := sharing.Limits{Rate: 10, Burst: 20}
		for i := range 1000 {
			ask := fleet.BucketAsk{Key: fmt.Sprint(i), Ask: sharing.Ask{Limits: l, Want: 1}}
			if _, err := m.Exchange(t.Context(), fmt.Sprint(i), []fleet.BucketAsk{ask}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Slots(t.Context(), fmt.Sprint(i), []fleet.SlotsAsk{{Key: fmt.Sprint(i), SlotAsk: sharing.SlotAsk{Max: 1, Want: 1, Lasts: time.Second}}}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Present(t.Context(), fleet.Member{ID: fmt.Sprint(i)}, time.Second); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if _, err := m.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
		if buckets, slots, members := m.Held(); buckets+slots+members != 0 {
			t.Errorf("%d buckets, %d pools and %d members are held", buckets, slots, members)
		}
	})
}
