// Package scenario is a modelled server with a quota, and the work that clients have for
// it: what a controller is tried on, in virtual time. It knows no clocks; every method is
// given the time.
package scenario

import "time"

// Scenario is one server, its neighbours and the work of one process or several. The
// fields are those of a scenario file; seconds are seconds.
type Scenario struct {
	ID   string `json:"id"`
	Name string `json:"name"`

	Server Server `json:"server"`
	// NeighbourRPS is a Poisson stream into the same bucket, from and to the given times
	// (0: from the beginning, to the end).
	NeighbourRPS   float64 `json:"neighbour_rps"`
	NeighbourFromS float64 `json:"neighbour_from_s"`
	NeighbourToS   float64 `json:"neighbour_to_s"`

	Client  Client `json:"client"`
	Calls   int    `json:"calls"`   // that are to succeed, of all processes together
	Workers int    `json:"workers"` // that start calls as fast as they may, of all processes together
	// BurstCalls, where it is not 0, divides the work: after so many calls nothing is to
	// be done for GapS, which is not counted.
	BurstCalls int     `json:"burst_calls"`
	GapS       float64 `json:"gap_s"`

	IdealS float64 `json:"ideal_s"` // the time that a client needs that knows everything
}

// Server is a token bucket behind a network.
type Server struct {
	Burst        float64  `json:"burst"`
	Refill       float64  `json:"refill"`        // tokens a second
	RetryAfterS  float64  `json:"retry_after_s"` // the hint of a throttled answer; 0: none
	ThrottleCost float64  `json:"throttle_cost"` // tokens that a throttled attempt takes
	Floor        float64  `json:"floor"`         // such costs take the bucket no lower
	LatencyS     float64  `json:"latency_s"`     // of an accepted call, ± 30 %; 0: 0.1
	ThrottledS   float64  `json:"throttled_s"`   // of a throttled one, ± 30 %; 0: 0.03
	PathS        float64  `json:"path_s"`        // from the client to the bucket, ± 30 %, and part of neither latency; 0: 0.005
	Changes      []Change `json:"changes"`       // of the quota, in order
}

// Change puts another quota in force. What is stored beyond a smaller burst is gone.
type Change struct {
	AtS    float64 `json:"at_s"`
	Burst  float64 `json:"burst"`
	Refill float64 `json:"refill"`
}

// Client is what the client has configured.
type Client struct {
	Rate  float64 `json:"rate"`
	Burst float64 `json:"burst"`
}

// Defaults of a server's latencies, and how far an answer's lies from them.
const (
	latency   = 100 * time.Millisecond
	throttled = 30 * time.Millisecond
	// A client that is exact to the nanosecond would have each token that a neighbour waits
	// for: no network is so even.
	path   = 5 * time.Millisecond
	spread = 0.3
)
