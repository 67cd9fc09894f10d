package gcp

import "strings"

// brief says on a line what Google's libraries say on many: a message, and the details
// after it. What is in the error stays.
type brief struct{ err error }

// Unwrap gives the error.
func (b brief) Unwrap() error { return b.err }

const (
	mostLines = 8
	mostLine  = 500 // bytes
)

// Error is bounded, for a message may be of any length. The last line is kept: it is
// what to do.
func (b brief) Error() string {
	lines := strings.Split(strings.TrimSpace(b.err.Error()), "\n")
	if more := len(lines) - mostLines; more > 0 {
		lines = append(lines[:mostLines-1], lines[len(lines)-1])
	}
	for i, line := range lines {
		if line = strings.TrimSpace(line); len(line) > mostLine {
			line = strings.ToValidUTF8(line[:mostLine], "") + "…"
		}
		lines[i] = line
	}
	return strings.Join(lines, "; ")
}
