package timeline

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/cloudpace/cloudpace"
)

// history is what is remembered of the samples.
type history struct {
	services map[string]string    // the service scope of a bucket's
	above    map[string][2]string // the account and the provider of a service scope
	tracks   map[string]*track    // by service scope
	holds    map[string]*hold     // by service scope, of the last sample
	followed int                  // tracks with points
	unseen   map[string]bool      // where something happened after followed was full
}

// track is one service scope.
type track struct {
	bucket string // the one that the rate is of
	last   Point
	points []Point // none while nothing has happened
}

// hold is how the buckets of a service scope stand.
type hold struct {
	bucket  string // the one that is slowed down the most
	share   float64
	rps     float64
	max     float64
	paused  bool
	waiting int
}

func newHistory() history {
	return history{
		services: make(map[string]string),
		above:    make(map[string][2]string),
		tracks:   make(map[string]*track),
		holds:    make(map[string]*hold),
		unseen:   make(map[string]bool),
	}
}

// add takes a sample.
func (h *history) add(at time.Duration, state cloudpace.Snapshot, numbers cloudpace.Summary) {
	paused := h.read(state.Buckets)
	for _, n := range numbers.Scopes {
		t := h.tracks[n.Scope]
		if t == nil {
			t = &track{}
			h.tracks[n.Scope] = t
		}
		p := Point{
			Seconds:   seconds(at),
			Calls:     n.Calls,
			Throttled: n.Throttled,
			Lost:      n.GaveUp + n.Rejected,
			Waits:     n.Waits,
		}
		slowed, held := false, false
		if b := h.holds[n.Scope]; b != nil && b.bucket != "" {
			t.bucket = b.bucket
			p.RPS, p.MaxRPS, p.Waiting = rate(b.rps), rate(b.max), b.waiting
			p.Paused = b.paused
			slowed = b.share < 1 || b.paused
		}
		if h.pausedAbove(n.Scope, paused) {
			// A pause of the account is one of all its services, and happens to those
			// that wait for its end.
			held, p.Paused = p.Waiting > 0, true
		}
		happened := slowed || held || n.Throttled+n.TransientErrors+n.GaveUp+n.Rejected+n.BreakerTrips > 0
		switch {
		case len(t.points) > 0:
			t.points = follow(t.points, p)
		case happened && h.followed == maxFollowed:
			h.unseen[n.Scope] = true
		case happened:
			h.followed++
			if t.last.Seconds > 0 { // how it was until now
				t.points = append(t.points, t.last)
			}
			t.points = follow(t.points, p)
		}
		t.last = p
	}
}

// read finds out how each service scope stands, and which accounts and providers
// are paused as a whole. What is known of buckets that are gone goes with them.
func (h *history) read(buckets []cloudpace.BucketState) (paused map[string]bool) {
	for _, s := range h.holds {
		*s = hold{}
	}
	paused = make(map[string]bool)
	for _, b := range buckets {
		if b.Level != "leaf" {
			if b.PausedSeconds > 0 {
				paused[b.Scope] = true
			}
			continue
		}
		service := h.serviceOf(b.Scope)
		s := h.holds[service]
		if s == nil {
			s = &hold{}
			h.holds[service] = s
		}
		share := 1.0
		if b.RPS < b.MaxRPS {
			share = b.RPS / b.MaxRPS
			if math.IsInf(b.MaxRPS, 1) {
				share = 0
			}
		}
		if s.bucket == "" || h.slower(service, b, share, s) {
			s.bucket, s.share, s.rps, s.max = b.Scope, share, b.RPS, b.MaxRPS
		}
		s.paused = s.paused || b.PausedSeconds > 0
		s.waiting += b.Waiting
	}
	return paused
}

// slower tells whether a bucket stands for its scope rather than the one found so
// far: by how far it is slowed down, and where they are alike, by being the one
// that stood for it before, so that a recovered scope keeps its ceiling.
func (h *history) slower(service string, b cloudpace.BucketState, share float64, than *hold) bool {
	if share != than.share {
		return share < than.share
	}
	if t := h.tracks[service]; t != nil && t.bucket != "" && (t.bucket == b.Scope) != (t.bucket == than.bucket) {
		return t.bucket == b.Scope
	}
	return b.RPS < than.rps
}

// serviceOf gives the service scope of a bucket's scope.
func (h *history) serviceOf(bucket string) string {
	service, ok := h.services[bucket]
	if !ok {
		service = bucket
		if s, err := cloudpace.ParseScope(bucket); err == nil {
			s.Operation = ""
			service = s.String()
		}
		h.services[bucket] = service
	}
	return service
}

// pausedAbove tells whether the account of a service scope is paused, or its
// provider.
func (h *history) pausedAbove(service string, paused map[string]bool) bool {
	if len(paused) == 0 {
		return false
	}
	above, ok := h.above[service]
	if !ok {
		if s, err := cloudpace.ParseScope(service); err == nil {
			account, provider := cloudpace.Scope{Provider: s.Provider, Account: s.Account}, cloudpace.Scope{Provider: s.Provider}
			above = [2]string{account.String(), provider.String()}
		}
		h.above[service] = above
	}
	return paused[above[0]] || paused[above[1]]
}

// follow adds a point. One that tells nothing new prolongs the last; and where
// there are too many, those two neighbours become one that span the least time.
func follow(points []Point, p Point) []Point {
	if n := len(points); n > 0 {
		prolonged := points[n-1]
		prolonged.Seconds = p.Seconds
		if prolonged == p {
			points[n-1] = p
			return points
		}
	}
	points = append(points, p)
	if len(points) <= MaxPoints {
		return points
	}
	least, from := math.Inf(1), 0
	before := 0.0
	for i := range len(points) - 1 {
		if span := points[i+1].Seconds - before; span < least {
			least, from = span, i
		}
		before = points[i].Seconds
	}
	points[from+1] = merge(points[from], points[from+1])
	return slices.Delete(points, from, from+1)
}

// merge makes one point of two neighbours.
func merge(a, b Point) Point {
	if b.RPS == 0 || a.RPS > 0 && a.RPS < b.RPS {
		b.RPS, b.MaxRPS = a.RPS, a.MaxRPS
	}
	b.Waiting = max(a.Waiting, b.Waiting)
	b.Paused = a.Paused || b.Paused
	return b
}

// timeline gives the scopes where something happened.
func (h *history) timeline(took time.Duration) *Timeline {
	line := &Timeline{Seconds: seconds(took), Scopes: []Scope{}, LeftOut: len(h.unseen)}
	for scope, t := range h.tracks {
		if len(t.points) > 0 {
			line.Scopes = append(line.Scopes, Scope{scope, t.points})
		}
	}
	slices.SortFunc(line.Scopes, func(a, b Scope) int {
		x, y := a.Points[len(a.Points)-1], b.Points[len(b.Points)-1]
		return cmp.Or(cmp.Compare(y.Throttled, x.Throttled), cmp.Compare(y.Lost, x.Lost), cmp.Compare(a.Scope, b.Scope))
	})
	if more := len(line.Scopes) - MaxScopes; more > 0 {
		line.Scopes = line.Scopes[:MaxScopes]
		line.LeftOut += more
	}
	return line
}
