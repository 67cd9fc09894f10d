package plan

import (
	"cmp"
	"slices"
	"time"
)

// Result is what a run would take.
type Result struct {
	Takes    time.Duration
	Requests int
	Tasks    int
	// Calls is how long answers were waited for on the way to the end: of what had to be
	// over for the last task to end, one thing after another. Waits have what limits
	// took of that way, the longest first.
	Calls    time.Duration
	Waits    []Waits
	Accounts []Account // who ends last first
}

// Waits is what a limit costs.
type Waits struct {
	Limit   *Limit
	OnWay   time.Duration // on the way to the end
	Calls   int           // that waited for it, anywhere
	All     time.Duration // of these together
	Longest time.Duration
}

// Account is when an account is read, counted from the run's beginning.
type Account struct {
	Provider, Account string
	Begins, Ends      time.Duration
	Requests          int
}

func (e *engine) result() Result {
	r := Result{Requests: e.calls, Tasks: len(e.tasks), Calls: e.last.calls}
	for i, w := range e.waits {
		w.Limit = e.limits[i]
		if i < len(e.last.waited) {
			w.OnWay = e.last.waited[i]
		}
		r.Waits = append(r.Waits, w)
	}
	slices.SortStableFunc(r.Waits, func(a, b Waits) int { return cmp.Or(cmp.Compare(b.OnWay, a.OnWay), cmp.Compare(b.All, a.All)) })
	for _, a := range e.all {
		r.Accounts = append(r.Accounts, *a)
		r.Takes = max(r.Takes, a.Ends)
	}
	slices.SortStableFunc(r.Accounts, func(a, b Account) int { return cmp.Compare(b.Ends, a.Ends) })
	return r
}

// Binds is the limit that the run waits for most on the way to its end. There is none
// where it is the answers that take longest: then more tasks side by side, or more
// processes, would help, and no limit does.
func (r Result) Binds() *Limit {
	if len(r.Waits) == 0 || r.Waits[0].OnWay <= r.Calls {
		return nil
	}
	return r.Waits[0].Limit
}
