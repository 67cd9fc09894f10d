package inventory

import (
	"context"
	"slices"
)

// Kind describes a row of a provider's table: what is read, whatever the account
// and region.
type Kind struct {
	Name    string // of the task: "ec2_instances"
	Family  string // what --only and --skip select: "compute"
	Service string // the provider's service, as in scopes: "ec2"
	// Types are the types whose assets the task reads, each completely.
	Types []string
	// Global is for what belongs to no region: read once per account.
	Global bool
	// Covers says what of its types the task asks for, where that is not all:
	// "owned by the account".
	Covers string
	// Calls are what the task asks.
	Calls Calls
}

// Task is a row of a table in one account and region.
type Task struct {
	Kind
	Provider, Account, Region string
	// Read does the work: it asks the provider and hands what it finds to the
	// Output. The error it returns says why it could not go on to the end. It may
	// be called with other tasks running and must end when ctx does.
	Read func(ctx context.Context, out *Output) error
	// Sums, instead of Read, is for a task that asks nothing: its record says whether
	// the other tasks of the account read what they cover.
	Sums bool
	// Otherwise is another way to what the task reads. It is gone right after the task
	// has failed without a page, for a reason that the other way may not meet, and has
	// a record of its own then. Where it is not needed there is none.
	Otherwise *Task
}

func (t Task) place() Place { return Place{t.Provider, t.Account, t.Region, t.Service} }

// elsewise tells whether another way makes sense where one ended like this. Who cannot
// be reached, or has the API disabled, or does not take the credentials, is the same
// for both, and so is what [EitherWayError] says it of.
func (r Record) elsewise() bool {
	if r.Status != Failed || r.eitherWay {
		return false
	}
	switch r.Reason {
	case AccessDenied, DeniedByPolicy, NotSupported, QuotaExhausted, Throttled:
		return true
	}
	return false
}

// Families lists the families of a table, sorted.
func Families(kinds []Kind) []string {
	var list []string
	for _, k := range kinds {
		list = append(list, k.Family)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
