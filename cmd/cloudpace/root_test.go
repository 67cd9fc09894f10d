package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

func call(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

func TestRoot(t *testing.T) {
	for _, c := range []struct {
		args   string
		code   int
		out    string
		errors string
	}{
		{"--version", 0, "cloudpace version ", ""},
		{"", 0, "Available Commands", ""},
		{"map --help", 0, "--fail-on-partial", ""},
		{"map --help", 0, `(default "cloudpace-map")`, ""},
		{"mpa", 2, "", "cloudpace --help"},
		{"completion bash", 0, "__complete", ""},
	} {
		code, out, errors := call(strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errors, c.errors) {
			t.Errorf("cloudpace %s: exit code %d\n%s%s", c.args, code, out, errors)
		}
	}
}

// TestCompletion: the last element of a list is completed, from what is not in
// it yet.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		args      []string
		has, lack string
	}{
		{[]string{"-p", ""}, "aws\n", ""},
		{[]string{"-p", "aws,"}, "aws,azure\n", "aws,aws"},
		{[]string{"--azure-cloud", "gov"}, "government\n", ""},
		{[]string{"--management"}, "--management-group\t", ""},
		{[]string{"--only", "net"}, "network\n", "\nsurplus"},
		{[]string{"--skip", "network,"}, "network,compute\n", "network,network"},
		{[]string{"--de"}, "--demo\t", ""},
		{[]string{"--regions", "us-east-1,eu-w"}, "us-east-1,eu-west-1\n", "us-east-1,us-east-1"},
	} {
		_, out, _ := call(append([]string{"__complete", "map"}, c.args...)...)
		if !strings.Contains(out, c.has) || c.lack != "" && strings.Contains(out, c.lack) {
			t.Errorf("%v completes to\n%s", c.args, out)
		}
	}
}

// TestGaps: gaps are named by task and reason, so that many regions with the
// same one are a line.
func TestGaps(t *testing.T) {
	var records []inventory.Record
	for _, region := range []string{"r1", "r2", "r3", "r4", "r5", "r6", "r7"} {
		records = append(records, inventory.Record{Account: "1", Region: region, Task: "a", Status: inventory.Failed, Reason: inventory.AccessDenied, Error: "no\nno"})
	}
	records = append(records, inventory.Record{Account: "1", Region: "r1", Task: "b", Status: inventory.Partial, Reason: inventory.Throttled, Ledger: "throttled: 1 call(s) gave up after retries"},
		inventory.Record{Status: inventory.Success})
	got := strings.Join(gaps(records), "\n")
	want := "a FAILED, access_denied in r1, r2, r3, r4, r5 and 2 more of 1: no no\n" +
		"b PARTIAL, throttled in r1 of 1: throttled: 1 call(s) gave up after retries"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	records = append(records, inventory.Record{Status: inventory.Skipped, Reason: inventory.Truncated}, inventory.Record{Status: inventory.Skipped, Reason: inventory.Truncated})
	if first := gaps(records)[0]; first != "2 tasks not begun" {
		t.Errorf("those not begun are told as %q", first)
	}
	for _, account := range []string{"1", "2"} {
		for _, task := range []string{"c", "d", "e", "f"} {
			records = append(records, inventory.Record{Account: account, Task: task, Region: "r9", Status: inventory.Failed, Reason: inventory.DeniedByPolicy, Error: "never"})
		}
		records = append(records, inventory.Record{Account: account, Task: "g", Region: "r8", Status: inventory.Skipped, Reason: inventory.ServiceNotInRegion})
	}
	if lines := gaps(records); lines[len(lines)-1] != "4 tasks FAILED, denied_by_policy in r9 of 1 and 2: never" {
		t.Errorf("many tasks that fail alike are told as %q", lines)
	}
	for i := range 50 {
		records = append(records, inventory.Record{Task: strings.Repeat("x", i+1), Region: strings.Repeat("r", i+1), Status: inventory.Skipped})
	}
	if lines := gaps(records); len(lines) != gapsNamed+2 || lines[gapsNamed+1] != "and 33 more, see run.json" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}
