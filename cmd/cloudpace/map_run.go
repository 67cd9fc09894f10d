package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/report"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/timeline"
)

// run maps. What can be said before anything is sent is said first.
func (f *mapFlags) run(ctx context.Context, p selection, stdout, stderr io.Writer) (failure error) {
	settings, err := f.settings(p, stderr)
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
	sources := func(c *cloud) []source { return c.sources(governor) }
	if f.demo {
		demos, err := startDemos(ctx, p.clouds)
		if err != nil {
			return broken(fmt.Errorf("the demo's cloud: %w", err))
		}
		defer func() {
			if err := demos.close(); err != nil && failure == nil {
				failure = broken(fmt.Errorf("the demo's cloud: %w", err))
			}
		}()
		demos.greet(wrapped(stderr), p.clouds)
		sources = func(c *cloud) []source { return c.demo.sources(demos[c], governor) }
	}
	ctx, stats := cloudpace.WithStats(ctx)
	show := newProgress(stderr, governor, stats)
	end, left := show.stop, func() *inventory.Fleet { return nil }
	if !f.demo { // whose clouds are new ones every time
		end = remember(governor, f.fresh, show)
		defer end()
		if left, err = share(ctx, governor, f.fleet, show); err != nil {
			return err
		}
		defer left()
	}
	defer end()
	started := time.Now().UTC()
	reading, err := p.open(ctx, sources, show.say)
	defer reading.close()
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted before anything was read")}
	}
	if err != nil {
		return broken(err)
	}
	show.note(reading.notes)
	show.begin(reading.tasks)
	defer context.AfterFunc(ctx, func() { show.say("interrupted: ending what is under way; again ends at once") })()

	sink := inventory.NewSink(f.out)
	recorder := timeline.Start(governor, stats)
	records, broke := inventory.Run(ctx, reading.tasks, inventory.Options{
		Sink: sink, Governor: governor, MaxAssets: f.maxItems, Tally: &show.tally, Done: show.done,
	})
	shared := left()
	end()
	head := inventory.Summary{Version: version(), Provider: reading.providers, Accounts: reading.accounts, Started: started}
	doc := inventory.NewDocument(head, records, sink, broke, context.Cause(ctx))
	doc.Throttling, doc.Timeline, doc.Fleet = governor.Summary(stats), recorder.Stop(), shared
	return f.leave(doc, broke, stdout, stderr)
}

// leave writes what a run found, says it, and turns the outcome into an exit code.
func (f *mapFlags) leave(doc inventory.Document, broke error, stdout, stderr io.Writer) error {
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
