package main

import (
	"flag"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"text/template"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestTables compares with a golden file: medians of an odd and of an even number of runs,
// a benchmark that is missing, one aim that is reached and one that is not.
func TestTables(t *testing.T) {
	m := &Measured{Results: map[string][]Figures{
		"BenchmarkBeginEnd":       {{481, 240, 1}, {485, 240, 1}, {483, 240, 1}},
		"BenchmarkDo":             {{558, 240, 1}, {581, 240, 1}},
		"BenchmarkExamine/status": {{2345, 1000, 18}},
		"BenchmarkExamine/text":   {{300_000, 123_456, 62}},

		do + "/one":       {{400, 240, 1}, {900, 240, 1}, {600, 240, 1}},
		do + "/each":      {{500, 240, 1}, {1000, 240, 1}, {750, 240, 1}},
		do + "/parallel":  {{300, 240, 1}},
		byHand + "/one":   {{500, 0, 0}, {1000, 0, 0}, {500, 0, 0}},
		byHand + "/each":  {{400, 0, 0}, {900, 0, 0}, {700, 0, 0}},
		failsafe + "/one": {{799, 952, 24}, {1799, 952, 24}, {1199, 952, 24}},
	}}
	got := governorTable(m) + "\n\n" + hotPathTable(m) + "\n\n" + ratios(m) + "\n"
	const golden = "testdata/tables.md"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s", got)
	}
}

// TestDuration gives three figures whatever the size.
func TestDuration(t *testing.T) {
	for ns, want := range map[float64]string{
		0: "0.00 ns", 1.234: "1.23 ns", 9.996: "10.0 ns", 99.96: "100 ns", 999.4: "999 ns", 999.6: "1.00 µs",
		12_345: "12.3 µs", 4_660_000: "4.66 ms", 2e9: "2.00 s", 3e12: "3000 s",
	} {
		if got := duration(ns); got != want {
			t.Errorf("%v ns: got %s, want %s", ns, got, want)
		}
	}
	if s := duration(math.MaxFloat64); !strings.HasSuffix(s, " s") {
		t.Errorf("got %s", s)
	}
}

// TestTemplate: the document asks for nothing that it is not given.
func TestTemplate(t *testing.T) {
	text, err := template.New("").Option("missingkey=error").Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := text.Execute(&b, fill(&Measured{}, "v1", 7, "1s", "")); err != nil {
		t.Error(err)
	}
}

// TestSuitesHaveTheRows: every row of a table is a benchmark that a suite runs.
func TestSuitesHaveTheRows(t *testing.T) {
	for _, r := range append(governorRows, hotPathRows...) {
		function, _, _ := strings.Cut(r.name, "/")
		found := false
		for _, s := range suites {
			found = found || regexp.MustCompile(s.bench).MatchString(function)
		}
		if !found {
			t.Errorf("no suite runs %s", r.name)
		}
	}
}
