package bucket

import "time"

// Status is what has become of a caller that wants a token.
type Status uint8

const (
	Waiting Status = iota
	Granted        // a token of every level is the caller's
	Refused        // the deadline or the limit of debt cannot be met
	Moved          // the bucket was retired: ask its successor
	left
)

// Terms are what a caller is willing to accept. Zero times mean no limit.
type Terms struct {
	Deadline time.Time // refuse as soon as a token by then is impossible
	Patience time.Time // from then on go into debt instead of waiting on
	Place    uint64    // a place that was held before, from Waiter.Place
	// Signal, where it is set, is called instead of a signal on C, with locks held: it is
	// to be quick and not to call back. It is for who has no goroutine for each waiter.
	Signal func()
}

// Waiter is a caller in the queue. It belongs to one goroutine.
type Waiter struct {
	// C is signalled when Poll has something new to say.
	C chan struct{}

	b          *Bucket
	terms      Terms
	status     Status
	need       time.Duration
	mark       Mark
	prev, next *Waiter
}

// Place is the waiter's place in the order of all that ever queued. Who returns
// an unused token and queues again may ask for its old place in Terms.
func (w *Waiter) Place() uint64 { return w.terms.Place }

// Mark is, once Granted, for telling the call's outcome.
func (w *Waiter) Mark() Mark { return w.mark }

// Need is, once Refused, how long the wait would have been at least.
func (w *Waiter) Need() time.Duration { return w.need }

// Join queues for a token. The returned status may already be final: Granted,
// Refused or Moved, and then there is nothing to leave.
func (b *Bucket) Join(now time.Time, terms Terms) (*Waiter, Status) {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	w := &Waiter{C: make(chan struct{}, 1), b: b, terms: terms}
	if g.retired {
		w.status = Moved
		return w, Moved
	}
	if w.terms.Place == 0 {
		g.seq++
		w.terms.Place = g.seq
	}
	g.seq = max(g.seq, w.terms.Place) // a place may be from a retired predecessor
	if b.queue.n == 0 {
		b.advance(now) // nobody has waited until now
		g.busy = append(g.busy, b)
	}
	ahead := b.queue.insert(w)
	g.dispatch(now)
	switch {
	case w.status != Waiting:
	case w.outOfPatience(now):
		w.runOut(now)
	case w.next != nil:
		g.sweep(now) // those it was put before wait longer now
	default:
		w.settle(now, ahead+1)
	}
	g.elect()
	if w.status == Waiting {
		b.want()
		if b.queue.head == w && g.driver != w {
			g.poke() // this leaf may be ready before the driver's next look
		}
	}
	return w, w.status
}

// Poll looks again: it grants to all whose turn has come, and tells what became
// of this waiter. While that is Waiting, wake is the time at which this waiter
// must poll again even if C stays silent; zero means that others see to it.
func (w *Waiter) Poll(now time.Time) (status Status, wake time.Time) {
	g := w.b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.status != Waiting {
		return w.status, time.Time{}
	}
	g.dispatch(now)
	switch {
	case w.status != Waiting:
	case w.outOfPatience(now):
		w.runOut(now)
	default:
		w.settle(now, 1)
	}
	g.elect()
	if w.status != Waiting {
		return w.status, time.Time{}
	}
	wake = w.terms.Patience
	if w.b.parent != nil || w.b.feed != nil {
		// Neighbours that have waited longer may take what the deadline counted on.
		wake = sooner(wake, w.terms.Deadline)
	}
	if g.driver == w {
		wake = sooner(wake, g.nextEvent(now))
	}
	return Waiting, wake
}

// sooner is the earlier of two times of which zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Leave takes the waiter out of the queue. It reports true when the token had
// been granted meanwhile: it is then the caller's to use or to return.
func (w *Waiter) Leave(now time.Time) (granted bool) {
	g := w.b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.status == Waiting {
		w.b.advance(now) // somebody has waited until now
		g.finish(w, left)
		g.dispatch(now)
	}
	return w.status == Granted
}

// settle refuses a waiter that cannot be served in time. n is its position in the
// leaf's queue, counted from 1.
func (w *Waiter) settle(now time.Time, n int) {
	if w.terms.Deadline.IsZero() {
		return
	}
	at := w.b.earliest(now, n)
	if p := w.terms.Patience; !p.IsZero() && p.Before(at) {
		at = p
	}
	if at.After(w.terms.Deadline) || w.b.feed != nil && !now.Before(w.terms.Deadline) {
		w.need = at.Sub(now)
		w.b.group.finish(w, Refused)
	}
}

func (w *Waiter) outOfPatience(now time.Time) bool {
	return !w.terms.Patience.IsZero() && !now.Before(w.terms.Patience)
}

// runOut ends a waiter whose patience is over: in debt, or refused.
func (w *Waiter) runOut(now time.Time) {
	g := w.b.group
	if k, ok := w.b.borrow(now); ok {
		w.mark = k
		g.finish(w, Granted)
		g.sweep(now) // the debt delays everybody else
		return
	}
	w.need = w.b.earliest(now, 1).Sub(now)
	g.finish(w, Refused)
}

// dispatch grants to everybody whose turn has come, and sees that somebody drives.
func (g *group) dispatch(now time.Time) {
	for {
		w := g.turn(now)
		if w == nil {
			break
		}
		w.mark = w.b.take(now)
		g.finish(w, Granted)
	}
	g.elect()
}

// turn is the longest-waiting caller among those that can be granted now.
func (g *group) turn(now time.Time) *Waiter {
	if len(g.busy) == 0 || len(g.busy) > 1 && !g.root.canTake(now) {
		return nil
	}
	var first *Waiter
	for _, b := range g.busy {
		w := b.queue.head
		if (first == nil || w.terms.Place < first.terms.Place) && b.canTake(now) {
			first = w
		}
	}
	return first
}

// nextEvent is when the next caller can be granted.
func (g *group) nextEvent(now time.Time) time.Time {
	var at time.Time
	for _, b := range g.busy {
		t := b.earliest(now, 1)
		if m := b.learns(); m != nil {
			t = later(t, b.at(m.When(b.since(now))))
		}
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if !at.After(now) {
		at = now.Add(time.Microsecond)
		if g.root.feed != nil {
			at = now.Add(10 * time.Millisecond) // tokens may be there, and whoever brings them pokes
		}
	}
	return at
}

// sweep refuses those who can no longer be served in time, after a change that
// made waiting longer.
func (g *group) sweep(now time.Time) {
	for i := 0; i < len(g.busy); i++ {
		b, n := g.busy[i], 0
		for w := b.queue.head; w != nil; {
			next := w.next
			n++
			w.settle(now, n)
			if w.status != Waiting {
				n--
			}
			w = next
		}
		if b.queue.n == 0 {
			i-- // finish took the leaf out
		}
	}
	g.elect()
}

// finish takes a waiter out of its queue and tells it.
func (g *group) finish(w *Waiter, status Status) {
	w.status = status
	b := w.b
	b.queue.remove(w)
	if b.queue.n == 0 {
		for i, l := range g.busy {
			if l == b {
				g.busy = append(g.busy[:i], g.busy[i+1:]...)
				break
			}
		}
	}
	if g.driver == w {
		g.driver = nil
	}
	w.signal()
}

// elect names a driver where there is none: who has waited longest.
func (g *group) elect() {
	if g.driver != nil {
		return
	}
	for _, b := range g.busy {
		if w := b.queue.head; g.driver == nil || w.terms.Place < g.driver.terms.Place {
			g.driver = w
		}
	}
	g.poke()
}

// poke makes the driver look again, because the next event may have moved.
func (g *group) poke() {
	if g.driver != nil {
		g.driver.signal()
	}
}

func (w *Waiter) signal() {
	if w.terms.Signal != nil {
		w.terms.Signal()
		return
	}
	select {
	case w.C <- struct{}{}:
	default:
	}
}

// queue is a leaf's line of waiters, ordered by place.
type queue struct {
	head, tail *Waiter
	n          int
}

// insert puts w where its place belongs, nearly always last, and tells how many
// are ahead.
func (q *queue) insert(w *Waiter) (ahead int) {
	ahead = q.n
	prev := q.tail
	for prev != nil && prev.terms.Place > w.terms.Place {
		prev = prev.prev
		ahead--
	}
	w.prev = prev
	if prev == nil {
		w.next, q.head = q.head, w
	} else {
		w.next, prev.next = prev.next, w
	}
	if w.next == nil {
		q.tail = w
	} else {
		w.next.prev = w
	}
	q.n++
	return ahead
}

func (q *queue) remove(w *Waiter) {
	if w.prev == nil {
		q.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next = nil, nil
	q.n--
}
