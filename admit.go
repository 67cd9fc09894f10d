package cloudpace

import (
	"context"
	"time"

	"github.com/cloudpace/cloudpace/internal/breaker"
	"github.com/cloudpace/cloudpace/internal/bucket"
)

// recheck is the longest sleep of a waiter that has to look again by itself:
// timers may stand still while a machine sleeps, and a pause ends by the wall
// clock too.
const recheck = 30 * time.Second

// admit lets the call send once: breaker, token, slot, and the breaker again at
// sending. On an error nothing is held that was not held before.
func (c *Call) admit(a *admission) error {
	if d := a.until; !d.IsZero() && a.now.After(d) {
		return &DeadlineExceededError{Scope: c.lane.leaf.scope, Err: c.lastErr()}
	}
	for {
		if err := c.run(a); err != nil {
			return err
		}
		again, err := c.send(a)
		if !again {
			return err
		}
	}
}

// admission is one walk down the lane. What it does are methods of the call, which it
// does not point to: its context and times may go to the heap, and the compiler would
// send the call there with them.
type admission struct {
	ctx        context.Context
	start, now time.Time
	until      time.Time // what Until says; zero means never
	token      bool      // one is due
	page       bool      // a further page of a call that asks the circuit once
	place      uint64
	taken      bool // a token is held
	mark       bucket.Mark
	slot       bool // a slot is held that the walk took
	waited     bool
}

func (c *Call) run(a *admission) error {
	for {
		if c.lane.provider.retired.Load() || c.charge.provider.retired.Load() {
			if err := c.rebind(); err != nil {
				return err
			}
		}
		if !c.lane.provider.enabled {
			return nil // switched off while this call was under way
		}
		if is, wait, cause := c.barred(a); is {
			return c.refuse(wait, cause)
		}
		if ok, wait, cause := c.holds(a, a.now); !ok {
			if err := c.refused(a, wait, cause); err != nil {
				return err
			}
			continue
		}
		if c.charge.provider.enabled && (a.token || c.charge.leaf.bucket.Paused(a.now)) {
			mark, ok := c.charge.leaf.bucket.Take(a.now)
			if a.mark = mark; !ok {
				status, err := c.queue(a)
				if err != nil {
					return err
				}
				if status == bucket.Moved {
					continue
				}
			}
			a.taken = true
		}
		if c.opt.hold && c.slot || c.covered {
			return nil
		}
		if c.lane.account.slots.Take() {
			a.slot = true
			return nil
		}
		again, err := c.queueForSlot(a)
		if err != nil {
			return err
		}
		if again {
			continue
		}
		// A pause that began meanwhile holds for this call too.
		if c.charge.leaf.bucket.Paused(a.now) && (!c.own.in.bounded || a.now.Before(a.start.Add(c.own.in.maxWait))) {
			c.undo(a)
			continue
		}
		return nil
	}
}

// send takes the leave to send, and counts. It asks for another walk where the
// circuit has opened and the call waits for it.
func (c *Call) send(a *admission) (again bool, err error) {
	c.lock()
	defer c.unlock()
	if c.done {
		c.undo(a)
		return false, errEnded
	}
	if is, wait, cause := c.barred(a); is {
		c.undo(a)
		return false, c.reject(wait, cause)
	}
	ticket, ok, wait, cause := c.ticket, true, time.Duration(0), error(nil)
	if !a.page {
		ticket, ok, wait, cause = c.lane.leaf.breaker.Enter(a.now, c.ticket)
	}
	if !ok {
		c.undo(a)
		if c.opt.patient {
			return true, nil // the walk meets the same circuit and waits there
		}
		return false, c.reject(wait, cause)
	}
	c.ticket = ticket
	if c.slot && a.slot {
		c.lane.account.slots.Release() // two admissions at once: one slot is enough
	}
	c.slot = c.slot || a.slot
	c.settle(a.now)
	c.forget() // of an attempt that nobody reported
	c.mark = a.mark
	c.reported = false
	repeats := c.paid != unpaid
	c.paid = unpaid
	counts := !c.opt.once || !c.counted
	c.counted = true
	c.count(func(n *counters) {
		if counts {
			n.calls.Add(1)
		}
		if repeats {
			n.retries.Add(1)
		}
		if a.waited {
			n.wait(a.now.Sub(a.start))
		}
	})
	return false, nil
}

// holds tells whether the circuit lets the walk go on.
func (c *Call) holds(a *admission, now time.Time) (ok bool, wait time.Duration, cause error) {
	if a.page {
		return true, 0, nil
	}
	return c.lane.leaf.breaker.Holds(now, c.ticket)
}

// barred tells whether the scope is barred, until a time of the wall clock.
func (c *Call) barred(a *admission) (is bool, wait time.Duration, cause error) {
	if c.charge.leaf.bar.Load() == nil {
		return false, 0, nil
	}
	a.now = time.Now()
	return c.charge.leaf.barred(a.now)
}

// undo gives back what the walk took.
func (c *Call) undo(a *admission) {
	if a.taken {
		a.taken = false
		c.charge.leaf.bucket.Return(a.now, a.mark)
		a.mark = bucket.Mark{}
	}
	if a.slot {
		a.slot = false
		c.lane.account.slots.Release()
	}
}

// deadline is when the walk must be over; zero means never.
func (a *admission) deadline() time.Time {
	d, _ := a.ctx.Deadline()
	if own := a.until; !own.IsZero() && (d.IsZero() || own.Before(d)) {
		return own
	}
	return d
}

// queue waits for a token.
func (c *Call) queue(a *admission) (bucket.Status, error) {
	a.now = time.Now() // a pause may be over by the wall clock: then Join grants at once
	terms := bucket.Terms{Deadline: a.deadline(), Place: a.place}
	if c.own.in.bounded {
		terms.Patience = a.start.Add(c.own.in.maxWait)
	}
	opened, bars := c.lane.leaf.breaker.Opened(), c.charge.leaf.barring.rung()
	if is, _, _ := c.charge.leaf.barred(a.now); is {
		return bucket.Moved, nil // the walk is refused there
	}
	if ok, wait, cause := c.holds(a, a.now); !ok {
		return bucket.Moved, c.refused(a, wait, cause)
	}
	w, status := c.charge.leaf.bucket.Join(a.now, terms)
	a.place = w.Place()
	var timer *time.Timer
	over := c.gone()
	for status == bucket.Waiting {
		a.waited = true
		var wake time.Time
		if status, wake = w.Poll(a.now); status != bucket.Waiting {
			break
		}
		var tick <-chan time.Time
		if !wake.IsZero() {
			d := min(wake.Sub(a.now), recheck)
			if timer == nil {
				timer = time.NewTimer(d)
				defer timer.Stop()
			} else {
				timer.Reset(d)
			}
			tick = timer.C
		}
		var stop error
		barred := false
		select {
		case <-w.C:
		case <-tick:
		case <-a.ctx.Done():
			stop = a.ctx.Err()
		case <-over:
			stop = errEnded
		case <-opened:
			opened = c.lane.leaf.breaker.Opened()
			ok, _, _ := c.holds(a, time.Now())
			barred = !ok
		case <-bars:
			barred = true
		}
		a.now = time.Now()
		if stop != nil || barred {
			if w.Leave(a.now) {
				c.charge.leaf.bucket.Return(a.now, w.Mark())
			}
			return bucket.Moved, stop
		}
	}
	if status == bucket.Refused {
		return 0, &DeadlineExceededError{Scope: c.charge.leaf.scope, RetryAfter: w.Need(), Err: c.lastErr()}
	}
	a.mark = w.Mark()
	return status, nil
}

// queueForSlot waits for a slot, with the token in hand. It asks for another walk
// where the circuit has opened meanwhile, or the scope was barred.
func (c *Call) queueForSlot(a *admission) (again bool, err error) {
	a.now = time.Now()
	opened, bars, over := c.lane.leaf.breaker.Opened(), c.charge.leaf.barring.rung(), c.gone()
	slots := c.lane.account.slots
	w := slots.Join()
	select {
	case <-w.Ready: // it came free meanwhile
	default:
		a.waited = true
		a.mark = c.charge.leaf.bucket.Hold(a.mark)
		defer func() {
			if a.slot {
				a.mark = c.charge.leaf.bucket.Go(a.now, a.mark)
			}
		}()
	}
	var tick <-chan time.Time
	deadline := a.until
	if !deadline.IsZero() {
		timer := time.NewTimer(deadline.Sub(a.now))
		defer timer.Stop()
		tick = timer.C
	}
	var stop error
	for ready := false; !ready && stop == nil; {
		ok, _, _ := c.holds(a, time.Now())
		if barred, _, _ := c.charge.leaf.barred(time.Now()); barred || !ok {
			again = true
			break
		}
		select {
		case <-w.Ready:
			ready = true
		case <-a.ctx.Done():
			stop = a.ctx.Err()
		case <-over:
			stop = errEnded
		case <-tick:
			stop = &DeadlineExceededError{Scope: c.lane.leaf.scope, Err: c.lastErr()}
		case <-opened:
			opened = c.lane.leaf.breaker.Opened()
		case <-bars:
			bars = nil // the walk looks at it
		}
	}
	a.now = time.Now()
	if stop == nil && !again {
		a.slot = true
		return false, nil
	}
	if slots.Leave(w) {
		slots.Release()
	}
	c.undo(a)
	return again, stop
}

// refuse is reject under the lock. A call that has ended meanwhile is refused
// nothing.
func (c *Call) refuse(wait time.Duration, cause error) error {
	c.lock()
	defer c.unlock()
	if c.done {
		return errEnded
	}
	return c.reject(wait, cause)
}

// gone gives a channel that is closed at the call's end, for who waits.
func (c *Call) gone() <-chan struct{} {
	c.lock()
	defer c.unlock()
	if c.over == nil {
		c.over = make(chan struct{})
		if c.done {
			close(c.over)
		}
	}
	return c.over
}

// rebind moves the call to the lanes that the settings in force give its scope.
func (c *Call) rebind() error {
	c.lock()
	scope, charged := c.lane.scope, c.charge.scope
	c.unlock()
	lane := c.own.lane.g.lane(scope)
	charge := c.own.lane.g.chargeLane(charged, lane)
	c.lock()
	defer c.unlock()
	if !c.done {
		c.letGo()
		c.lane, c.charge = lane, charge
		c.mark, c.owing = bucket.Mark{}, false // of the old bucket
		c.ticket = breaker.Ticket{}            // of the old breaker
		return nil
	}
	if charge != lane {
		charge.release()
	}
	lane.release()
	return errEnded
}
