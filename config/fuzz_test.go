package config

import (
	"os"
	"testing"
)

// What is accepted is valid, whatever the text; and nothing panics or runs away.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("testdata/cloudpace.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example)
	for _, text := range []string{
		"", "ratelimit: {aws: {max_rps: .inf, services: {ec2: {max_rps: 1e-300}}}}", "ratelimit: &a {x: *a}",
		"a: 1\n---\nb: 2\n", "? {}\n: 1\n", "<<: {a: 1}\n", "ratelimit: {'': {max_rps: 1}}", "databricks: {retry: {delay_min: !!float 1}}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, _, err := Parse(text)
		if err != nil {
			return
		}
		if err := cfg.Validate(); err != nil {
			t.Errorf("accepted what is not valid: %v", err)
		}
	})
}
