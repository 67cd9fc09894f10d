package scenario

import (
	"slices"
	"time"

	"github.com/cloudpace/cloudpace/internal/eventloop"
	"github.com/cloudpace/cloudpace/internal/learning"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// Controller is how the client's rate follows what the server answers.
type Controller string

// The controllers, as configurations name them. Fixed does not follow.
const (
	AIMD  Controller = "aimd"
	Learn Controller = "learn"
	Fixed Controller = "fixed"
)

// Options is how a scenario is run.
type Options struct {
	Controller Controller
	Soft       bool // the controller may go beyond what the client has configured
	Seed       uint64
	Processes  int           // that do the work together, each with its own governor; 0: 1
	Shared     bool          // they share their limits through one store
	Sample     time.Duration // between two samples; 0: none are taken
}

// Result is what came of it.
type Result struct {
	Seconds                       float64 // until all calls had succeeded, idle gaps left out
	Sent, Throttled               int     // attempts
	Lost                          int     // calls that were given up, and done by others
	Neighbour, NeighbourThrottled int
	Median, P99                   time.Duration // of a call, from its begin to its success
	Done                          []int         // by process
	Samples                       []Sample
	Learned                       []learning.State // by process, where the controller learns
}

// Sample is how things stand at one moment. The counts are since the last one.
type Sample struct {
	At              time.Duration
	Rate            float64 // in force, of all processes together
	Sent, Throttled int
	Queued          int     // callers that wait for a token
	Tokens          float64 // that the server has
}

// run is a scenario under way.
type run struct {
	load
	o         Options
	server    *Model
	processes []*process
	store     sharing.Bucket // that they share

	queued  int
	lost    int
	lengths []time.Duration
	samples []Sample
}

// Run runs a scenario to its end.
func Run(s Scenario, o Options) Result {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := &run{load: newLoad(s, eventloop.New(start)), o: o, server: NewModel(s, start, o.Seed)}
	r.load.work = r.everybody
	n := max(1, o.Processes)
	for i := range n {
		r.processes = append(r.processes, r.newProcess(i, (s.Workers+n-1-i)/n))
	}
	r.burst()
	if o.Sample > 0 {
		r.sample(Sample{})
	}
	for !r.over && r.loop.Step() {
	}
	return r.result()
}

// everybody sets all workers to what there is to do.
func (r *run) everybody() {
	for _, p := range r.processes {
		p.work()
	}
}

// succeeded counts a call that is done.
func (r *run) succeeded(length time.Duration) {
	r.lengths = append(r.lengths, length)
	r.finished()
}

func (r *run) sample(last Sample) {
	now := r.loop.Now()
	sent := r.server.Accepted + r.server.Throttled
	s := Sample{At: now.Sub(r.server.start), Sent: sent - last.Sent, Throttled: r.server.Throttled - last.Throttled, Queued: r.queued, Tokens: r.server.Tokens(now)}
	for _, p := range r.processes {
		s.Rate += p.bucket.State(now).Rate
	}
	r.samples = append(r.samples, s)
	last = Sample{Sent: sent, Throttled: r.server.Throttled} // as it is now
	r.loop.After(r.o.Sample, func() { r.sample(last) })
}

func (r *run) result() Result {
	res := Result{
		Seconds: r.active.Seconds(), Sent: r.server.Accepted + r.server.Throttled, Throttled: r.server.Throttled, Lost: r.lost,
		Neighbour: r.server.Neighbour, NeighbourThrottled: r.server.Refused, Samples: r.samples,
	}
	for _, p := range r.processes {
		res.Done = append(res.Done, p.done)
		if l := p.bucket.State(r.loop.Now()).Learned; l != nil {
			res.Learned = append(res.Learned, *l)
		}
	}
	slices.Sort(r.lengths)
	if n := len(r.lengths); n > 0 {
		res.Median, res.P99 = r.lengths[n/2], r.lengths[n*99/100]
	}
	return res
}
