package fleet_test

import (
	"context"
	"sync"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
)

// watched is a store that is some way off, and may be out of reach. It counts the
// questions that it is asked for tokens.
type watched struct {
	*fleet.Memory

	mu    sync.Mutex
	away  time.Duration // how long an answer takes
	trips int
	gone  error
}

func newWatched() *watched { return &watched{Memory: fleet.NewMemory()} }

// reach is the way to the store.
func (w *watched) reach() error {
	w.mu.Lock()
	away := w.away
	w.mu.Unlock()
	time.Sleep(away)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone
}

func (w *watched) move(away time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away = away
}

func (w *watched) set(gone error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = gone
}

func (w *watched) asked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trips
}

func (w *watched) Exchange(ctx context.Context, member string, asks []fleet.BucketAsk) ([]fleet.BucketGrant, error) {
	if err := w.reach(); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.trips++
	w.mu.Unlock()
	return w.Memory.Exchange(ctx, member, asks)
}

func (w *watched) Slots(ctx context.Context, member string, asks []fleet.SlotsAsk) ([]fleet.SlotsGrant, error) {
	if err := w.reach(); err != nil {
		return nil, err
	}
	return w.Memory.Slots(ctx, member, asks)
}

func (w *watched) Present(ctx context.Context, m fleet.Member, lasts time.Duration) (int, error) {
	if err := w.reach(); err != nil {
		return 0, err
	}
	return w.Memory.Present(ctx, m, lasts)
}

func (w *watched) Leave(ctx context.Context, member string) error {
	if err := w.reach(); err != nil {
		return err
	}
	return w.Memory.Leave(ctx, member)
}
