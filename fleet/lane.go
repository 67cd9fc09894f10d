package fleet

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cloudpace/cloudpace/internal/breaker"
	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/sharing"
	"github.com/cloudpace/cloudpace/verdict"
)

// lane is one bucket that is shared. But for dirty and gone it belongs to the loop, from
// when the loop first hears of it.
type lane struct {
	sharing.Lane
	m     *Membership
	dirty atomic.Bool // it is in the list
	gone  atomic.Bool // the governor has another bucket in its place, or none

	rate, burst float64   // last heard to be in force
	debt        int       // taken without the store's leave, and not told yet
	wasAlone    bool      // it lives, or lived until a moment ago, on its share
	failing     time.Time // the store has answered for the others and not for it since then; zero: it does
	again       time.Time // asking for tokens before is of no use
	visit       time.Time // when to look at it without being told; zero: never
	put         time.Time // the visit that is in the queue
	flow        float64   // tokens a second that it uses
	counted     time.Time // since then
	used        int       // so many
	busy        time.Time // when it last used one
	told        time.Time // its circuit is open until then, as the store knows; zero: closed
	news        sharing.Ask
	heard       time.Time // when the outcomes in it were last added to
}

const (
	ahead = 500 * time.Millisecond // what is asked for before it is needed
	idle  = 500 * time.Millisecond // tokens that nobody has used for so long go back
	short = time.Millisecond       // the least time between two questions for one bucket
	soon  = time.Second            // news of a success that can wait do wait so long
)

// lease puts the bucket on leases. What it has used of its burst is missing for all.
func (n *lane) lease(now time.Time) {
	missing := n.Bucket.Lease(now, n.Rate, n.Burst, n.wake)
	if n.wasAlone {
		n.news, n.debt, n.told = sharing.Ask{}, 0, time.Time{} // of before the outage
		n.news.Drained, n.wasAlone = missing > 0, false
	} else {
		n.debt += missing
		if n.Learn {
			n.news.Unknown += missing // what became of them was told here
		}
	}
	n.again, n.counted = time.Time{}, now
	if n.urgent() {
		n.wake()
	}
}

// alone lets the bucket live on its share of what was last in force.
func (n *lane) alone(now time.Time, members int) {
	n.wasAlone = true
	share := 1 / float64(max(1, members))
	n.Bucket.Own(now, n.rate*share, n.burst*share)
}

// drained asks for nothing, and tells what a bucket that lived on its share has used.
func (n *lane) drained(now time.Time) (ask BucketAsk, ok bool) {
	ask.Key, ask.Limits, ask.Drained = n.Key, n.Limits, true
	return ask, !n.Bucket.Idle(now)
}

// wake notes that there is something to tell. It is called with locks of the bucket held.
func (n *lane) wake() {
	if n.dirty.CompareAndSwap(false, true) {
		n.m.listed(n)
	}
}

// look finds what there is to ask. ok is false where that is nothing, or nothing yet.
func (n *lane) look(now time.Time) (ask BucketAsk, ok bool) {
	n.visit = time.Time{}
	switch {
	case n.gone.Load():
		return ask, false
	case n.wasAlone: // it is one of a few that fail; see trouble
		if now.Before(n.again) {
			n.visit = n.again
			return ask, false
		}
		ask, _ = n.drained(now)
		return ask, true
	}
	r := n.Bucket.Report(now)
	n.measure(now, r.Used)
	n.remember(now, r)
	want := 0
	if r.Waiting > 0 || r.Used > 0 {
		want = max(0, r.Waiting+int(max(0, n.flow)*ahead.Seconds())-r.Held)
	}
	if r.Held > 0 && r.Waiting == 0 && now.Sub(n.busy) >= idle {
		n.news.Back += n.Bucket.Unused(now)
		want = 0
	}
	n.turn(now)
	if r.Held > 0 || r.Waiting > 0 || n.news.Succeeded {
		n.visit = now.Add(idle)
	}
	early := now.Before(n.again)
	if want > 0 && early {
		n.visit = sooner(n.visit, n.again)
	}
	if (want == 0 || early) && !n.urgent() && (!n.news.Succeeded || now.Before(n.again.Add(soon))) {
		return ask, false
	}
	ask = BucketAsk{Key: n.Key, Ask: n.news}
	ask.Limits, ask.Want = n.Limits, want
	ask.Debt += n.debt
	n.news, n.debt = sharing.Ask{}, 0
	return ask, true
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// measure keeps the pace at which tokens are used.
func (n *lane) measure(now time.Time, used int) {
	if n.used += used; used > 0 {
		n.busy = now
	}
	dt := now.Sub(n.counted)
	if dt < ahead/10 {
		return
	}
	weight := 1 - math.Exp(-dt.Seconds()/ahead.Seconds())
	n.flow += weight * (float64(n.used)/dt.Seconds() - n.flow)
	n.used, n.counted = 0, now
}

// remember adds a report to what is to be told.
func (n *lane) remember(now time.Time, r bucket.Report) {
	n.news.Debt += r.Debt
	n.news.Succeeded = n.news.Succeeded || r.Succeeded
	n.news.Outcomes = n.news.Outcomes.Add(r.Outcomes, now.Sub(n.heard))
	n.heard = now
	n.news.Pause = max(n.news.Pause, r.Pause)
	if r.Throttled {
		n.news.Throttled, n.news.Ago, n.news.Hint = true, r.Ago, max(n.news.Hint, r.Hint)
	}
}

func (n *lane) urgent() bool {
	return n.news.Drained || n.news.Throttled || n.news.Pause > 0 || n.news.Back > 0 || n.news.Debt > 0 || n.debt > 0 || n.news.Opened != nil || n.news.Closed
}

// turn finds whether the circuit has opened or closed since the store was told.
func (n *lane) turn(now time.Time) {
	if n.Breaker == nil {
		return
	}
	m, open := n.Breaker.Memory()
	switch {
	case open && m.Until.Sub(n.told).Abs() > short && m.Until.After(now):
		n.told = m.Until
		n.news.Opened, n.news.Closed = &sharing.Circuit{Left: m.Until.Sub(now.Round(0)), Cooldown: m.Cooldown, Cause: text(n.Key, m.Cause)}, false
	case !open && !n.told.IsZero():
		n.told = time.Time{}
		n.news.Opened, n.news.Closed = nil, true
	}
}

// take puts a grant in force.
func (n *lane) take(now time.Time, g sharing.Grant) {
	n.rate, n.burst = g.Rate, g.Burst
	n.failing = time.Time{}
	if n.wasAlone {
		n.lease(now)
		n.visit = now
		return
	}
	n.turn(now) // what is told of a circuit may be older than what this process found out
	n.again = now.Add(max(g.Again, short))
	n.Bucket.Deposit(now, bucket.Lease{
		Lot:  bucket.Lot{At: now.Add(g.After), Every: g.Every, N: g.Tokens},
		Rate: g.Rate, Burst: g.Burst, Active: g.Active, Pause: g.Paused,
	})
	if n.Breaker != nil && g.Circuit != nil && !n.news.Closed {
		until := now.Round(0).Add(g.Circuit.Left)
		n.Breaker.Recall(now, breaker.Memory{Until: until, Cooldown: g.Circuit.Cooldown, Cause: errors.New(g.Circuit.Cause)})
		if m, open := n.Breaker.Memory(); open {
			n.told = m.Until
		}
	}
	if n.visit = sooner(n.visit, n.again); g.Tokens > 0 {
		n.visit = sooner(n.visit, now.Add(idle))
	}
}

// trouble notes that the store failed for this bucket, while it answers for others. When
// that goes on the bucket lives on its share, until a question is answered. It tells when
// that begins.
func (n *lane) trouble(now time.Time, members int) (begins bool) {
	if n.failing.IsZero() {
		n.failing = now
	}
	if begins = !n.wasAlone && now.Sub(n.failing) >= patience; begins {
		n.alone(now, members)
	}
	n.again = now.Add(repeat)
	if n.wasAlone {
		n.again = now.Add(retries)
	}
	n.visit = n.again
	return begins
}

// lost keeps what a question that was not answered would have told: but for tokens given
// back, which may have arrived.
func (n *lane) lost(now time.Time, ask BucketAsk) {
	n.debt += ask.Debt
	n.news.Opened, n.news.Closed = ask.Opened, ask.Closed
	n.news.Succeeded = n.news.Succeeded || ask.Succeeded
	n.news.Drained = n.news.Drained || ask.Drained
	n.news.Pause = max(n.news.Pause, ask.Pause)
	n.news.Outcomes = n.news.Outcomes.Add(ask.Outcomes, 0)
	if ask.Throttled && !n.news.Throttled {
		n.news.Throttled, n.news.Ago, n.news.Hint = true, ask.Ago, ask.Hint
	}
	n.again = now.Add(short)
	n.visit = sooner(n.visit, n.again)
}

// text words the error that opened a circuit.
func text(key string, err error) string {
	if err == nil {
		return ""
	}
	provider, _, _ := strings.Cut(key, "/")
	return verdict.DescribeFor(provider, err)
}
