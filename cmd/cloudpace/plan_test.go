package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// planOf runs plan, which has to succeed, and reads its JSON.
func planOf(t *testing.T, args ...string) (d planDocument) {
	t.Helper()
	code, stdout, stderr := call(append([]string{"plan", "--json"}, args...)...)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPlan: the sums that can be done by hand. Route 53 grants five requests a second and
// five at once; a zone list of a thousand zones is ten pages and a hundred questions for
// tags.
func TestPlan(t *testing.T) {
	d := planOf(t, "-p", "aws", "--accounts", "1", "--regions", "1", "--items", "0,route53_zones=1000", "--only", "network", "--latency", "10ms")
	want := "ratelimit.aws.services.route53.max_rps"
	// The listing of records, too, asks for the zones and then for each zone's records.
	if requests := 10 + 100 + 10 + 1000; d.Binds != want || d.Requests < requests || d.Requests > requests+30 {
		t.Errorf("%d requests, bound by %q", d.Requests, d.Binds)
	}
	if seconds := (1120 - 5) / 5.0; d.Seconds < seconds || d.Seconds > seconds+1 {
		t.Errorf("%g seconds, want %g", d.Seconds, seconds)
	}
	l := d.Limits[0]
	if l.Key != want || l.RPS != 5 || l.Burst != 5 || !strings.Contains(l.From, "Route 53 quotas") || l.Twice == nil || l.Twice.Seconds > 0.52*d.Seconds {
		t.Errorf("%+v", l)
	}
	if len(d.Accounts) != 1 || d.Accounts[0].Account != "account 1" || d.Accounts[0].Requests != d.Requests || d.LatencyFrom != "--latency" {
		t.Errorf("%+v", d)
	}
}

// TestPlanConfiguration: the limits in force count, with the place where they are.
func TestPlanConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cloudpace.yaml")
	args := []string{"-p", "azure", "--accounts", "2", "--items", "400", "--config", file}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ratelimit:\n  azure:\n    account_max_rps: 4\n")
	slow := planOf(t, args...)
	if slow.Binds != "ratelimit.azure.account_max_rps" || !strings.HasPrefix(slow.Limits[0].From, file+":3") || slow.Limits[0].Burst != 8 {
		t.Errorf("%+v", slow.Limits[0])
	}
	write("ratelimit:\n  azure:\n    enabled: false\n")
	free := planOf(t, args...)
	if len(free.Limits) != 0 || free.Seconds >= slow.Seconds || free.Requests != slow.Requests || !strings.Contains(strings.Join(free.Assumed, "\n"), "ratelimit.azure.enabled is false") {
		t.Errorf("%+v", free)
	}
	t.Setenv("CLOUDPACE_RATELIMIT__AZURE__SERVICES__SQL__MAX_RPS", "0.5")
	write("")
	if d := planOf(t, args...); d.Binds != "ratelimit.azure.services.sql.max_rps" || !strings.Contains(d.Limits[0].From, "CLOUDPACE_RATELIMIT__AZURE__SERVICES__SQL__MAX_RPS") {
		t.Errorf("%+v", d.Limits[0])
	}
}

// TestPlanLatency: where no limit binds it is said what does.
func TestPlanLatency(t *testing.T) {
	d := planOf(t, "-p", "aws", "--accounts", "20", "--regions", "4", "--items", "1", "--latency", "2s")
	if d.Binds != "" || d.CallsSeconds < 0.9*d.Seconds {
		t.Errorf("bound by %q, %g of %g s in calls", d.Binds, d.CallsSeconds, d.Seconds)
	}
	_, text, _ := call("plan", "-p", "aws", "--accounts", "20", "--regions", "4", "--items", "1", "--latency", "2s")
	if !strings.Contains(text, "What binds is no limit, but that 32 tasks run side by side and an answer takes 2.0 s (--latency)") {
		t.Errorf("%s", text)
	}
}

// TestPlanText: what people read.
func TestPlanText(t *testing.T) {
	code, text, stderr := call("plan", "-p", "gcp", "--accounts", "projects/one,projects/two", "--items", "40000")
	if code != exitDone || stderr != "" {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for _, part := range []string{
		"requests in 4 tasks, 32 tasks side by side.\nWhat binds is gcp cloudasset.ListAssets: 1.5/s, ",
		"\nwaits for                    limit            on the way  calls  longest  twice the limit",
		"  gcp cloudasset.ListAssets  1.5/s, burst 10  ",
		"% less", "ratelimit.gcp.services.cloudasset.ListAssets.max_rps  built in: Cloud Asset API: 100 a minute per consumer project",
		"\naccount             begins  ends   requests\n", "\n  gcp projects/one  0.0 s", "\n  gcp projects/two  0.0 s",
		"\nTaken for granted\n  the provider grants what the limits say, and nothing is throttled\n  an answer takes 100ms; --latency says otherwise\n  one project pays for all that is read of Google Cloud\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in\n%s", part, text)
		}
	}
}

// TestPlanBadInput: all that is wrong or missing is named at once, with what is allowed.
func TestPlanBadInput(t *testing.T) {
	nothing := t.TempDir()
	noRun := t.TempDir()
	broken, other, absurd := t.TempDir(), t.TempDir(), t.TempDir()
	config := filepath.Join(nothing, "cloudpace.yaml")
	for file, text := range map[string]string{
		filepath.Join(noRun, "run.json"):  "{}",
		filepath.Join(broken, "run.json"): `{"coverage": [`,
		filepath.Join(other, "run.json"):  `{"summary": {"provider": ["aws"]}, "coverage": [{"provider": "aws", "task": "ec2_gone", "calls": 3}]}`,
		filepath.Join(absurd, "run.json"): `{"summary": {"provider": ["aws"]}, "coverage": [{"provider": "aws", "task": "ec2_vpcs", "calls": -3, "assets": 1000000000000}]}`,
		config:                            "ratelimit:\n  aws:\n    max_concurrency: 0\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, wants := range map[string][]string{
		"":                                 {"--provider is missing: whose limits count (allowed: -p aws,azure,gcp; or --from", "--accounts is missing: how many accounts are read (allowed: 1 to 100000", "--items is missing: how much there is to find (allowed: 0 to 100000000"},
		"-p aws --accounts 3 --items 5":    {"--regions is missing: in how many regions AWS is read (allowed: 1 to "},
		"-p aws --accounts 3 --regions 2":  {"--items is missing"},
		"-p azure --accounts 0 --items -1": {"--accounts is 0 (allowed: 1 to 100000, or names", `--items has "-1" (allowed: 0 to 100000000`},
		"-p aws --accounts 1 --regions 99 --items 1,2":                                  {"--regions is 99 (allowed: 1 to ", `--items has "2" (allowed: one number for all tasks`},
		"-p aws --accounts 1 --regions all --items x":                                   {`--regions is "all" (allowed: a number, or names`, `--items has "x" (allowed: 0 to`},
		"-p aws --accounts 1 --regions us-esat-1 --items ec2_imges=4":                   {`unknown region "us-esat-1", did you mean "us-east-1"?`, `--items has "ec2_imges=4" (allowed: names of tasks, as run.json has them; did you mean ec2_images?)`},
		"-p azure --regions 3 --accounts 1 --items 1":                                   {"--regions is for AWS, which is not planned with -p azure"},
		"-p awz --accounts 1 --items 1":                                                 {`unknown provider "awz", did you mean "aws"? (there are: aws, azure, gcp)`},
		"-p gcp --accounts 1 --items 1 --only netwrok --latency 0s":                     {`unknown family "netwrok"`, `--latency is "0s" (allowed: 1ms to 1m0s`},
		"-p gcp --accounts 1 --items 1 --only network":                                  {"there is nothing to plan"},
		"-p gcp --accounts 1 --items 1 --only iam --skip iam":                           {"--only and --skip exclude each other"},
		"-p aws --accounts 99999 --regions 17 --items 1":                                {"more than 2,000,000 tasks, which is"},
		"-p aws --accounts= --regions 17 --items 1":                                     {"--accounts is empty"},
		"--from " + nothing:                                                             {"run.json", "allowed: a directory that cloudpace map wrote"},
		"--from " + noRun:                                                               {"has no coverage"},
		"--from " + broken:                                                              {"is no run of cloudpace map"},
		"--from " + broken + " --accounts 3 --items 4":                                  {"--from and --accounts exclude each other", "--from and --items exclude each other"},
		"-p gcp --accounts 1 --items 1 --config " + filepath.Join(nothing, "none.yaml"): {"--config"},
		"--from " + other:                                                               {"there is nothing to plan", "1 task of the run that another version of cloudpace made"},
		"--from " + absurd:                                                              {filepath.Join(absurd, "run.json") + ": coverage[0].calls is -3 (allowed: 0 to 100000000)", "coverage[0].assets is 1000000000000 (allowed: 0 to 100000000)"},
		"-p aws --accounts 1,000 --regions 1 --items 1":                                 {`--accounts has "1" (allowed: a number alone, 1 to 100000, or names`},
		"-p aws --accounts 1e9 --regions 1.5 --items 1":                                 {`--accounts has "1e9" (allowed: a number alone`, `--regions has "1.5" (allowed: a number alone`},
		"-p aws --accounts 1 --regions nowhere --items 1":                               {`unknown region "nowhere"`},
		"-p aws --accounts 1 --items 1 --config " + config:                              {"--regions is missing", "ratelimit.aws.max_concurrency is 0 (allowed: "},
		"-p aws --accounts 1 --regions 1 --items 1 --seeds 3":                           {"cloudpace: --seeds goes with --scenario"},
		"surplus": {"unknown command"},
	} {
		code, stdout, stderr := call(append([]string{"plan"}, strings.Fields(args)...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, "See 'cloudpace plan --help'") {
			t.Errorf("plan %s: exit code %d\n%s%s", args, code, stdout, stderr)
		}
		for _, never := range []string{"throttled: ", "tasks tasks", "takes those that the account has enabled"} {
			if strings.Contains(stderr, never) {
				t.Errorf("plan %s says %q:\n%s", args, never, stderr)
			}
		}
		for _, want := range wants {
			if !strings.Contains(stderr, want) {
				t.Errorf("plan %s does not say %q:\n%s", args, want, stderr)
			}
		}
	}
}

// TestPlanInterrupted: who does not want to know any more is not kept, and what was said
// on the way is no plan.
func TestPlanInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, err strings.Builder
	if code := run(ctx, strings.Fields("plan -p aws --accounts 300 --regions 17 --items 100"), strings.NewReader(""), &out, &err); code != exitInterrupted || out.Len() > 0 || !strings.Contains(err.String(), "interrupted") {
		t.Errorf("exit code %d, %s%s", code, out.String(), err.String())
	}
}

// TestPlanCompletes: the shell completes providers, families, regions and tasks.
func TestPlanCompletes(t *testing.T) {
	for _, c := range []struct{ flag, typed, has string }{
		{"-p", "aws,", "aws,gcp\n"}, {"--only", "net", "network\n"}, {"--regions", "eu-w", "eu-west-1\n"}, {"--items", "50,ec2_im", "50,ec2_images=\n"},
	} {
		if _, out, _ := call("__complete", "plan", c.flag, c.typed); !strings.Contains(out, c.has) {
			t.Errorf("%s %s completes to\n%s", c.flag, c.typed, out)
		}
	}
}
