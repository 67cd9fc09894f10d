package bucket

import (
	"math"
	"time"
)

// feed is where the tokens of a leased bucket come from: somebody who hands them out to
// several processes. Time alone fills nothing then.
type feed struct {
	wake func() // there is something to tell

	lots  []Lot   // to come, in order
	share float64 // tokens a second that this process can count on
	full  bool    // as far as is known, a whole burst may be stored where tokens come from
	low   int     // so few left are a reason to ask for more

	used      int     // tokens taken since the last report
	owed      float64 // told as debt, and not paid yet
	owedAt    time.Time
	throttled time.Time // since then; zero for none
	hint      time.Duration
	paused    time.Time // a pause that no throttle caused, until then
	succeeded bool      // something was served while the rate is low

	outcomes outcomes
}

// Lot is a batch of tokens: N of them, the first usable at At, the others each so much
// later.
type Lot struct {
	At    time.Time
	Every time.Duration
	N     int
}

// Lease is a batch, and what is in force for all processes.
type Lease struct {
	Lot
	Rate, Burst float64
	Active      int           // processes that want tokens
	Pause       time.Duration // what is left of one
}

// Report is what a leased bucket has to tell. Reading it begins the next one.
type Report struct {
	Waiting int // callers that a token would serve
	Held    int // tokens at hand or to come
	Used    int // tokens taken since the last report
	Debt    int // of them taken without leave

	Throttled bool
	Ago       time.Duration // so long ago
	Hint      time.Duration
	Pause     time.Duration // what is left of one that no throttle caused
	Succeeded bool

	Outcomes // of a bucket that learns
}

// Lease makes the bucket live on what it is given, at the given rate at most. What it had
// is gone, but for debt; missing is how much of its burst had been used, which is then
// still missing elsewhere. wake is called whenever there is something to tell; it must
// not block and not call back, for locks are held.
func (b *Bucket) Lease(now time.Time, rate, burst float64, wake func()) (missing int) {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	b.advance(now)
	switch {
	case b.feed != nil:
	case b.model != nil:
		s := b.model.State()
		missing = int(math.Ceil(s.Burst - math.Max(0, s.Level) - epsilon))
	default:
		missing = int(math.Ceil(b.burst - math.Max(0, b.tokens) - epsilon))
	}
	if b.whole == nil {
		whole := b.opt
		b.whole = &whole
	}
	b.opt.Rate, b.opt.Burst = rate, burst
	b.tokens = math.Min(b.tokens, 0)
	b.last = now
	b.rate = math.Min(rate, b.rate) // that of one that learns may have no limit
	b.feed = &feed{wake: wake, share: b.rate, full: !b.learning}
	if b.queue.n > 0 {
		wake()
	}
	return missing
}

// Own lets time fill the bucket again, at a share of the rate and of the burst, which it
// does not exceed until it is leased again. What is at hand stays.
func (b *Bucket) Own(now time.Time, rate, burst float64) {
	b.own(now, func() {
		b.opt.Rate, b.opt.Burst = rate, math.Max(1, burst)
		b.opt.MinRate = math.Min(b.opt.MinRate, rate)
		b.setRate(rate)
	})
}

// Free ends the lease for good. The bucket has its own limits again, and the rate that
// was last in force.
func (b *Bucket) Free(now time.Time) {
	b.own(now, func() {
		if b.whole != nil {
			b.opt, b.whole = *b.whole, nil
			b.setRate(math.Min(b.opt.Rate, math.Max(b.opt.MinRate, b.rate)))
		}
	})
}

func (b *Bucket) own(now time.Time, limits func()) {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	b.advance(now)
	b.feed = nil
	b.last = now
	limits()
	if b.model != nil {
		b.begin(now)
	}
	g.sweep(now)
	g.dispatch(now)
	g.poke()
}

// Deposit puts a lease in force. It does nothing where the bucket is not leased.
func (b *Bucket) Deposit(now time.Time, l Lease) {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.feed == nil {
		return
	}
	b.advance(now)
	if until := now.Add(l.Pause); !b.pause.on || until.Sub(b.pause.until) > sameEnd {
		b.pauseFor(now, l.Pause) // first: the tokens that come with it know of it
	}
	b.rate, b.burst = l.Rate, l.Burst
	b.law.lowest = math.Min(b.law.lowest, l.Rate)
	b.slowed.Store(l.Rate < b.opt.Rate)
	b.feed.share = l.Rate / float64(max(1, l.Active))
	if l.N > 0 {
		if b.pause.on && l.At.Before(b.pause.until) {
			l.At = b.pause.until // they were handed out before it was known
		}
		b.feed.lots = append(b.feed.lots, l.Lot)
		b.feed.low = l.N / 2
		b.feed.full = !b.learning && !l.At.Add(time.Duration(l.N-1)*l.Every).After(now) // no token was in the future
	}
	b.advance(now)
	g.dispatch(now)
	g.sweep(now)
	for _, leaf := range g.busy {
		leaf.want() // what is missing now may be at another level
	}
	g.poke()
}

// sameEnd is how far two tellings of one pause may lie apart: it takes them different
// times to arrive.
const sameEnd = 250 * time.Millisecond

// demand counts the callers that a token of this level would serve: at a leaf those who
// queue, above it those of them whose leaf has a token.
func (b *Bucket) demand() (n int) {
	for _, leaf := range b.group.busy {
		for l := leaf; l != nil; l = l.parent {
			switch {
			case l != b:
			case l == leaf:
				n += leaf.queue.n
			case leaf.feed == nil:
				n++
			default:
				n += min(leaf.queue.n, leaf.held())
			}
		}
	}
	return n
}

// Report tells what there is to tell. It is the zero Report where the bucket is not
// leased.
func (b *Bucket) Report(now time.Time) (r Report) {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	f := b.feed
	if f == nil {
		return r
	}
	b.advance(now)
	if debt := math.Ceil(-b.tokens - epsilon); debt > 0 {
		r.Debt = int(debt)
		f.owed, f.owedAt = f.owes(now)+debt, now
		b.tokens += debt
	}
	r.Waiting, r.Held, r.Used, r.Succeeded = b.demand(), b.held(), f.used, f.succeeded
	if !f.throttled.IsZero() {
		r.Throttled, r.Ago, r.Hint = true, now.Sub(f.throttled), f.hint
	}
	r.Pause = max(0, f.paused.Sub(now))
	r.Outcomes = f.outcomes.tell(now)
	f.used, f.succeeded = 0, false
	f.throttled, f.hint, f.paused = time.Time{}, 0, time.Time{}
	return r
}

// owes is what is left of a debt that was told: time pays it at this process's share.
func (f *feed) owes(now time.Time) float64 {
	return math.Max(0, f.owed-f.share*math.Max(0, now.Sub(f.owedAt).Seconds()))
}

// Unused takes all tokens that nobody has used, and tells how many these are.
func (b *Bucket) Unused(now time.Time) int {
	g := b.group
	g.mu.Lock()
	defer g.mu.Unlock()
	if b.feed == nil {
		return 0
	}
	b.advance(now)
	n := b.held()
	b.feed.lots = nil
	b.tokens = math.Min(b.tokens, 0)
	return n
}

// held counts the tokens at hand and to come.
func (b *Bucket) held() int {
	n := int(math.Max(0, b.tokens) + epsilon)
	for _, l := range b.feed.lots {
		n += l.N
	}
	return n
}

// ripen moves the tokens whose moment has come to hand.
func (f *feed) ripen(b *Bucket, now time.Time) {
	for len(f.lots) > 0 {
		l := &f.lots[0]
		if l.At.After(now) {
			return
		}
		n := l.N
		if l.Every > 0 {
			n = min(n, 1+int(now.Sub(l.At)/l.Every))
		}
		b.tokens += float64(n)
		if l.N -= n; l.N > 0 {
			l.At = l.At.Add(time.Duration(n) * l.Every)
			return
		}
		f.lots = f.lots[1:]
	}
}

// at tells when the n-th next token can be had, beyond those at hand. Behind what is
// handed out it is a guess by the share.
func (f *feed) at(now time.Time, n float64) time.Time {
	at := now
	for _, l := range f.lots {
		if n <= float64(l.N)+epsilon {
			return l.At.Add(time.Duration(math.Ceil(n-epsilon)-1) * l.Every)
		}
		n -= float64(l.N)
		at = l.At.Add(time.Duration(l.N-1) * l.Every)
	}
	if f.share <= 0 {
		return at.Add(1 << 62)
	}
	return at.Add(duration(n / f.share))
}

// leasedAt is readyAt of a leased bucket, of which n tokens are not at hand.
func (b *Bucket) leasedAt(now time.Time, n float64) time.Time {
	at := now
	if n > epsilon {
		if b.feed.full && len(b.feed.lots) == 0 {
			n -= b.burst
		}
		if n > epsilon {
			at = b.feed.at(now, n)
		}
	}
	if b.pause.on && b.pause.until.After(at) {
		at = b.pause.until
	}
	return at
}

// want tells those who hand tokens out that somebody waits, at every level that has
// none left.
func (b *Bucket) want() {
	for l := b; l != nil; l = l.parent {
		if l.feed != nil && l.tokens < 1-epsilon {
			l.feed.wake()
		}
	}
}

// spend notes a token that was taken.
func (f *feed) spend(b *Bucket) {
	f.used++
	if b.tokens < 1 || b.held() <= f.low {
		f.wake()
	}
}

// cutElsewhere tells what a throttle makes of the rate, where it is kept, and whether it does.
func (b *Bucket) cutElsewhere(now time.Time) (rate float64, cut bool) {
	if !b.opt.Adaptive || !b.law.cut.IsZero() && now.Sub(b.law.cut) < cutWindow {
		return b.rate, false
	}
	b.law.cut = now
	rate = math.Max(b.opt.MinRate, b.rate*cutFactor)
	b.law.lowest = math.Min(b.law.lowest, rate)
	return rate, true
}

// refused notes a throttle.
func (f *feed) refused(now time.Time, hint time.Duration) {
	if f.throttled.IsZero() || hint > f.hint {
		f.hint = hint
	}
	f.throttled = now
	f.wake()
}

// drop forgets the tokens at hand and to come, and notes that nobody will use them.
func (b *Bucket) drop() {
	if b.feed != nil {
		b.feed.outcomes.Dropped += b.held()
		b.feed.lots = nil
	}
	b.tokens = math.Min(b.tokens, 0)
}
