package plan

import "time"

// trail is what one thing after another has taken, up to now, on the way that led here:
// what came later did so because of it. Where ways meet, the one that came last goes on;
// a wait goes back to where the line began that was waited in (rush).
type trail struct {
	calls  time.Duration   // of answers that were waited for
	waited []time.Duration // by limit
}

func (e *engine) trail() *trail {
	if n := len(e.free); n > 0 {
		t := e.free[n-1]
		e.free = e.free[:n-1]
		t.calls, t.waited = 0, t.waited[:0]
		return t
	}
	return new(trail)
}

// drop gives back a trail that nobody follows any more.
func (e *engine) drop(t *trail) { e.free = append(e.free, t) }

// fork gives another one that has come the same way.
func (e *engine) fork(t *trail) *trail {
	f := e.trail()
	f.follow(t)
	return f
}

// follow goes on where another one is.
func (t *trail) follow(other *trail) {
	t.calls, t.waited = other.calls, append(t.waited[:0], other.waited...)
}

func (t *trail) wait(limit int, d time.Duration) {
	for len(t.waited) <= limit {
		t.waited = append(t.waited, 0)
	}
	t.waited[limit] += d
}
