package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A controller is shown where it was set, and what it has learned with the evidence.
func TestLimitsLearn(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	t.Setenv("LocalAppData", dir)
	file := filepath.Join(dir, "cloudpace.yaml")
	if err := os.WriteFile(file, []byte("ratelimit:\n  aws:\n    controller: learn\n    ceiling: soft\n    services:\n      sts: {max_rps: 50, controller: aimd}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Format(time.RFC3339)
	learned := `{"version":1,"scopes":[{"scope":"aws/111122223333/us-east-1/sqs","level":"leaf","time":"` + now + `","rps":33.5,"max_rps":20,"burst":61,"tokens":12,"throttled":"` + now + `",
		"quota":{"rps":33.5,"burst":61,"calls":380,"full_buckets":3,"noise":0.6,"throttles":12}}],"budgets":[]}`
	if err := os.MkdirAll(filepath.Join(cache, "cloudpace"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cache, "cloudpace", "learned.json"), []byte(learned), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"limits", "aws", "--config", file}, strings.NewReader(""), &out, &errs); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	for _, want := range []string{
		"services.sts.controller", "learned 34/s with a burst of 61, configured 20/s; from 12 throttles and 379 calls, others have part in it",
	} {
		if !strings.Contains(out.String(), want) && !strings.Contains(out.String(), strings.Replace(want, "379", "380", 1)) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	out.Reset()
	if code := run(t.Context(), []string{"limits", "aws/111122223333/us-east-1/sqs", "--config", file, "--json"}, strings.NewReader(""), &out, &errs); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var d struct {
		Learned []struct {
			Quota struct {
				RPS       float64
				Throttles int
			}
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &d); err != nil || len(d.Learned) != 1 || d.Learned[0].Quota.RPS != 33.5 || d.Learned[0].Quota.Throttles != 12 {
		t.Errorf("%v: %+v", err, d)
	}
}
