package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/verdict"
)

// reading is what a run reads.
type reading struct {
	providers []string
	accounts  []inventory.Account
	tasks     []inventory.Task
	notes     []string // about what is not read
	open      []opened
}

// close lets go of what was opened, once the tasks are over.
func (r *reading) close() {
	for _, o := range r.open {
		if o.close != nil {
			o.close()
		}
	}
}

// everywhere is the account of records about all accounts of a provider.
const everywhere = "*"

// open asks each provider who is reading and what there is. One that cannot be opened
// does not stop the others: each task of it is a gap. Who was not asked for and has
// no credentials is left out. It fails where there is nothing to read at all. What it
// gives is to be closed also with an error.
func (p selection) open(ctx context.Context, sources func(*cloud) []source, say func(string)) (r reading, err error) {
	failed := p.absent
	for _, c := range p.clouds {
		var of reading
		err := of.add(ctx, sources(c), p.wanted, say)
		r.open = append(r.open, of.open...)
		switch {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case err == nil:
			r.providers = append(r.providers, c.provider)
			r.accounts, r.tasks = append(r.accounts, of.accounts...), append(r.tasks, of.tasks...)
		case !c.asked && c.lacks(err):
			failed = append(failed, err)
		default:
			failed = append(failed, err)
			r.providers = append(r.providers, c.provider)
			r.tasks = append(r.tasks, c.unopened(err, p.wanted)...)
			r.notes = append(r.notes, fmt.Sprintf("%s cannot be read: %s", c.title, verdict.Describe(err)))
		}
	}
	if len(r.accounts) == 0 {
		return r, errors.Join(failed...)
	}
	return r, nil
}

// add opens what is to be read.
func (r *reading) add(ctx context.Context, sources []source, wanted func(inventory.Kind) bool, say func(string)) error {
	for _, s := range sources {
		say(s.asking)
		o, err := s.open(ctx)
		if err != nil {
			return err
		}
		r.open = append(r.open, o)
		r.accounts, r.tasks = append(r.accounts, o.accounts...), append(r.tasks, o.tasks(wanted)...)
	}
	return nil
}

// unopened gives the tasks of a provider that cannot be opened, those that a run would
// have. Each says so.
func (c *cloud) unopened(cause error, wanted func(inventory.Kind) bool) (tasks []inventory.Task) {
	var login *inventory.LoginError // it says so itself
	if (c.lacks(cause) || c.refused(cause)) && !errors.As(cause, &login) {
		cause = &inventory.LoginError{Err: cause}
	}
	kinds := slices.DeleteFunc(slices.Clone(c.kinds), func(k inventory.Kind) bool { return !wanted(k) })
	if c.selected != nil {
		kinds = c.selected(wanted)
	}
	for _, k := range kinds {
		tasks = append(tasks, inventory.Task{
			Kind: k, Provider: c.provider, Account: everywhere,
			Read: func(context.Context, *inventory.Output) error { return cause },
		})
	}
	return tasks
}
