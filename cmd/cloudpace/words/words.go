// Package words puts what a run found, what slowed it and what is missing into
// sentences, so that the screen and the report say the same.
package words

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// How many a sentence can carry.
const (
	accountsNamed = 5
	scopesNamed   = 3
	errorShown    = 300 // characters
)

// Stopped says why a run was interrupted, and what becomes of it.
func Stopped(s inventory.Summary) string {
	return fmt.Sprintf("Interrupted (%s); what was read until then is kept.", s.Error)
}

// Found says what a run found, and where it is: dir is put before the file's name.
func Found(s inventory.Summary, dir string) string {
	text := fmt.Sprintf("Found %s of %s in %s", Count(s.Assets, "asset"), Count(len(s.ByType), "type"), where(s.Accounts))
	if s.AssetsFile == "" {
		return text + "; nothing was written, and older assets are left as they were."
	}
	text += ", in " + filepath.Join(dir, s.AssetsFile)
	if s.Edges > 0 {
		text += ", and " + Count(s.Edges, "edge") + " in " + filepath.Join(dir, s.EdgesFile)
	}
	return text + "."
}

// where names the accounts of each provider.
func where(accounts []inventory.Account) string {
	var texts, providers []string
	of := make(map[string][]inventory.Account)
	for _, a := range accounts {
		if of[a.Provider] == nil {
			providers = append(providers, a.Provider)
		}
		of[a.Provider] = append(of[a.Provider], a)
	}
	for _, p := range providers {
		texts = append(texts, whereIn(p, of[p]))
	}
	return And(texts, len(texts))
}

// nouns are what providers call an account, where they call it something else.
var nouns = map[string]string{"azure": "subscription", "gcp": "parent"}

const (
	longID       = 20 // from this length on ids are not read, so that of several
	longIDsNamed = 2  // more than so many are counted only
)

// whereIn names the accounts of a provider: each with its regions, or all at once
// where these are alike, or there are too many.
func whereIn(provider string, accounts []inventory.Account) string {
	noun := cmp.Or(nouns[provider], "account")
	var each, ids []string
	alike, long := len(accounts) > 1, false
	for _, a := range accounts {
		each = append(each, fmt.Sprintf("%s %s %s%s", provider, noun, a.ID, regions(a.Regions)))
		ids = append(ids, a.ID)
		alike = alike && regions(a.Regions) == regions(accounts[0].Regions)
		long = long || len(a.ID) > longID
	}
	switch {
	case alike && long && len(ids) > longIDsNamed:
		return fmt.Sprintf("%s %s %ss", Number(len(ids)), provider, noun)
	case alike:
		return fmt.Sprintf("%s %ss %s%s", provider, noun, And(ids, accountsNamed), strings.Replace(regions(accounts[0].Regions), ")", " each)", 1))
	case len(accounts) > accountsNamed:
		return Count(len(accounts), noun)
	}
	return strings.Join(each, ", ")
}

// And joins names as a sentence does; of too many it gives the first, and how many
// more there are.
func And(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		names = append(slices.Clone(names[:most]), Number(more)+" more")
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
		longest := 0.0
		for _, s := range doc.Throttling.Scopes {
			longest = max(longest, s.LongestWaitSeconds)
		}
		pace += fmt.Sprintf(", of which %s waited for their turn, %s at most", Number(t.Waits), Duration(Seconds(longest)))
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
	return Paced(doc) + " " + strings.Join(worst(doc.Throttling), "; ") + "."
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
		list = append(list[:scopesNamed], fmt.Sprintf("and %s more in %s", Count(more, "scope"), inventory.RunFile))
	}
	return list
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
	reasons := slices.Collect(maps.Keys(byReason))
	slices.SortFunc(reasons, func(a, b inventory.Reason) int {
		return cmp.Or(byReason[b]-byReason[a], cmp.Compare(a, b))
	})
	var list []string
	for _, why := range reasons {
		list = append(list, fmt.Sprintf("%s %s", why, Number(byReason[why])))
	}
	return fmt.Sprintf("Missing: something in %s of %s (%s).", Number(total), Count(len(records), "task"), strings.Join(list, ", "))
}

// Count words a number of things: "1 asset", "1,234 assets".
func Count(n int, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "s"):
		thing += "es"
	default:
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

// Seconds makes a duration of a number of seconds.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Duration words a time that somebody waits: tenths of a second as long as they
// matter.
func Duration(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// sdkWords are what the SDK's errors have before the provider's own words: run.json
// has it.
var sdkWords = regexp.MustCompile(`, https response error StatusCode: (\d+), RequestID: [^,]*,( HostID: [^,]*,)? `)

// azureWords is how the Azure SDK writes an answer out: what was asked, between rules
// the status and the code, then the body.
var azureWords = regexp.MustCompile(`(?s)[A-Z]+ https?://\S+\s+-{40,}\s+RESPONSE (\d+)[^\n]*\s+ERROR CODE: ([^\n]*)\s+-{40,}\s+([^-].*?)\s*-{40,}`)

// azureAnswer gives the status, the code and the message of such an answer.
func azureAnswer(text string) string {
	m := azureWords.FindStringSubmatch(text)
	var body struct {
		Error struct{ Message string } `json:"error"`
	}
	said := strings.TrimSpace(m[3])
	if json.Unmarshal([]byte(said), &body) == nil && body.Error.Message != "" {
		said = body.Error.Message
	}
	return fmt.Sprintf("HTTP %s, %s: %s", m[1], m[2], said)
}

// Short puts an error on one line of bearable length; run.json has it whole.
func Short(text string) string {
	text = azureWords.ReplaceAllStringFunc(text, azureAnswer)
	text = sdkWords.ReplaceAllString(strings.Join(strings.Fields(text), " "), ", HTTP $1, ")
	if runes := []rune(text); len(runes) > errorShown {
		return string(runes[:errorShown]) + "..."
	}
	return text
}

// Shared says with whom the limits were shared; nothing where they were not.
func Shared(f *inventory.Fleet) string {
	if f == nil {
		return ""
	}
	text := "Shared its limits with nobody else"
	if others := f.Members - 1; others > 0 {
		text = "Shared its limits with " + Count(others, "other process")
	}
	text += ", through " + f.Store
	if f.Outages > 0 {
		text += fmt.Sprintf("; that was out of reach %s, for %.0f s in all, when it went on within its share (%s)", Count(f.Outages, "time"), f.AloneSeconds, f.Cause)
	}
	return text + "."
}
