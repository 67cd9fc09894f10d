package macro

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudpace/cloudpace/internal/scenario"
)

// Contender is one way to make the calls.
type Contender struct {
	Name    string
	Ours    bool
	Clients int // that know nothing of each other, with an equal share of the workers
	// Slow is for one whose runs take long, because nearly all that it sends is throttled.
	Slow bool
	// New makes a client that sends its requests to the server.
	New func(scenario.Scenario, *Server) (Client, error)
}

// Client makes one call, with everything that belongs to it: waiting, sending, backing
// off, sending again. It returns nil when the server accepted the call, and an error
// when the call is given up.
type Client func(context.Context) error

// Result is what became of one run.
type Result struct {
	Active    time.Duration // from the beginning to the last success, without the gaps
	Done      int           // calls that succeeded
	Lost      int           // calls that a client gave up; they were made again
	Accepted  int           // requests, by the server's count
	Throttled int           // requests likewise

	Neighbour, Refused int // the neighbour's calls, and those of them that were throttled
}

// Finished tells whether all calls of the scenario succeeded.
func (r Result) Finished(s scenario.Scenario) bool { return r.Done == s.Calls }

// A run that gets nowhere is stopped: after so many times the ideal time, or when so
// long nothing has been accepted of what was sent.
const (
	longest = 10
	stuck   = 2 * time.Minute
)

// refused is how long a worker waits before it makes a call again that its client has
// refused without asking the server. Without it no time would pass.
const refused = 100 * time.Millisecond

// Run does the work of a scenario. It has to be called in a bubble of testing/synctest.
func Run(ctx context.Context, s scenario.Scenario, seed uint64, c Contender) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := newServer(s, seed, cancel)
	clients := make([]Client, c.Clients)
	for i := range clients {
		var err error
		if clients[i], err = c.New(s, server); err != nil {
			return Result{}, err
		}
	}

	var done, lost atomic.Int64
	// work has calls made until they have succeeded.
	work := func(calls int) {
		var left atomic.Int64
		left.Store(int64(calls))
		var wg sync.WaitGroup
		for i := range s.Workers {
			client := clients[i%len(clients)]
			wg.Go(func() {
				for left.Add(-1) >= 0 {
					for ctx.Err() == nil {
						began := time.Now()
						if client(ctx) == nil {
							done.Add(1)
							break
						}
						if ctx.Err() == nil {
							lost.Add(1)
						}
						if !time.Now().After(began) {
							time.Sleep(refused)
						}
					}
				}
			})
		}
		wg.Wait()
	}

	var r Result
	// A timer, not a deadline of the context: a client that sees one behaves otherwise.
	limit := time.Duration(longest * s.IdealS * float64(time.Second))
	for calls := s.Calls; calls > 0 && ctx.Err() == nil; {
		burst := calls
		if s.BurstCalls > 0 {
			burst = min(calls, s.BurstCalls)
		}
		calls -= burst
		began := time.Now()
		timer := time.AfterFunc(limit-r.Active, cancel)
		work(burst)
		timer.Stop()
		r.Active += time.Since(began)
		if calls > 0 {
			time.Sleep(time.Duration(s.GapS * float64(time.Second)))
		}
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	m := server.model
	r.Done, r.Lost = int(done.Load()), int(lost.Load())
	r.Accepted, r.Throttled, r.Neighbour, r.Refused = m.Accepted, m.Throttled, m.Neighbour, m.Refused
	return r, nil
}
