package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace/fleet"
)

// fleetShown is how many buckets and pools are read; --json has all.
const fleetShown = 20

func newFleetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "fleet",
		Short: "See which processes share their limits",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newFleetStatusCommand())
	return c
}

func newFleetStatusCommand() *cobra.Command {
	var (
		flag  string
		asked bool
	)
	c := &cobra.Command{
		Use:   "status",
		Short: "Show who shares limits, and what they have left",
		Long: `status shows the processes that share their limits through a Redis or Valkey, as map
does with --fleet: who they are, the buckets with the rates that are in force for all of
them and the processes that draw on them now, and who has how many of an account's slots.

Exit codes: 0 shown; 1 the store does not answer, or refuses; 2 wrong usage.`,
		Example: `  cloudpace fleet status --fleet redis://localhost:6379
  CLOUDPACE_FLEET=rediss://:secret@cache.example.com cloudpace fleet status --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if name, ok := emptyFlag(c); ok {
				return usage("--%s is empty: give it a value or leave it out", name)
			}
			if cmp.Or(flag, os.Getenv(fleetVariable)) == "" {
				return usage("which fleet? Name its store with --fleet URL or %s", fleetVariable)
			}
			return fleetStatus(c.Context(), flag, asked, c.OutOrStdout())
		},
	}
	fs := c.Flags()
	fs.StringVar(&flag, "fleet", "", "`URL` of the Redis or Valkey (default: "+fleetVariable+")")
	fs.BoolVar(&asked, "json", false, "print JSON")
	return c
}

func fleetStatus(ctx context.Context, flag string, asJSON bool, w io.Writer) error {
	store, err := openFleet(ctx, flag)
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := store.Status(ctx)
	if err != nil {
		return broken(err)
	}
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		err = e.Encode(s)
	} else {
		err = printFleet(w, s)
	}
	if err != nil {
		return broken(fmt.Errorf("standard output: %w", err))
	}
	return nil
}

// printFleet prints it for people. Members are called by their names.
func printFleet(w io.Writer, s fleet.Status) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s share their limits through %s.\n", count(len(s.Members), "process"), s.Store)
	names := make(map[string]string)
	rows := [][]string{{"process", "since", "lease ends in"}}
	for _, m := range s.Members {
		names[m.ID] = m.Name
		rows = append(rows, []string{m.Name, m.Started.UTC().Format(time.DateTime), seconds(m.Left)})
	}
	block(&b, rows, 0)

	slices.SortStableFunc(s.Buckets, func(x, y fleet.BucketStatus) int { return cmp.Compare(len(y.Active), len(x.Active)) })
	rows = [][]string{{"bucket", "calls/s", "of", "stored", "shared by", "now"}}
	for _, k := range s.Buckets[:min(len(s.Buckets), fleetShown)] {
		rows = append(rows, []string{k.Key, figureOf(k.RPS), figureOf(k.MaxRPS), fmt.Sprintf("%.0f", max(0, k.Tokens)), called(k.Active, names), stopOf(k)})
	}
	block(&b, rows, len(s.Buckets)-fleetShown)

	rows = [][]string{{"slots", "of", "held by"}}
	for _, p := range s.Slots[:min(len(s.Slots), fleetShown)] {
		var held []string
		for id, n := range p.Slots {
			held = append(held, fmt.Sprintf("%s %d", cmp.Or(names[id], id), n))
		}
		slices.Sort(held)
		rows = append(rows, []string{strings.TrimSuffix(p.Key, " slots"), fmt.Sprint(p.Max), strings.Join(held, ", ")})
	}
	block(&b, rows, len(s.Slots)-fleetShown)
	_, err := io.WriteString(w, b.String())
	return err
}

// block prints a table that has rows, and how many are left out.
func block(w io.Writer, rows [][]string, more int) {
	if len(rows) == 1 {
		return
	}
	fmt.Fprintln(w)
	table(w, rows)
	if more > 0 {
		fmt.Fprintf(w, "and %d more; --json has them all\n", more)
	}
}

// called names the members that draw on a bucket.
func called(ids []string, names map[string]string) string {
	if len(ids) == 0 {
		return "nobody now"
	}
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = cmp.Or(names[id], id)
	}
	slices.Sort(list)
	const most = 3
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), more)
	}
	return strings.Join(list, ", ")
}

// stopOf says what holds a bucket up.
func stopOf(k fleet.BucketStatus) string {
	switch {
	case k.OpenSeconds > 0:
		return "circuit open for " + seconds(k.OpenSeconds)
	case k.PausedSeconds > 0:
		return "paused for " + seconds(k.PausedSeconds)
	case k.RPS < k.MaxRPS:
		return "slowed down"
	}
	return ""
}

func figureOf(x float64) string { return fmt.Sprintf("%.4g", x) }

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}
