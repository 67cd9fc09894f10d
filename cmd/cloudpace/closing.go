package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

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
	if shared := words.Shared(doc.Fleet); shared != "" {
		fmt.Fprintln(w, shared)
	}
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
	gapsNamed     = 20
	accountsNamed = 5
	regionsNamed  = 5
	tasksNamed    = 3
)

// gap is a line about what is missing: tasks that failed alike in the same places.
type gap struct {
	tasks, accounts, regions []string
	status                   inventory.Status
	reason                   inventory.Reason
	text                     string // of the first
}

// gaps words what is missing, a line for each task and reason. Many tasks that
// failed alike in the same regions, as in one that a policy forbids, have one line,
// and so have accounts that are alike in this.
func gaps(records []inventory.Record) []string {
	var list []gap
	notBegun := 0
	for _, r := range records {
		if !r.Gap() {
			continue
		}
		if r.Started.IsZero() && r.Status == inventory.Skipped && r.Reason == inventory.Truncated {
			notBegun++ // all for the same cause, which has been said
			continue
		}
		list = append(list, gap{[]string{r.Task}, []string{r.Account}, []string{r.Region}, r.Status, r.Reason, cmp.Or(r.Error, r.Ledger)})
	}
	list = merge(list, func(g *gap) (*[]string, string) { return &g.regions, g.key(g.tasks, g.accounts) }, 1)
	list = merge(list, func(g *gap) (*[]string, string) { return &g.tasks, g.key(g.accounts, g.regions) }, tasksNamed+1)
	list = merge(list, func(g *gap) (*[]string, string) { return &g.accounts, g.key(g.tasks, g.regions) }, 1)
	var lines []string
	if notBegun > 0 {
		lines = append(lines, count(notBegun, "task")+" not begun")
	}
	for i, g := range list {
		if i == gapsNamed {
			return append(lines, fmt.Sprintf("and %d more, see %s", len(list)-i, inventory.RunFile))
		}
		tasks := words.And(g.tasks, tasksNamed)
		if len(g.tasks) > tasksNamed {
			tasks = count(len(g.tasks), "task")
		}
		lines = append(lines, fmt.Sprintf("%s %s, %s in %s: %s", tasks, g.status, g.reason, g.where(), words.Short(g.text)))
	}
	return lines
}

// where names regions and accounts. What is read of an account as a whole has no
// region, and what is read of all accounts has [everywhere] for one.
func (g *gap) where() string {
	text := words.And(g.accounts, accountsNamed)
	if slices.Equal(g.accounts, []string{everywhere}) {
		text = "every account"
	}
	if slices.Equal(g.regions, []string{""}) {
		return text
	}
	return words.And(g.regions, regionsNamed) + " of " + text
}

func (g *gap) key(same ...[]string) string { return fmt.Sprint(g.status, g.reason, same) }

// merge makes one gap of those that have the same key and differ in one list, if
// they are at least so many.
func merge(list []gap, by func(*gap) (differ *[]string, key string), least int) (merged []gap) {
	several := make(map[string]int)
	for i := range list {
		_, key := by(&list[i])
		several[key]++
	}
	at := make(map[string]int)
	for _, g := range list {
		differ, key := by(&g)
		i, ok := at[key]
		if !ok || several[key] < least {
			at[key] = len(merged)
			merged = append(merged, g)
			continue
		}
		into, _ := by(&merged[i])
		*into = append(*into, *differ...)
	}
	return merged
}
