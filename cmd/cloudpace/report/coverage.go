package report

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/words"
)

// coverage is the table of all records, gaps first. The page has the first rows
// as HTML; the script has all of them, and shows those that are asked for.
type coverage struct {
	Total    string
	Shown    int
	Rest     bool // not all are rows of the page
	Statuses []statusCount
	Rows     []row
	All      []row
}

type statusCount struct {
	Name  inventory.Status
	Count string
}

// row is a record. As JSON it is an array, in the order of the columns, since
// there may be ten thousand.
type row struct {
	Status  inventory.Status
	Reason  inventory.Reason
	Account string
	Region  string
	Task    string
	Assets  int
	Pages   int
	Calls   int
	Errors  int
	Seconds float64
	Text    string // what went wrong
}

// MarshalJSON writes the row as an array.
func (r row) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{r.Status, r.Reason, r.Account, r.Region, r.Task, r.Assets, r.Pages, r.Calls, r.Errors, r.Seconds, r.Text})
}

// Number writes a count as the table shows it.
func (r row) Number(n int) string { return words.Number(n) }

// Time writes the seconds as the table shows them.
func (r row) Time() string { return strconv.FormatFloat(r.Seconds, 'f', 1, 64) }

// Class is the status for the style sheet.
func (r row) Class() string { return strings.ToLower(string(r.Status)) }

// rowsShown is how many rows are in the page, or are shown at once.
const rowsShown = 300

var statuses = []inventory.Status{inventory.Failed, inventory.Partial, inventory.Skipped, inventory.Success}

func coverageOf(records []inventory.Record) coverage {
	c := coverage{Total: words.Number(len(records)), All: make([]row, 0, len(records))}
	count := make(map[inventory.Status]int)
	for _, r := range records {
		count[r.Status]++
		c.All = append(c.All, row{
			r.Status, r.Reason, r.Account, r.Region, r.Task,
			r.Assets, r.Pages, r.Calls, r.Errors, float64(int(r.Seconds*10+0.5)) / 10, words.Short(cmp.Or(r.Error, r.Ledger)),
		})
	}
	slices.SortStableFunc(c.All, func(a, b row) int {
		return cmp.Compare(slices.Index(statuses, a.Status), slices.Index(statuses, b.Status))
	})
	c.Rows = c.All[:min(rowsShown, len(c.All))]
	c.Shown, c.Rest = len(c.Rows), len(c.Rows) < len(c.All)
	for _, s := range statuses {
		if count[s] > 0 {
			c.Statuses = append(c.Statuses, statusCount{s, words.Number(count[s])})
		}
	}
	return c
}
