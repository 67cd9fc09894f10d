package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/report"
	"github.com/cloudpace/cloudpace/internal/scenario"
	"github.com/cloudpace/cloudpace/internal/wholefile"
)

// drawScenario draws a run into a file, whole or not at all.
func drawScenario(file string, s scenario.Scenario, r scenarioRun, result scenario.Result, every time.Duration) error {
	c := report.Curves{
		Title:    "Scenario " + s.ID,
		Subtitle: fmt.Sprintf("controller %s, ceiling %s; %s in %s, %.3f times the ideal", r.Controller, r.Ceiling, count(s.Calls, "call"), lasts(result.Seconds), result.Seconds/r.IdealSeconds),
		Granted:  "what the server grants, less its neighbours",
	}
	if s.Name != "" && s.Name != s.ID {
		c.Title += ": " + s.Name
	}
	if r.Processes > 1 {
		c.Subtitle += fmt.Sprintf("; %d processes", r.Processes)
	}
	for _, at := range result.Samples[min(1, len(result.Samples)):] { // the first is of the beginning
		c.Points = append(c.Points, report.CurvePoint{
			Seconds: at.At.Seconds(), Rate: at.Rate, Sent: at.Sent, Throttled: at.Throttled, Queue: at.Queued, Granted: granted(s, at.At.Seconds()-every.Seconds()/2),
		})
	}
	dir, name := filepath.Split(file)
	if dir == "" {
		dir = "."
	}
	if err := wholefile.Write(dir, name, 0o644, func(w io.Writer) error { return c.Draw(w) }); err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	return nil
}

// granted is what the server's bucket gains at a time, less what its neighbours ask for.
func granted(s scenario.Scenario, seconds float64) float64 {
	refill := s.Server.Refill
	for _, c := range s.Server.Changes {
		if c.AtS <= seconds {
			refill = c.Refill
		}
	}
	if s.NeighbourRPS > 0 && seconds >= s.NeighbourFromS && (s.NeighbourToS == 0 || seconds < s.NeighbourToS) {
		refill -= s.NeighbourRPS
	}
	return math.Max(0, refill)
}

// rounded keeps what a model can tell.
func rounded(x float64) float64 { return math.Round(x*10_000) / 10_000 }
