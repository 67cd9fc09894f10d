package inventory

import (
	"context"
	"fmt"
	"time"

	"github.com/cloudpace/cloudpace/verdict"
)

// watch ends a task through end when nothing has come of it for the time given:
// no page, no asset, no detail. The function it returns ends the watch.
func (o *Output) watch(stall time.Duration, end context.CancelCauseFunc) (stop func()) {
	o.alive()
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		t := time.NewTimer(stall)
		defer t.Stop()
		for {
			select {
			case <-over:
				return
			case <-t.C:
			}
			quiet := time.Since(time.Unix(0, o.sign.Load()))
			if quiet >= stall {
				why := &StalledError{After: stall, Throttled: o.throttled()}
				o.stalled.Store(why)
				end(why)
				return
			}
			t.Reset(stall - quiet)
		}
	}()
	return func() {
		close(over)
		<-gone
	}
}

// explain puts the stall in the place of the cancellation that it caused.
func (o *Output) explain(why Reason, err error) (Reason, error) {
	stalled := o.stalled.Load()
	if stalled == nil || verdict.Classify(err) != verdict.Canceled {
		return why, err
	}
	return stalled.reason(), fmt.Errorf("%w: %w", stalled, err)
}

// alive notes that something came of the task.
func (o *Output) alive() { o.sign.Store(time.Now().UnixNano()) }

// throttled tells whether the provider has asked the task for less.
func (o *Output) throttled() bool {
	o.mu.Lock()
	stats := o.stats
	o.mu.Unlock()
	return stats != nil && stats.Totals().Throttled > 0
}
