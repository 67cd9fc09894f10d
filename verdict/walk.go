package verdict

import "slices"

// maxNodes bounds how many errors of one tree are looked at: a chain that bites
// its own tail ends too.
const maxNodes = 512

// walker goes through one tree of errors. Each path from the top to a leaf
// gathers its evidence and is judged; joins make several paths.
type walker struct {
	provider string
	left     int
	results  []Result
}

func (w *walker) examine(err error) Result {
	w.visit(err, w.start(err))
	r := combine(w.results)
	if !r.Own && r.Kind != Canceled && retryQuota(err) {
		// The SDK's client refused to try again. The provider's last error is inside
		// and gives status, code and hint, but this is not its answer.
		r.Kind, r.Answered, r.Unprocessed = Throttled, false, false
		r.Reason = "the SDK's own retry quota is used up"
	}
	return r
}

func (w *walker) start(err error) evidence {
	return evidence{top: err, provider: w.provider}
}

// visit follows one chain from err on; ev is what is known from further out.
func (w *walker) visit(err error, ev evidence) {
	for err != nil && w.left > 0 {
		w.left--
		if own, ok := err.(Own); ok && ev.status == 0 {
			w.results = append(w.results, w.own(own))
			return
		}
		many, joined := err.(interface{ Unwrap() []error })
		if !ev.look(err, joined) {
			break // a further answer inside an answer is another exchange's
		}
		if joined {
			visited, before := false, len(w.results)
			for _, child := range many.Unwrap() {
				if child != nil && w.left > 0 {
					w.visit(child, ev.clone())
					visited = true
				}
			}
			if !visited {
				break
			}
			if ev.found && len(ev.codes) == 0 {
				w.results = append(w.results[:before], spokesmen(w.results[before:])...)
			}
			return
		}
		one, ok := err.(interface{ Unwrap() error })
		if !ok {
			break
		}
		err = one.Unwrap()
	}
	w.results = append(w.results, ev.decide())
}

// spokesmen picks, of the branches inside one answer, those that found its code, if
// any did; what the others know is the status, which a code overrides.
func spokesmen(branches []Result) []Result {
	if !slices.ContainsFunc(branches, func(r Result) bool { return r.Code != "" && !r.Own }) {
		return branches
	}
	return slices.DeleteFunc(branches, func(r Result) bool {
		return r.Code == "" && !r.Own && r.Kind != Canceled
	})
}

// own reads an error of cloudpace's: it gives its kind itself, and what the
// provider said last is inside.
func (w *walker) own(err Own) Result {
	r := Result{}
	inner := walker{provider: w.provider, left: w.left}
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		if cause := x.Unwrap(); cause != nil {
			r = inner.examine(cause)
		}
	case interface{ Unwrap() []error }:
		for _, cause := range x.Unwrap() {
			if cause != nil {
				inner.visit(cause, w.start(cause))
			}
		}
		r = combine(inner.results)
	}
	w.left = inner.left
	r = Result{
		Kind: err.VerdictKind(), Own: true,
		Hint: r.Hint, HasHint: r.HasHint,
		Status: r.Status, Code: r.Code, Message: r.Message, Consumer: r.Consumer, Daily: r.Daily,
		Reason: "made by cloudpace",
	}
	if h, ok := err.(ownHint); ok {
		if d, ok := h.VerdictHint(); ok && d >= 0 {
			r.Hint, r.HasHint = d, true
		}
	}
	return r
}

// combine makes one result of those of all paths.
func combine(results []Result) Result {
	if len(results) == 0 {
		return Result{Kind: Fatal, Reason: "an error without content"}
	}
	best := results[0]
	answered, unprocessed, noRepeat := false, true, false
	for i, r := range results {
		if i > 0 && better(r, best) {
			best = r
		}
		answered = answered || r.Answered
		noRepeat = noRepeat || r.NoRepeat
		// A path that knows nothing, such as the sentinel in
		// fmt.Errorf("%w: %w", ErrX, err), has no say in whether it was run.
		if r.informed() && !r.Unprocessed {
			unprocessed = false
		}
	}
	if best.Own {
		return best
	}
	best.Answered = answered
	best.Unprocessed = best.Unprocessed && unprocessed
	best.NoRepeat = noRepeat
	return best
}

func (r Result) informed() bool {
	return r.Own || r.Answered || r.Network || r.Kind != Fatal
}

func better(a, b Result) bool {
	if x, y := rank(a), rank(b); x != y {
		return x > y
	}
	return a.HasHint && (!b.HasHint || a.Hint > b.Hint)
}

// rank orders the paths of a join: who looks at cancellation last mistakes the
// end of a back-off for the last answer of the server.
func rank(r Result) int {
	switch {
	case r.Own:
		return 9
	case r.Kind == Canceled:
		return 8
	case r.Kind == Throttled:
		return 7
	case r.Kind == Transient:
		return 6
	case r.Kind == Fatal && (r.Answered || r.Network || r.Status != 0):
		return 5
	case r.Kind == OK:
		return 4
	}
	return 3
}
