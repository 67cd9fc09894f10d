package timeline

import (
	"math"
	"time"

	"github.com/cloudpace/cloudpace"
)

const (
	// MaxPoints is how many points a scope has at most.
	MaxPoints = 240
	// MaxScopes is how many scopes a timeline has at most.
	MaxScopes = 50

	maxFollowed = 1000 // scopes with points while the run goes on
)

// Timeline is the scopes where something happened in a run, the most throttled
// first.
type Timeline struct {
	Seconds float64 `json:"seconds"` // that the run took
	Scopes  []Scope `json:"scopes"`
	// LeftOut is how many more there were.
	LeftOut int `json:"left_out,omitempty"`
}

// Scope is one service scope over time.
type Scope struct {
	Scope  string  `json:"scope"`
	Points []Point `json:"points"`
}

// Point is what was so between the point before it, or the start of the run, and
// its own time. Numbers of calls count from the start.
type Point struct {
	Seconds float64 `json:"seconds"` // since the start of the run
	// RPS is the lowest rate in force, of the bucket of this scope that is slowed
	// down the most, and MaxRPS the ceiling of that bucket. Both are 0 where there
	// is no limit.
	RPS       float64 `json:"rps,omitempty"`
	MaxRPS    float64 `json:"max_rps,omitempty"`
	Calls     int     `json:"calls"`
	Throttled int     `json:"throttled,omitempty"`
	Lost      int     `json:"lost,omitempty"` // given up, or refused by an open circuit
	Waits     int     `json:"waits,omitempty"`
	Waiting   int     `json:"waiting,omitempty"` // at most so many at once, for tokens
	Paused    bool    `json:"paused,omitempty"`  // at some time
}

// Source is what is followed: a *cloudpace.Governor.
type Source interface {
	Snapshot() cloudpace.Snapshot
	Summary(*cloudpace.Stats) cloudpace.Summary
}

const (
	often  = 100 * time.Millisecond
	seldom = time.Second
	spare  = 50 // for each moment of sampling, so many without
)

// Recorder takes the samples.
type Recorder struct {
	source Source
	stats  *cloudpace.Stats
	start  time.Time
	past   history

	end, ended chan struct{}
}

// Start follows the source, and of its numbers those that stats has, until Stop.
func Start(source Source, stats *cloudpace.Stats) *Recorder {
	r := &Recorder{
		source: source, stats: stats, start: time.Now(), past: newHistory(),
		end: make(chan struct{}), ended: make(chan struct{}),
	}
	go r.loop()
	return r
}

func (r *Recorder) loop() {
	defer close(r.ended)
	timer := time.NewTimer(often)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			began := time.Now()
			r.sample(began)
			cost := time.Since(began)
			timer.Reset(max(spare*cost, min(seldom, max(often, began.Sub(r.start)/100))))
		case <-r.end:
			return
		}
	}
}

func (r *Recorder) sample(now time.Time) {
	r.past.add(now.Sub(r.start), r.source.Snapshot(), r.source.Summary(r.stats))
}

// Stop takes the last sample and gives the whole. It is called once.
func (r *Recorder) Stop() *Timeline {
	close(r.end)
	<-r.ended
	now := time.Now()
	r.sample(now)
	return r.past.timeline(now.Sub(r.start))
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// rate is a number of calls a second as it is kept: to a thousandth, and 0 for no
// limit. One that is not 0 does not become it.
func rate(rps float64) float64 {
	if math.IsInf(rps, 0) || math.IsNaN(rps) || rps <= 0 {
		return 0
	}
	return max(math.Round(rps*1000)/1000, 0.001)
}
