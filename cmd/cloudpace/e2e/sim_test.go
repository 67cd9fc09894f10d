//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// simulator is a running `cloudpace sim`.
type simulator struct {
	url string
	env []string // credentials for it

	cmd    *exec.Cmd
	stdout bytes.Buffer
	said   chan string // standard error, at its end
}

// startSim starts `cloudpace sim` on a port that the system chose, and waits until
// it says where it is. It is killed with the test.
func startSim(t *testing.T, args ...string) *simulator {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	s := &simulator{env: credentials, said: make(chan string, 1)}
	s.cmd = exec.CommandContext(ctx, binary, append([]string{"sim", "--listen", "127.0.0.1:0", "--json"}, args...)...)
	s.cmd.Env = clean(t.TempDir())
	s.cmd.Stdout = &s.stdout
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	var text strings.Builder
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
		if _, rest, ok := strings.Cut(lines.Text(), "Status: "); ok {
			s.url, _, _ = strings.Cut(rest, "/_sim/")
			break
		}
	}
	if s.url == "" {
		t.Fatalf("cloudpace sim did not start:\n%s", &text)
	}
	go func() {
		for lines.Scan() {
			text.WriteString(lines.Text() + "\n")
		}
		s.said <- text.String()
	}()
	return s
}

// simReport is what `cloudpace sim --json` prints, as the documentation gives it.
type simReport struct {
	Totals struct {
		Asked, Served, Throttled, Open int
		Faulted                        map[string]int
	} `json:"totals"`
	Scopes []struct {
		Service, Operation       string
		Asked, Served, Throttled int
	} `json:"scopes"`
}

// stop interrupts the simulator and gives its last words.
func (s *simulator) stop(t *testing.T) (r simReport) {
	t.Helper()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	said := <-s.said
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("cloudpace sim: %v\n%s", err, said)
	}
	if err := json.Unmarshal(s.stdout.Bytes(), &r); err != nil {
		t.Fatalf("what sim printed: %v\n%s", err, &s.stdout)
	}
	if !strings.Contains(said, "throttled") {
		t.Errorf("the last words are\n%s", said)
	}
	return r
}

// TestSimUpstream: a map through the documented quotas, in front of moto_server,
// finds what a map without them finds, and is hardly ever throttled.
func TestSimUpstream(t *testing.T) {
	s := startSim(t, "--upstream", endpoint)
	through := runMap(t, credentials, "-p", "aws", "--regions", region, "--endpoint-url", s.url)
	report := s.stop(t)
	direct := runMap(t, credentials, "-p", "aws", "--regions", region, "--endpoint-url", endpoint)
	if through.code != 0 || direct.code != 0 {
		t.Fatalf("exit codes %d and %d, want 0", through.code, direct.code)
	}
	names := func(r result) (list []string) {
		for _, a := range r.assets(t) {
			list = append(list, a.Type+" "+a.ID)
		}
		slices.Sort(list)
		return list
	}
	got, want := names(through), names(direct)
	if !slices.Equal(got, want) {
		t.Errorf("found %d assets through the simulator, %d without it", len(got), len(want))
	}
	for _, r := range through.document(t).Coverage {
		if r.Status != "SUCCESS" {
			t.Errorf("%s is %s %s %s", r.Task, r.Status, r.Reason, r.Error)
		}
	}
	c := report.Totals
	if c.Asked != c.Served+c.Throttled || c.Open != 0 || c.Asked < seeded["AWS::EC2::Image"] {
		t.Errorf("counted %+v", c)
	}
	if float64(c.Throttled) > 0.02*float64(c.Asked) {
		t.Errorf("%d of %d requests were throttled, want at most 2 %%", c.Throttled, c.Asked)
	}
	t.Logf("%d assets; %d requests, %d throttled", len(got), c.Asked, c.Throttled)
}

// TestSimAgainstCLI: the services that no task reads yet speak the AWS CLI's
// language too: each listing, in several pages, has as many as the others say.
func TestSimAgainstCLI(t *testing.T) {
	file := t.TempDir() + "/sim.yaml"
	const n = 130 // of each type in each region, more than a page of any of these
	text := "estate:\n  accounts: 30\n  regions: [us-east-1]\n  assets: 0\n  types:\n"
	for _, kind := range []string{
		"AWS::RDS::DBInstance", "AWS::RDS::DBCluster", "AWS::DynamoDB::Table", "AWS::SNS::Topic", "AWS::Logs::LogGroup",
		"AWS::IAM::User", "AWS::IAM::Group", "AWS::IAM::ManagedPolicy",
	} {
		text += "    " + kind + ": 130\n"
	}
	text += "    AWS::ElasticLoadBalancingV2::LoadBalancer: 450\n" // whose pages have 400
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startSim(t, "--profile", file)
	for _, c := range []struct {
		command, query string
		want           int
	}{
		{"rds describe-db-instances", "DBInstances[].DBInstanceArn", n},
		{"rds describe-db-clusters", "DBClusters[].DBClusterArn", n},
		{"dynamodb list-tables", "TableNames[]", n},
		{"sns list-topics", "Topics[].TopicArn", n},
		{"logs describe-log-groups", "logGroups[].logGroupArn", n},
		{"elbv2 describe-load-balancers", "LoadBalancers[].LoadBalancerArn", 450},
		{"iam list-users", "Users[].Arn", n},
		{"iam list-groups", "Groups[].Arn", n},
		{"iam list-policies --scope Local", "Policies[].Arn", n},
		{"organizations list-accounts", "Accounts[].Id", 30},
	} {
		t.Run(strings.ReplaceAll(c.command, " ", "_"), func(t *testing.T) {
			got := awsCLI(t, s.url, c.command, c.query)
			slices.Sort(got)
			if got = slices.Compact(got); len(got) != c.want {
				t.Errorf("%d are listed, want %d", len(got), c.want)
			}
		})
	}
	table := awsCLI(t, s.url, "dynamodb list-tables", "TableNames[:1]")
	if got := awsCLI(t, s.url, "dynamodb describe-table --table-name "+table[0], "[Table.TableStatus]"); !slices.Equal(got, []string{"ACTIVE"}) {
		t.Errorf("describe-table: %q", got)
	}
	topic := awsCLI(t, s.url, "sns list-topics", "Topics[:1].TopicArn")
	if got := awsCLI(t, s.url, "sns get-topic-attributes --topic-arn "+topic[0], "[Attributes.TopicArn]"); !slices.Equal(got, topic) {
		t.Errorf("get-topic-attributes: %q", got)
	}
	if r := s.stop(t); r.Totals.Throttled+r.Totals.Open != 0 || r.Totals.Asked < 25 {
		t.Errorf("counted %+v", r.Totals)
	}
}
