package sim

import (
	"cmp"
	"slices"
)

// Runner is a front that runs statements and remembers them.
type Runner interface {
	Front
	// Executions tells how often each text ran.
	Executions() map[string]int
	// Reset forgets all.
	Reset()
}

// ExecutionCounts are how often statements ran: the proof that none ran twice, or
// that one did.
type ExecutionCounts struct {
	Statements int `json:"statements"` // different texts
	Executions int `json:"executions"`
	Repeated   int `json:"repeated"` // texts that ran more than once
	// Most lists those that ran most often, a thousand at most.
	Most []Execution `json:"most"`
}

// Execution is how often one text ran.
type Execution struct {
	Statement  string `json:"statement"`
	Executions int    `json:"executions"`
}

const mostExecuted = 1000

func countExecutions(all map[string]int) *ExecutionCounts {
	c := &ExecutionCounts{Statements: len(all), Most: make([]Execution, 0, len(all))}
	for text, n := range all {
		c.Executions += n
		if n > 1 {
			c.Repeated++
		}
		c.Most = append(c.Most, Execution{text, n})
	}
	slices.SortFunc(c.Most, func(a, b Execution) int {
		return cmp.Or(cmp.Compare(b.Executions, a.Executions), cmp.Compare(a.Statement, b.Statement))
	})
	c.Most = slices.Clone(c.Most[:min(len(c.Most), mostExecuted)]) // the rest can go
	return c
}

// Worst are the first of them, for the page.
func (c ExecutionCounts) Worst() []Execution { return c.Most[:min(len(c.Most), 20)] }
