package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// closing says in three sentences what a run found, what slowed it, and what is
// missing, and names the gaps.
func closing(w io.Writer, doc inventory.Document, dir string) {
	s := doc.Summary
	if s.Outcome == inventory.Interrupted {
		fmt.Fprintf(w, "Interrupted (%s); what was read until then is kept.\n", s.Error)
	}
	fmt.Fprintln(w, found(s, dir))
	fmt.Fprintln(w, slowed(doc))
	fmt.Fprintln(w, missing(doc.Coverage))
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

func found(s inventory.Summary, dir string) string {
	var where []string
	for _, a := range s.Accounts {
		where = append(where, fmt.Sprintf("%s account %s%s", a.Provider, a.ID, regions(a.Regions)))
	}
	text := fmt.Sprintf("Found %s of %s in %s", count(s.Assets, "asset"), count(len(s.ByType), "type"), strings.Join(where, ", "))
	if s.AssetsFile == "" {
		return text + "; nothing was written, and older assets are left as they were."
	}
	return text + ", in " + filepath.Join(dir, s.AssetsFile) + "."
}

// regions says how many of the enabled regions were asked.
func regions(r *inventory.Regions) string {
	switch {
	case r == nil:
		return ""
	case !r.Verified:
		return fmt.Sprintf(" (%s, unverified)", count(len(r.Requested), "region"))
	}
	return fmt.Sprintf(" (%d of %s)", r.Enabled-len(r.NotRequested), count(r.Enabled, "enabled region"))
}

func slowed(doc inventory.Document) string {
	t := doc.Throttling.Totals
	pace := fmt.Sprintf("%s in %.1f s", count(t.Calls, "call"), doc.Summary.Seconds)
	if t.Waits > 0 {
		pace += fmt.Sprintf(", of which %s waited for their turn", count(t.Waits, "call"))
	}
	if t.Throttled == 0 && t.Rejected == 0 {
		return "Throttled: never; " + pace + "."
	}
	return fmt.Sprintf("Throttled: %s; %s. %s", count(t.Throttled, "time"), pace, strings.Join(doc.Throttling.Messages, "; "))
}

func missing(records []inventory.Record) string {
	byReason := make(map[inventory.Reason]int)
	total := 0
	for _, r := range records {
		if r.Status != inventory.Success {
			byReason[r.Reason]++
			total++
		}
	}
	if total == 0 {
		return fmt.Sprintf("Missing: nothing; %d of %s complete.", len(records), count(len(records), "task"))
	}
	var list []string
	for why, n := range byReason {
		list = append(list, fmt.Sprintf("%s %d", why, n))
	}
	slices.Sort(list)
	return fmt.Sprintf("Missing: something in %d of %s (%s).", total, count(len(records), "task"), strings.Join(list, ", "))
}

const (
	gapsNamed    = 20
	regionsNamed = 5
	errorShown   = 300
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
		if r.Status == inventory.Success {
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
		lines = append(lines, fmt.Sprintf("%s %s, %s in %s of %s: %s", g.task, g.status, g.reason, where, g.account, short(texts[g])))
	}
	return lines
}

// short puts an error on one line of bearable length; run.json has it whole.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > errorShown {
		return string(runes[:errorShown]) + "..."
	}
	return text
}
