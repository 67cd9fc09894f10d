package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace"
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
	text := fmt.Sprintf("Found %s of %s in %s", count(s.Assets, "asset"), count(len(s.ByType), "type"), where(s.Accounts))
	if s.AssetsFile == "" {
		return text + "; nothing was written, and older assets are left as they were."
	}
	return text + ", in " + filepath.Join(dir, s.AssetsFile) + "."
}

// where names the accounts: each with its regions, or once where all have alike.
func where(accounts []inventory.Account) string {
	var each, ids []string
	alike := len(accounts) > 1
	for _, a := range accounts {
		each = append(each, fmt.Sprintf("%s account %s%s", a.Provider, a.ID, regions(a.Regions)))
		ids = append(ids, a.ID)
		alike = alike && a.Provider == accounts[0].Provider && regions(a.Regions) == regions(accounts[0].Regions)
	}
	if !alike {
		return strings.Join(each, ", ")
	}
	return fmt.Sprintf("%s accounts %s%s", accounts[0].Provider, and(ids, accountsNamed), strings.Replace(regions(accounts[0].Regions), ")", " each)", 1))
}

// and joins names as a sentence does; of too many it gives the first, and how many
// more there are.
func and(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", more))
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
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
		longest := 0.0
		for _, s := range doc.Throttling.Scopes {
			longest = max(longest, s.LongestWaitSeconds)
		}
		pace += fmt.Sprintf(", of which %s waited for their turn, %s at most", grouped(t.Waits), shortDuration(seconds(longest)))
	}
	if t.Throttled == 0 && t.Rejected == 0 {
		return "Throttled: never; " + pace + "."
	}
	return fmt.Sprintf("Throttled: %s; %s. %s.", count(t.Throttled, "time"), pace, strings.Join(worst(doc.Throttling), "; "))
}

// worst gives the messages of the scopes that were waited for longest, as many as
// are read; run.json has all.
func worst(t cloudpace.Summary) []string {
	waited := make(map[string]float64)
	for _, s := range t.Scopes {
		waited[s.Scope] = s.WaitSeconds
	}
	of := func(message string) float64 {
		scope, _, _ := strings.Cut(message, ": ")
		return waited[scope]
	}
	list := slices.Clone(t.Messages)
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(of(b), of(a)) })
	if more := len(list) - scopesNamed; more > 0 {
		list = append(list[:scopesNamed], fmt.Sprintf("and %s more in %s", count(more, "scope"), inventory.RunFile))
	}
	return list
}

func missing(records []inventory.Record) string {
	byReason := make(map[inventory.Reason]int)
	total := 0
	for _, r := range records {
		if r.Gap() {
			byReason[r.Reason]++
			total++
		}
	}
	if total == 0 {
		return fmt.Sprintf("Missing: nothing; %s of %s complete.", grouped(len(records)), count(len(records), "task"))
	}
	var list []string
	for why, n := range byReason {
		list = append(list, fmt.Sprintf("%s %d", why, n))
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(byReason[reasonIn(b)]-byReason[reasonIn(a)], strings.Compare(a, b))
	})
	return fmt.Sprintf("Missing: something in %d of %s (%s).", total, count(len(records), "task"), strings.Join(list, ", "))
}

func reasonIn(text string) inventory.Reason {
	why, _, _ := strings.Cut(text, " ")
	return inventory.Reason(why)
}

const (
	gapsNamed     = 20
	scopesNamed   = 3
	accountsNamed = 5
	regionsNamed  = 5
	tasksNamed    = 3
	errorShown    = 300
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
		tasks := and(g.tasks, tasksNamed)
		if len(g.tasks) > tasksNamed {
			tasks = count(len(g.tasks), "task")
		}
		lines = append(lines, fmt.Sprintf("%s %s, %s in %s of %s: %s", tasks, g.status, g.reason,
			and(g.regions, regionsNamed), and(g.accounts, accountsNamed), short(g.text)))
	}
	return lines
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

// sdkWords are what the SDK's errors have before the provider's own words: run.json
// has it.
var sdkWords = regexp.MustCompile(`, https response error StatusCode: (\d+), RequestID: [^,]*,( HostID: [^,]*,)? `)

// short puts an error on one line of bearable length; run.json has it whole.
func short(text string) string {
	text = sdkWords.ReplaceAllString(strings.Join(strings.Fields(text), " "), ", HTTP $1, ")
	if runes := []rune(text); len(runes) > errorShown {
		return string(runes[:errorShown]) + "..."
	}
	return text
}
