package sim_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

// TestFaultyFiles: what is wrong is named with its line, path, value and what is
// allowed, and with what was probably meant.
func TestFaultyFiles(t *testing.T) {
	for _, c := range []struct {
		name, text string
		says       []string
	}{
		{"unknown fault", "faults:\n  - fault: reste\n", []string{"line 2", "faults[0].fault", `"reste"`, "did you mean reset?", "denied_by_policy"}},
		{"no fault", "faults:\n  - service: ec2\n", []string{"faults[0].fault", "latency"}},
		{"unknown key", "faults:\n  - fault: reset\n    servce: ec2\n", []string{"line 3", "faults[0].servce", "did you mean service?"}},
		{"unknown key at the top", "neighbors: []\n", []string{"line 1", "neighbors", "did you mean neighbours?"}},
		{"unknown profile", "profile: asw\n", []string{"line 1", "profile", `"asw"`, "aws"}},
		{"unknown type", "estate:\n  types:\n    AWS::EC2::Instances: 3\n", []string{"line 3", "estate.types.AWS::EC2::Instances", "did you mean AWS::EC2::Instance?"}},
		{"not a number", "quotas:\n  - {burst: many, rate: 3}\n", []string{"quotas[0].burst", `"many"`, "a number"}},
		{"no rate", "quotas:\n  - {burst: 3}\n", []string{"quotas[0].rate", "> 0"}},
		{"negative", "neighbours:\n  - {rate: -1}\n", []string{"line 2", "neighbours[0].rate", "-1", "> 0"}},
		{"probability", "faults:\n  - {fault: reset, probability: 1.5}\n", []string{"faults[0].probability", "0 to 1"}},
		{"too large", "estate:\n  assets: 100000000000\n", []string{"estate.assets", "100000000000", "50000000", "GB of disk"}},
		{"too many of a type", "estate: {accounts: 5000, types: {AWS::EC2::Volume: 1000000}}\n", []string{"estate.assets", "at most 50000000"}},
		{"account", "estate: {accounts: ['12']}\n", []string{"estate.accounts[0]", `"12"`, "twelve digits"}},
		{"account twice", "estate: {accounts: ['111122223333', '111122223333']}\n", []string{"estate.accounts[1]", "each once"}},
		{"no account", "estate: {accounts: 0}\n", []string{"estate.accounts", "1 to 5000"}},
		{"speed", "speed: 0\n", []string{"line 1", "speed", "0.001 to 1000"}},
		{"a second value", "seed: 1\nseed: 2\n", []string{"line 2", "seed", "each key once"}},
		{"a list", "- seed\n", []string{"line 1", "top level", "a mapping"}},
		{"latency without seconds", "faults:\n  - fault: latency\n", []string{"faults[0].seconds", "> 0"}},
		{"error without code", "faults:\n  - fault: error\n", []string{"faults[0].code", "missing"}},
		{"status", "faults:\n  - {fault: html, status: 99}\n", []string{"faults[0].status", "200 to 599"}},
		{"no YAML", "a: [", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sim.Parse(aws.New(), []byte(c.text))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			var fault *cloudpace.ConfigError
			if c.says != nil && !errors.As(err, &fault) {
				t.Errorf("%T is no ConfigError", err)
			}
		})
	}
}

// TestSeveralFaults: one run names all of them.
func TestSeveralFaults(t *testing.T) {
	_, err := sim.Parse(aws.New(), []byte("faults:\n  - fault: reste\n    first: -1\n  - fault: hang\n    page: -2\nspeed: 5000\n"))
	for _, want := range []string{"line 2", "faults[1].page", "speed"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestLoad(t *testing.T) {
	if p, err := sim.Load(aws.New(), "aws"); err != nil || p.Name != "aws" || len(p.Quotas) == 0 {
		t.Errorf("aws: %v, %v", p.Name, err)
	}
	if _, err := sim.Load(aws.New(), "asw"); err == nil || !strings.Contains(err.Error(), "did you mean aws?") {
		t.Errorf("asw: %v", err)
	}
	if _, err := sim.Load(aws.New(), filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	file := filepath.Join(t.TempDir(), "sim.yaml")
	if err := os.WriteFile(file, []byte(strings.Repeat("#", 2<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Load(aws.New(), file); err == nil {
		t.Error("a file of 2 MB was read")
	}
}

// TestParse: every key is read into its place.
func TestParse(t *testing.T) {
	p, err := sim.Parse(aws.New(), []byte(`
profile: aws
seed: 42
speed: 10
strict: true
estate:
  accounts: 2
  regions: [us-east-1, eu-west-1]
  assets: 500
  types: {AWS::EC2::Image: 7}
quotas:
  - {service: ec2, operation: [DescribeVpcs, DescribeSubnets], burst: 5, rate: 1, shared: true, retry_after: 2, throttle_cost: 0.5, floor: -3}
neighbours:
  - {account: "111122223333", region: "us-*", service: ec2, rate: 4, from: 60, to: 120}
faults:
  - {fault: error, service: sqs, item: "*-00003", code: Broken, status: 418, message: no, after: 1, first: 2, every: 3, probability: 0.5}
  - {fault: latency, class: mutating, seconds: 2, page: 3}
`))
	if err != nil {
		t.Fatal(err)
	}
	q, n, f, g := p.Quotas[0], p.Neighbours[0], p.Faults[0], p.Faults[1]
	switch {
	case p.Seed != 42 || p.Speed != 10 || !p.Strict,
		len(p.Estate.Accounts) != 2 || len(p.Estate.Regions) != 2 || p.Estate.Assets != 500 || p.Estate.Types["AWS::EC2::Image"] != 7,
		len(p.Quotas) != 1+len(aws.New().Quotas()),
		q.Operation[1] != "DescribeSubnets" || q.Burst != 5 || q.Rate != 1 || !q.Shared || q.RetryAfter != 2 || q.ThrottleCost != 0.5 || q.Floor != -3,
		n.Account[0] != "111122223333" || n.Region[0] != "us-*" || n.Rate != 4 || n.From != 60 || n.To != 120,
		f.Kind != sim.Error || f.Service[0] != "sqs" || f.Item[0] != "*-00003" || f.Code != "Broken" || f.Status != 418 || f.Message != "no",
		f.After != 1 || f.First != 2 || f.Every != 3 || f.Probability != 0.5,
		g.Kind != sim.Latency || g.Class[0] != "mutating" || g.Seconds != 2 || g.Page != 3:
		t.Errorf("read as %+v", p)
	}
	if _, err := sim.New(aws.New(), p); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "faults:\n  - {fault: reset, first: 3}", "estate: {accounts: 3}", "quotas: [{burst: 1, rate: .inf}]", "a: &a [*a]", "<<: {seed: 1}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := sim.Parse(aws.New(), text)
		if err == nil {
			if err := p.Check(aws.New(), false); err != nil {
				t.Errorf("read, and refused afterwards: %v", err)
			}
		}
	})
}
