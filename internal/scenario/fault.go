package scenario

import (
	"fmt"

	"github.com/cloudpace/cloudpace/internal/editdistance"
)

// Fault is something that a scenario cannot be.
type Fault struct {
	Path    string // "server.refill", or "scenarios[2].server.refill" in a file of several
	Value   any    // nil: it is missing
	Allowed string // in words
}

// Error gives path, value and what is allowed on one line.
func (f *Fault) Error() string {
	switch v := f.Value.(type) {
	case nil:
		return fmt.Sprintf("%s is missing (allowed: %s)", f.Path, f.Allowed)
	case string:
		return fmt.Sprintf("%s is %q (allowed: %s)", f.Path, v, f.Allowed)
	default:
		return fmt.Sprintf("%s is %v (allowed: %s)", f.Path, v, f.Allowed)
	}
}

// nearest gives the name that a misspelt one most likely meant, or "".
func nearest(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if d := editdistance.Of(name, k); d < least || d == least && best == "" {
			best, least = k, d
		}
	}
	return best
}
