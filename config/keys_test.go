package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace"
)

// documented is the table of keys in the documentation: each key's section, some
// values that are accepted and some that are not. Values are YAML.
var documented = []struct {
	section, key string
	good, bad    string // separated by spaces
}{
	{"ratelimit", "enabled", "true false", "1 no 'true' []"},
	{"ratelimit.P", "enabled", "true False", "off 0 {}"},
	{"ratelimit.P", "max_rps", "20 1 0.2 1e3 .inf", "0 0.0 -1 -.inf .nan '8' fast true [] {}"},
	{"ratelimit.P", "burst", "1 0.5 .inf", "0 -1 .nan many"},
	{"ratelimit.P", "account_max_rps", "1 .inf", "0 -1 x"},
	{"ratelimit.P", "account_burst", "1", "0 -1 x"},
	{"ratelimit.P", "global_max_rps", "1", "0 -1 x"},
	{"ratelimit.P", "global_burst", "1", "0 -1 x"},
	{"ratelimit.P", "max_concurrency", "1 1024 16.0", "0 1025 -1 1.5 99999999999999999999 1e300 x 010"},
	{"ratelimit.P", "adaptive", "true false", "yes 2"},
	{"ratelimit.P", "controller", "aimd 'aimd' learn", "Learn AIMD 5"},
	{"ratelimit.P", "ceiling", "hard soft", "firm"},
	{"ratelimit.P", "min_rps", "0.01 0.2", "0 -1 21 x"},
	{"ratelimit.P", "max_pause_seconds", "1 3600 1.5", "0 0.9 3601 x"},
	{"ratelimit.P", "breaker_threshold", "1 1000", "0 1001 2.5"},
	{"ratelimit.P", "breaker_cooldown_seconds", "0 600 0.5", "-1 600.5 x"},
	{"ratelimit.P", "max_retries", "0 50", "-1 51 1.5"},
	{"ratelimit.P", "max_backoff_seconds", "0.001 60 1e300", "0 -1 x"},
	{"ratelimit.P", "deadline_seconds", "1 .inf", "0 -0.5 x"},
	{"ratelimit.P", "retry_budget", "0 1000000", "-1 1000001 x"},
	{"ratelimit.P.services.some", "max_rps", "1 0.5", "0 -1 x"},
	{"ratelimit.P.services.some", "burst", "1", "0 -1 x"},
	{"ratelimit.P.services.some.Operation", "max_rps", "1", "0 x"},
	{"ratelimit.P.services.some", "per_operation", "true false", "1"},
	{"ratelimit.P.services.some", "controller", "aimd learn", "learned"},
	{"ratelimit.P.services.some", "ceiling", "hard soft", "x"},
	{"ratelimit.azure", "graph_max_retries", "0 50", "-1 51 x"},
	{"aws", "retry_mode", "standard adaptive", "legacy 1"},
	{"aws", "max_retries", "0 50", "-1 51 x"},
	{"databricks.retry", "delay_min", "0.1 60 0", "0.09 61 -1 x"},
	{"databricks.retry", "delay_max", "5 3600 0", "4.9 3601 x"},
	{"databricks.retry", "attempts", "1 60 0", "61 -1 1.5"},
	{"databricks.retry", "duration", "1 86400 0", "0.5 86401 x"},
	{"databricks.retry", "delay_default", "1 60 0", "0.5 61 x"},
}

// sections writes out where P stands for a provider.
func sections(section string) []string {
	if !strings.Contains(section, ".P") {
		return []string{section}
	}
	var list []string
	for _, p := range []string{"aws", "azure", "gcp", "databricks", "own-provider"} {
		list = append(list, strings.Replace(section, ".P", "."+p, 1))
	}
	return list
}

// flow writes one key as a document on one line, so that any section fits.
func flow(section, key, value string) string {
	parts := strings.Split(section, ".")
	if len(parts) > 4 {
		parts = append(parts[:3], strings.Join(parts[3:], "."))
	}
	text := fmt.Sprintf("{%s: %s}", key, value)
	if level, ok := strings.CutSuffix(key, "_burst"); ok {
		text = fmt.Sprintf("{%s_max_rps: 1, %s: %s}", level, key, value) // it needs its rate
	}
	if len(parts) == 4 && key != "max_rps" {
		text = fmt.Sprintf("{max_rps: 1, %s: %s}", key, value)
	}
	for i := len(parts) - 1; i >= 0; i-- {
		text = fmt.Sprintf("{%s: %s}", parts[i], text)
	}
	return text
}

func TestS9_4EveryDocumentedKeyIsTaken(t *testing.T) {
	for _, k := range documented {
		for _, section := range sections(k.section) {
			for good := range strings.FieldsSeq(k.good) {
				if k.key == "min_rps" && good == "0.2" && section != "ratelimit.aws" {
					continue
				}
				text := flow(section, k.key, good)
				_, warnings, err := Parse([]byte(text))
				if err != nil || len(warnings) > 0 {
					t.Errorf("%s: %v %v", text, warnings, err)
				}
			}
		}
	}
}

func TestS9_4EveryBadValueIsAnErrorWithPathValueAndRange(t *testing.T) {
	for _, k := range documented {
		for _, section := range sections(k.section) {
			for bad := range strings.FieldsSeq(k.bad) {
				text := flow(section, k.key, bad)
				cfg, _, err := Parse([]byte(text))
				var fault *cloudpace.ConfigError
				if !errors.As(err, &fault) {
					t.Errorf("%s: accepted", text)
					continue
				}
				if want := section + "." + k.key; fault.Path != want {
					t.Errorf("%s: path %s, want %s", text, fault.Path, want)
				}
				if fault.Allowed == "" || !strings.HasPrefix(err.Error(), "line 1: ") || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v", text, err)
				}
				if !reflect.DeepEqual(cfg, cloudpace.Config{}) {
					t.Errorf("%s: a config in spite of the error", text)
				}
			}
		}
	}
}

// The table of keys and the table of the test name the same ones, and the words
// for a range are those of the core, so that both kinds of error read alike.
func TestKeysAndRangesAgreeWithTheCore(t *testing.T) {
	tested := map[string]bool{}
	for _, k := range documented {
		tested[k.section+"."+k.key] = true
	}
	for section, keys := range map[string][]key{
		"ratelimit": ratelimitKeys, "ratelimit.P": providerKeys, "ratelimit.P.services.some": serviceKeys,
		"ratelimit.azure": azureKeys, "aws": awsKeys, "databricks.retry": databricksRetryKeys,
	} {
		for _, k := range keys {
			if !tested[section+"."+k.name] {
				t.Errorf("%s.%s is not documented", section, k.name)
			}
			section := strings.Replace(section, ".P", ".aws", 1)
			_, _, err := Parse([]byte(flow(section, k.name, "-7")))
			var fault *cloudpace.ConfigError
			if !errors.As(err, &fault) || !strings.HasSuffix(k.allowed, fault.Allowed) {
				t.Errorf("%s.%s: the core says %v, the table %q", section, k.name, err, k.allowed)
			}
		}
	}
}
