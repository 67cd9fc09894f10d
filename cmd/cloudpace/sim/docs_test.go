package sim_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

// TestExampleFile: the example is read, and has every key that there is.
func TestExampleFile(t *testing.T) {
	p, err := sim.Load(aws.New(), "testdata/sim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.New(aws.New(), p); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/sim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	documentation, err := os.ReadFile("../../../docs/sim.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range []string{"", "estate: {%}", "quotas: [{%}]", "neighbours: [{%}]", "faults: [{%}]"} {
		file := strings.Replace(section, "%", "nosuchkey: 1", 1)
		if section == "" {
			file = "nosuchkey: 1"
		}
		_, err := sim.Parse(aws.New(), []byte(file))
		if err == nil {
			t.Fatalf("%s was read", file)
		}
		_, keys, ok := strings.Cut(err.Error(), "one of the keys here: ")
		if !ok {
			t.Fatalf("no keys in %v", err)
		}
		keys, _, _ = strings.Cut(keys, ")")
		for key := range strings.SplitSeq(keys, ", ") {
			if !regexp.MustCompile(`(?m)^[ -]*` + key + `:`).Match(text) {
				t.Errorf("testdata/sim.yaml has no %s in %q", key, section)
			}
			if !strings.Contains(string(documentation), "`"+key+"`") {
				t.Errorf("docs/sim.md does not have %s of %q", key, section)
			}
		}
	}
	for _, kind := range sim.FaultKinds() {
		if !strings.Contains(string(documentation), "| `"+string(kind)+"` |") {
			t.Errorf("docs/sim.md does not have the fault %s", kind)
		}
	}
	for _, op := range aws.Operations() {
		_, name, _ := strings.Cut(op, ":")
		if !strings.Contains(string(documentation), name) {
			t.Errorf("docs/sim.md does not have %s", op)
		}
	}
	if !slices.ContainsFunc(p.Quotas, func(q sim.Quota) bool { return strings.HasPrefix(q.Source, "EC2") }) {
		t.Error("the documented quotas are gone")
	}
}

// TestSources: every built-in figure says where it is from.
func TestSources(t *testing.T) {
	for i, q := range aws.New().Quotas() {
		if q.Source == "" {
			t.Errorf("quota %d (%v %v) has no source", i, q.Service, q.Operation)
		}
	}
}
