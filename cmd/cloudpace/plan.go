package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/plan"
)

// planFlags are the command line of plan.
type planFlags struct {
	providers, only, skip     []string
	accounts, regions, items  []string
	from, config, latencyText string
	json                      bool
	clouds                    []*cloud
	scenario                  scenarioFlags
}

// usualLatency is what an answer takes where nothing is known: the clouds' own answers
// to a listing take 50 to 200 ms from nearby.
const usualLatency = 100 * time.Millisecond

// latency is what --latency may be.
const (
	leastLatency = time.Millisecond
	mostLatency  = time.Minute
)

func newPlanCommand() *cobra.Command {
	f := planFlags{clouds: clouds()}
	c := &cobra.Command{
		Use:   "plan",
		Short: "Tell how long a map takes, which limit it waits for, and what raising that would bring",
		Long: `plan tells beforehand how long map takes: it lets all calls of all tasks pass the
governor's own buckets and slots in a time of its own, in the order and side by side as
map does. Nothing is sent, and no credentials are needed.

How much there is to read is what the last run found (--from), or what is expected:
--accounts, --regions and --items. Limits come from --config and CLOUDPACE_… variables,
as for map.

It takes for granted that the provider grants what the limits say, so that nothing is
throttled.

With --scenario it is modelled servers that are called, with quotas, neighbours and
latencies of their own, by one process or several, to see how a controller does there.

Exit codes: 0 planned; 1 the output could not be written; 2 wrong usage, or not enough
numbers, which are named; 130 interrupted.`,
		Example: `  cloudpace plan --from cloudpace-map
  cloudpace plan --from cloudpace-map --config cloudpace.yaml
  cloudpace plan -p aws --accounts 300 --regions 17 --items 100
  cloudpace plan -p aws --accounts 3 --regions us-east-1,eu-west-1 --items 50,ec2_images=600
  cloudpace plan -p azure,gcp --accounts 20 --items 200 --json
  cloudpace plan --scenario all --controller aimd,learn --ceiling soft
  cloudpace plan --scenario B --controller learn --plot b.svg
  cloudpace plan --scenario servers.json --processes 4`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if name, ok := emptyFlag(c); ok {
				return usage("--%s is empty: give it a value or leave it out", name)
			}
			changed := c.Flags().Changed
			if len(f.scenario.scenarios) > 0 {
				list, err := f.scenario.check(changed, []string{"from", "provider", "accounts", "regions", "items", "only", "skip", "config", "latency"})
				if err != nil {
					return err
				}
				return f.scenario.run(c.Context(), list, f.json, c.OutOrStdout(), c.ErrOrStderr())
			}
			for _, flag := range scenarioOwn {
				if changed(flag) {
					return usage("--%s goes with --scenario: a plan of a map takes the limits for granted, so that nothing is throttled", flag)
				}
			}
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	names, families := providerNames(f.clouds), inventory.Families(kindsOf(f.clouds))
	fs := c.Flags()
	fs.StringVar(&f.from, "from", "", "`directory` that map wrote: plan the same run again")
	fs.StringSliceVarP(&f.providers, "provider", "p", nil, "`providers` to read: "+strings.Join(names, ", ")+" (default: those of --from)")
	fs.StringSliceVar(&f.accounts, "accounts", nil, "`number` of accounts, subscriptions or projects of each provider, or their names")
	fs.StringSliceVar(&f.regions, "regions", nil, "AWS: `number` of regions, or their names")
	fs.StringSliceVar(&f.items, "items", nil, "`number` of things that a task finds in each account and region, and TASK=NUMBER for single tasks")
	fs.StringSliceVar(&f.only, "only", nil, "plan only these `families`: "+strings.Join(families, ", "))
	fs.StringSliceVar(&f.skip, "skip", nil, "plan all but these `families`")
	fs.StringVar(&f.config, "config", "", "configuration `file` with limits (cloudpace.yaml)")
	fs.StringVar(&f.latencyText, "latency", "", "`time` that each answer takes, such as 80ms (default: that of the last run, or 100ms)")
	fs.BoolVar(&f.json, "json", false, "print JSON")
	completeList(c, "provider", names)
	completeList(c, "only", families)
	completeList(c, "skip", families)
	completeList(c, "regions", aws.RegionNames())
	var tasks []string
	for _, k := range kindsOf(f.clouds) {
		tasks = append(tasks, k.Name+"=")
	}
	completeList(c, "items", tasks)
	f.scenario.addFlags(c)
	if err := c.MarkFlagDirname("from"); err != nil {
		panic(err) // a flag that does not exist: a mistake in this program
	}
	return c
}

// asked is what a command line asks to be planned.
type planned struct {
	clouds  []*cloud
	wanted  func(inventory.Kind) bool
	run     *lastRun // nil: nothing is known of one
	regions []string
	sizes   sizes
	latency time.Duration // 0: not given
}

// check finds all that is wrong with the command line, and all that it lacks.
func (f *planFlags) check() (p planned, err error) {
	var faults []error
	fault := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	for _, list := range []*[]string{&f.providers, &f.only, &f.skip} {
		*list = distinct(*list)
	}
	fault(known("provider", f.providers, providerNames(f.clouds)))
	if len(f.only) > 0 && len(f.skip) > 0 {
		fault(errors.New("--only and --skip exclude each other"))
	}
	fault(known("family", slices.Concat(f.only, f.skip), inventory.Families(kindsOf(f.clouds))))
	p.wanted = func(k inventory.Kind) bool {
		if len(f.only) > 0 {
			return slices.Contains(f.only, k.Family)
		}
		return !slices.Contains(f.skip, k.Family)
	}
	if f.latencyText != "" {
		p.latency, err = time.ParseDuration(f.latencyText)
		if err != nil || p.latency < leastLatency || p.latency > mostLatency {
			fault(fmt.Errorf("--latency is %q (allowed: %s to %s, as 80ms or 1.5s)", f.latencyText, leastLatency, mostLatency))
		}
	}
	if f.from != "" {
		for flag, list := range map[string][]string{"accounts": f.accounts, "regions": f.regions, "items": f.items} {
			if len(list) > 0 {
				fault(fmt.Errorf("--from and --%s exclude each other: the run says what there is", flag))
			}
		}
		p.run, err = readRun(f.from, f.clouds)
		fault(err)
	} else {
		faults = append(faults, f.checkSizes(&p)...)
	}
	slices.SortFunc(faults, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	if err := errors.Join(faults...); err != nil {
		return p, usage("%w", err)
	}
	providers := f.providers
	if p.run != nil && len(providers) == 0 {
		providers = p.run.Summary.Provider
	}
	for _, c := range f.clouds {
		if slices.Contains(providers, c.provider) && slices.ContainsFunc(c.kinds, p.wanted) {
			p.clouds = append(p.clouds, c)
		}
	}
	if len(p.clouds) == 0 {
		return p, usage("there is nothing to plan: %s, and --only or --skip leave nothing of it", cmp.Or(strings.Join(providers, ","), "the run has no provider"))
	}
	return p, nil
}

// checkSizes reads the numbers of a run that has not been yet. What is missing is named.
func (f *planFlags) checkSizes(p *planned) (faults []error) {
	missing := func(flag, what, example string) {
		faults = append(faults, fmt.Errorf("--%s is missing: %s (allowed: %s; or --from with a directory that map wrote, instead of all numbers)", flag, what, example))
	}
	if len(f.providers) == 0 {
		missing("provider", "whose limits count", "-p "+strings.Join(providerNames(f.clouds), ","))
	}
	if len(f.accounts) == 0 {
		missing("accounts", "how many accounts are read", fmt.Sprintf("1 to %d, or names", mostPlanned))
	} else if _, err := placesOf("accounts", f.accounts, mostPlanned, func(int) string { return "" }); err != nil {
		faults = append(faults, err)
	}
	switch ofAWS := slices.Contains(f.providers, aws.Provider); {
	case len(f.regions) > 0 && len(f.providers) > 0 && !ofAWS:
		faults = append(faults, fmt.Errorf("--regions is for AWS, which is not planned with -p %s", strings.Join(f.providers, ",")))
	case len(f.regions) > 0:
		regions, err := regionsOf(f.regions)
		if err != nil {
			faults = append(faults, err)
		}
		p.regions = regions
	case ofAWS:
		missing("regions", "in how many regions AWS is read", fmt.Sprintf("1 to %d, or names", len(aws.RegionNames())))
	}
	if len(f.items) == 0 {
		missing("items", "how much there is to find", fmt.Sprintf("0 to %d for each task, account and region, and TASK=NUMBER for single tasks", mostItems))
		return faults
	}
	var tasks []string
	for _, k := range kindsOf(f.clouds) {
		tasks = append(tasks, k.Name)
	}
	var wrong []error
	p.sizes, wrong = parseSizes(f.items, tasks)
	return append(faults, wrong...)
}

func (f *planFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	p, wrong := f.check()
	settings, at, err := configuration(f.config, stderr)
	var t tables
	if err == nil {
		if t, err = newTables(settings, at); err != nil {
			err = fmt.Errorf("configuration: %w", err)
		}
	}
	if err := errors.Join(wrong, err); err != nil {
		return usage("%w", err)
	}
	limits := newPlanLimits(t)
	tasks, notes, err := f.tasks(p, limits)
	if err != nil {
		return err
	}
	o := plan.Options{Workers: inventory.DefaultWorkers, Latency: p.latency}
	from := "--latency"
	if o.Latency == 0 {
		o.Latency, from = usualLatency, "assumed"
		if p.run != nil {
			if d, ok := p.run.latency(); ok {
				o.Latency, from = d, "the last run"
			}
		}
	}
	show := newPlanProgress(stderr, len(tasks))
	o.Progress = show.done
	d, err := reckon(ctx, tasks, limits, o, show.begin)
	show.end()
	if err != nil {
		return &exitError{exitInterrupted, errors.New("interrupted before the plan was made")}
	}
	d.LatencyFrom = from
	if p.run != nil {
		d.LastRunSeconds = p.run.Summary.Seconds
	}
	d.Assumed = append(d.assumptions(p, settings), notes...)
	return (&limitsFlags{json: f.json}).print(stdout, d, d.text)
}

// tasks makes all tasks, and notes on what they leave out.
func (f *planFlags) tasks(p planned, limits *planLimits) (tasks []plan.Task, notes []string, err error) {
	if p.run != nil {
		var unread, unknown int
		tasks, unread, unknown = p.run.tasks(limits, providerNames(p.clouds), p.wanted)
		if unread > 0 {
			notes = append(notes, fmt.Sprintf("%s of the last run read nothing or not all; what is missing there is not in the plan", count(unread, "task")))
		}
		if unknown > 0 {
			notes = append(notes, fmt.Sprintf("not in the plan: %s of the run that another version of cloudpace made", count(unknown, "task")))
		}
	} else {
		n := 0
		for _, c := range p.clouds {
			accounts, _ := placesOf("accounts", f.accounts, mostPlanned, accountName(c))
			n += len(accounts) * len(c.kinds) * max(1, len(p.regions))
			if n > mostTasks {
				return nil, nil, usage("--accounts: %s in so many regions are more than %s, which is the most that is planned", count(len(accounts), "account"), count(mostTasks, "task"))
			}
			w := work{limits: limits, accounts: accounts, regions: p.regions, sizes: p.sizes}
			tasks = append(tasks, w.tasks(c, p.wanted)...)
		}
	}
	if len(tasks) == 0 {
		text := "the run has no task of these families"
		if len(notes) > 0 {
			text += "; " + strings.Join(notes, "; ")
		}
		return nil, nil, usage("there is nothing to plan: %s", text)
	}
	return tasks, notes, nil
}

// assumptions are what the plan takes for granted.
func (d *planDocument) assumptions(p planned, settings cloudpace.Config) (list []string) {
	list = append(list, "the provider grants what the limits say, and nothing is throttled")
	if !settings.Enabled {
		list = append(list, "nothing is paced: ratelimit.enabled is false")
	}
	if d.LatencyFrom == "assumed" {
		list = append(list, fmt.Sprintf("an answer takes %s; --latency says otherwise", usualLatency))
	}
	for _, c := range p.clouds {
		if !settings.Provider(c.provider).Enabled {
			list = append(list, fmt.Sprintf("nothing is paced in %s: ratelimit.%s.enabled is false", c.title, c.provider))
		}
		if payer(c.provider) != "" {
			list = append(list, "one project pays for all that is read of "+c.title)
		}
		if p.run == nil && slices.ContainsFunc(c.kinds, func(k inventory.Kind) bool { return k.Calls.Assumed && p.wanted(k) }) {
			list = append(list, fmt.Sprintf("100 things are in one answer of the lists of %s that do not say how many", c.title))
		}
	}
	return list
}
