// Package bulkhead is a pool of slots: so many calls in flight and no more. Who
// finds none free queues, first come first served, and may leave at any time.
package bulkhead

import (
	"container/list"
	"math"
	"sync"
	"sync/atomic"
)

// Bulkhead is safe for concurrent use. Make one with [New].
type Bulkhead struct {
	// slots is changed without mu where nobody waits, since most calls find it so.
	slots atomic.Uint64

	mu    sync.Mutex
	queue list.List // of *Waiter
	watch func()    // somebody has to wait; nil: nobody wants to know
}

// slots are the number of slots, of those in use, and whether somebody waits, in one
// word. While somebody waits only the holder of mu changes it.
type slots struct {
	cap, used uint32 // cap has 31 bits
	waiting   bool
}

const waitingBit = 1 << 63

func (s slots) word() uint64 {
	w := uint64(s.cap)<<32 | uint64(s.used)
	if s.waiting {
		w |= waitingBit
	}
	return w
}

func unpack(w uint64) slots {
	return slots{cap: uint32(w >> 32 &^ (1 << 31)), used: uint32(w), waiting: w&waitingBit != 0}
}

// Waiter is a caller in the queue. It belongs to one goroutine.
type Waiter struct {
	// Ready is closed when the slot is the waiter's.
	Ready chan struct{}

	place   *list.Element
	granted bool
}

// New makes a pool of n slots, at least 1.
func New(n int) *Bulkhead {
	b := &Bulkhead{}
	b.slots.Store(slots{cap: capped(max(1, n))}.word())
	return b
}

func capped(n int) uint32 { return uint32(min(n, math.MaxInt32)) }

// Take takes a slot if one is free and nobody waits for it.
func (b *Bulkhead) Take() bool {
	for {
		w := b.slots.Load()
		s := unpack(w)
		if s.used >= s.cap { // as they all are while somebody waits
			return false
		}
		s.used++
		if b.slots.CompareAndSwap(w, s.word()) {
			return true
		}
	}
}

// Join queues for a slot.
func (b *Bulkhead) Join() *Waiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := &Waiter{Ready: make(chan struct{})}
	w.place = b.queue.PushBack(w)
	b.change(nothing)
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
		b.change(nothing)
	}
	return w.granted
}

// Release gives a slot back. Each slot that was taken is released once.
func (b *Bulkhead) Release() {
	for {
		w := b.slots.Load()
		s := unpack(w)
		if s.waiting {
			break
		}
		s.give()
		if b.slots.CompareAndSwap(w, s.word()) {
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change((*slots).give)
}

func (s *slots) give() {
	if s.used == 0 {
		panic("bulkhead: release of a slot that nobody holds")
	}
	s.used--
}

// Resize changes the number of slots, to none at least. Those in use stay so: a smaller
// pool fills again only when enough have come back.
func (b *Bulkhead) Resize(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change(func(s *slots) { s.cap = capped(max(0, n)) })
}

// Hold lets nobody in until the next Resize, and tells how many slots are in use. Who asks
// others for slots knows then how many it has to keep.
func (b *Bulkhead) Hold() (used int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int(b.change(func(s *slots) { s.cap = min(s.cap, s.used) }).used)
}

// Watch has f called whenever somebody has to wait, nil for nobody. It must not block
// and not call back, for a lock is held.
func (b *Bulkhead) Watch(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watch = f
}

// change puts a change into force, and then grants to all whose turn has come: that is
// one step for those who look without the lock. mu is held.
func (b *Bulkhead) change(f func(*slots)) slots {
	for {
		w := b.slots.Load()
		s := unpack(w)
		f(&s)
		n := 0
		if s.cap > s.used {
			n = min(b.queue.Len(), int(s.cap-s.used))
		}
		s.used += uint32(n)
		s.waiting = b.queue.Len() > n
		if b.slots.CompareAndSwap(w, s.word()) {
			b.grant(n)
			return s
		}
	}
}

func nothing(*slots) {}

func (b *Bulkhead) grant(n int) {
	for range n {
		w := b.queue.Remove(b.queue.Front()).(*Waiter)
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
	s := unpack(b.slots.Load())
	return State{Cap: int(s.cap), Used: int(s.used), Waiting: b.queue.Len()}
}
