package sim

import "go.yaml.in/yaml/v4"

// Warehouse says how statements run. Times are the model's: Speed times as much
// passes as by the clock.
type Warehouse struct {
	// Cold is for how many seconds after the first request every answer is that the
	// warehouse is starting: 503, with RetryAfter as it is, or without that header.
	Cold       float64
	RetryAfter string
	// Polls and Seconds are how many questions for its state find a statement
	// running, and for how long it runs at least.
	Polls   int
	Seconds float64
	// Rows are those of every result, PageRows how many come at a time.
	Rows, PageRows int
}

// DefaultWarehouse is warm, and its statements take two polls and have five rows
// on three pages.
func DefaultWarehouse() Warehouse { return Warehouse{Polls: 2, Rows: 5, PageRows: 2} }

// maxRows bounds a result: it is computed, but a page of it is in memory.
const maxRows = 1_000_000

func (c *checker) warehouse(w Warehouse) {
	const at = "warehouse."
	c.number(at+"cold", w.Cold, w.Cold >= 0 && w.Cold <= 86400, "0 to 86400")
	c.hint(at+"retry_after", w.RetryAfter)
	c.number(at+"seconds", w.Seconds, w.Seconds >= 0 && w.Seconds <= 86400, "0 to 86400")
	if w.Polls < 0 || w.Polls > 1_000_000 {
		c.reject(at+"polls", w.Polls, "0 to 1000000")
	}
	if w.Rows < 0 || w.Rows > maxRows {
		c.reject(at+"rows", w.Rows, "0 to 1000000")
	}
	if w.PageRows < 1 || w.PageRows > 100_000 {
		c.reject(at+"page_rows", w.PageRows, "1 to 100000")
	}
}

func (d *decoder) warehouse(w *Warehouse, n *yaml.Node, path string) {
	d.mapping(n, path, keys{
		"cold": d.number(&w.Cold), "retry_after": d.text(&w.RetryAfter), "polls": d.integer(&w.Polls),
		"seconds": d.number(&w.Seconds), "rows": d.integer(&w.Rows), "page_rows": d.integer(&w.PageRows),
	})
}
