package main

import (
	"context"
	"math"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/plan"
)

// planDocument is what plan prints. Its fields are an interface to others.
type planDocument struct {
	Seconds  float64 `json:"seconds"` // that the map takes
	Requests int     `json:"requests"`
	Tasks    int     `json:"tasks"`
	Workers  int     `json:"workers"` // tasks side by side
	// LatencySeconds is how long each answer takes, and LatencyFrom where that is from:
	// "assumed", "the last run" or "--latency".
	LatencySeconds float64 `json:"latency_seconds"`
	LatencyFrom    string  `json:"latency_from"`
	// CallsSeconds is how long answers were waited for on the way to the end; what
	// limits took of it is in Limits.
	CallsSeconds float64 `json:"calls_seconds"`
	// Binds is the key of the limit that the map waits for most; empty where it waits
	// more for answers than for any limit.
	Binds  string      `json:"binds"`
	Limits []planLimit `json:"limits"` // that calls wait for, those first that cost the most
	// Accounts are those that are read, the last to end first.
	Accounts []planAccount `json:"accounts"`
	// LastRunSeconds is what the run took that the numbers are from.
	LastRunSeconds float64  `json:"last_run_seconds,omitempty"`
	Assumed        []string `json:"assumed"` // what the plan takes for granted
}

// planLimit is a limit that calls wait for.
type planLimit struct {
	Key   string  `json:"key"`  // what changes it
	Name  string  `json:"name"` // what it is of
	RPS   float64 `json:"rps,omitempty"`
	Burst float64 `json:"burst,omitempty"`
	Slots int     `json:"slots,omitempty"`
	From  string  `json:"from"` // where it is from, as limits says it
	// WaitSeconds is what it takes of the way to the end: of what has to be over for the
	// last task to end, one thing after another.
	WaitSeconds float64 `json:"wait_seconds"`
	// Calls is how many wait for it anywhere, AllSeconds how long these do together, and
	// LongestSeconds how long the one does that waits longest.
	Calls          int     `json:"calls"`
	AllSeconds     float64 `json:"all_seconds"`
	LongestSeconds float64 `json:"longest_wait_seconds"`
	// Twice is what becomes of the map with twice the rate, the burst as it is, or twice
	// the slots.
	Twice *planTwice `json:"twice,omitempty"`
}

// planTwice is a map with a limit that is twice what it is.
type planTwice struct {
	Seconds      float64 `json:"seconds"`
	SavesSeconds float64 `json:"saves_seconds"`
	Binds        string  `json:"binds"` // as in the document
}

// planAccount is when an account is read.
type planAccount struct {
	Provider string `json:"provider"`
	Account  string `json:"account"`
	// BeginsSeconds and EndsSeconds count from the beginning of the map.
	BeginsSeconds float64 `json:"begins_seconds"`
	EndsSeconds   float64 `json:"ends_seconds"`
	Requests      int     `json:"requests"`
}

// What is tried of raising limits: so many at most, and none that takes less than this
// share of the time.
const (
	raisesTried = 4
	worthRaise  = 0.02
)

// reckon makes the plan of tasks, and tries what raising its limits would bring. said is
// told what is under way.
func reckon(ctx context.Context, tasks []plan.Task, limits *planLimits, o plan.Options, said func(string)) (*planDocument, error) {
	said("planning")
	r, err := plan.Run(ctx, tasks, o)
	if err != nil {
		return nil, err
	}
	d := &planDocument{
		Seconds: inSeconds(r.Takes), Requests: r.Requests, Tasks: r.Tasks, Workers: o.Workers, LatencySeconds: o.Latency.Seconds(), CallsSeconds: inSeconds(r.Calls),
		Binds: binds(r), Limits: []planLimit{}, Accounts: []planAccount{}, Assumed: []string{},
	}
	for i, w := range r.Waits {
		l := planLimit{
			Key: w.Limit.Key, Name: w.Limit.Name, RPS: w.Limit.Rate, Burst: w.Limit.Burst, Slots: w.Limit.Slots, From: limits.from[w.Limit],
			WaitSeconds: inSeconds(w.OnWay), Calls: w.Calls, AllSeconds: inSeconds(w.All), LongestSeconds: inSeconds(w.Longest),
		}
		if i < raisesTried && w.OnWay.Seconds() >= worthRaise*r.Takes.Seconds() {
			said("trying twice " + w.Limit.Key)
			o.Twice = w.Limit
			twice, err := plan.Run(ctx, tasks, o)
			if err != nil {
				return nil, err
			}
			l.Twice = &planTwice{inSeconds(twice.Takes), inSeconds(r.Takes - twice.Takes), binds(twice)}
		}
		d.Limits = append(d.Limits, l)
	}
	for _, a := range r.Accounts {
		d.Accounts = append(d.Accounts, planAccount{a.Provider, a.Account, inSeconds(a.Begins), inSeconds(a.Ends), a.Requests})
	}
	return d, nil
}

func binds(r plan.Result) string {
	if l := r.Binds(); l != nil {
		return l.Key
	}
	return ""
}

// inSeconds rounds to what a plan can know at most.
func inSeconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }
