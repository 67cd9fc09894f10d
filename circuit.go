package cloudpace

import (
	"time"
)

// circuitCheck is the longest sleep before an open circuit: another call's probe
// may close it any time.
const circuitCheck = time.Second

// refused is what an admission does before an open circuit: it fails, or sits out
// a part of the wait where the call is to wait for the circuit.
func (c *Call) refused(a *admission, wait time.Duration, cause error) error {
	a.now = time.Now()
	next := a.now.Add(wait)
	d := a.deadline()
	if !c.opt.patient || !d.IsZero() && next.After(d) || c.own.in.bounded && next.After(a.start.Add(c.own.in.maxWait)) {
		return c.refuse(wait, cause)
	}
	a.waited = true
	timer := time.NewTimer(min(wait, circuitCheck))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.charge.leaf.barring.rung(): // the walk looks at it
	case <-a.ctx.Done():
		return a.ctx.Err()
	case <-c.gone():
		return errEnded
	}
	a.now = time.Now()
	return nil
}

// WaitForCircuit lets the operation wait where the circuit of its scope is open,
// instead of failing: until another call's probe has closed it or it may try
// itself. Where the deadline of the context or of [Until] or the end of
// [WithMaxWait] lies before the circuit's next try, it fails at once all the same.
func WaitForCircuit() BeginOption { return BeginOption{callOptions: callOptions{patient: true}} }
