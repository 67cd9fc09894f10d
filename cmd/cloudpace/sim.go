package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"

	"github.com/spf13/cobra"

	inventoryaws "github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// simFlags are the command line of sim.
type simFlags struct {
	listen, profile, upstream string
	seed                      uint64
	speed                     float64
	accounts, assets          int
	regions                   []string
	strict, json, databricks  bool
}

func newSimCommand() *cobra.Command {
	var f simFlags
	c := &cobra.Command{
		Use:   "sim",
		Short: "Run a cloud that throttles, to try things on",
		Long: `sim answers as a cloud does, AWS, Azure or Google Cloud, from an estate that is
computed from a seed, with the request quotas that the cloud documents. A sim file adds faults,
neighbours who use part of a quota, and quotas of your own. With --upstream another emulator answers, and
quotas and faults are put in front of it.

With --databricks it is a Databricks workspace: Thrift as the SQL drivers speak it,
and the Statement Execution API. Statements have results that are made up, and it
counts how often each of them ran.

What it was asked and what it refused is at /_sim/ as a page and at /_sim/stats as
JSON; a POST to /_sim/reset starts anew. It serves until it is interrupted, and
then prints the totals. Nobody is asked who they are: leave it on loopback.

Exit codes: 0 stopped; 1 the address is taken, the upstream does not answer, or
serving broke; 2 wrong usage or a faulty sim file.`,
		Example: `  cloudpace sim --accounts 3 --regions us-east-1,eu-west-1 --assets 20000
  cloudpace sim --profile azure --accounts 5 --assets 20000
  cloudpace sim --profile gcp --accounts 5 --assets 20000
  cloudpace sim --profile sim.yaml --seed 7
  cloudpace sim --upstream http://127.0.0.1:5000
  cloudpace sim --databricks`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.run(c.Context(), c.Flags().Changed, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fs := c.Flags()
	fs.StringVar(&f.listen, "listen", "127.0.0.1:4599", "`address` to serve on; port 0 is any that is free")
	fs.StringVar(&f.profile, "profile", "aws", "what to simulate: aws, azure or gcp, with the documented quotas, databricks, or a sim `file`")
	fs.BoolVar(&f.databricks, "databricks", false, "simulate a Databricks workspace: --profile databricks, or with --profile, what the file adds to")
	fs.Uint64Var(&f.seed, "seed", 1, "`number` that the estate and all chance are drawn from")
	fs.Float64Var(&f.speed, "speed", 1, "`times` as fast: quotas refill and neighbours call so much faster")
	fs.IntVar(&f.accounts, "accounts", 1, "`number` of accounts, subscriptions or projects: 111122223333, 00000000-0000-0000-0000-000000000001 or example-1 and so on")
	fs.StringSliceVar(&f.regions, "regions", nil, "`regions` that the accounts have enabled, or where the resources of subscriptions and projects are")
	fs.IntVar(&f.assets, "assets", 1000, "`number` of assets in all accounts and regions together")
	fs.StringVar(&f.upstream, "upstream", "", "`URL` of another emulator that answers behind the quotas and faults")
	fs.BoolVar(&f.strict, "strict", false, "refuse operations that are not modelled; without it listings of these are empty")
	fs.BoolVar(&f.json, "json", false, "print the final statistics as JSON on standard output")
	completeList(c, "regions", inventoryaws.RegionNames())
	if err := c.RegisterFlagCompletionFunc("profile", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return simProfiles, cobra.ShellCompDirectiveDefault // or a file
	}); err != nil {
		panic(err) // a flag that does not exist: a mistake in this program
	}
	return c
}

// run serves until ctx ends.
func (f *simFlags) run(ctx context.Context, changed func(string) bool, stdout, stderr io.Writer) error {
	front, err := f.front(changed)
	if err != nil {
		return err
	}
	profile, err := f.read(front, changed)
	if err != nil {
		return err
	}
	options := []sim.Option{sim.WithLogger(slog.New(slog.NewTextHandler(stderr, nil)))}
	if f.upstream != "" {
		for _, name := range []string{"accounts", "regions", "assets", "strict"} {
			if changed(name) {
				return usage("--%s and --upstream exclude each other: the upstream answers", name)
			}
		}
		target, err := sim.ParseUpstream(f.upstream)
		if err != nil {
			return usage("--upstream: %w", err)
		}
		options = append(options, sim.WithUpstream(target))
	}
	server, err := sim.New(front, profile, options...)
	if err != nil {
		return usage("%w", err)
	}
	defer server.Close()
	if err := server.Reachable(ctx); err != nil {
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted before it served")}
		}
		return broken(err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return broken(fmt.Errorf("--listen: %w", err))
	}
	f.greet(stderr, listener.Addr(), server)
	if err := server.Serve(ctx, listener); err != nil {
		return broken(fmt.Errorf("serving: %w", err))
	}
	report := server.Report()
	totals(stderr, report)
	if !f.json {
		return nil
	}
	e := json.NewEncoder(stdout)
	e.SetIndent("", "  ")
	if err := e.Encode(report); err != nil {
		return broken(fmt.Errorf("standard output: %w", err))
	}
	return nil
}

// read makes the profile: the file's or the built-in one, with the flags that were
// given on top.
func (f *simFlags) read(front sim.Front, changed func(string) bool) (sim.Profile, error) {
	p, err := sim.Load(front, f.profile)
	if err != nil {
		return p, usage("--profile: %w", err)
	}
	if changed("seed") {
		p.Seed = f.seed
	}
	if changed("speed") {
		p.Speed = f.speed
	}
	if changed("accounts") {
		if f.accounts < 1 || f.accounts > sim.MaxAccounts {
			return p, usage("--accounts is %d (allowed: 1 to %d)", f.accounts, sim.MaxAccounts)
		}
		p.Estate.Accounts = sim.ExamplesOf(front, f.accounts)
	}
	if changed("regions") {
		p.Estate.Regions = distinct(f.regions)
		if err := inventoryaws.CheckRegions(p.Estate.Regions); err != nil && front.Provider() == "aws" {
			return p, usage("--regions: %w", err)
		}
	}
	if changed("assets") {
		p.Estate.Assets = f.assets
	}
	if changed("strict") {
		p.Strict = f.strict
	}
	return p, nil
}

// greet says where the server is and what to set.
func (f *simFlags) greet(w io.Writer, at net.Addr, server *sim.Server) {
	url := "http://" + at.String()
	r := server.Report()
	switch {
	case r.Upstream != "":
		fmt.Fprintf(w, "Simulating %s's quotas in front of %s at %s\n", r.Provider, r.Upstream, url)
	case r.Executions != nil:
		fmt.Fprintf(w, "Simulating %s at %s, seed %d\n", r.Provider, url, r.Seed)
	default:
		fmt.Fprintf(w, "Simulating %s at %s: %s in %s and %s, seed %d\n", r.Provider, url,
			count(r.Assets, "asset"), count(r.Accounts, "account"), count(r.Regions, "region"), r.Seed)
		if size := int64(r.Assets) * sim.AssetBytes; size >= 1e9 {
			fmt.Fprintf(w, "A map of all that takes about %.1f GB of disk.\n", float64(size)/1e9)
		}
	}
	if tcp, ok := at.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		fmt.Fprintln(w, "Others can reach this address, and nobody is asked who they are.")
	}
	switch {
	case r.Executions != nil:
		greetDatabricks(w, at)
		return
	case r.Provider == "azure":
		greetAzure(w, url, server.Estate().Accounts()[0])
		return
	case r.Provider == "gcp":
		greetGCP(w, at, server.Estate().Accounts()[0])
		return
	}
	key := aws.AccessKey(server.Estate().Accounts()[0])
	if r.Upstream != "" {
		key = "testing"
	}
	fmt.Fprintf(w, `
    export AWS_ENDPOINT_URL=%s AWS_REGION=%s
    export AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=simulated
    cloudpace map -p aws --endpoint-url %[1]s

Status: %[1]s/_sim/   Stop: Ctrl-C
`, url, server.Estate().Regions()[0], key)
}

// greetAzure says how to ask. The SDKs have no variable for an endpoint: a client
// is told in code, which the documentation shows.
func greetAzure(w io.Writer, url, subscription string) {
	fmt.Fprintf(w, `
    cloudpace map -p azure --azure-endpoint %[2]s
    curl -H 'Authorization: Bearer %[1]s' '%[2]s/subscriptions/%[3]s/resources?api-version=2021-04-01'

Resource Manager's endpoint for clients: %[2]s   Audience: %[4]s
Status: %[2]s/_sim/   Stop: Ctrl-C
`, azure.Token, url, subscription, azure.Audience)
}

// totals says at the end what was asked.
func totals(w io.Writer, r sim.Report) {
	t := r.Totals
	fmt.Fprintf(w, "Asked %s in %.1f s: %d served, %d throttled, %d faulted; at most %d in a second.\n",
		count(t.Asked, "time"), r.Seconds, t.Served, t.Throttled, t.FaultedTotal(), t.PeakRPS)
	if e := r.Executions; e != nil {
		fmt.Fprintf(w, "Ran %s of %s; %d ran more than once.\n", count(e.Executions, "execution"), count(e.Statements, "statement"), e.Repeated)
	}
	const most = 20
	named := 0
	for _, s := range r.Scopes {
		if s.Throttled > 0 || len(s.Faulted) > 0 {
			if named++; named > most {
				continue
			}
			fmt.Fprintf(w, "  - %s: %d of %d throttled, %d faulted\n",
				strings.Join([]string{r.Provider, s.Account, s.Region, s.Service, s.Operation}, "/"), s.Throttled, s.Asked, s.FaultedTotal())
		}
	}
	if more := named - most; more > 0 {
		fmt.Fprintf(w, "  - and %d more; --json has them all\n", more)
	}
}
