// Package words puts what a run found, what slowed it and what is missing into
// sentences, so that the screen and the report say the same.
package words

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// How many a sentence can carry.
const (
	accountsNamed = 4
	messagesShown = 10
	errorShown    = 300 // characters
)

// Stopped says why a run was interrupted, and what becomes of it.
func Stopped(s inventory.Summary) string {
	return fmt.Sprintf("Interrupted (%s); what was read until then is kept.", s.Error)
}

// Found says what a run found, and where it is: dir is put before the file's name.
func Found(s inventory.Summary, dir string) string {
	where := []string{Count(len(s.Accounts), "account")}
	if len(s.Accounts) <= accountsNamed {
		where = nil
		for _, a := range s.Accounts {
			where = append(where, fmt.Sprintf("%s account %s%s", a.Provider, a.ID, regions(a.Regions)))
		}
	}
	text := fmt.Sprintf("Found %s of %s in %s", Count(s.Assets, "asset"), Count(len(s.ByType), "type"), strings.Join(where, ", "))
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
		return fmt.Sprintf(" (%s, unverified)", Count(len(r.Requested), "region"))
	}
	return fmt.Sprintf(" (%d of %s)", r.Enabled-len(r.NotRequested), Count(r.Enabled, "enabled region"))
}

// Paced says how many calls there were, and how many of them too fast for the
// provider.
func Paced(doc inventory.Document) string {
	t := doc.Throttling.Totals
	pace := fmt.Sprintf("%s in %.1f s", Count(t.Calls, "call"), doc.Summary.Seconds)
	if t.Waits > 0 {
		pace += fmt.Sprintf(", of which %s waited for their turn", Count(t.Waits, "call"))
	}
	if t.Throttled == 0 && t.Rejected == 0 {
		return "Throttled: never; " + pace + "."
	}
	return fmt.Sprintf("Throttled: %s; %s.", Count(t.Throttled, "time"), pace)
}

// Slowed says the same, and what came of it for each service.
func Slowed(doc inventory.Document) string {
	t := doc.Throttling.Totals
	if t.Throttled == 0 && t.Rejected == 0 {
		return Paced(doc)
	}
	messages := doc.Throttling.Messages
	if more := len(messages) - messagesShown; more > 0 {
		messages = append(slices.Clone(messages[:messagesShown]), fmt.Sprintf("and %s more, see %s", Number(more), inventory.RunFile))
	}
	return Paced(doc) + " " + strings.Join(messages, "; ")
}

// Missing says in how many tasks something is missing, and why.
func Missing(records []inventory.Record) string {
	byReason := make(map[inventory.Reason]int)
	total := 0
	for _, r := range records {
		if r.Gap() {
			byReason[r.Reason]++
			total++
		}
	}
	if total == 0 {
		return fmt.Sprintf("Missing: nothing; %s of %s complete.", Number(len(records)), Count(len(records), "task"))
	}
	var list []string
	for why, n := range byReason {
		list = append(list, fmt.Sprintf("%s %s", why, Number(n)))
	}
	slices.Sort(list)
	return fmt.Sprintf("Missing: something in %s of %s (%s).", Number(total), Count(len(records), "task"), strings.Join(list, ", "))
}

// Count words a number of things: "1 asset", "1,234 assets".
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Number(n) + " " + thing
}

// Number writes a number with a comma between thousands.
func Number(n int) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Short puts an error on one line of bearable length; run.json has it whole.
func Short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > errorShown {
		return string(runes[:errorShown]) + "..."
	}
	return text
}
