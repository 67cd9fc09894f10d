package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
)

func TestMain(m *testing.M) {
	if err := errors.Join(isolateAzure(), isolateGoogle()); err != nil {
		panic(err)
	}
	forgetCache, err := isolateCache()
	if err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m,
		goleak.Cleanup(func(code int) { os.Exit(max(code, forgetCache())) }),
		// The SDK shuts its connections down when they have been idle, not before.
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	)
}

// outcome is what a run of the command left.
type outcome struct {
	code           int
	stdout, stderr string
	dir            string
}

// command runs cloudpace map in us-east-1 against the fake, with one attempt for
// each call; args are added to those.
func command(t *testing.T, ctx context.Context, s *fakeaws.Server, args ...string) outcome {
	t.Helper()
	t.Setenv("CLOUDPACE_AWS__MAX_RETRIES", "0")
	ownCache(t)
	o := outcome{dir: filepath.Join(t.TempDir(), "out")}
	var stdout, stderr bytes.Buffer
	args = append([]string{"map", "--endpoint-url", s.URL, "-o", o.dir, "--regions", "us-east-1"}, args...)
	o.code = run(ctx, args, strings.NewReader(""), &stdout, &stderr)
	o.stdout, o.stderr = stdout.String(), stderr.String()
	t.Logf("exit code %d\n%s", o.code, o.stderr)
	return o
}

func (o outcome) document(t *testing.T) inventory.Document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(o.dir, inventory.RunFile))
	if err != nil {
		t.Fatal(err)
	}
	var d inventory.Document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// tasksOf counts the tasks of families in one region.
func tasksOf(families ...string) (n int) {
	for _, k := range aws.Kinds() {
		if slices.Contains(families, k.Family) {
			n++
		}
	}
	return n
}

// TestS15_6ExitCodes: 0 also with gaps, which stderr names; 3 for the same under
// --fail-on-partial; 1 when nothing could be collected.
func TestS15_6ExitCodes(t *testing.T) {
	denied := fakeaws.Fail(http.StatusForbidden, "UnauthorizedOperation")
	all := len(aws.Kinds())
	for _, c := range []struct {
		name string
		fail []string // operations that are denied; "*" is all that read
		args []string
		code int
		says []string
	}{
		{"all read", nil, nil, 0, []string{"Found 0 assets", "1 of 3 enabled regions", "Throttled: never", fmt.Sprintf("Missing: nothing; %[1]d of %[1]d tasks complete.", all)}},
		{"all read, strictly", nil, []string{"--fail-on-partial"}, 0, nil},
		{"gaps", []string{"ec2.DescribeVpcs"}, nil, 0, []string{fmt.Sprintf("Missing: something in 1 of %d tasks (access_denied 1)", all), "ec2_vpcs FAILED, access_denied in us-east-1"}},
		{"gaps, strictly", []string{"ec2.DescribeVpcs"}, []string{"--fail-on-partial"}, 3, []string{"ec2_vpcs"}},
		{"nothing", []string{"*"}, []string{"--only", "network"}, 1, []string{"nothing could be collected", "nothing was written"}},
		{"nobody", []string{"sts.GetCallerIdentity"}, nil, 1, []string{"sts:GetCallerIdentity", "access_denied"}},
		{"regions unverified", []string{"ec2.DescribeRegions"}, nil, 0, []string{"1 region, unverified", "cannot be listed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fakeaws.New(t)
			for _, op := range c.fail {
				if op == "*" {
					s.Otherwise(denied)
				} else {
					s.On(op, denied)
				}
			}
			o := command(t, t.Context(), s, c.args...)
			if o.code != c.code {
				t.Errorf("exit code %d, want %d", o.code, c.code)
			}
			for _, want := range c.says {
				if !strings.Contains(o.stderr, want) {
					t.Errorf("stderr does not say %q", want)
				}
			}
			if o.stdout != "" {
				t.Errorf("stdout has %q", o.stdout)
			}
		})
	}
}

// TestS15_6FailedRunKeepsOlder: a run that collects nothing has its coverage in
// run.json and leaves older assets alone (F02).
func TestS15_6FailedRunKeepsOlder(t *testing.T) {
	s := fakeaws.New(t)
	s.Otherwise(fakeaws.Fail(http.StatusForbidden, "AccessDenied"))
	dir := t.TempDir()
	assets := filepath.Join(dir, inventory.AssetsFile)
	if err := os.WriteFile(assets, []byte("older\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := command(t, t.Context(), s, "--only", "messaging", "-o", dir)
	o.dir = dir
	d := o.document(t)
	if o.code != 1 || d.Summary.Outcome != inventory.NothingRead || d.Summary.AssetsFile != "" || len(d.Coverage) != tasksOf("messaging") {
		t.Errorf("exit code %d, summary %+v", o.code, d.Summary)
	}
	if text, err := os.ReadFile(assets); err != nil || string(text) != "older\n" {
		t.Errorf("the older assets are now %q (%v)", text, err)
	}
}

// TestS15_6Interrupted: an interrupted run ends soon with 130, and keeps data
// and coverage.
func TestS15_6Interrupted(t *testing.T) {
	s := fakeaws.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.On("ec2.DescribeVpcs", func(r fakeaws.Request) (int, string) {
		if r.N > 0 {
			cancel()
			time.Sleep(100 * time.Millisecond)
		}
		return 200, fakeaws.List("DescribeVpcs", "vpcSet", "more", "<vpcId>vpc-1</vpcId>")
	})
	start := time.Now()
	o := command(t, ctx, s, "--only", "network")
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	d := o.document(t)
	if o.code != 130 || d.Summary.Outcome != inventory.Interrupted || d.Summary.Assets != 1 || len(d.Coverage) != tasksOf("network") {
		t.Errorf("exit code %d, summary %+v", o.code, d.Summary)
	}
	if !strings.Contains(o.stderr, "Interrupted") || !strings.Contains(o.stderr, "ec2_vpcs PARTIAL, truncated") {
		t.Error("stderr does not say so")
	}
	lines, err := os.ReadFile(filepath.Join(o.dir, inventory.AssetsFile))
	if err != nil || bytes.Count(lines, []byte("\n")) != 1 {
		t.Errorf("assets: %s (%v)", lines, err)
	}
}

// TestInterruptedAtOnce: before anything was read there is nothing to keep.
func TestInterruptedAtOnce(t *testing.T) {
	s := fakeaws.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.On("sts.GetCallerIdentity", func(fakeaws.Request) (int, string) {
		cancel()
		return 200, fakeaws.Identity("aws")
	})
	o := command(t, ctx, s)
	if _, err := os.Stat(o.dir); o.code != 130 || !os.IsNotExist(err) {
		t.Errorf("exit code %d; output directory: %v", o.code, err)
	}
}

// TestRefused: what cannot work is said before anything is sent.
func TestRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("ratelimit: {aws: {max_rps: -1}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"--regions", "us-esat-1"}, 2, []string{`"us-esat-1"`, `"us-east-1"`, "cloudpace map --help"}},
		{[]string{"--only", "netork"}, 2, []string{`unknown family "netork"`, `"network"`}},
		{[]string{"--skip", "compute,netork"}, 2, []string{`"netork"`}},
		{[]string{"--only", "network", "--skip", "tags"}, 2, []string{"--only and --skip"}},
		{[]string{"--skip", strings.Join(inventory.Families(aws.Kinds()), ",")}, 2, []string{"nothing to read"}},
		{[]string{"-p", "asw"}, 2, []string{`"asw"`, `"aws"`}},
		{[]string{"--regoins", "x"}, 2, []string{"--regoins"}},
		{[]string{"--endpoint-url", "localhost"}, 2, []string{"localhost"}},
		{[]string{"--external-id", "x"}, 2, []string{"role"}},
		{[]string{"--config", file + ".no"}, 2, []string{"file.no"}},
		{[]string{"--config", file}, 2, []string{"ratelimit.aws.max_rps", "-1", "> 0"}},
		{[]string{"surplus"}, 2, []string{"surplus"}},
		{[]string{"-o", filepath.Join(file, "out")}, 1, []string{file}},
		{[]string{"--profile", "nope"}, 1, []string{`"nope"`}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			s := fakeaws.New(t)
			o := command(t, t.Context(), s, c.args...)
			if o.code != c.code {
				t.Errorf("exit code %d, want %d", o.code, c.code)
			}
			for _, want := range c.says {
				if !strings.Contains(o.stderr, want) {
					t.Errorf("stderr does not say %q", want)
				}
			}
			if n := len(s.Asked("")); n != 0 {
				t.Errorf("%d requests were sent", n)
			}
			if _, err := os.Stat(o.dir); !os.IsNotExist(err) {
				t.Errorf("the output directory was made (%v)", err)
			}
		})
	}
}

// TestEmptyFlags: a flag that was given with nothing in it is a mistake, whichever
// it is, and never means everything.
func TestEmptyFlags(t *testing.T) {
	n := 0
	for _, flag := range collect(newMapCommand().Flags().VisitAll) {
		if flag.Value.Type() == "bool" {
			continue
		}
		n++
		for _, empty := range []string{"", " "} {
			s := fakeaws.New(t)
			code, _, stderr := call("map", "--endpoint-url", s.URL, "-o", filepath.Join(t.TempDir(), "out"), "--"+flag.Name+"="+empty)
			said := "--" + flag.Name + " is empty"
			if flag.Value.Type() == "int" {
				said = `for "--` + flag.Name + `"` // it is not even a number
			}
			if code != 2 || !strings.Contains(stderr, said) || len(s.Asked("")) != 0 {
				t.Errorf("--%s %q: exit code %d after %d requests, %s", flag.Name, empty, code, len(s.Asked("")), stderr)
			}
		}
	}
	if n < 10 {
		t.Errorf("%d flags that take a value", n)
	}
}

// TestConfiguration: warnings are said and do not stop; the environment counts.
func TestConfiguration(t *testing.T) {
	s := fakeaws.New(t)
	file := filepath.Join(t.TempDir(), "cloudpace.yaml")
	if err := os.WriteFile(file, []byte("ratelimit:\n  aws:\n    max_rpm: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := command(t, t.Context(), s, "--config", file)
	if o.code != 0 || !strings.Contains(o.stderr, "warning: ") || !strings.Contains(o.stderr, "ratelimit.aws.max_rpm") {
		t.Errorf("exit code %d, %s", o.code, o.stderr)
	}
	t.Setenv("CLOUDPACE_RATELIMIT__AWS__MAX_RPS", "fast")
	if o := command(t, t.Context(), s); o.code != 2 || !strings.Contains(o.stderr, "CLOUDPACE_RATELIMIT__AWS__MAX_RPS") {
		t.Errorf("exit code %d, %s", o.code, o.stderr)
	}
}

// TestJSON: the summary on stdout is the one in run.json, and --only selects.
func TestJSON(t *testing.T) {
	s := fakeaws.New(t)
	s.On("ec2.DescribeVpcs", fakeaws.Text(200, fakeaws.List("DescribeVpcs", "vpcSet", "", "<vpcId>vpc-1</vpcId>")))
	o := command(t, t.Context(), s, "--json", "--only", "network, messaging,network", "--regions", " us-east-1")
	var got inventory.Summary
	if err := json.Unmarshal([]byte(o.stdout), &got); err != nil {
		t.Fatalf("%v: %s", err, o.stdout)
	}
	d, want := o.document(t), tasksOf("network", "messaging")
	if got.Assets != 1 || got.ByType["AWS::EC2::VPC"] != 1 || len(got.Complete) != want || got.Finished != d.Summary.Finished {
		t.Errorf("summary %+v", got)
	}
	if calls := d.Throttling.Totals.Calls; len(d.Coverage) != want || len(s.Asked("iam.")) != 0 || calls != want+2 {
		t.Errorf("%d records, %d calls, IAM asked %d times; want %d, %d, 0", len(d.Coverage), calls, len(s.Asked("iam.")), want, want+2)
	}
	if a := d.Summary.Accounts[0]; a.ID != fakeaws.Account || len(a.Regions.NotRequested) != 2 {
		t.Errorf("account %+v", a)
	}
}

// F22: a limit the user set is a gap that standard error names.
func TestF22MaxItems(t *testing.T) {
	ownCache(t)
	s := fakeaws.New(t)
	s.On("ec2.DescribeVpcs", fakeaws.Text(200, fakeaws.List("DescribeVpcs", "vpcSet", "",
		"<vpcId>vpc-1</vpcId>", "<vpcId>vpc-2</vpcId>", "<vpcId>vpc-3</vpcId>")))
	code, _, stderr := call("map", "-p", "aws", "--endpoint-url", s.URL, "--regions", "us-east-1", "--only", "network",
		"--max-items", "2", "--fail-on-partial", "-o", t.TempDir())
	if code != 3 || !strings.Contains(stderr, "ec2_vpcs PARTIAL, capped in us-east-1") || !strings.Contains(stderr, "of at least 3") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if code, _, stderr := call("map", "--max-items", "-1"); code != 2 || !strings.Contains(stderr, "--max-items") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
