package sim

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Server is one provider's cloud. It is a handler, and can serve by itself.
type Server struct {
	front    Front
	profile  Profile
	estate   *Estate
	quotas   *quotas
	faults   *faults
	stats    *stats
	upstream *upstream
	log      *slog.Logger

	http2  sync.WaitGroup // its connections, which begin under the lock before the end
	mu     sync.Mutex
	ending sync.Once
	done   chan struct{} // closed when hung requests are to end
}

// Option changes a server.
type Option func(*Server)

// WithUpstream lets another server answer, with the quotas and faults in front.
func WithUpstream(u *url.URL) Option { return func(s *Server) { s.upstream = newUpstream(s, u) } }

// WithLogger says where troubles of the server itself go; the default is nowhere.
func WithLogger(l *slog.Logger) Option { return func(s *Server) { s.log = l } }

// New makes a server of a profile, which is checked first. The buckets are full,
// and the neighbours begin.
func New(front Front, p Profile, options ...Option) (*Server, error) {
	s := &Server{
		front: front, profile: p, log: slog.New(slog.DiscardHandler), stats: newStats(),
		done: make(chan struct{}),
	}
	for _, o := range options {
		o(s)
	}
	if err := p.Check(front, s.upstream != nil); err != nil {
		return nil, err
	}
	s.quotas = newQuotas(p, time.Now())
	s.faults = newFaults(p.Faults, p.Seed)
	s.estate = newEstate(p.Estate, front.Kinds(), p.Seed)
	return s, nil
}

// Estate is what the server has, to hold against what somebody found.
func (s *Server) Estate() *Estate { return s.estate }

// Report tells what the server was asked and what became of it.
func (s *Server) Report() Report {
	started := s.quotas.since()
	r := Report{
		Provider: s.front.Provider(), Profile: s.profile.Name, Seed: s.profile.Seed, Speed: s.profile.Speed,
		Started: started.UTC(), Seconds: math.Round(time.Since(started).Seconds()*1000) / 1000,
		Accounts: len(s.profile.Estate.Accounts), Regions: len(s.profile.Estate.Regions), Assets: s.estate.Total(),
	}
	if s.upstream != nil {
		r.Upstream = s.upstream.target.Redacted()
		r.Accounts, r.Regions, r.Assets = 0, 0, 0
	}
	r.Totals, r.Scopes = s.stats.report()
	r.Buckets = s.quotas.states(time.Now())
	if front, ok := s.front.(Runner); ok {
		r.Executions = countExecutions(front.Executions())
	}
	return r
}

// Reset starts anew: nothing counted, full buckets, faults from the first.
func (s *Server) Reset() {
	s.stats.reset()
	s.quotas.reset(time.Now())
	s.faults.reset()
	if front, ok := s.front.(Runner); ok {
		front.Reset()
	}
}

// Close ends the requests that hang or wait. Those that come later are answered
// as before, except that they do not hang; connections with HTTP/2 end.
func (s *Server) Close() {
	s.ending.Do(func() {
		s.mu.Lock()
		close(s.done)
		s.mu.Unlock()
		if s.upstream != nil {
			s.upstream.transport.CloseIdleConnections()
		}
	})
}

// real gives the clock's time for a time of the model.
func (s *Server) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / s.profile.Speed)
}

func (s *Server) setting() Setting {
	return Setting{
		Estate: s.estate, Strict: s.profile.Strict, Upstream: s.upstream != nil,
		Seed: s.profile.Seed, Speed: s.profile.Speed, Warehouse: s.profile.Warehouse,
	}
}

// ServeHTTP answers one request, or does not.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if speaksHTTP2(r) {
		s.serveHTTP2(w)
		return
	}
	if own, ok := strings.CutPrefix(r.URL.Path, ownPrefix); ok && r.Header.Get("Authorization") == "" {
		s.serveOwn(w, r, own)
		return
	}
	c, settled := s.front.Identify(r, s.setting())
	v := s.stats.arrive(c, time.Now())
	if settled != nil {
		v.served(settled.amounts())
		settled.write(w)
		return
	}
	// What ends a request without an answer may do so by a panic.
	defer v.faulted("aborted")
	if f := s.faults.find(c, onArrival); f != nil {
		v.delayed()
		drain(r)
		if !s.wait(r.Context(), s.real(time.Duration(f.Seconds*float64(time.Second)))) {
			v.faulted(Latency)
			panic(http.ErrAbortHandler)
		}
	}
	if f := s.faults.find(c, unanswered); f != nil {
		v.faulted(f.Kind)
		s.disconnect(w, r, f.Kind)
		return
	}
	if no := s.charge(c); no != nil {
		v.throttled()
		s.front.Refuse(c, *no).write(w)
		return
	}
	if f := s.faults.find(c, asRefusal); f != nil {
		v.faulted(f.Kind)
		s.spoil(w, r, c, f)
		return
	}
	if s.upstream != nil {
		s.upstream.serve(w, r, c, v)
		return
	}
	f := s.faults.find(c, onPage)
	answer := s.front.Answer(c, s.setting(), edit(f))
	if f != nil {
		v.faulted(f.Kind)
	} else {
		v.served(answer.amounts())
	}
	answer.write(w)
}

// charge takes the call's tokens, and translates the model's times.
func (s *Server) charge(c *Call) *Refusal {
	left, no := s.quotas.take(c, time.Now())
	for i := range left {
		left[i].Resets = s.real(left[i].Resets)
	}
	c.Left = left
	if no != nil {
		no.Wait, no.RetryAfter = s.real(no.Wait), s.real(no.RetryAfter)
	}
	return no
}

func edit(f *Fault) Edit {
	if f == nil {
		return Edit{}
	}
	return Edit{RepeatToken: f.Kind == RepeatToken, EmptyPage: f.Kind == EmptyPage, Unreachable: f.Kind == Unreachable}
}

// wait tells whether the time passed before the client left or the server ended.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-s.done:
	}
	return false
}

// String names the server in logs.
func (s *Server) String() string {
	return fmt.Sprintf("sim %s, profile %s", s.front.Provider(), s.profile.Name)
}
