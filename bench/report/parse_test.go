package main

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

const printed = `goos: linux
goarch: amd64
pkg: github.com/cloudpace/cloudpace/bench
cpu: A Processor  of some  kind
BenchmarkHotPath/cloudpace.Do/one-2         	  417190	       387.4 ns/op	     240 B/op	       1 allocs/op
BenchmarkHotPath/x-time-rate/one-16 	 1000000	 1012 ns/op	       0 B/op	       0 allocs/op
BenchmarkAlone     	     100	  12.50 MB/s	    11 ns/op
--- BENCH: BenchmarkAlone
    BenchmarkAlone a log line
BenchmarkFailed-2	       0	 5 ns/op
BenchmarkNothing-2
BenchmarkNoTime-2	      10	 5 widgets
BenchmarkNaN-2	      10	 NaN ns/op
PASS
ok  	github.com/cloudpace/cloudpace/bench	1.234s
`

func TestAdd(t *testing.T) {
	var m Measured
	m.Add(printed)
	m.Add("BenchmarkAlone 100 13 ns/op\n")
	want := map[string][]Figures{
		"BenchmarkHotPath/cloudpace.Do/one": {{Time: 387.4, Bytes: 240, Allocs: 1}},
		"BenchmarkHotPath/x-time-rate/one":  {{Time: 1012}},
		"BenchmarkAlone":                    {{Time: 11}, {Time: 13}},
	}
	if !reflect.DeepEqual(m.Results, want) {
		t.Errorf("got %v, want %v", m.Results, want)
	}
	if m.CPU != "A Processor of some kind" {
		t.Errorf("the processor is %q", m.CPU)
	}
}

func TestBare(t *testing.T) {
	for name, want := range map[string]string{
		"BenchmarkA-2": "BenchmarkA", "BenchmarkA/x-time-rate-128": "BenchmarkA/x-time-rate",
		"BenchmarkA/x-time-rate": "BenchmarkA/x-time-rate", "BenchmarkA": "BenchmarkA",
		"BenchmarkA/n-1": "BenchmarkA/n-1", "BenchmarkA/n-+2": "BenchmarkA/n-+2", "BenchmarkA-": "BenchmarkA-",
	} {
		if got := bare(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// FuzzAdd: whatever tests print, what is read can be written into a table.
func FuzzAdd(f *testing.F) {
	f.Add(printed)
	f.Add("BenchmarkA 1 1e308 ns/op\nBenchmarkA 1 1e308 ns/op\n")
	f.Add("Benchmark 1 0x1p-2 ns/op 1 B/op")
	f.Fuzz(func(t *testing.T, output string) {
		var m Measured
		m.Add(output)
		if strings.ContainsAny(m.CPU, "\n\r") {
			t.Errorf("the processor has more than one line: %q", m.CPU)
		}
		for name, runs := range m.Results {
			if !strings.HasPrefix(name, "Benchmark") || strings.ContainsAny(name, " \t\n") {
				t.Errorf("a benchmark named %q", name)
			}
			for _, r := range runs {
				for _, v := range []float64{r.Time, r.Bytes, r.Allocs} {
					if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%s: %v", name, r)
					}
				}
			}
			if s := times(runs); strings.ContainsAny(s, "\n|") || s == "" {
				t.Errorf("times are %q", s)
			}
		}
	})
}
