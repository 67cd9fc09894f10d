package inventory

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// mostNamed bounds how many tasks the error of a sum names.
const mostNamed = 5

// sum makes the record of a task that asks nothing itself (see [Task.Sums]) of those
// of the other tasks in the account, and of those that read all accounts at once.
// Where one of them has a gap, so has the account; the reason is that of the first.
// Where none has and none has read anything, each was told that there is no such
// service: what answers so is not the provider.
func sum(t Task, record Record, others []Record) Record {
	var gaps []string
	known, failed := false, false
	r := &record
	for _, o := range others {
		known = known || o.Status == Success || o.Status == Partial
		failed = failed || o.Status == Failed
		if r.Started.IsZero() || !o.Started.IsZero() && o.Started.Before(r.Started) {
			r.Started = o.Started
		}
		if !o.Gap() {
			continue
		}
		if len(gaps) == 0 {
			r.Reason = o.Reason
		}
		gaps = append(gaps, fmt.Sprintf("%s %s (%s)", o.Task, o.Status, o.Reason))
	}
	r.Finished = time.Now().UTC()
	if !r.Started.IsZero() {
		r.Seconds = r.Finished.Sub(r.Started).Round(time.Millisecond).Seconds()
	}
	switch {
	case len(gaps) == 0 && known:
		r.Status = Success
		return record
	case len(gaps) == 0:
		r.Status, r.Reason, r.Errors = Failed, NotSupported, 1
		r.Error = fmt.Sprintf("nothing is known of %s: none of its %d task(s) read anything", t.Account, len(others))
		return record
	case known:
		r.Status = Partial
	case failed:
		r.Status = Failed
	default:
		r.Status = Skipped // nobody was asked
	}
	r.Errors = len(gaps)
	named := strings.Join(gaps[:min(len(gaps), mostNamed)], ", ")
	if more := len(gaps) - mostNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	r.Error = fmt.Sprintf("%d of %d task(s) of %s have gaps: %s", len(gaps), len(others), t.Account, named)
	return record
}

// sums records the tasks that ask nothing, once all others are over.
func (r *run) sums() {
	type account struct{ provider, id string }
	of := make(map[account][]int) // the tasks of each, in their order
	for i, t := range r.tasks {
		if !t.Sums {
			at := account{t.Provider, t.Account}
			of[at] = append(of[at], i)
		}
	}
	for i, t := range r.tasks {
		if !t.Sums {
			continue
		}
		own := of[account{t.Provider, t.Account}]
		if t.Account != "*" {
			own = slices.Concat(own, of[account{t.Provider, "*"}])
			slices.Sort(own)
		}
		var others []Record
		for _, j := range own {
			if r.records[j].Status != "" { // another way, which was not taken
				others = append(others, r.records[j])
			}
		}
		r.keep(i, sum(t, r.outputs[i].record, others))
	}
}
