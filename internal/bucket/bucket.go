package bucket

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudpace/cloudpace/internal/learning"
)

// Options are the settings of one bucket.
type Options struct {
	Rate  float64 // tokens a second: the ceiling of an adaptive bucket
	Burst float64 // tokens it can store, at least 1

	Adaptive bool          // throttles cut the rate, successes bring it back
	Learn    bool          // … or teach the bucket the rate and burst that the server has
	Soft     bool          // a bucket that learns may go beyond Rate and Burst
	MinRate  float64       // the floor of cuts
	MaxPause time.Duration // the longest pause a hint can cause
}

// Bucket is one level. Its methods are safe for concurrent use.
type Bucket struct {
	group    *group
	parent   *Bucket
	learning bool // something learns here, or where tokens come from
	opt      Options

	// Guarded by group.mu.
	rate, burst float64 // in force now
	tokens      float64 // as of last; below zero is debt
	last        time.Time
	pause       pause
	law         aimd
	queue       queue
	feed        *feed           // nil: time fills the bucket
	model       *learning.Model // nil: it does not learn
	epoch       time.Time       // the beginning of the model's time
	begun       float64         // when the model began, by its own time
	whole       *Options        // the bucket's own, while others share it; nil otherwise

	// slowed tells without the lock that there is something to recover.
	slowed atomic.Bool
}

// New makes a full bucket. A bucket with a parent shares the parent's lock and
// queue order.
func New(opt Options, parent *Bucket, now time.Time) *Bucket {
	opt.Burst = math.Max(1, opt.Burst)
	opt.MinRate = math.Min(opt.MinRate, opt.Rate)
	b := &Bucket{parent: parent, opt: opt, rate: opt.Rate, burst: opt.Burst, tokens: opt.Burst, last: now}
	b.law.lowest = opt.Rate
	if b.learning = opt.Learn && !math.IsInf(opt.Rate, 1); b.learning {
		b.learn(now)
	}
	if parent != nil {
		b.group = parent.group
	} else {
		b.group = &group{root: b}
	}
	return b
}

// Take takes a token from every level if that is possible now and nobody is
// waiting that should come first. The mark is for telling the call's outcome.
func (b *Bucket) Take(now time.Time) (k Mark, ok bool) {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.retired || len(g.busy) > 0 || !b.canTake(now) {
		return k, false
	}
	return b.take(now), true
}

// Return gives back the token of a call that was granted and never sent.
func (b *Bucket) Return(now time.Time, k Mark) {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	for l := b; l != nil; l = l.parent {
		l.advance(now)
		l.tokens++
	}
	if b.knows(k) {
		b.model.Unsent(k)
	}
	g.dispatch(now) // first, because a queue has room for more than a burst
	for l := b; l != nil; l = l.parent {
		room := l.burst
		switch {
		case l.learns() != nil:
		case l.feed != nil:
			l.feed.used--
			l.feed.wake()
			continue // it was handed out, and goes back from there
		case l.pause.on:
			room = 0 // what is stored in a pause would leave as a burst at its end
		}
		l.tokens = math.Min(l.tokens, room)
	}
	g.poke()
}

// Pause stops this level for d, at most Options.MaxPause. A pause that is under
// way is never shortened. Callers leave at the bucket's rate afterwards: the first
// at the end of a pause that is longer than one token takes, and no sooner than
// its token is there when it is shorter.
func (b *Bucket) Pause(now time.Time, d time.Duration) {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	b.advance(now)
	b.pauseFor(now, d)
	if f := b.feed; f != nil && b.pause.on {
		f.paused = b.pause.until
		f.wake()
	}
	g.sweep(now)
	g.poke()
}

// Paused tells whether this level or one above it is paused.
func (b *Bucket) Paused(now time.Time) bool {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	for l := b; l != nil; l = l.parent {
		if l.pause.on && !l.pause.over(now) {
			return true
		}
	}
	return false
}

// Idle tells that forgetting the bucket loses nothing: it is full, has learned
// nothing and nobody waits.
func (b *Bucket) Idle(now time.Time) bool {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	b.advance(now)
	if b.queue.n > 0 || b.pause.on || b.rate < b.opt.Rate {
		return false
	}
	if f := b.feed; f != nil {
		return b.held() == 0 && b.tokens > -epsilon && f.used == 0 && f.throttled.IsZero() && f.paused.IsZero()
	}
	if m := b.learns(); m != nil && !m.Idle() {
		return false
	}
	return b.tokens >= b.burst-epsilon
}

// Retire ends a bucket that has been replaced, with its whole group: everybody
// who waits is told to go elsewhere, and so is everybody who comes later.
func (b *Bucket) Retire() {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	g.retired = true
	for len(g.busy) > 0 {
		g.finish(g.busy[0].queue.head, Moved)
	}
}

// epsilon forgives the rounding of sums of fractions of a token.
const epsilon = 1e-9

// advance brings the tokens up to now. Time only moves forward: a reading that is
// older than the last one changes nothing.
func (b *Bucket) advance(now time.Time) {
	if m := b.learns(); m != nil {
		b.advanceLearned(now, m)
		return
	}
	if b.pause.on {
		if !b.pause.over(now) {
			return
		}
		b.pause.on = false
		if b.feed != nil {
			b.feed.ripen(b, now)
			return
		}
		end := b.pause.until
		if end.After(now) {
			end = now // the wall clock ended the pause before the timers did
		}
		b.tokens = math.Min(b.burst, b.tokens+b.gathered(end))
		if end.After(b.last) {
			b.last = end
		}
	}
	if b.feed != nil {
		b.feed.ripen(b, now)
		return
	}
	b.fill(now)
}

// fill adds what time brings.
func (b *Bucket) fill(now time.Time) {
	dt := now.Sub(b.last)
	if dt <= 0 {
		return
	}
	b.last = now
	b.tokens = min(b.burst, b.tokens+b.rate*dt.Seconds())
}

// canTake tells whether every level has a token now.
func (b *Bucket) canTake(now time.Time) bool {
	for l := b; l != nil; l = l.parent {
		l.advance(now)
		if l.pause.on || l.tokens < 1-epsilon && !math.IsInf(l.rate, 1) {
			return false
		}
		if m := l.learns(); m != nil && !m.Ready(l.since(now)) {
			return false
		}
	}
	return true
}

func (b *Bucket) take(now time.Time) (k Mark) {
	switch m := b.learns(); {
	case m != nil:
		k = m.Send(math.Max(b.since(now), b.begun), b.queue.n > 0) // who asked before the model began is let go by it
	case b.model != nil:
		k = learning.Stamp(b.since(now))
	}
	for l := b; l != nil; l = l.parent {
		if math.IsInf(l.rate, 1) && !l.pause.on {
			continue // it would be there again at once
		}
		l.tokens--
		if l.feed != nil {
			l.feed.spend(l)
		}
	}
	return k
}

// borrow takes a token from every level into debt, down to one burst below
// nothing, pauses or not.
func (b *Bucket) borrow(now time.Time) (k Mark, ok bool) {
	for l := b; l != nil; l = l.parent {
		l.advance(now)
		owed := 0.0
		if l.feed != nil {
			owed = l.feed.owes(now)
		}
		if l.tokens-owed-1 < -l.burst-epsilon {
			return k, false
		}
		if m := l.learns(); m != nil && !m.Lends() {
			return k, false
		}
	}
	return b.take(now), true
}

// readyAt tells when the n-th next token can be had here, other levels aside.
func (b *Bucket) readyAt(now time.Time, n int) time.Time {
	b.advance(now)
	at := b.filledAt(now, n)
	if m := b.learns(); m != nil {
		return later(at, b.at(m.Soonest(b.since(now), n)))
	}
	return at
}

// filledAt is readyAt but for what was learned.
func (b *Bucket) filledAt(now time.Time, n int) time.Time {
	at, have := now, b.tokens
	if b.feed != nil {
		return b.leasedAt(now, float64(n)-have)
	}
	switch {
	case b.pause.on && b.model != nil:
		at, have = b.pause.until, have+b.rate*b.pause.until.Sub(now).Seconds()
	case b.pause.on:
		at, have = b.pause.until, have+b.gathered(b.pause.until)
	}
	missing := float64(n) - have
	if missing <= epsilon || math.IsInf(b.rate, 1) {
		return at
	}
	return at.Add(duration(missing / b.rate))
}

// earliest is a lower bound of when the n-th caller in this leaf's queue can
// leave, whatever happens elsewhere.
func (b *Bucket) earliest(now time.Time, n int) time.Time {
	at := now
	for l := b; l != nil; l = l.parent {
		if t := l.readyAt(now, n); t.After(at) {
			at = t
		}
	}
	return at
}

// duration rounds seconds up to whole nanoseconds, so that a wait never ends
// before the token is there, and saturates.
func duration(seconds float64) time.Duration {
	ns := math.Ceil(seconds * float64(time.Second))
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// group is what connected buckets share: the lock and the order of their queues.
type group struct {
	mu      sync.Mutex
	root    *Bucket
	seq     uint64
	busy    []*Bucket // leaves with waiters
	driver  *Waiter
	retired bool
}
