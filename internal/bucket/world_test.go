package bucket

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// epoch is when every test begins.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is the time d after the beginning.
func at(d time.Duration) time.Time { return epoch.Add(d) }

const (
	ms  = time.Millisecond
	sec = time.Second
)

func (s Status) String() string {
	return [...]string{"waiting", "granted", "refused", "moved", "left"}[s]
}

// world is an event loop over fake time in which callers wait as goroutines do:
// one looks again only when it is signalled or when its own wake-up is due. A
// wake-up that the bucket forgets is a caller that never comes back.
type world struct {
	tb      failer
	now     time.Time
	callers []*caller // that wait
	done    []*caller // that wait no more, in order
	log     []string  // what became of them, in words
	polls   int
}

type caller struct {
	name   string
	w      *Waiter
	b      *Bucket
	status Status
	wake   time.Time
	gives  time.Time // up then; zero: never
}

// failer is what a test and a property test have in common.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

func newWorld(tb failer) *world {
	tb.Helper()
	return &world{tb: tb, now: epoch}
}

// join queues a caller. Its end is in the log, also when that is at once.
func (w *world) join(b *Bucket, name string, terms Terms) *caller {
	c := &caller{name: name, b: b}
	c.w, c.status = b.Join(w.now, terms)
	if c.status != Waiting {
		w.ended(c)
		return c
	}
	w.callers = append(w.callers, c)
	w.poll(c)
	return c
}

// joinFor queues a caller that gives up after d.
func (w *world) joinFor(b *Bucket, name string, d time.Duration) *caller {
	c := w.join(b, name, Terms{})
	c.gives = w.now.Add(d)
	return c
}

func (w *world) ended(c *caller) {
	w.callers = slices.DeleteFunc(w.callers, func(o *caller) bool { return o == c })
	w.done = append(w.done, c)
	w.log = append(w.log, fmt.Sprintf("%s %s %s", w.now.Sub(epoch), c.name, c.status))
}

func (w *world) poll(c *caller) {
	w.polls++
	if w.polls > 1_000_000 {
		w.tb.Fatalf("callers look again without end, now is %s", w.now.Sub(epoch))
	}
	if c.status, c.wake = c.w.Poll(w.now); c.status != Waiting {
		w.ended(c)
	}
}

// leave takes a caller out, and gives its token back if it just got one.
func (w *world) leave(c *caller) {
	if c.w.Leave(w.now) {
		c.b.Return(w.now, Mark{})
	}
	c.status = left
	w.ended(c)
}

// settle lets everybody look who has been signalled or whose time has come.
func (w *world) settle() {
	for again := true; again; {
		again = false
		for _, c := range slices.Clone(w.callers) {
			due := !c.wake.IsZero() && !c.wake.After(w.now)
			select {
			case <-c.w.C:
				due = true
			default:
			}
			switch {
			case c.status != Waiting:
			case due:
				w.poll(c)
				again = true
			case !c.gives.IsZero() && !c.gives.After(w.now):
				w.leave(c)
				again = true
			}
		}
	}
}

// next is when somebody wakes up next.
func (w *world) next() (next time.Time, ok bool) {
	for _, c := range w.callers {
		for _, t := range []time.Time{c.wake, c.gives} {
			if !t.IsZero() && (!ok || t.Before(next)) {
				next, ok = t, true
			}
		}
	}
	return next, ok
}

// run lets time pass until d after the beginning.
func (w *world) run(d time.Duration) {
	w.settle()
	for {
		next, ok := w.next()
		if !ok || next.After(at(d)) {
			break
		}
		if next.After(w.now) {
			w.now = next
		}
		w.settle()
	}
	if w.now.Before(at(d)) {
		w.now = at(d)
	}
	w.settle()
}

// expect compares what became of callers since the last time.
func (w *world) expect(want ...string) {
	w.tb.Helper()
	if !slices.Equal(w.log, want) {
		w.tb.Errorf("got:")
		for _, line := range w.log {
			w.tb.Errorf("    %s", line)
		}
		w.tb.Errorf("want:")
		for _, line := range want {
			w.tb.Errorf("    %s", line)
		}
	}
	w.log = nil
}

// awake lists who has a wake-up of its own.
func (w *world) awake() []string {
	names := []string{}
	for _, c := range w.callers {
		if !c.wake.IsZero() {
			names = append(names, fmt.Sprintf("%s %s", c.name, c.wake.Sub(epoch)))
		}
	}
	return names
}

// drained is an adaptive leaf without a token, and without parents.
func drained(rate, burst float64) *Bucket {
	b := New(Options{Rate: rate, Burst: burst, Adaptive: true, MinRate: 0.5, MaxPause: 300 * sec}, nil, epoch)
	drain(b, epoch)
	return b
}

// drain takes all that is stored, and tells how much that was.
func drain(b *Bucket, now time.Time) (n int) {
	for n < 1_000_000 && takes(b, now) {
		n++
	}
	return n
}

// tokens compares what a bucket holds.
func tokens(tb testing.TB, b *Bucket, now time.Time, want float64) {
	tb.Helper()
	if got := b.State(now).Tokens; !near(got, want) {
		tb.Errorf("%s: %.12f tokens, want %v", now.Sub(epoch), got, want)
	}
}

func near(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }

// takes takes a token whose call nobody will tell of.
func takes(b *Bucket, now time.Time) bool {
	_, ok := b.Take(now)
	return ok
}
