package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// collect gives what a visiting function visits.
func collect[T any](visit func(func(T))) (list []T) {
	visit(func(v T) { list = append(list, v) })
	return list
}

// emptyFlag finds a flag that was given with nothing in it, as --only "$UNSET" is.
// To take that for a flag left out would read everything where a part was meant,
// or another account than the role's.
func emptyFlag(c *cobra.Command) (name string, found bool) {
	for _, f := range collect(c.Flags().Visit) { // those that were given
		values := []string{f.Value.String()}
		if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
			values = list.GetSlice()
		}
		if strings.TrimSpace(strings.Join(values, "")) == "" {
			return f.Name, true
		}
	}
	return "", false
}

// distinct gives the names of a list as people write them: "a, b,a" is a and b.
func distinct(list []string) []string {
	var names []string
	for _, name := range list {
		if name = strings.TrimSpace(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// known finds names that do not exist and says what may have been meant.
func known(what string, names, all []string) error {
	for _, name := range names {
		if slices.Contains(all, name) {
			continue
		}
		text := fmt.Sprintf("unknown %s %q", what, name)
		if near, ok := inventory.Nearest(name, all); ok {
			text += fmt.Sprintf(", did you mean %q?", near)
		}
		return usage("%s (there are: %s)", text, strings.Join(all, ", "))
	}
	return nil
}
