package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// completeList makes the shell complete a flag that takes a comma-separated
// list: the last element, from the names that are not in the list yet.
func completeList(c *cobra.Command, flag string, names []string) {
	err := c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := ""
		if i := strings.LastIndexByte(typed, ','); i >= 0 {
			before = typed[:i+1]
		}
		taken := strings.Split(before, ",")
		var list []string
		for _, name := range names {
			if !slices.Contains(taken, name) {
				list = append(list, before+name)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	if err != nil {
		panic(err) // a flag that does not exist: a mistake in this program
	}
}
