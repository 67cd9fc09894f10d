package scenario

import (
	"sync"
	"time"
)

// Live is a model that many goroutines call, in the time of the clock, which may be a
// bubble's.
type Live struct {
	mu sync.Mutex
	*Model
}

// Answer is one call, and takes as long as its answer does.
func (l *Live) Answer() Answer {
	l.mu.Lock()
	a := l.Call(time.Now())
	l.mu.Unlock()
	time.Sleep(a.After)
	return a
}

// Do has all calls of a scenario made, by as many goroutines as it has workers, which are
// numbered from 0. It tells how long that takes, gaps left out.
func (s Scenario) Do(call func(worker int)) (active time.Duration) {
	for left := s.Calls; left > 0; {
		n := s.next(left)
		if left < s.Calls {
			time.Sleep(seconds(s.GapS))
		}
		left -= n
		began := time.Now()
		calls := make(chan struct{}, n)
		for range n {
			calls <- struct{}{}
		}
		close(calls)
		var wg sync.WaitGroup
		for w := range s.Workers {
			wg.Go(func() {
				for range calls {
					call(w)
				}
			})
		}
		wg.Wait()
		active += time.Since(began)
	}
	return active
}
