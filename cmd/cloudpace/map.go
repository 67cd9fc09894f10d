package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/report"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/timeline"
	"github.com/cloudpace/cloudpace/config"
)

// providers are those that can be mapped.
var providers = []string{aws.Provider}

// mapFlags are the command line of map.
type mapFlags struct {
	providers, only, skip []string
	out, config           string
	failOnPartial, json   bool
	demo                  bool
	maxItems              int
	aws                   aws.Options
}

func newMapCommand() *cobra.Command {
	var f mapFlags
	c := &cobra.Command{
		Use:   "map",
		Short: "List what is in an account, and what could not be listed",
		Long: `map reads what is in an account and writes three files into a directory:

  assets.jsonl  one thing a line
  run.json      a summary, a coverage record for each account, region and task,
                and what throttling cost
  report.html   the same for people, in one file for the browser

What an earlier run left there is replaced once the new run has something to
write. Every call is paced; limits come from --config and CLOUDPACE_… variables.

With --demo it is a simulated organization in the same process that is read: no
credentials are needed or looked for, and nothing is sent anywhere.

Exit codes: 0 finished, perhaps with gaps, which standard error names; 1 nothing
could be collected, or the run broke; 2 wrong usage; 3 gaps, with
--fail-on-partial; 130 interrupted, data and coverage kept.`,
		Example: `  cloudpace map --demo
  cloudpace map -p aws -o inventory
  cloudpace map -p aws --profile audit --regions eu-west-1,eu-central-1 --skip tags
  cloudpace map -p aws --role-arn arn:aws:iam::111122223333:role/Audit --fail-on-partial`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if name, ok := emptyFlag(c); ok {
				return usage("--%s is empty: give it a value or leave it out", name)
			}
			if f.demo {
				if err := demoConflict(c.Flags().Changed); err != nil {
					return err
				}
			}
			return f.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fs := c.Flags()
	fs.BoolVar(&f.demo, "demo", false, "read a simulated organization, which takes less than a minute and no credentials")
	fs.StringSliceVarP(&f.providers, "provider", "p", nil, "`providers` to read: "+strings.Join(providers, ", ")+" (default: those with credentials)")
	families := strings.Join(inventory.Families(aws.Kinds()), ", ")
	fs.StringSliceVar(&f.only, "only", nil, "read only these `families`: "+families)
	fs.StringSliceVar(&f.skip, "skip", nil, "read all but these `families`")
	fs.StringVarP(&f.out, "output", "o", "cloudpace-map", "`directory` to write into")
	fs.StringVar(&f.config, "config", "", "configuration `file` with limits (cloudpace.yaml)")
	fs.BoolVar(&f.failOnPartial, "fail-on-partial", false, "exit with 3 when something could not be read")
	fs.IntVar(&f.maxItems, "max-items", 0, "read at most `n` assets for each task, account and region (default: all)")
	fs.BoolVar(&f.json, "json", false, "print the summary as JSON on standard output")
	fs.StringVar(&f.aws.Profile, "profile", "", "AWS: `name` of the profile with the credentials")
	fs.StringVar(&f.aws.RoleARN, "role-arn", "", "AWS: `ARN` of a role to assume")
	fs.StringVar(&f.aws.ExternalID, "external-id", "", "AWS: external `id` for that role")
	fs.StringSliceVar(&f.aws.Regions, "regions", nil, `AWS: "all" that the account has enabled (the default), or a list of `+"`regions`")
	fs.StringVar(&f.aws.Endpoint, "endpoint-url", "", "AWS: `URL` to ask all services at, for emulators and proxies")
	completeList(c, "provider", providers)
	completeList(c, "only", inventory.Families(aws.Kinds()))
	completeList(c, "skip", inventory.Families(aws.Kinds()))
	completeList(c, "regions", append([]string{aws.AllRegions}, aws.RegionNames()...))
	return c
}

// collect gives what a visiting function visits.
func collect[T any](visit func(func(T))) (list []T) {
	visit(func(v T) { list = append(list, v) })
	return list
}

// emptyFlag finds a flag that was given with nothing in it, as --only "$UNSET" is.
// To take that for a flag left out would read everything where a part was meant,
// or another account than the role's.
func emptyFlag(c *cobra.Command) (name string, found bool) {
	for _, f := range collect(c.Flags().Visit) { // those that were given
		values := []string{f.Value.String()}
		if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
			values = list.GetSlice()
		}
		if strings.TrimSpace(strings.Join(values, "")) == "" {
			return f.Name, true
		}
	}
	return "", false
}

// run maps. What can be said before anything is sent is said first.
func (f *mapFlags) run(ctx context.Context, stdout, stderr io.Writer) (failure error) {
	wanted, err := f.check()
	if err != nil {
		return err
	}
	settings, err := f.settings(stderr)
	if err != nil {
		return err
	}
	governor, err := cloudpace.New(settings)
	if err != nil {
		return usage("configuration: %w", err)
	}
	undo, err := inventory.Writable(f.out)
	if err != nil {
		return broken(err)
	}
	defer undo() // a directory that was made for nothing goes again

	boundMemory()
	f.aws.Governor = governor
	sources := []aws.Options{f.aws}
	if f.demo {
		d, err := startDemo(ctx, demoProfile(demoSpeed))
		if err != nil {
			return broken(fmt.Errorf("the demo's cloud: %w", err))
		}
		defer func() {
			if err := d.close(); err != nil && failure == nil {
				failure = broken(fmt.Errorf("the demo's cloud: %w", err))
			}
		}()
		d.greet(wrapped(stderr))
		sources = d.accounts(governor)
	}
	ctx, stats := cloudpace.WithStats(ctx)
	show := newProgress(stderr, governor, stats)
	defer show.stop()
	head := inventory.Summary{Version: version(), Provider: []string{aws.Provider}, Started: time.Now().UTC()}
	var tasks []inventory.Task
	for i, source := range sources {
		show.say(asking(i, len(sources)))
		account, err := aws.Open(ctx, source)
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted before anything was read")}
		}
		if err != nil {
			return broken(err)
		}
		head.Accounts = append(head.Accounts, account.Account)
		tasks = append(tasks, account.Tasks(wanted)...)
	}
	show.begin(tasks)
	defer context.AfterFunc(ctx, func() { show.say("interrupted: ending what is under way; again ends at once") })()

	sink := inventory.NewSink(f.out)
	recorder := timeline.Start(governor, stats)
	records, broke := inventory.Run(ctx, tasks, inventory.Options{
		Sink: sink, Governor: governor, MaxAssets: f.maxItems, Tally: &show.tally, Done: show.done,
	})
	show.stop()
	doc := inventory.NewDocument(head, records, sink, broke, context.Cause(ctx))
	doc.Throttling, doc.Timeline = governor.Summary(stats), recorder.Stop()
	unkept, unreported := doc.Write(f.out), report.Write(f.out, doc)
	closing(wrapped(stderr), doc, f.out)
	if unkept == nil {
		fmt.Fprintf(stderr, "Coverage: %s\n", filepath.Join(f.out, inventory.RunFile))
	}
	if unreported == nil {
		fmt.Fprintf(stderr, "Report: %s\n", filepath.Join(f.out, inventory.ReportFile))
	}
	broke = errors.Join(broke, unkept, unreported)
	if f.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		if err := e.Encode(doc.Summary); err != nil {
			broke = errors.Join(broke, fmt.Errorf("standard output: %w", err))
		}
	}
	return f.exit(doc, broke)
}

// asking says what is found out before there is anything to read.
func asking(i, n int) string {
	text := "asking whose credentials these are, and which regions are enabled"
	if n > 1 {
		text += fmt.Sprintf(" (account %d of %d)", i+1, n)
	}
	return text
}

// exit turns the outcome into an exit code.
func (f *mapFlags) exit(doc inventory.Document, failure error) error {
	switch {
	case failure != nil:
		return broken(failure)
	case doc.Summary.Outcome == inventory.Interrupted:
		return &exitError{code: exitInterrupted}
	case doc.Summary.Outcome == inventory.NothingRead:
		return broken(errors.New("nothing could be collected"))
	case doc.Summary.Outcome == inventory.WithGaps && f.failOnPartial:
		return &exitError{code: exitPartial}
	}
	return nil
}

// check finds what is wrong with the command line and gives what is selected.
func (f *mapFlags) check() (wanted func(inventory.Kind) bool, err error) {
	for _, list := range []*[]string{&f.providers, &f.only, &f.skip, &f.aws.Regions} {
		*list = distinct(*list)
	}
	if err := known("provider", f.providers, providers); err != nil {
		return nil, err
	}
	if len(f.only) > 0 && len(f.skip) > 0 {
		return nil, usage("--only and --skip exclude each other")
	}
	if f.maxItems < 0 {
		return nil, usage("--max-items: %d is below 0", f.maxItems)
	}
	families := inventory.Families(aws.Kinds())
	if err := known("family", slices.Concat(f.only, f.skip), families); err != nil {
		return nil, err
	}
	if err := f.aws.Check(); err != nil {
		return nil, usage("%w", err)
	}
	wanted = func(k inventory.Kind) bool {
		if len(f.only) > 0 {
			return slices.Contains(f.only, k.Family)
		}
		return !slices.Contains(f.skip, k.Family)
	}
	if !slices.ContainsFunc(aws.Kinds(), wanted) {
		return nil, usage("--skip leaves nothing to read")
	}
	return wanted, nil
}

// distinct gives the names of a list as people write them: "a, b,a" is a and b.
func distinct(list []string) []string {
	var names []string
	for _, name := range list {
		if name = strings.TrimSpace(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// known finds names that do not exist and says what may have been meant.
func known(what string, names, all []string) error {
	for _, name := range names {
		if slices.Contains(all, name) {
			continue
		}
		text := fmt.Sprintf("unknown %s %q", what, name)
		if near, ok := inventory.Nearest(name, all); ok {
			text += fmt.Sprintf(", did you mean %q?", near)
		}
		return usage("%s (there are: %s)", text, strings.Join(all, ", "))
	}
	return nil
}

// settings reads the configuration.
func (f *mapFlags) settings(stderr io.Writer) (cloudpace.Config, error) {
	settings, warnings, err := config.Load(f.config)
	for _, w := range warnings {
		fmt.Fprintf(stderr, "cloudpace: warning: %s\n", w)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return settings, usage("--config: %w", err)
	}
	if err != nil {
		return settings, usage("configuration: %w", err)
	}
	if f.demo {
		settings = demoSettings(settings, demoSpeed)
	}
	return settings, nil
}
