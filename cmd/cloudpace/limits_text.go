package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// learnedShown is how much of what was learned is read; --json has all.
const learnedShown = 20

// text prints the document for people.
func (d *limitsDocument) text(w io.Writer, p part) {
	if d.Enabled.Value == false {
		fmt.Fprintf(w, "Nothing is paced: ratelimit.enabled is false, %s. If it were not:\n\n", d.Enabled.From)
	}
	if d.Call != nil {
		d.textCall(w, p)
	} else {
		d.textBuckets(w)
	}
	d.textSettings(w)
	d.textLearned(w, p, time.Now())
}

// textBuckets prints how fast calls may go.
func (d *limitsDocument) textBuckets(w io.Writer) {
	for _, p := range d.Providers {
		name := p.Provider
		if !p.BuiltIn {
			name += " (not built in)"
		}
		rows := [][]string{{name, "calls/s", "burst", "from"}}
		for _, list := range alike(p.Buckets) {
			rows = append(rows, []string{
				"  " + phrase(list),
				between(list, func(b bucketLimit) figure { return b.RPS }), between(list, func(b bucketLimit) figure { return b.Burst }),
				origin(list[0].RPS, list[0].Burst),
			})
		}
		table(w, rows)
		fmt.Fprintln(w)
	}
}

// alike puts those together that are told in one line: operations of a service with
// figures of their own, which are from the same place.
func alike(list []bucketLimit) (lines [][]bucketLimit) {
	at := make(map[string]int)
	for _, b := range list {
		key := fmt.Sprint(b.service(), origin(b.RPS, b.Burst))
		if i, ok := at[key]; ok && b.Own {
			lines[i] = append(lines[i], b)
			continue
		}
		if b.Own {
			at[key] = len(lines)
		}
		lines = append(lines, []bucketLimit{b})
	}
	return lines
}

func (b bucketLimit) service() string {
	service, _, _ := strings.Cut(b.Name, ".")
	return service
}

// phrase says what limits are of.
func phrase(list []bucketLimit) string {
	switch b := list[0]; {
	case b.Level == levelProvider:
		return "all calls together"
	case b.Level == levelAccount:
		return "all calls of an account"
	case b.Name == "":
		return "every other service"
	case b.Writes:
		return b.Name + ", each operation that changes things"
	case len(list) > 1:
		return fmt.Sprintf("%s, %s with figures of their own", b.service(), count(len(list), "operation"))
	case b.PerOperation && !b.Own:
		return b.Name + ", each operation"
	default:
		return b.Name
	}
}

// between gives the figure of limits, or the least and the greatest.
func between(list []bucketLimit, of func(bucketLimit) figure) string {
	most := func(a, b figure) int {
		x, _ := a.Value.(float64)
		y, _ := b.Value.(float64)
		return cmp.Compare(x, y)
	}
	var all []figure
	for _, b := range list {
		all = append(all, of(b))
	}
	least, greatest := slices.MinFunc(all, most).short(), slices.MaxFunc(all, most).short()
	if least == greatest {
		return least
	}
	return least + " to " + greatest
}

// short is the figure alone.
func (f figure) short() string {
	switch v := f.Value.(type) {
	case nil:
		return "none"
	case float64:
		return rateText(v)
	default:
		return fmt.Sprint(v)
	}
}

func (f figure) origin() string {
	if f.Source != "" {
		return f.From + ": " + f.Source
	}
	return f.From
}

// origin says where rate and burst are from; that a burst follows from its rate goes
// without saying.
func origin(rate, burst figure) string {
	if rate.origin() == burst.origin() || strings.HasPrefix(burst.From, rate.From+", ") {
		return rate.origin()
	}
	return rate.origin() + "; the burst " + burst.origin()
}

// textCall prints what a call has to pass.
func (d *limitsDocument) textCall(w io.Writer, p part) {
	fmt.Fprintf(w, "What calls in %s wait for\n\n", p.short())
	rows := [][]string{{"  level", "bucket", "calls/s", "burst", "from"}}
	for _, b := range d.Call {
		rows = append(rows, []string{"  " + b.Level, b.Scope, b.RPS.short(), b.Burst.short(), origin(b.RPS, b.Burst)})
	}
	table(w, rows)
	if slices.ContainsFunc(d.Providers[0].Buckets, func(b bucketLimit) bool { return b.PerOperation && b.Name == p.Service }) && p.Operation == "" {
		fmt.Fprintln(w, "  Each operation has a leaf of its own; name one to see it.")
	}
	fmt.Fprintln(w)
}

// textSettings prints all else, a column for each provider, and what of it was set.
func (d *limitsDocument) textSettings(w io.Writer) {
	values, keys := make(map[string][]string), []string(nil)
	var set []string
	for i, p := range d.Providers {
		for _, s := range p.Settings {
			key := strings.TrimPrefix(s.Key, "ratelimit."+p.Provider+".")
			if values[key] == nil {
				keys, values[key] = append(keys, key), make([]string, len(d.Providers))
			}
			values[key][i] = s.short()
			if s.From != builtIn {
				set = append(set, fmt.Sprintf("  %s: %s", s.Key, s.From))
			}
		}
	}
	rows := [][]string{{"settings"}}
	for _, p := range d.Providers {
		rows[0] = append(rows[0], p.Provider)
	}
	for _, key := range keys {
		rows = append(rows, append([]string{"  " + key}, values[key]...))
	}
	table(w, rows)
	if len(set) == 0 {
		fmt.Fprintln(w, "All of them are built in.")
	} else {
		fmt.Fprintf(w, "Built in, but for\n%s\n", strings.Join(set, "\n"))
	}
	fmt.Fprintln(w)
}

// textLearned prints what was learned, the most severe first.
func (d *limitsDocument) textLearned(w io.Writer, p part, now time.Time) {
	of := ""
	if p.Provider != "" {
		of = " of " + p.short()
	}
	if len(d.Learned)+len(d.Budgets) == 0 {
		fmt.Fprintf(w, "Learned%s: nothing.\n", of)
		return
	}
	fmt.Fprintf(w, "Learned%s, as it is now\n", of)
	var rows [][]string
	for i, e := range d.Learned {
		if i == learnedShown {
			rows = append(rows, []string{fmt.Sprintf("  and %d more; --json has them all", len(d.Learned)-i)})
			break
		}
		says := "no limit of this configuration"
		if e.InForce {
			says = strings.Join(e.words(now), "; ")
		}
		rows = append(rows, []string{"  " + shortened(e.Scope, e.Level), says})
	}
	capacity := d.capacities()
	for _, b := range d.Budgets {
		of := ""
		if c, ok := capacity[b.Provider]; ok {
			of = fmt.Sprintf(" of %v", c)
		}
		rows = append(rows, []string{"  retry budget of " + b.Provider, rateText(b.Tokens) + of + " left"})
	}
	table(w, rows)
	fmt.Fprintf(w, "It is kept in %s; --fresh forgets it.\n", d.File)
}

// table prints rows with their columns beneath each other.
func table(w io.Writer, rows [][]string) {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(t, strings.Join(r, "\t"))
	}
	_ = t.Flush() // into memory
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}
