package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// What of a plan is read; --json has all.
const (
	planLimitsShown   = 6
	planAccountsShown = 10
)

// text prints the plan for people.
func (d *planDocument) text(w io.Writer) {
	fmt.Fprintf(w, "The map takes %s: %s in %s, %d tasks side by side.\n",
		lasts(d.Seconds), count(d.Requests, "request"), count(d.Tasks, "task"), d.Workers)
	if d.LastRunSeconds > 0 {
		fmt.Fprintf(w, "The last run took %s.\n", lasts(d.LastRunSeconds))
	}
	fmt.Fprintf(w, "%s\n\n", d.bindsText())
	d.textLimits(w)
	d.textAccounts(w)
	fmt.Fprintln(w, "Taken for granted")
	for _, text := range d.Assumed {
		fmt.Fprintf(w, "  %s\n", text)
	}
}

// bindsText says what the map waits for.
func (d *planDocument) bindsText() string {
	for _, l := range d.Limits {
		if l.Key == d.Binds {
			return fmt.Sprintf("What binds is %s: %s, %s of the way to the end.", l.Name, l.grants(1), percent(l.WaitSeconds, d.Seconds))
		}
	}
	text := fmt.Sprintf("What binds is no limit, but that %d tasks run side by side and an answer takes %s (%s): answers are %s of the way to the end.",
		d.Workers, words.Duration(words.Seconds(d.LatencySeconds)), d.LatencyFrom, percent(d.CallsSeconds, d.Seconds))
	if d.LatencySeconds < 0.05 {
		text = strings.Replace(text, words.Duration(words.Seconds(d.LatencySeconds)), fmt.Sprintf("%.0f ms", 1000*d.LatencySeconds), 1)
	}
	return text
}

// grants words what a limit grants.
func (l *planLimit) grants(times float64) string {
	if l.Slots > 0 {
		return words.Number(int(times)*l.Slots) + " at once"
	}
	return rateText(times*l.RPS) + "/s"
}

// textLimits prints what limits cost, and what raising them would bring.
func (d *planDocument) textLimits(w io.Writer) {
	if len(d.Limits) == 0 {
		fmt.Fprintf(w, "No call waits for a limit.\n\n")
		return
	}
	rows := [][]string{{"waits for", "limit", "on the way", "calls", "longest", "twice the limit", "key", "from"}}
	for i, l := range d.Limits {
		if i == planLimitsShown {
			rows = append(rows, []string{fmt.Sprintf("  and %d more; --json has them all", len(d.Limits)-i)})
			break
		}
		twice := ""
		if t := l.Twice; t != nil {
			twice = fmt.Sprintf("%s, %s less", lasts(t.Seconds), percent(t.SavesSeconds, d.Seconds))
			switch {
			case t.SavesSeconds < 0.01*d.Seconds:
				twice = "no less"
			case t.Binds != l.Key:
				twice += ", then " + d.nameOf(t.Binds)
			}
		}
		burst := ""
		if l.Slots == 0 {
			burst = ", burst " + rateText(l.Burst)
		}
		rows = append(rows, []string{
			"  " + l.Name, l.grants(1) + burst, lasts(l.WaitSeconds), words.Number(l.Calls), lasts(l.LongestSeconds), twice, l.Key, l.From,
		})
	}
	table(w, rows)
	fmt.Fprintln(w)
}

// nameOf gives the limit of a key in short.
func (d *planDocument) nameOf(key string) string {
	for _, l := range d.Limits {
		if l.Key == key {
			return l.Name
		}
	}
	if key == "" {
		return "no limit"
	}
	return key
}

// textAccounts prints when accounts end.
func (d *planDocument) textAccounts(w io.Writer) {
	rows := [][]string{{"account", "begins", "ends", "requests"}}
	for i, a := range d.Accounts {
		if i == planAccountsShown {
			rows = append(rows, []string{fmt.Sprintf("  and %s more, which end sooner; --json has them all", words.Number(len(d.Accounts)-i))})
			break
		}
		name := a.Account
		if name == everywhere {
			name = "all at once"
		}
		rows = append(rows, []string{"  " + a.Provider + " " + name, lasts(a.BeginsSeconds), lasts(a.EndsSeconds), words.Number(a.Requests)})
	}
	table(w, rows)
	fmt.Fprintln(w)
}

// percent words a part of a whole.
func percent(part, whole float64) string {
	if whole <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.0f %%", 100*part/whole)
}

// lasts words how long something takes.
func lasts(seconds float64) string {
	d := words.Seconds(seconds)
	switch {
	case d < 2*time.Minute:
		return words.Duration(d)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}
