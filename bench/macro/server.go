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

func newServer(s scenario.Scenario, seed uint64, stop func()) *Server {
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
