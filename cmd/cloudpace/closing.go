package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// closing says in three sentences what a run found, what slowed it, and what is
// missing, and names the gaps.
func closing(w io.Writer, doc inventory.Document, dir string) {
	s := doc.Summary
	if s.Outcome == inventory.Interrupted {
		fmt.Fprintln(w, words.Stopped(s))
	}
	fmt.Fprintln(w, words.Found(s, dir))
	fmt.Fprintln(w, words.Slowed(doc))
	fmt.Fprintln(w, words.Missing(doc.Coverage))
	if s.Outcome != inventory.NothingRead || s.Error == "" { // else all gaps have one cause, which is said last
		for _, line := range gaps(doc.Coverage) {
			fmt.Fprintf(w, "  - %s\n", line)
		}
	}
	for _, a := range s.Accounts {
		if a.Regions != nil && a.Regions.Note != "" {
			fmt.Fprintf(w, "  - regions of %s %s\n", a.ID, a.Regions.Note)
		}
	}
}

// count words a number of things, as all of the command does.
func count(n int, thing string) string { return words.Count(n, thing) }

const (
	gapsNamed    = 20
	regionsNamed = 5
)

// gaps words what is missing, a line for each task and reason.
func gaps(records []inventory.Record) []string {
	type group struct {
		account, task string
		status        inventory.Status
		reason        inventory.Reason
	}
	regions := make(map[group][]string)
	texts := make(map[group]string)
	var order []group
	notBegun := 0
	for _, r := range records {
		if !r.Gap() {
			continue
		}
		if r.Started.IsZero() && r.Status == inventory.Skipped && r.Reason == inventory.Truncated {
			notBegun++ // all for the same cause, which has been said
			continue
		}
		g := group{r.Account, r.Task, r.Status, r.Reason}
		if regions[g] == nil {
			order = append(order, g)
			texts[g] = cmp.Or(r.Error, r.Ledger)
		}
		regions[g] = append(regions[g], r.Region)
	}
	var lines []string
	if notBegun > 0 {
		lines = append(lines, count(notBegun, "task")+" not begun")
	}
	for i, g := range order {
		if i == gapsNamed {
			return append(lines, fmt.Sprintf("and %d more, see %s", len(order)-i, inventory.RunFile))
		}
		where := strings.Join(regions[g][:min(regionsNamed, len(regions[g]))], ", ")
		if more := len(regions[g]) - regionsNamed; more > 0 {
			where += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, fmt.Sprintf("%s %s, %s in %s of %s: %s", g.task, g.status, g.reason, where, g.account, words.Short(texts[g])))
	}
	return lines
}
