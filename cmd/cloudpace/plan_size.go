package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
)

// The most that a plan has, so that a slip of the finger does not fill the memory.
const (
	mostPlanned = 100_000     // accounts
	mostTasks   = 2_000_000   // in all places together
	mostItems   = 100_000_000 // of a task
)

// placesOf reads a flag that is a number or a list of names. name makes the n-th name of
// a number of them; a number of them is at most most.
func placesOf(flag string, list []string, most int, name func(int) string) ([]string, error) {
	list = distinct(list)
	for _, name := range list {
		// Not what somebody means who writes 1,000 or 1e9: both would be names.
		if _, err := strconv.Atoi(name); numeric(name) && (err != nil || len(list) > 1) {
			return nil, fmt.Errorf("--%s has %q (allowed: a number alone, 1 to %d, or names with commas between them)", flag, name, most)
		}
	}
	if len(list) != 1 || !numeric(list[0]) {
		return list, nil
	}
	n, _ := strconv.Atoi(list[0])
	if n < 1 || n > most {
		return nil, fmt.Errorf("--%s is %d (allowed: 1 to %d, or names with commas between them)", flag, n, most)
	}
	names := make([]string, n)
	for i := range names {
		names[i] = name(i)
	}
	return names, nil
}

// numeric tells a number from the name of an account, which may be twelve digits.
func numeric(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && len(text) < 12 && strings.ContainsAny(text[:1], "+-.0123456789")
}

// sizes is how many items tasks are expected to find.
type sizes struct {
	all int // in each place, -1 where nothing is said
	of  map[string]int
}

func (s sizes) get(task string) int {
	if n, ok := s.of[task]; ok {
		return n
	}
	return max(0, s.all)
}

// parseSizes reads --items: a number for all tasks, and task=number for single ones.
func parseSizes(list, tasks []string) (s sizes, faults []error) {
	s = sizes{all: -1, of: make(map[string]int)}
	reject := func(text, allowed string) {
		faults = append(faults, fmt.Errorf("--items has %q (allowed: %s)", text, allowed))
	}
	for _, text := range distinct(list) {
		name, number, single := strings.Cut(text, "=")
		if !single {
			number = text
		}
		n, err := strconv.Atoi(number)
		switch {
		case single && !slices.Contains(tasks, name):
			allowed := "names of tasks, as run.json has them"
			if near, ok := inventory.Nearest(name, tasks); ok {
				allowed += "; did you mean " + near + "?"
			}
			reject(text, allowed)
		case err != nil || n < 0 || n > mostItems:
			reject(text, fmt.Sprintf("0 to %d, for all tasks or as TASK=NUMBER for one", mostItems))
		case single:
			s.of[name] = n
		case s.all >= 0 && s.all != n:
			reject(text, "one number for all tasks; those of single tasks are given as TASK=NUMBER")
		default:
			s.all = n
		}
	}
	return s, faults
}

// regionsOf reads --regions.
func regionsOf(list []string) ([]string, error) {
	all := aws.RegionNames()
	names, err := placesOf("regions", list, len(all), func(i int) string { return all[i] })
	if err != nil {
		return nil, err
	}
	if slices.Contains(names, aws.AllRegions) {
		return nil, fmt.Errorf("--regions is %q (allowed: a number, or names with commas between them: a plan asks no account which it has enabled)", aws.AllRegions)
	}
	for _, name := range names {
		if aws.CheckRegions([]string{name}) != nil {
			return nil, known("region", []string{name}, all)
		}
	}
	if err := aws.CheckRegions(names); err != nil {
		return nil, fmt.Errorf("--regions: %w", err)
	}
	return names, nil
}
