package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// missing is what the run does not know, by reason, the commonest first.
type missing struct {
	Reasons []reason
	Notes   []string // what was never asked
}

// reason has the gaps with one cause.
type reason struct {
	ID, Name, Means, Do string
	Tasks               string // how many
	Gaps, More          []gap  // More is shown on demand

	records int
}

// gap is a line: tasks that are missing in the same places.
type gap struct {
	Status  string
	Tasks   []string
	Where   string  // in short, where Places is too long to be shown at once
	Places  []place // of one account each
	Errors  []string
	Further int // errors that are not shown
	Retry   string

	records int
}

// ManyTasks tells whether the tasks are too many to be shown at once.
func (g gap) ManyTasks() bool { return len(g.Tasks) > tasksShown }

type place struct {
	Account string
	Regions []string
}

const (
	gapsShown    = 12
	errorsShown  = 2
	tasksShown   = 8
	placesShown  = 3
	regionsShown = 6
	// everyAccount is the account of records about all accounts of a provider.
	everyAccount = "*"
)

// missingOf puts together what is missing. Tasks that fail in the same places are
// one line: a denied region is one, and so is a service denied everywhere.
func missingOf(doc inventory.Document) missing {
	type key struct {
		reason inventory.Reason
		status string
		what   string // the task, then the places
	}
	m := missing{Notes: notes(doc.Summary)}
	byTask := make(map[key][]inventory.Record)
	var tasks []key
	for _, r := range doc.Coverage {
		if !r.Gap() {
			continue
		}
		k := key{r.Reason, statusOf(r), r.Task}
		if byTask[k] == nil {
			tasks = append(tasks, k)
		}
		byTask[k] = append(byTask[k], r)
	}
	byPlaces := make(map[key][]key)
	var order []key
	for _, task := range tasks {
		var b strings.Builder
		for _, r := range byTask[task] {
			fmt.Fprintf(&b, "%q %q %q\n", r.Provider, r.Account, r.Region)
		}
		k := key{task.reason, task.status, b.String()}
		if byPlaces[k] == nil {
			order = append(order, k)
		}
		byPlaces[k] = append(byPlaces[k], task)
	}
	index := make(map[inventory.Reason]int)
	for _, k := range order {
		g := gap{Status: k.status}
		var all []inventory.Record
		for _, task := range byPlaces[k] {
			g.Tasks = append(g.Tasks, task.what)
			all = append(all, byTask[task]...)
		}
		g.fill(all, byTask[byPlaces[k][0]])
		i, ok := index[k.reason]
		if !ok {
			i = len(m.Reasons)
			index[k.reason] = i
			a := adviceFor(k.reason)
			m.Reasons = append(m.Reasons, reason{
				ID: fmt.Sprintf("reason-%d", i+1), Name: cmp.Or(string(k.reason), "no reason known"), Means: a.means, Do: a.do,
			})
		}
		m.Reasons[i].Gaps = append(m.Reasons[i].Gaps, g)
		m.Reasons[i].records += g.records
	}
	for i := range m.Reasons {
		r := &m.Reasons[i]
		r.Tasks = words.Count(r.records, "task")
		slices.SortStableFunc(r.Gaps, func(a, b gap) int { return cmp.Compare(b.records, a.records) })
		if len(r.Gaps) > gapsShown {
			r.Gaps, r.More = r.Gaps[:gapsShown], r.Gaps[gapsShown:]
		}
	}
	slices.SortStableFunc(m.Reasons, func(a, b reason) int { return cmp.Compare(b.records, a.records) })
	return m
}

// statusOf tells what was not begun because the run ended from what was skipped
// for a reason of its own.
func statusOf(r inventory.Record) string {
	if r.Started.IsZero() && r.Status == inventory.Skipped && r.Reason == inventory.Truncated {
		return "not begun"
	}
	return string(r.Status)
}

// fill words the records of a gap; one has those of one of its tasks, which are
// in the same places as those of the others.
func (g *gap) fill(all, one []inventory.Record) {
	g.records = len(all)
	texts := make(map[string]bool)
	var retry time.Time
	for _, r := range all {
		if text := words.Short(cmp.Or(r.Error, r.Ledger)); text != "" && !texts[text] {
			texts[text] = true
			if len(g.Errors) < errorsShown {
				g.Errors = append(g.Errors, text)
			}
		}
		if at := r.Finished.Add(time.Duration(r.RetryAfterSeconds * float64(time.Second))); r.RetryAfterSeconds > 0 && at.After(retry) {
			retry = at
		}
	}
	g.Further = len(texts) - len(g.Errors)
	if !retry.IsZero() {
		g.Retry = clock(retry)
	}
	regions := make(map[string][]string)
	var accounts []string
	for _, r := range one {
		if regions[r.Account] == nil {
			accounts = append(accounts, r.Account)
		}
		regions[r.Account] = append(regions[r.Account], r.Region)
	}
	long := len(accounts) > placesShown
	for _, a := range accounts {
		long = long || len(regions[a]) > regionsShown
		g.Places = append(g.Places, placeOf(a, regions[a]))
	}
	switch {
	case long && len(accounts) == 1:
		g.Where = words.Count(len(one), "region") + " of " + accounts[0]
	case long:
		g.Where = words.Number(len(one)) + " times in " + words.Count(len(accounts), "account")
	}
}

// placeOf leaves out the region of what is read of an account as a whole, which has
// none.
func placeOf(account string, regions []string) place {
	p := place{Account: account, Regions: slices.DeleteFunc(regions, func(r string) bool { return r == "" })}
	if account == everyAccount {
		p.Account = "every account"
	}
	return p
}

// notes say what is not known because nobody asked.
func notes(s inventory.Summary) []string {
	var list []string
	notRequested := make(map[string][]string) // regions -> accounts
	var order []string
	for _, a := range s.Accounts {
		if a.Regions == nil {
			continue
		}
		if n := len(a.Regions.NotRequested); n > 0 {
			text := fmt.Sprintf("%s enabled and not asked for: %s", words.Count(n, "region"), strings.Join(a.Regions.NotRequested, ", "))
			if notRequested[text] == nil {
				order = append(order, text)
			}
			notRequested[text] = append(notRequested[text], a.ID)
		}
		if a.Regions.Note != "" {
			list = append(list, fmt.Sprintf("Regions of %s %s.", a.ID, strings.TrimSuffix(a.Regions.Note, ".")))
		}
	}
	for _, text := range order {
		accounts := notRequested[text]
		where := words.Count(len(accounts), "account")
		if len(accounts) <= placesShown {
			where = strings.Join(accounts, ", ")
		}
		list = append(list, text+" ("+where+").")
	}
	const most = 20
	if more := len(list) - most; more > 0 {
		list = append(list[:most:most], fmt.Sprintf("And %s more, see %s.", words.Number(more), inventory.RunFile))
	}
	return list
}
