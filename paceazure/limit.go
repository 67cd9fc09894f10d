package paceazure

import (
	"context"
	"sync"
	"time"
)

// limit is a context with the operation's deadline. Nearly every operation ends
// long before, so the timer and what goes with it are made when somebody first
// asks for Done, and not at all where the caller's own deadline is earlier.
type limit struct {
	parent   context.Context
	deadline time.Time

	mu     sync.Mutex
	values context.Context // what Value asks: the call's context, once there is one
	inner  context.Context // ends at the deadline; nil until it is needed
	cancel context.CancelCauseFunc
	timer  *time.Timer
	over   bool // it limits nothing any more
}

var _ context.Context = (*limit)(nil)

// Deadline is the earlier of the operation's and the caller's.
func (l *limit) Deadline() (time.Time, bool) {
	if d, ok := l.parent.Deadline(); ok && !l.deadline.Before(d) {
		return d, true
	}
	return l.deadline, true
}

// callers tells that the caller's own deadline comes first.
func (l *limit) callers() bool {
	d, ok := l.parent.Deadline()
	return ok && !l.deadline.Before(d)
}

// passed tells that the operation's own deadline is over, and not the caller's.
func (l *limit) passed() bool {
	if l.callers() || time.Now().Before(l.deadline) || l.parent.Err() != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.over
}

// Done is closed at the deadline, and when the caller's context ends.
func (l *limit) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inner != nil {
		return l.inner.Done()
	}
	if l.over || l.callers() {
		return l.parent.Done()
	}
	inner, cancel := context.WithCancelCause(l.values)
	l.inner, l.values, l.cancel = inner, inner, cancel
	l.timer = time.AfterFunc(time.Until(l.deadline), func() { cancel(context.DeadlineExceeded) })
	return inner.Done()
}

// Err tells which of the two has ended.
func (l *limit) Err() error {
	if err := l.parent.Err(); err != nil {
		return err
	}
	if l.passed() {
		return context.DeadlineExceeded
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inner != nil {
		return l.inner.Err()
	}
	return nil
}

// Value asks the innermost context there is.
func (l *limit) Value(key any) any {
	l.mu.Lock()
	values := l.values
	l.mu.Unlock()
	return values.Value(key)
}

// under puts what is sent from now on under the call's context, which is one of
// the caller's context too.
func (l *limit) under(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.values = ctx
}

// detach lifts the deadline from what still uses the context, and tells whether
// anything may.
func (l *limit) detach() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.timer == nil {
		return false
	}
	return l.timer.Stop()
}

// release ends the context.
func (l *limit) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.inner != nil {
		l.timer.Stop()
		l.cancel(context.Canceled)
	}
}
