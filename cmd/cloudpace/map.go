package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/config"
)

// mapFlags are the command line of map.
type mapFlags struct {
	providers, only, skip []string
	out, config, fleet    string
	failOnPartial, json   bool
	demo, fresh           bool
	maxItems              int
	clouds                []*cloud // all that there are, with their own flags
}

func newMapCommand() *cobra.Command {
	f := mapFlags{clouds: clouds()}
	c := &cobra.Command{
		Use:   "map",
		Short: "List what is in an account, and what could not be listed",
		Long: `map reads what is in AWS accounts, Azure subscriptions and Google Cloud projects,
and writes files into a directory:

  assets.jsonl  one thing a line
  edges.jsonl   one role of somebody on a thing a line, of Google Cloud
  run.json      a summary, a coverage record for each account, region and task,
                and what throttling cost
  report.html   the same for people, in one file for the browser

What an earlier run left there is replaced once the new run has something to
write. Every call is paced; limits come from --config and CLOUDPACE_… variables,
and what throttling taught an earlier run is remembered: see cloudpace limits.

With --demo it is simulated clouds in the same process that are read: no
credentials are needed or looked for, and nothing is sent anywhere.

Exit codes: 0 finished, perhaps with gaps, which standard error names; 1 nothing
could be collected, or the run broke; 2 wrong usage; 3 gaps, with
--fail-on-partial; 130 interrupted, data and coverage kept.`,
		Example: `  cloudpace map --demo
  cloudpace map -p aws -o inventory
  cloudpace map -p aws --profile audit --regions eu-west-1,eu-central-1 --skip tags
  cloudpace map -p aws --role-arn arn:aws:iam::111122223333:role/Audit --fail-on-partial
  cloudpace map -p azure --management-group workloads
  cloudpace map -p gcp --parent organizations/123456789012 --quota-project example-1
  cloudpace map -p aws,azure --only network`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if name, ok := emptyFlag(c); ok {
				return usage("--%s is empty: give it a value or leave it out", name)
			}
			selected, err := f.check(c.Flags().Changed)
			if err != nil {
				return err
			}
			return f.run(c.Context(), selected, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	names, families := providerNames(f.clouds), inventory.Families(kindsOf(f.clouds))
	fs := c.Flags()
	fs.BoolVar(&f.demo, "demo", false, "read simulated clouds, which takes less than a minute and no credentials")
	fs.StringSliceVarP(&f.providers, "provider", "p", nil, "`providers` to read: "+strings.Join(names, ", ")+" (default: those with credentials)")
	fs.StringSliceVar(&f.only, "only", nil, "read only these `families`: "+strings.Join(families, ", "))
	fs.StringSliceVar(&f.skip, "skip", nil, "read all but these `families`")
	fs.StringVarP(&f.out, "output", "o", "cloudpace-map", "`directory` to write into")
	fs.StringVar(&f.config, "config", "", "configuration `file` with limits (cloudpace.yaml)")
	fs.StringVar(&f.fleet, "fleet", "", fleetUsage)
	fs.BoolVar(&f.fresh, "fresh", false, "forget what earlier runs learned about the limits")
	fs.BoolVar(&f.failOnPartial, "fail-on-partial", false, "exit with 3 when something could not be read")
	fs.IntVar(&f.maxItems, "max-items", 0, "read at most `n` assets for each task, account and region (default: all)")
	fs.BoolVar(&f.json, "json", false, "print the summary as JSON on standard output")
	completeList(c, "provider", names)
	completeList(c, "only", families)
	completeList(c, "skip", families)
	for _, cloud := range f.clouds {
		cloud.addFlags(c)
	}
	return c
}

// selection is what a command line asks for.
type selection struct {
	clouds []*cloud
	absent []error // why others are not among them, without -p
	wanted func(inventory.Kind) bool
}

// check finds what is wrong with the command line and gives what is selected.
func (f *mapFlags) check(changed func(string) bool) (p selection, err error) {
	for _, list := range []*[]string{&f.providers, &f.only, &f.skip} {
		*list = distinct(*list)
	}
	if err := known("provider", f.providers, providerNames(f.clouds)); err != nil {
		return p, err
	}
	if err := f.conflict(changed); err != nil {
		return p, err
	}
	if len(f.only) > 0 && len(f.skip) > 0 {
		return p, usage("--only and --skip exclude each other")
	}
	if f.maxItems < 0 {
		return p, usage("--max-items: %d is below 0", f.maxItems)
	}
	for _, c := range f.clouds {
		if err := c.check(); err != nil {
			return p, usage("%w", err)
		}
	}
	p.clouds, p.absent = f.choose(changed)
	if err := f.elsewhere(p); err != nil {
		return p, err
	}
	if err := known("family", slices.Concat(f.only, f.skip), inventory.Families(kindsOf(p.clouds))); err != nil {
		return p, err
	}
	p.wanted = func(k inventory.Kind) bool {
		if len(f.only) > 0 {
			return slices.Contains(f.only, k.Family)
		}
		return !slices.Contains(f.skip, k.Family)
	}
	// One of which nothing is wanted is not asked who it is either.
	p.clouds = slices.DeleteFunc(p.clouds, func(c *cloud) bool { return !slices.ContainsFunc(c.kinds, p.wanted) })
	if len(p.clouds) == 0 {
		return p, usage("--skip leaves nothing to read")
	}
	return p, nil
}

// elsewhere finds a family that only a provider has which is not read. There is such a
// family, so that it is not one that nobody knows.
func (f *mapFlags) elsewhere(p selection) error {
	read := inventory.Families(kindsOf(p.clouds))
	for _, family := range slices.Concat(f.only, f.skip) {
		if slices.Contains(read, family) {
			continue
		}
		for _, c := range f.clouds {
			if !slices.Contains(inventory.Families(c.kinds), family) {
				continue
			}
			why := "it seems to have no credentials; -p " + c.provider + " looks for all that there may be"
			if len(f.providers) > 0 {
				why = "-p names " + strings.Join(f.providers, ",")
			}
			return usage("family %q is %s's, which is not read: %s", family, c.title, why)
		}
	}
	return nil
}

// conflict finds a flag that says where to read in a provider that is not read, or
// in the demo, which says that itself.
func (f *mapFlags) conflict(changed func(string) bool) error {
	if f.demo && f.fresh {
		return usage("--demo and --fresh exclude each other: the demo remembers nothing")
	}
	if f.demo && f.fleet != "" {
		return usage("--demo and --fleet exclude each other: nobody else reads the demo's clouds")
	}
	for _, c := range f.clouds {
		flag, ok := c.named(changed)
		switch {
		case !ok:
		case f.demo:
			return usage("--demo and --%s exclude each other: the demo reads nothing but what it simulates", flag)
		case len(f.providers) > 0 && !slices.Contains(f.providers, c.provider):
			return usage("--%s is for %s, which is not read with -p %s", flag, c.title, strings.Join(f.providers, ","))
		}
	}
	return nil
}

// choose gives the providers to read: those that were named; all in a demo; and else
// those that were spoken of by a flag of theirs, or seem to have credentials. For the
// others it gives why they do not.
func (f *mapFlags) choose(changed func(string) bool) (list []*cloud, absent []error) {
	for _, c := range f.clouds {
		_, flagged := c.named(changed)
		c.asked = flagged || slices.Contains(f.providers, c.provider)
		switch {
		case len(f.providers) > 0:
			if c.asked {
				list = append(list, c)
			}
		case f.demo, flagged, c.absent == nil:
			list = append(list, c)
		default:
			if err := c.absent(); err != nil {
				absent = append(absent, err)
				continue
			}
			list = append(list, c)
		}
	}
	return list, absent
}

// settings reads the configuration.
func (f *mapFlags) settings(p selection, stderr io.Writer) (cloudpace.Config, error) {
	settings, _, err := configuration(f.config, stderr)
	if err == nil && f.demo {
		settings = demoSettings(settings, p.clouds)
	}
	return settings, err
}

// configuration reads a file, unless path is empty, and the environment.
func configuration(path string, stderr io.Writer) (cloudpace.Config, config.Places, error) {
	settings, places, warnings, err := config.LoadPlaces(path)
	for _, w := range warnings {
		warn(stderr, w.String())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return settings, nil, usage("--config: %w", err)
	}
	if err != nil {
		return settings, nil, usage("configuration: %w", err)
	}
	return settings, places, nil
}

// warn says something that stops nobody.
func warn(w io.Writer, text string) { fmt.Fprintln(w, warning(text)) }

func warning(text string) string { return "cloudpace: warning: " + text }
