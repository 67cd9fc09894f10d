// Package bulkhead is a pool of slots: so many calls in flight and no more. Who
// finds none free queues, first come first served, and may leave at any time.
package bulkhead

import (
	"container/list"
	"sync"
)

// Bulkhead is safe for concurrent use. Make one with [New].
type Bulkhead struct {
	mu    sync.Mutex
	cap   int
	used  int
	queue list.List // of *Waiter
	watch func()    // somebody has to wait; nil: nobody wants to know
}

// Waiter is a caller in the queue. It belongs to one goroutine.
type Waiter struct {
	// Ready is closed when the slot is the waiter's.
	Ready chan struct{}

	place   *list.Element
	granted bool
}

// New makes a pool of n slots, at least 1.
func New(n int) *Bulkhead { return &Bulkhead{cap: max(1, n)} }

// Take takes a slot if one is free and nobody waits for it.
func (b *Bulkhead) Take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used >= b.cap || b.queue.Len() > 0 {
		return false
	}
	b.used++
	return true
}

// Join queues for a slot.
func (b *Bulkhead) Join() *Waiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := &Waiter{Ready: make(chan struct{})}
	w.place = b.queue.PushBack(w)
	b.grant()
	if !w.granted && b.watch != nil {
		b.watch()
	}
	return w
}

// Leave takes the waiter out of the queue. It reports true when the slot had been
// granted meanwhile: it is then the caller's to use or to release.
func (b *Bulkhead) Leave(w *Waiter) (granted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !w.granted {
		b.queue.Remove(w.place)
		b.grant()
	}
	return w.granted
}

// Release gives a slot back. Each slot that was taken is released once.
func (b *Bulkhead) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used == 0 {
		panic("bulkhead: release of a slot that nobody holds")
	}
	b.used--
	b.grant()
}

// Resize changes the number of slots, to none at least. Those in use stay so: a smaller
// pool fills again only when enough have come back.
func (b *Bulkhead) Resize(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cap = max(0, n)
	b.grant()
}

// Hold lets nobody in until the next Resize, and tells how many slots are in use. Who asks
// others for slots knows then how many it has to keep.
func (b *Bulkhead) Hold() (used int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cap = min(b.cap, b.used)
	return b.used
}

// Watch has f called whenever somebody has to wait, nil for nobody. It must not block
// and not call back, for a lock is held.
func (b *Bulkhead) Watch(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watch = f
}

func (b *Bulkhead) grant() {
	for b.used < b.cap && b.queue.Len() > 0 {
		w := b.queue.Remove(b.queue.Front()).(*Waiter)
		b.used++
		w.granted = true
		close(w.Ready)
	}
}

// State is a pool as it stands.
type State struct{ Cap, Used, Waiting int }

// State reads the pool.
func (b *Bulkhead) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return State{Cap: b.cap, Used: b.used, Waiting: b.queue.Len()}
}
