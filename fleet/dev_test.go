package fleet_test

import (
	"context"
	"sync"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

type devStore struct {
	mu      sync.Mutex
	buckets map[string]*sharing.Bucket
	slots   map[string]*sharing.Slots
	members map[string]time.Time
	trips   int
	fail    error
	delay   time.Duration
}

func newDev() *devStore {
	return &devStore{buckets: map[string]*sharing.Bucket{}, slots: map[string]*sharing.Slots{}, members: map[string]time.Time{}}
}

func (d *devStore) Exchange(ctx context.Context, member string, asks []fleet.BucketAsk) ([]fleet.BucketGrant, error) {
	time.Sleep(d.delay)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trips++
	if d.fail != nil {
		return nil, d.fail
	}
	out := make([]fleet.BucketGrant, len(asks))
	for i, a := range asks {
		b := d.buckets[a.Key]
		if b == nil {
			b = &sharing.Bucket{}
			d.buckets[a.Key] = b
		}
		out[i].Grant = b.Ask(time.Now(), member, a.Ask)
	}
	return out, nil
}

func (d *devStore) Slots(ctx context.Context, member string, asks []fleet.SlotsAsk) ([]fleet.SlotsGrant, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return nil, d.fail
	}
	out := make([]fleet.SlotsGrant, len(asks))
	for i, a := range asks {
		b := d.slots[a.Key]
		if b == nil {
			b = &sharing.Slots{}
			d.slots[a.Key] = b
		}
		out[i].SlotGrant = b.Ask(time.Now(), member, a.SlotAsk)
	}
	return out, nil
}

func (d *devStore) Present(ctx context.Context, m fleet.Member, lasts time.Duration) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return 0, d.fail
	}
	d.members[m.ID] = time.Now().Add(lasts)
	n := 0
	for _, until := range d.members {
		if until.After(time.Now()) {
			n++
		}
	}
	return n, nil
}

func (d *devStore) Leave(ctx context.Context, m string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.members, m)
	return d.fail
}
func (d *devStore) Status(ctx context.Context) (fleet.Status, error) { return fleet.Status{}, nil }
func (d *devStore) Close() error                                     { return nil }
