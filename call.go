package cloudpace

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cloudpace/cloudpace/internal/breaker"
	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/verdict"
)

// Call is one operation in flight, with all its attempts and pages. Whoever holds
// it reports what becomes of each attempt and ends it:
//
//	call, err := g.Begin(ctx, scope)
//	if err != nil {
//		return err
//	}
//	defer call.Drop()
//	for {
//		err = send(call.Context())
//		if err == nil {
//			call.Succeeded()
//			break
//		}
//		if kind := call.Failed(err); kind != verdict.Throttled && kind != verdict.Transient {
//			break
//		}
//		if stop := call.Retry(); stop != nil {
//			err = stop
//			break
//		}
//		… back off …
//		if stop := call.Next(ctx); stop != nil {
//			err = stop
//			break
//		}
//	}
//	call.End(err)
//	return err
//
// [Do] is this loop with its back-off. A Call is safe for concurrent use, so that
// it can be ended from another goroutine; its attempts follow one another.
type Call struct {
	own *callContext
	opt callOptions

	inert   bool // the provider is disabled: everything passes, nothing is held
	covered bool // it began under a call of its account, and takes no slot

	// mu is nil as long as no other goroutine can have the call: until Begin returns it,
	// and in all of a Do, whose call is on the stack, where no mutex can be.
	mu *sync.Mutex

	// Guarded by mu.
	lane, charge *lane
	ticket       breaker.Ticket
	mark         bucket.Mark // of the attempt under way, or of the one that was throttled
	owing        bool        // it was throttled, and is to be repeated
	slot         bool        // a slot is held
	done         bool
	counted      bool          // as a call, for those that count once
	reported     bool          // the attempt under way has been reported
	afterFailure verdict.Kind  // what the last reported attempt was; OK after a page
	free         int           // free retries used since the last page
	paid         payment       // for the retry that is decided and not sent
	last         *failure      // nil before one, and after a success
	over         chan struct{} // closed at the end, for an admission that waits; made when asked for
}

// freeRetries is how many retries of an operation, or of a page, cost nothing.
const freeRetries = 2

type payment uint8

const (
	unpaid payment = iota
	paidFree
	paidToken
)

// failure is what is known of the last attempt that failed.
type failure struct {
	err         error
	hint        time.Duration
	kind        verdict.Kind
	answered    bool // by the provider
	unprocessed bool // proof that it was not carried out
	// final: repeating is not cloudpace's to do, because the error is its own or
	// that of a call under this one, or because the server asked not to.
	final bool
	alien bool   // … and it says nothing about this call's service
	text  string // what is remembered of it, of those that count
}

var (
	errEnded    = errors.New("cloudpace: the call has ended")
	errNoReport = errors.New("cloudpace: retry without a failed attempt")
)

// Context is what the operation's work runs under: Begin's context, which also
// tells calls that are begun under it whose part they are. Such a call takes no
// second slot, and its final error is neither repeated nor held against this
// call's service.
func (c *Call) Context() context.Context { return c.own }

func (c *Call) lock() {
	if c.mu != nil {
		c.mu.Lock()
	}
}

func (c *Call) unlock() {
	if c.mu != nil {
		c.mu.Unlock()
	}
}

func (c *Call) provider() string { return c.own.lane.scope.Provider }

// Governed tells whether the call is governed at all. It is not where the governor
// or the provider was disabled when it began: then every method lets it pass, and
// what repeats it is not cloudpace's business.
func (c *Call) Governed() bool { return !c.inert }

// Failed reports that the attempt under way failed, and tells what that means. A
// throttle slows the scope, and its hint pauses it; the slot is lent back unless
// the call was begun with HoldSlot. An error that cloudpace made itself, or with
// which a call under this one ended, slows and counts nothing. Only an attempt's
// first report counts; what comes after it is judged and changes nothing.
func (c *Call) Failed(err error) verdict.Kind { return c.fail(err).kind }

func (c *Call) fail(err error) *failure {
	f := c.judge(err)
	if c.inert {
		return f
	}
	c.lock()
	if c.done || c.reported {
		c.unlock()
		return f
	}
	cut := c.failed(time.Now(), f)
	c.unlock()
	c.logCut(cut)
	return f
}

// rateCut is what there is to say of a cut, once no lock is held; 0 is none.
type rateCut struct {
	rps  float64
	hint time.Duration
}

func (c *Call) logCut(cut rateCut) {
	if cut.rps > 0 {
		c.own.lane.g.log.Debug("rate cut", "scope", c.charge.leaf.scope.String(), "rps", cut.rps, "hint", cut.hint)
	}
}

// failed takes a failure in. The lock is held.
func (c *Call) failed(now time.Time, f *failure) (cut rateCut) {
	if f.kind == verdict.OK {
		c.succeeded(now) // a 304, say, that somebody made an error of
	} else {
		c.last, c.reported, c.afterFailure = f, true, f.kind
	}
	if !f.alien {
		text := f.text // f, with the error, need not live as long
		c.lane.leaf.breaker.Renew(now, c.ticket)
		switch f.kind {
		case verdict.Throttled:
			rate, isCut := 0.0, false
			if c.charge.provider.enabled {
				rate, isCut = c.charge.leaf.bucket.Throttled(now, c.mark, f.hint)
				c.owing = c.mark != bucket.Mark{}
			}
			if isCut {
				cut = rateCut{rate, f.hint}
			}
			c.count(func(n *counters) {
				n.throttled.Add(1)
				n.lastError.Store(&text)
				if isCut {
					n.rate(rate)
				}
			})
		case verdict.Transient:
			c.count(func(n *counters) {
				n.transient.Add(1)
				n.lastError.Store(&text)
			})
		case verdict.Fatal:
			if f.answered {
				c.charge.leaf.bucket.Answered(now, c.mark)
				c.mark = bucket.Mark{}
			}
		}
	}
	c.forget()
	if !c.opt.hold {
		c.giveSlot()
	}
	return cut
}

// Succeeded reports that the attempt under way, or a page, arrived: the rate
// recovers, the retry budget gets its refund, and the free retries are renewed.
func (c *Call) Succeeded() {
	if c.inert {
		return
	}
	c.lock()
	defer c.unlock()
	if !c.done && !c.reported {
		c.succeeded(time.Now())
	}
}

func (c *Call) succeeded(now time.Time) {
	c.reported = true
	c.afterFailure = verdict.OK
	c.free = 0
	c.last = nil
	c.lane.leaf.breaker.Renew(now, c.ticket)
	c.charge.leaf.bucket.Succeeded(now, c.mark)
	c.mark = bucket.Mark{}
	c.lane.provider.budget.Refund()
}

// Retry decides on one more attempt and pays for it: the first two of an
// operation, or of a page, are free, each further one costs a token of the
// provider's retry budget, which comes back when the attempt is never sent. It
// returns a [*RetryBudgetExhaustedError] when the budget is empty, a
// [*CircuitOpenError] when the circuit has opened, and the failure itself where it
// is not for this call to repeat: cloudpace's own errors, how a call under this
// one ended, and answers whose server asked not to be called again.
func (c *Call) Retry() error {
	if c.inert {
		return nil
	}
	c.lock()
	defer c.unlock()
	switch {
	case c.done:
		return errEnded
	case c.last == nil:
		return errNoReport
	case c.last.final:
		return c.last.err
	case c.paid != unpaid:
		return nil
	}
	now := time.Now()
	if ok, wait, cause := c.lane.leaf.breaker.Holds(now, c.ticket); !ok && !c.opt.patient {
		return c.reject(wait, cause)
	}
	switch {
	case c.free < freeRetries:
		c.free++
		c.paid = paidFree
	case c.opt.unpaid:
		c.paid = paidFree
	case c.lane.provider.budget.Spend():
		c.paid = paidToken
	default:
		return &RetryBudgetExhaustedError{Scope: c.lane.scope, RetryAfter: c.last.hint, Err: c.last.err}
	}
	return nil
}

// Next admits the attempt that Retry decided on, or the next page: the breaker, a
// token where one is due, the slot unless it is held. ctx bounds the waits. On an
// error nothing was sent; the call is still to be ended.
func (c *Call) Next(ctx context.Context) error {
	if c.inert {
		return ctx.Err()
	}
	c.lock()
	if c.done {
		c.unlock()
		return errEnded
	}
	if !c.opt.hold {
		c.giveSlot()
	}
	c.own.nested.Store(nil) // of an attempt that is over
	now := time.Now()
	a := admission{ctx: ctx, start: now, now: now, until: c.opt.deadline}
	a.token = !c.opt.free || c.afterFailure != verdict.Transient
	a.page = c.opt.pages && c.counted && c.afterFailure == verdict.OK
	c.unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.admit(&a)
}

// End says that the operation is over, with its final error or nil. An attempt
// that was not reported is reported by it. The outcome goes to the circuit
// breaker, the numbers and the ledger, and everything held comes back. Later calls
// of any method do nothing.
//
// A call that this one was begun under knows err again when it is given it, in a
// chain of errors too. Where the caller gets another error of the same answer, err
// can have a method RemadeAs(error) bool that tells whether an error is that one.
func (c *Call) End(err error) {
	if c.inert {
		return
	}
	end := ending{outcome: breaker.Success}
	if err != nil {
		end = c.ending(err)
	}
	c.lock()
	if c.done {
		c.unlock()
		return
	}
	var now time.Time
	if err != nil || c.last != nil || !c.steady() {
		now = time.Now()
	}
	var cut rateCut
	switch {
	case c.reported:
	case err != nil:
		cut = c.failed(now, end.failure)
	default:
		c.succeeded(now)
	}
	opened, closed := c.lane.leaf.breaker.Report(now, c.ticket, end.outcome, err)
	c.record(&end, opened)
	c.finish(now)
	c.unlock()
	if err != nil {
		c.own.parent.noteNested(err)
	}
	c.logCut(cut)
	if opened || closed {
		c.turned(opened, err)
	}
}

// turned says that the call's end opened or closed the circuit.
func (c *Call) turned(opened bool, err error) {
	g, scope := c.own.lane.g, c.lane.leaf.scope.String()
	if opened {
		g.log.Warn("circuit opened", "scope", scope, "error", err)
	} else {
		g.log.Info("circuit closed", "scope", scope)
	}
	g.turned(c.lane.leaf)
}

// steady tells that a success changes nothing that depends on the time: no probe,
// no failures to forget, no rate to bring back. It spares most calls a look at the
// clock; what changes meanwhile takes the zero time for an old reading.
func (c *Call) steady() bool {
	return c.lane.leaf.breaker.Calm(c.ticket) && !c.charge.leaf.bucket.Slowed()
}

// Drop says that the operation is over without an outcome, as after a panic or an
// early return: everything held comes back, and the circuit breaker takes it for
// neither success nor failure. After End it does nothing, so that the idiom is
// defer call.Drop().
func (c *Call) Drop() {
	if c.inert {
		return
	}
	c.lock()
	defer c.unlock()
	if c.done {
		return
	}
	now := time.Now()
	c.lane.leaf.breaker.Report(now, c.ticket, breaker.Neutral, nil)
	c.finish(now)
}

// finish gives everything back. The lock is held.
func (c *Call) finish(now time.Time) {
	c.done = true
	c.settle(now)
	c.forget()
	if c.paid == paidToken {
		c.lane.provider.budget.GiveBack()
	}
	c.paid = unpaid
	c.giveSlot()
	c.letGo()
	if c.over != nil {
		close(c.over)
	}
}

// letGo releases the lanes.
func (c *Call) letGo() {
	if c.charge != c.lane {
		c.charge.release()
	}
	c.lane.release()
}

func (c *Call) giveSlot() {
	if c.slot {
		c.slot = false
		c.lane.account.slots.Release()
	}
}
