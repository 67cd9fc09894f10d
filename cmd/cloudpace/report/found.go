package report

import (
	"cmp"
	"slices"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// found is one way to count the assets.
type found struct {
	ID, By     string
	Tasks      bool // whether lines say how much of what was asked is complete
	Rows, More []bar
}

// bar is a line of such a table.
type bar struct {
	Name   string
	Assets string
	Width  string // of 100
	Tasks  string // "11 of 12"
	Gaps   bool   // not all complete, so that the number is at least so many

	assets, done, tasks int
}

const barsShown = 12

// foundOf counts by account, region and type. What was asked and has nothing is
// there too, with how much of it was read, so that zero does not look like none.
func foundOf(doc inventory.Document) []found {
	accounts, regions, types := make(map[string]*bar), make(map[string]*bar), make(map[string]*bar)
	of := func(m map[string]*bar, name string) *bar {
		if m[name] == nil {
			m[name] = &bar{Name: name}
		}
		return m[name]
	}
	for _, a := range doc.Summary.Accounts {
		of(accounts, a.ID)
	}
	for account, places := range doc.Summary.ByPlace {
		for region, byType := range places {
			for _, n := range byType {
				of(accounts, account).assets += n
				of(regions, region).assets += n
			}
		}
	}
	for _, r := range doc.Coverage {
		asked := []*bar{of(accounts, r.Account)}
		if r.Region != "" { // what is asked of an account as a whole says nothing about one
			asked = append(asked, of(regions, r.Region))
		}
		for _, b := range asked {
			b.tasks++
			if !r.Gap() {
				b.done++
			}
		}
	}
	for typ, n := range doc.Summary.ByType {
		of(types, typ).assets = n
	}
	return []found{
		table("account", accounts, true),
		table("region", regions, true),
		table("type", types, false),
	}
}

func table(by string, bars map[string]*bar, tasks bool) found {
	f := found{ID: "found-by-" + by, By: by}
	most, asked := 1, false
	for _, b := range bars {
		most = max(most, b.assets)
		f.Rows = append(f.Rows, *b)
	}
	for i := range f.Rows {
		b := &f.Rows[i]
		b.Name = cmp.Or(b.Name, "no "+by)
		b.Assets = words.Number(b.assets)
		b.Width = decimal(100*float64(b.assets)/float64(most), 1)
		if b.tasks > 0 {
			b.Tasks = words.Number(b.done) + " of " + words.Number(b.tasks)
			b.Gaps = b.done < b.tasks
			asked = true
		}
	}
	f.Tasks = tasks && asked
	slices.SortFunc(f.Rows, func(a, b bar) int {
		return cmp.Or(cmp.Compare(b.assets, a.assets), cmp.Compare(a.Name, b.Name))
	})
	if len(f.Rows) > barsShown+2 { // two more take no more room than the line that hides them
		f.Rows, f.More = f.Rows[:barsShown], f.Rows[barsShown:]
	}
	return f
}
