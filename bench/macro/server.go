package macro

import (
	"sync"
	"time"

	"github.com/cloudpace/cloudpace/internal/scenario"
)

// Server is the modelled server with many clients at once.
type Server struct {
	mu    sync.Mutex
	model *scenario.Model
	last  time.Time // when a request was last accepted
	stop  func()
}

// path is how long a request takes to the server, in seconds, where the scenario does not
// say: it differs from one to the next, as it does in every network. If it did not, a
// client that sends exactly as often as the bucket refills would find a whole token every
// time, never one that is nearly there, and a neighbour would find none.
const path = 0.005

func newServer(s scenario.Scenario, seed uint64, stop func()) *Server {
	if s.Server.PathS == 0 {
		s.Server.PathS = path
	}
	now := time.Now()
	return &Server{model: scenario.NewModel(s, now, seed), last: now, stop: stop}
}

// Attempt is one request: it takes the time until the answer arrives.
func (s *Server) Attempt() scenario.Answer {
	s.mu.Lock()
	there := s.model.Path()
	s.mu.Unlock()
	time.Sleep(there)

	s.mu.Lock()
	now := time.Now()
	a := s.model.Call(now)
	if a.OK {
		s.last = now
	} else if now.Sub(s.last) > stuck {
		s.stop()
	}
	s.mu.Unlock()
	time.Sleep(a.After)
	return a
}
