package cloudpace

import "time"

// This file has what operations of many pages need besides [HoldSlot].

// AskCircuitOnce lets the operation's later pages go without asking the circuit
// breaker: it was asked when the operation began, and an operation that is under way
// and whose pages arrive is not stopped by what others meet. An attempt that repeats
// a failed one asks all the same.
func AskCircuitOnce() BeginOption { return BeginOption{callOptions: callOptions{pages: true}} }

// Until moves the bound that the option [Until] sets, for an operation whose pages
// have a time of their own each. It holds from the next admission on. The zero time
// is no bound.
func (c *Call) Until(deadline time.Time) {
	c.lock()
	defer c.unlock()
	c.opt.deadline = deadline
}

// LendSlot gives the slot back before the operation is over, where the rest of it is
// not to hold one: a stream that stays open. A further attempt takes one again. With
// no slot held it does nothing.
func (c *Call) LendSlot() {
	if c.inert {
		return
	}
	c.lock()
	defer c.unlock()
	c.giveSlot()
}
