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
func (c *Call) admit(ctx context.Context, now time.Time, token bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d := c.opt.deadline; !d.IsZero() && now.After(d) {
		return &DeadlineExceededError{Scope: c.lane.leaf.scope, Err: c.last.err}
	}
	a := admission{c: c, ctx: ctx, start: now, now: now, token: token}
	if err := a.run(); err != nil {
		return err
	}
	return a.send()
}

// admission is one walk down the lane. It stays on the stack unless it must wait.
type admission struct {
	c          *Call
	ctx        context.Context
	start, now time.Time
	token      bool // one is due
	place      uint64
	taken      bool // a token is held
	slot       bool // a slot is held that the walk took
	waited     bool
}

func (a *admission) run() error {
	c := a.c
	for {
		if c.lane.provider.retired.Load() || c.charge.provider.retired.Load() {
			c.rebind()
		}
		if !c.lane.provider.enabled {
			return nil // switched off while this call was under way
		}
		if ok, wait, cause := c.lane.leaf.breaker.Holds(a.now, c.ticket); !ok {
			return c.refuse(wait, cause)
		}
		if a.token || c.charge.leaf.bucket.Paused(a.now) {
			if !c.charge.leaf.bucket.Take(a.now) {
				status, err := a.queue()
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
		if err := a.queueForSlot(); err != nil {
			return err
		}
		// A pause that began meanwhile holds for this call too.
		if c.charge.leaf.bucket.Paused(a.now) && (!c.bounded || a.now.Before(a.start.Add(c.maxWait))) {
			a.undo()
			continue
		}
		return nil
	}
}

// send takes the leave to send, and counts.
func (a *admission) send() error {
	c := a.c
	ticket, ok, wait, cause := c.lane.leaf.breaker.Enter(a.now, c.ticket)
	if !ok {
		a.undo()
		return c.refuse(wait, cause)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		a.undo()
		return errEnded
	}
	c.ticket = ticket
	c.slot = c.slot || a.slot
	c.reported = false
	again := c.paid != unpaid
	c.paid = unpaid
	counts := !c.opt.once || !c.counted
	c.counted = true
	c.count(func(n *counters) {
		if counts {
			n.calls.Add(1)
		}
		if again {
			n.retries.Add(1)
		}
		if a.waited {
			n.wait(a.now.Sub(a.start))
		}
	})
	return nil
}

// undo gives back what the walk took.
func (a *admission) undo() {
	if a.taken {
		a.taken = false
		a.c.charge.leaf.bucket.Return(a.now)
	}
	if a.slot {
		a.slot = false
		a.c.lane.account.slots.Release()
	}
}

// deadline is when the walk must be over; zero means never.
func (a *admission) deadline() time.Time {
	d, _ := a.ctx.Deadline()
	if own := a.c.opt.deadline; !own.IsZero() && (d.IsZero() || own.Before(d)) {
		return own
	}
	return d
}

// queue waits for a token.
func (a *admission) queue() (bucket.Status, error) {
	c := a.c
	a.waited = true
	terms := bucket.Terms{Deadline: a.deadline(), Place: a.place}
	if c.bounded {
		terms.Patience = a.start.Add(c.maxWait)
	}
	opened := c.lane.leaf.breaker.Opened()
	if ok, wait, cause := c.lane.leaf.breaker.Holds(a.now, c.ticket); !ok {
		return 0, c.refuse(wait, cause)
	}
	w, status := c.charge.leaf.bucket.Join(a.now, terms)
	a.place = w.Place()
	var timer *time.Timer
	for status == bucket.Waiting {
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
		select {
		case <-w.C:
		case <-tick:
		case <-a.ctx.Done():
			stop = a.ctx.Err()
		case <-opened:
			opened = c.lane.leaf.breaker.Opened()
			if ok, wait, cause := c.lane.leaf.breaker.Holds(time.Now(), c.ticket); !ok {
				stop = c.refuse(wait, cause)
			}
		}
		a.now = time.Now()
		if stop != nil {
			if w.Leave(a.now) {
				c.charge.leaf.bucket.Return(a.now)
			}
			return 0, stop
		}
	}
	if status == bucket.Refused {
		return 0, &DeadlineExceededError{Scope: c.charge.leaf.scope, RetryAfter: w.Need(), Err: c.last.err}
	}
	return status, nil
}

// queueForSlot waits for a slot, with the token in hand.
func (a *admission) queueForSlot() error {
	c := a.c
	a.waited = true
	opened := c.lane.leaf.breaker.Opened()
	slots := c.lane.account.slots
	w := slots.Join()
	var tick <-chan time.Time
	deadline := c.opt.deadline
	if !deadline.IsZero() {
		timer := time.NewTimer(deadline.Sub(a.now))
		defer timer.Stop()
		tick = timer.C
	}
	var stop error
	for ready := false; !ready && stop == nil; {
		if ok, wait, cause := c.lane.leaf.breaker.Holds(time.Now(), c.ticket); !ok {
			stop = c.refuse(wait, cause)
			break
		}
		select {
		case <-w.Ready:
			ready = true
		case <-a.ctx.Done():
			stop = a.ctx.Err()
		case <-tick:
			stop = &DeadlineExceededError{Scope: c.lane.leaf.scope, Err: c.last.err}
		case <-opened:
			opened = c.lane.leaf.breaker.Opened()
		}
	}
	a.now = time.Now()
	if stop == nil {
		a.slot = true
		return nil
	}
	if slots.Leave(w) {
		slots.Release()
	}
	a.undo()
	return stop
}

// refuse is reject under the lock.
func (c *Call) refuse(wait time.Duration, cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reject(wait, cause)
}

// rebind moves the call to the lanes that the settings in force give its scope.
func (c *Call) rebind() {
	lane := c.g.lane(c.lane.scope)
	charge := lane
	if c.charge != c.lane {
		charge = c.g.chargeLane(c.charge.scope, lane)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.letGo()
	c.lane, c.charge = lane, charge
	c.ticket = breaker.Ticket{} // of the old breaker
}
