package inventory

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// fan runs functions side by side, a bounded number at a time.
type fan struct {
	slots chan struct{}
	wg    sync.WaitGroup

	mu    sync.Mutex
	first error
}

func newFan(width int) *fan { return &fan{slots: make(chan struct{}, width)} }

// Go starts fn, waiting for a free slot first. It gives the first error of those
// started earlier instead of starting when there is one.
func (f *fan) Go(fn func() error) error {
	if err := f.failure(); err != nil {
		return err
	}
	f.slots <- struct{}{}
	f.wg.Go(func() {
		defer func() { <-f.slots }()
		if err := contain(fn); err != nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.first == nil {
				f.first = err
			}
		}
	})
	return nil
}

// Wait waits for all and gives the first error.
func (f *fan) Wait() error {
	f.wg.Wait()
	return f.failure()
}

func (f *fan) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first
}

// contain turns a panic into an error: a mistake in one task must cost that
// task's record, not everybody's data.
func contain(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}
