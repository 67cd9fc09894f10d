package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/internal/scenario"
)

// scenarioFlags are those of plan that are for modelled servers.
type scenarioFlags struct {
	scenarios, controllers []string
	ceiling, plot          string
	processes, seeds       int
	shared                 bool
}

// scenarioOwn are their names. They mean nothing without --scenario.
var scenarioOwn = []string{"controller", "ceiling", "processes", "shared", "seeds", "plot"}

// The controllers of a scenario, and the most that it is run with.
var controllers = []string{string(scenario.AIMD), string(scenario.Learn), string(scenario.Fixed)}

const (
	ceilingHard   = "hard"
	ceilingSoft   = "soft"
	allScenarios  = "all"
	mostProcesses = 1000
	mostSeeds     = 1000
)

func (f *scenarioFlags) addFlags(c *cobra.Command) {
	var ids []string
	for _, s := range scenario.Shipped() {
		ids = append(ids, s.ID)
	}
	fs := c.Flags()
	fs.StringSliceVar(&f.scenarios, "scenario", nil, "run modelled servers instead: a `file`, or "+strings.Join(ids, ", ")+" of those that come with cloudpace, or all of these")
	fs.StringSliceVar(&f.controllers, "controller", []string{string(scenario.AIMD)}, "scenario: `controllers` of the client: "+strings.Join(controllers, ", "))
	fs.StringVar(&f.ceiling, "ceiling", ceilingHard, "scenario: hard, or soft: the controller may go beyond the client's rate")
	fs.IntVar(&f.processes, "processes", 1, "scenario: `number` of processes that do the work together, each with a governor of its own")
	fs.BoolVar(&f.shared, "shared", false, "scenario: the processes share their limits through one store")
	fs.IntVar(&f.seeds, "seeds", 5, "scenario: `number` of runs, each with chance of its own; shown are medians")
	fs.StringVar(&f.plot, "plot", "", "scenario: draw the first run into this SVG `file`")
	completeList(c, "controller", controllers)
	fixed := func(flag string, names []string) {
		if err := c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return names, cobra.ShellCompDirectiveDefault // or a file
		}); err != nil {
			panic(err) // a flag that does not exist: a mistake in this program
		}
	}
	fixed("scenario", append(ids, allScenarios))
	fixed("ceiling", []string{ceilingHard, ceilingSoft})
}

// check finds all that is wrong with the command line, and gives what is to be run.
func (f *scenarioFlags) check(changed func(string) bool, others []string) (list []scenario.Scenario, err error) {
	var faults []error
	fault := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	for _, flag := range others {
		if changed(flag) {
			fault(fmt.Errorf("--scenario and --%s exclude each other: a scenario has all its numbers", flag))
		}
	}
	f.controllers = distinct(f.controllers)
	for _, name := range f.controllers {
		fault(among("--controller", name, controllers))
	}
	fault(among("--ceiling", f.ceiling, []string{ceilingHard, ceilingSoft}))
	fault(within("--processes", f.processes, mostProcesses))
	fault(within("--seeds", f.seeds, mostSeeds))
	list, err = scenariosOf(distinct(f.scenarios))
	fault(err)
	if err != nil {
		list = nil // what else is wrong with them only follows from that
	}
	if err == nil && f.plot != "" && (len(list) != 1 || len(f.controllers) != 1) {
		fault(fmt.Errorf("--plot draws one run, and there are %s and %s", count(len(list), "scenario"), count(len(f.controllers), "controller")))
	}
	for _, s := range list {
		if s.Workers < f.processes {
			fault(fmt.Errorf("--processes is %d, and scenario %s has %s (allowed: as many at most)", f.processes, s.ID, count(s.Workers, "worker")))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, usage("%w", err)
	}
	return list, nil
}

// among tells that a value is not one of those that there are.
func among(flag, value string, all []string) error {
	if slices.Contains(all, value) {
		return nil
	}
	text := fmt.Sprintf("%s is %q (allowed: %s", flag, value, strings.Join(all, ", "))
	if near, ok := inventory.Nearest(value, all); ok {
		text += "; did you mean " + near + "?"
	}
	return errors.New(text + ")")
}

func within(flag string, n, most int) error {
	if n < 1 || n > most {
		return fmt.Errorf("%s is %d (allowed: 1 to %d)", flag, n, most)
	}
	return nil
}

// scenariosOf reads what --scenario names: a file, or some that are shipped.
func scenariosOf(names []string) (list []scenario.Scenario, err error) {
	shipped := scenario.Shipped()
	var ids []string
	for _, s := range shipped {
		ids = append(ids, s.ID)
	}
	var faults []error
	for _, name := range names {
		i := slices.Index(ids, name)
		switch {
		case name == allScenarios:
			list = append(list, shipped...)
			continue
		case i >= 0:
			list = append(list, shipped[i])
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			faults = append(faults, fmt.Errorf("--scenario: %w (allowed: a file, or %s, or %s)", err, strings.Join(ids, ", "), allScenarios))
			continue
		}
		read, err := scenario.Parse(text)
		for _, fault := range each(err) {
			faults = append(faults, fmt.Errorf("%s: %w", name, fault))
		}
		list = append(list, read...)
	}
	return list, errors.Join(faults...)
}

// each takes joined errors apart.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// scenarioDocument is what plan --scenario prints. Its fields are an interface to others.
type scenarioDocument struct {
	Runs []scenarioRun `json:"runs"`
}

// scenarioRun is a scenario with one controller: the medians of its seeds.
type scenarioRun struct {
	Scenario   string `json:"scenario"` // its id
	Name       string `json:"name"`
	Controller string `json:"controller"`
	Ceiling    string `json:"ceiling"`
	Processes  int    `json:"processes"`
	Shared     bool   `json:"shared"` // they share their limits
	Seeds      int    `json:"seeds"`
	scenarioFigures
	IdealSeconds float64 `json:"ideal_seconds"` // that a client takes that knows everything
	// GivenUp counts the calls that were given up, in all runs; others did them again.
	GivenUp int               `json:"given_up"`
	BySeed  []scenarioFigures `json:"by_seed"`
}

// scenarioFigures are the figures of one run.
type scenarioFigures struct {
	Seconds          float64 `json:"seconds"`
	TimesIdeal       float64 `json:"times_ideal"` // Seconds by the ideal
	ThrottledPercent float64 `json:"throttled_percent"`
	// NeighbourThrottledPercent is of what the neighbours sent; missing where there are
	// none.
	NeighbourThrottledPercent *float64 `json:"neighbour_throttled_percent,omitempty"`
	P50Seconds                float64  `json:"p50_seconds"` // of a call, with its waits and retries
	P99Seconds                float64  `json:"p99_seconds"`
	Requests                  int      `json:"requests"`
}

// samples is how many a drawing has at least; it puts together what it cannot show.
const samples = 400

func (f *scenarioFlags) run(ctx context.Context, list []scenario.Scenario, json bool, stdout, stderr io.Writer) error {
	d := &scenarioDocument{Runs: []scenarioRun{}}
	show := newPlanProgress(stderr, 0)
	defer show.end()
	for _, s := range list {
		ideal := s.IdealS
		if ideal == 0 {
			d, err := unlessEnded(ctx, s.Ideal)
			if err != nil {
				return err
			}
			ideal = d.Seconds()
		}
		for _, controller := range f.controllers {
			r := scenarioRun{
				Scenario: s.ID, Name: s.Name, Controller: controller, Ceiling: f.ceiling, Processes: f.processes, Shared: f.shared, Seeds: f.seeds,
				IdealSeconds: ideal, BySeed: []scenarioFigures{},
			}
			for seed := range f.seeds {
				o := f.options(controller, seed)
				if f.plot != "" && seed == 0 {
					o.Sample = max(10*time.Millisecond, time.Duration(ideal/samples*float64(time.Second)))
				}
				show.say(fmt.Sprintf("scenario %s, %s: run %d of %d", s.ID, controller, seed+1, f.seeds))
				result, err := unlessEnded(ctx, func() scenario.Result { return scenario.Run(s, o) })
				if err != nil {
					return err
				}
				r.GivenUp += result.Lost
				r.BySeed = append(r.BySeed, figuresOf(s, result, ideal))
				if o.Sample > 0 {
					if err := drawScenario(f.plot, s, r, result, o.Sample); err != nil {
						return broken(err)
					}
				}
			}
			r.scenarioFigures = medians(r.BySeed)
			d.Runs = append(d.Runs, r)
		}
	}
	show.end()
	return (&limitsFlags{json: json}).print(stdout, d, d.text)
}

func (f *scenarioFlags) options(controller string, seed int) scenario.Options {
	return scenario.Options{
		Controller: scenario.Controller(controller), Soft: f.ceiling == ceilingSoft, Seed: uint64(seed) + 1, Processes: f.processes, Shared: f.shared,
	}
}

// unlessEnded gives what work gives, unless ctx ends before.
func unlessEnded[T any](ctx context.Context, work func() T) (result T, err error) {
	done := make(chan T, 1)
	go func() { done <- work() }()
	select {
	case result = <-done:
		return result, nil
	case <-ctx.Done(): // the process ends, and the work with it
		return result, &exitError{exitInterrupted, errors.New("interrupted before the scenarios were run")}
	}
}

func figuresOf(s scenario.Scenario, r scenario.Result, ideal float64) scenarioFigures {
	f := scenarioFigures{
		Seconds: inSeconds(time.Duration(r.Seconds * float64(time.Second))), P50Seconds: inSeconds(r.Median), P99Seconds: inSeconds(r.P99), Requests: r.Sent,
	}
	if ideal > 0 {
		f.TimesIdeal = rounded(r.Seconds / ideal)
	}
	if r.Sent > 0 {
		f.ThrottledPercent = rounded(100 * float64(r.Throttled) / float64(r.Sent))
	}
	if s.NeighbourRPS > 0 {
		n := rounded(100 * float64(r.NeighbourThrottled) / float64(max(1, r.Neighbour)))
		f.NeighbourThrottledPercent = &n
	}
	return f
}

// medians are those of each figure by itself.
func medians(all []scenarioFigures) (m scenarioFigures) {
	of := func(get func(scenarioFigures) float64) float64 {
		list := make([]float64, len(all))
		for i, f := range all {
			list[i] = get(f)
		}
		slices.Sort(list)
		return list[len(list)/2]
	}
	m = scenarioFigures{
		Seconds: of(func(f scenarioFigures) float64 { return f.Seconds }), TimesIdeal: of(func(f scenarioFigures) float64 { return f.TimesIdeal }),
		ThrottledPercent: of(func(f scenarioFigures) float64 { return f.ThrottledPercent }),
		P50Seconds:       of(func(f scenarioFigures) float64 { return f.P50Seconds }), P99Seconds: of(func(f scenarioFigures) float64 { return f.P99Seconds }),
		Requests: int(of(func(f scenarioFigures) float64 { return float64(f.Requests) })),
	}
	if all[0].NeighbourThrottledPercent != nil {
		n := of(func(f scenarioFigures) float64 { return *f.NeighbourThrottledPercent })
		m.NeighbourThrottledPercent = &n
	}
	return m
}

// text prints the runs for people.
func (d *scenarioDocument) text(w io.Writer) {
	rows := [][]string{{"scenario", "", "controller", "takes", "x ideal", "throttled", "neighbour", "given up", "p50", "p99"}}
	for _, r := range d.Runs {
		controller := r.Controller
		if r.Ceiling == ceilingSoft && r.Controller == string(scenario.Learn) { // the others know no such thing
			controller += ", soft"
		}
		if r.Processes > 1 {
			controller += fmt.Sprintf(", %d processes", r.Processes)
		}
		if r.Shared {
			controller += " that share"
		}
		neighbour := "none"
		if n := r.NeighbourThrottledPercent; n != nil {
			neighbour = fmt.Sprintf("%.1f %%", *n)
		}
		rows = append(rows, []string{
			"  " + r.Scenario, r.Name, controller, lasts(r.Seconds), fmt.Sprintf("%.3f", r.TimesIdeal), fmt.Sprintf("%.2f %%", r.ThrottledPercent),
			neighbour, cmp.Or(map[bool]string{true: "none"}[r.GivenUp == 0], fmt.Sprint(r.GivenUp)), latencyText(r.P50Seconds), latencyText(r.P99Seconds),
		})
	}
	table(w, rows)
	if n := d.Runs[0].Seeds; n > 1 {
		fmt.Fprintf(w, "Medians of %d runs; calls given up are those of all of them.\n", n)
	}
}

// latencyText words how long a call takes.
func latencyText(seconds float64) string {
	if seconds < 1 {
		return fmt.Sprintf("%.0f ms", 1000*seconds)
	}
	return lasts(seconds)
}
