package main

import (
	"fmt"
	"slices"
	"strings"
)

// A row names the benchmarks of one line of a table.
type row struct{ what, name, command string }

var governorRows = []row{
	{"`Begin` and `End` on a warm scope", "BenchmarkBeginEnd", "go test -run '^$' -bench 'BeginEnd$' -benchmem ."},
	{"`Do`", "BenchmarkDo", "go test -run '^$' -bench 'Do$' -benchmem ."},
	{"judging a throttle by its status", "BenchmarkExamine/status", "go test -run '^$' -bench Examine -benchmem ./verdict"},
	{"judging 11 KB of plain text", "BenchmarkExamine/text", "the same"},
}

func governorTable(m *Measured) string {
	var b strings.Builder
	b.WriteString("| what | time | allocations | printed by |\n| --- | --- | --- | --- |\n")
	for _, r := range governorRows {
		runs := m.Results[r.name]
		command := r.command
		if strings.HasPrefix(command, "go ") {
			command = "`" + command + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.what, times(runs), allocations(runs), command)
	}
	return strings.TrimSpace(b.String())
}

const (
	do       = "BenchmarkHotPath/cloudpace.Do"
	byHand   = "BenchmarkHotPath/by-hand"
	failsafe = "BenchmarkHotPath/failsafe-go+lookup"
)

var hotPathRows = []row{
	{"cloudpace, `Do`", do, ""},
	{"cloudpace, `Begin` and `End`", "BenchmarkHotPath/cloudpace.Begin+End", ""},
	{"by hand: lookup, 2 × x/time/rate, gobreaker, semaphore", byHand, ""},
	{"failsafe-go's limiter, breaker, bulkhead and retries, behind the lookup", failsafe, ""},
	{"failsafe-go's without a lookup", "BenchmarkHotPath/failsafe-go", ""},
	{"sentinel-golang, a flow rule and a breaker's", "BenchmarkHotPath/sentinel-golang", ""},
	{"x/time/rate alone", "BenchmarkHotPath/x-time-rate", ""},
	{"gobreaker alone", "BenchmarkHotPath/gobreaker", ""},
}

func hotPathTable(m *Measured) string {
	var b strings.Builder
	b.WriteString("| | always one scope | each of 10,000 in turn | one scope, all cores | allocations |\n| --- | --- | --- | --- | --- |\n")
	for _, r := range hotPathRows {
		one, each := m.Results[r.name+"/one"], m.Results[r.name+"/each"]
		counted := each
		if len(counted) == 0 {
			counted = one // there are no scopes
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.what, times(one),
			times(each), times(m.Results[r.name+"/parallel"]), allocations(counted))
	}
	return strings.TrimSpace(b.String())
}

// ratios holds Do against what it is to reach: the time of the composition by hand, and
// half of failsafe-go's.
func ratios(m *Measured) string {
	var b strings.Builder
	for _, c := range []struct {
		what, above, below string
		reached            func(float64) bool
		aim                string
	}{
		{"`Do` takes %s times what the composition by hand takes", do, byHand, func(r float64) bool { return r <= 1 }, "at most 1"},
		{"failsafe-go's four policies take %s times what `Do` takes", failsafe, do, func(r float64) bool { return r >= 2 }, "at least 2"},
	} {
		var parts []string
		for _, how := range []struct{ name, words string }{
			{"/one", "with one scope"}, {"/each", "with 10,000"}, {"/parallel", "on all cores"},
		} {
			r, ok := ratio(m.Results[c.above+how.name], m.Results[c.below+how.name])
			if !ok {
				continue
			}
			verdict := ""
			if !c.reached(r) {
				verdict = " (**not reached**)"
			}
			parts = append(parts, fmt.Sprintf("%.2f %s%s", r, how.words, verdict))
		}
		if len(parts) > 0 {
			fmt.Fprintf(&b, "- "+c.what+"; the aim is %s.\n", strings.Join(parts, ", "), c.aim)
		}
	}
	return strings.TrimSpace(b.String())
}

// ratio is the median of those of each round, in which both ran one after the other.
func ratio(above, below []Figures) (float64, bool) {
	var rs []float64
	for i := range min(len(above), len(below)) {
		if below[i].Time > 0 {
			rs = append(rs, above[i].Time/below[i].Time)
		}
	}
	if len(rs) == 0 {
		return 0, false
	}
	return median(rs), true
}

// times is the median with the fastest and the slowest run.
func times(runs []Figures) string {
	if len(runs) == 0 {
		return ""
	}
	var ts []float64
	for _, r := range runs {
		ts = append(ts, r.Time)
	}
	return fmt.Sprintf("%s (%s – %s)", duration(median(ts)), duration(slices.Min(ts)), duration(slices.Max(ts)))
}

func allocations(runs []Figures) string {
	if len(runs) == 0 {
		return ""
	}
	var n, bytes []float64
	for _, r := range runs {
		n, bytes = append(n, r.Allocs), append(bytes, r.Bytes)
	}
	if median(n) == 0 {
		return "0"
	}
	return fmt.Sprintf("%.0f (%.0f B)", median(n), median(bytes))
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// duration gives nanoseconds three figures.
func duration(ns float64) string {
	unit := "ns"
	for _, larger := range []string{"µs", "ms", "s"} {
		if ns < 999.5 {
			break
		}
		ns, unit = ns/1000, larger
	}
	switch {
	case ns < 9.995:
		return fmt.Sprintf("%.2f %s", ns, unit)
	case ns < 99.95:
		return fmt.Sprintf("%.1f %s", ns, unit)
	default:
		return fmt.Sprintf("%.0f %s", ns, unit)
	}
}
