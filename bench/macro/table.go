package macro

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace/internal/scenario"
)

// Tables collects results and writes them as Markdown.
type Tables struct {
	scenarios  []scenario.Scenario
	contenders []Contender
	results    [][][]Result // by scenario and contender
}

// NewTables makes empty ones.
func NewTables(scenarios []scenario.Scenario, contenders []Contender) *Tables {
	t := &Tables{scenarios, contenders, make([][][]Result, len(scenarios))}
	for i := range t.results {
		t.results[i] = make([][]Result, len(contenders))
	}
	return t
}

// Add is a result of a scenario and a contender, by their places in the lists.
func (t *Tables) Add(scenario, contender int, r Result) {
	t.results[scenario][contender] = append(t.results[scenario][contender], r)
}

// Write writes all medians in one table, then those that somebody does better than
// cloudpace, then a table of each scenario with the spread.
func (t *Tables) Write(w io.Writer) {
	t.overview(w)
	for j, c := range t.contenders {
		if c.Ours {
			t.losses(w, j)
		}
	}
	for i := range t.scenarios {
		t.scenario(w, i)
	}
}

func (t *Tables) overview(w io.Writer) {
	head, rule := "| |", "| --- |"
	for _, s := range t.scenarios {
		head += " " + s.ID + " |"
		rule += " --- |"
	}
	_, _ = fmt.Fprintf(w, "%s\n%s\n", head, rule)
	for j, c := range t.contenders {
		row := "| " + c.Name + " |"
		for i, s := range t.scenarios {
			f := figuresOf(s, t.results[i][j])
			row += " " + f.ratio() + ", " + percent(f.throttled.median) + " |"
		}
		_, _ = fmt.Fprintln(w, row)
	}
}

func (t *Tables) scenario(w io.Writer, i int) {
	s := t.scenarios[i]
	_, _ = fmt.Fprintf(w, "\n**%s**: %s.\n\n", s.ID, s.Name)
	_, _ = fmt.Fprintf(w, "| | T/ideal | from – to | throttled | from – to | neighbour throttled | given up |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for j, c := range t.contenders {
		f := figuresOf(s, t.results[i][j])
		neighbour := ""
		if s.NeighbourRPS > 0 {
			neighbour = percent(f.neighbour.median)
		}
		between := ""
		if f.finished() {
			between = f.time.between(func(v float64) string { return fmt.Sprintf("%.3f", v) })
		}
		_, _ = fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", c.Name, f.ratio(), between,
			percent(f.throttled.median), f.throttled.between(percent), neighbour, thousands(int(f.lost.median)))
	}
}

// losses tells who does better than a contender of ours, and in what. One of many clients
// that know nothing of each other is held against others of that kind.
func (t *Tables) losses(w io.Writer, ours int) {
	_, _ = fmt.Fprintf(w, "\nBetter than %s:\n\n| | done sooner | a smaller share throttled | neighbour throttled less | fewer given up |\n| --- | --- | --- | --- | --- |\n", t.contenders[ours].Name)
	for i, s := range t.scenarios {
		mine := figuresOf(s, t.results[i][ours])
		var sooner, throttled, neighbour, lost []string
		for j, c := range t.contenders {
			if c.Ours || t.contenders[ours].Clients > 1 && c.Clients == 1 {
				continue
			}
			f := figuresOf(s, t.results[i][j])
			if !f.finished() {
				continue
			}
			// What would be printed alike is not better.
			if !mine.finished() || f.time.median < mine.time.median-0.0005 {
				sooner = append(sooner, c.Name+" "+f.ratio())
			}
			if f.throttled.median < mine.throttled.median-0.00005 {
				throttled = append(throttled, c.Name+" "+percent(f.throttled.median))
			}
			if f.neighbour.median < mine.neighbour.median-0.00005 {
				neighbour = append(neighbour, c.Name+" "+percent(f.neighbour.median))
			}
			if f.lost.median < mine.lost.median {
				lost = append(lost, c.Name+" "+thousands(int(f.lost.median)))
			}
		}
		_, _ = fmt.Fprintf(w, "| %s (%s, %s) | %s | %s | %s | %s |\n", s.ID, mine.ratio(), percent(mine.throttled.median),
			listed(sooner), listed(throttled), listed(neighbour), listed(lost))
	}
}

func listed(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, "; ")
}

// figures are the medians over the seeds, and how far the seeds lie apart.
type figures struct {
	time, throttled, neighbour, lost spread
	done, calls                      int // of the worst seed
}

type spread struct {
	median, least, most float64
	runs                int
}

func figuresOf(s scenario.Scenario, results []Result) figures {
	f := figures{done: s.Calls, calls: s.Calls}
	if len(results) == 0 {
		f.done = 0
	}
	for _, r := range results {
		f.done = min(f.done, r.Done)
	}
	f.time = spreadOf(results, func(r Result) float64 { return r.Active.Seconds() / s.IdealS })
	f.throttled = spreadOf(results, func(r Result) float64 { return share(r.Throttled, r.Accepted+r.Throttled) })
	f.neighbour = spreadOf(results, func(r Result) float64 { return share(r.Refused, r.Neighbour) })
	f.lost = spreadOf(results, func(r Result) float64 { return float64(r.Lost) })
	return f
}

func spreadOf(results []Result, of func(Result) float64) spread {
	values := make([]float64, 0, len(results))
	for _, r := range results {
		values = append(values, of(r))
	}
	if len(values) == 0 {
		return spread{}
	}
	slices.SortFunc(values, cmp.Compare[float64])
	return spread{(values[(len(values)-1)/2] + values[len(values)/2]) / 2, values[0], values[len(values)-1], len(values)}
}

func (f figures) finished() bool { return f.done == f.calls }

// ratio is the time as a multiple of the ideal, or how much was done in a run that was
// stopped.
func (f figures) ratio() string {
	if f.time.runs == 0 {
		return "not run"
	}
	if !f.finished() {
		return fmt.Sprintf("stopped at %s of %s", thousands(f.done), thousands(f.calls))
	}
	return fmt.Sprintf("%.3f", f.time.median)
}

func (s spread) between(format func(float64) string) string {
	if s.runs == 1 {
		return "one run"
	}
	return format(s.least) + " – " + format(s.most)
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func percent(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
