package fleet

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cloudpace/cloudpace/internal/sharing"
)

// Memory is a [Store] within one process: for governors that live in the same program,
// and for tests. It never fails but for an ended context, and it forgets what nobody has
// asked for since it made a difference.
type Memory struct {
	mu      sync.Mutex
	buckets map[string]*kept[sharing.Bucket]
	slots   map[string]*kept[sharing.Slots]
	members map[string]present
	sweep   time.Time // when to look for what can be forgotten
}

var _ Store = (*Memory)(nil)

// kept is a state and when it can be forgotten.
type kept[T any] struct {
	state T
	until time.Time
}

type present struct {
	Member
	until time.Time
}

// sweepEvery is how often a store in memory forgets.
const sweepEvery = 10 * time.Second

// NewMemory returns a store that is empty.
func NewMemory() *Memory {
	return &Memory{
		buckets: map[string]*kept[sharing.Bucket]{},
		slots:   map[string]*kept[sharing.Slots]{},
		members: map[string]present{},
	}
}

// enter takes the lock and the time, unless the context has ended.
func (m *Memory) enter(ctx context.Context) (now time.Time, leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return now, nil, err
	}
	m.mu.Lock()
	now = time.Now()
	if !now.Before(m.sweep) {
		m.sweep = now.Add(sweepEvery)
		forget(m.buckets, now)
		forget(m.slots, now)
		maps.DeleteFunc(m.members, func(_ string, p present) bool { return !p.until.After(now) })
	}
	return now, m.mu.Unlock, nil
}

func forget[T any](all map[string]*kept[T], now time.Time) {
	maps.DeleteFunc(all, func(_ string, k *kept[T]) bool { return !k.until.After(now) })
}

// get finds a state, or begins one.
func get[T any](all map[string]*kept[T], key string, now time.Time) *kept[T] {
	k := all[key]
	if k == nil || !k.until.After(now) {
		k = &kept[T]{}
		all[key] = k
	}
	return k
}

// Exchange implements [Store].
func (m *Memory) Exchange(ctx context.Context, member string, asks []BucketAsk) ([]BucketGrant, error) {
	now, leave, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	grants := make([]BucketGrant, len(asks))
	for i, a := range asks {
		ask, err := a.Sane()
		if err != nil {
			grants[i].Err = err
			continue
		}
		k := get(m.buckets, a.Key, now)
		grants[i].Grant = k.state.Ask(now, member, ask)
		k.until = now.Add(k.state.Lasts(now))
	}
	return grants, nil
}

// Slots implements [Store].
func (m *Memory) Slots(ctx context.Context, member string, asks []SlotsAsk) ([]SlotsGrant, error) {
	now, leave, err := m.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	grants := make([]SlotsGrant, len(asks))
	for i, a := range asks {
		ask, err := a.Sane()
		if err != nil {
			grants[i].Err = err
			continue
		}
		k := get(m.slots, a.Key, now)
		grants[i].SlotGrant = k.state.Ask(now, member, ask)
		k.until = now.Add(k.state.Lasts(now))
	}
	return grants, nil
}

// Present implements [Store].
func (m *Memory) Present(ctx context.Context, member Member, lasts time.Duration) (int, error) {
	now, leave, err := m.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	m.members[member.ID] = present{Member: member, until: now.Add(lasts)}
	n := 0
	for _, p := range m.members {
		if p.until.After(now) {
			n++
		}
	}
	return n, nil
}

// Leave implements [Store].
func (m *Memory) Leave(ctx context.Context, member string) error {
	now, leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	delete(m.members, member)
	for _, k := range m.slots {
		k.state.Leave(now, member)
	}
	return nil
}

// Status implements [Store].
func (m *Memory) Status(ctx context.Context) (Status, error) {
	now, leave, err := m.enter(ctx)
	if err != nil {
		return Status{}, err
	}
	defer leave()
	s := Status{Store: "memory"}
	for _, p := range m.members {
		if left := p.until.Sub(now); left > 0 {
			s.Members = append(s.Members, MemberStatus{Member: p.Member, Left: left.Seconds()})
		}
	}
	for key, k := range m.buckets {
		if k.until.After(now) {
			s.Buckets = append(s.Buckets, bucketStatus(key, k.state.Status(now)))
		}
	}
	for key, k := range m.slots {
		if p := k.state.Status(now); len(p.Slots) > 0 {
			s.Slots = append(s.Slots, SlotsStatus{Key: key, Max: p.Max, Slots: p.Slots})
		}
	}
	s.Sort()
	return s, nil
}

// Close implements [Store]; there is nothing to let go of.
func (m *Memory) Close() error { return nil }

func bucketStatus(key string, s sharing.Status) BucketStatus {
	b := BucketStatus{
		Key: key, RPS: s.Rate, MaxRPS: s.MaxRate, Burst: s.Burst, Tokens: s.Tokens,
		PausedSeconds: s.Paused.Seconds(), Active: s.Active,
	}
	if s.Circuit != nil {
		b.OpenSeconds, b.Cause = s.Circuit.Left.Seconds(), s.Circuit.Cause
	}
	return b
}

// Sort puts everything in order, as all stores give it: members by name and id, the rest
// by key. Lists that are nil become empty.
func (s *Status) Sort() {
	slices.SortFunc(s.Members, func(a, b MemberStatus) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	slices.SortFunc(s.Buckets, func(a, b BucketStatus) int { return strings.Compare(a.Key, b.Key) })
	slices.SortFunc(s.Slots, func(a, b SlotsStatus) int { return strings.Compare(a.Key, b.Key) })
	if s.Members == nil {
		s.Members = []MemberStatus{}
	}
	if s.Buckets == nil {
		s.Buckets = []BucketStatus{}
	}
	if s.Slots == nil {
		s.Slots = []SlotsStatus{}
	}
}
