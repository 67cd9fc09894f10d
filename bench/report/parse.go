package main

import (
	"math"
	"strconv"
	"strings"
)

// Measured is what benchmarks print, with one value for each time that they ran.
type Measured struct {
	CPU     string               // as Go names the processor, "" where it does not
	Results map[string][]Figures // by the benchmark's name, without the number of processors
}

// Figures are those of one run.
type Figures struct {
	Time   float64 // ns for one operation
	Bytes  float64 // allocated by one
	Allocs float64
}

// Add takes in the output of go test -bench. What is not a benchmark's line is passed
// over.
func (m *Measured) Add(output string) {
	if m.Results == nil {
		m.Results = map[string][]Figures{}
	}
	for line := range strings.Lines(output) {
		if cpu, ok := strings.CutPrefix(line, "cpu:"); ok {
			m.CPU = strings.Join(strings.Fields(cpu), " ")
			continue
		}
		if name, f, ok := parseLine(line); ok {
			m.Results[name] = append(m.Results[name], f)
		}
	}
}

// parseLine reads a line such as
//
//	BenchmarkHotPath/by-hand/one-2   3083660   387.4 ns/op   0 B/op   0 allocs/op
func parseLine(line string) (name string, f Figures, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return "", Figures{}, false
	}
	if n, err := strconv.Atoi(fields[1]); err != nil || n <= 0 {
		return "", Figures{}, false
	}
	timed := false
	for i := 2; i+1 < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return "", Figures{}, false
		}
		switch fields[i+1] {
		case "ns/op":
			f.Time, timed = v, true
		case "B/op":
			f.Bytes = v
		case "allocs/op":
			f.Allocs = v
		}
	}
	return bare(fields[0]), f, timed
}

// bare is a name without the number of processors that Go adds where there is more than
// one.
func bare(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return name
	}
	if n, err := strconv.Atoi(name[i+1:]); err != nil || n < 2 || name[i+1] == '+' {
		return name
	}
	return name[:i]
}
