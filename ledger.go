package cloudpace

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

// Ledger counts what was lost under one context: operations that were given up
// and calls that an open circuit refused, also where the code between swallowed
// the errors. Whoever collects something under a Ledger that is Degraded holds a
// partial result. It is safe for concurrent use.
type Ledger struct {
	outer *Ledger

	mu              sync.Mutex
	gaveUp, skipped int
	reasons         []string
}

// ledgerReasons is how many different reasons a ledger keeps.
const ledgerReasons = 5

// WithLedger gives a context whose calls report to the returned Ledger, and to
// those of the contexts around it.
func WithLedger(ctx context.Context) (context.Context, *Ledger) {
	l := &Ledger{}
	return carry(ctx, func(c *carrier) { l.outer, c.ledger = c.ledger, l }), l
}

// Degraded tells whether anything was lost.
func (l *Ledger) Degraded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gaveUp+l.skipped > 0
}

// String words what was lost, with up to five different reasons; it is empty when
// nothing was:
//
//	throttled: 1 call(s) gave up after retries, 2 call(s) skipped (circuit open) (…)
func (l *Ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var parts []string
	if l.gaveUp > 0 {
		parts = append(parts, fmt.Sprintf("%d call(s) gave up after retries", l.gaveUp))
	}
	if l.skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d call(s) skipped (circuit open)", l.skipped))
	}
	if parts == nil {
		return ""
	}
	text := "throttled: " + strings.Join(parts, ", ")
	if len(l.reasons) > 0 {
		text += " (" + strings.Join(l.reasons, "; ") + ")"
	}
	return text
}

func (l *Ledger) giveUp(reason string) { l.enter(1, 0, reason) }
func (l *Ledger) skip(reason string)   { l.enter(0, 1, reason) }

func (l *Ledger) enter(gaveUp, skipped int, reason string) {
	for ; l != nil; l = l.outer {
		l.mu.Lock()
		l.gaveUp += gaveUp
		l.skipped += skipped
		l.note(reason)
		l.mu.Unlock()
	}
}

func (l *Ledger) note(reason string) {
	if reason == "" || len(l.reasons) >= ledgerReasons {
		return
	}
	for _, r := range l.reasons {
		if r == reason {
			return
		}
	}
	l.reasons = append(l.reasons, reason)
}
