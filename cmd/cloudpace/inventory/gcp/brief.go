package gcp

import (
	"errors"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace/pacegcp"
)

// brief says on a line what Google's libraries say on many: a message, and the details
// after it. Where there is something to do that goes before, for lines are cut when they
// are shown, and takes the place of the details. What is in the error stays.
type brief struct{ err error }

// Unwrap gives the error.
func (b brief) Unwrap() error { return b.err }

const (
	mostLines = 8
	mostLine  = 500 // bytes
)

// Error is bounded, for a message may be of any length.
func (b brief) Error() string {
	text, advice := b.parts()
	lines := strings.Split(text, "\n")
	if advice != "" {
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "error details: ") })
		lines = slices.Insert(lines, 0, advice)
	}
	if len(lines) > mostLines {
		lines = lines[:mostLines]
	}
	for i, line := range lines {
		if line = strings.TrimSpace(line); len(line) > mostLine {
			line = strings.ToValidUTF8(line[:mostLine], "") + "…"
		}
		lines[i] = line
	}
	return strings.Join(lines, "; ")
}

// parts are what went wrong, and what to do about it, which [pacegcp.ListingError] puts
// on a line behind that.
func (b brief) parts() (text, advice string) {
	text = strings.TrimSpace(b.err.Error())
	var early *pacegcp.ListingError
	if !errors.As(b.err, &early) || early.Err == nil {
		return text, ""
	}
	inside := strings.TrimSpace(early.Err.Error())
	if advice, ok := strings.CutPrefix(early.Error(), inside+"\n"); ok {
		return inside, advice
	}
	return text, ""
}
