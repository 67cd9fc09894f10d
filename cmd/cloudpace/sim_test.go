package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/internal/fakeaws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	inventoryaws "github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simaws "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

// simulate serves a profile on loopback until the test ends, with credentials of
// its first account in the environment.
func simulate(t *testing.T, p sim.Profile) (*sim.Server, string) {
	t.Helper()
	fakeaws.Isolate(t)
	t.Setenv("AWS_ACCESS_KEY_ID", simaws.AccessKey(p.Estate.Accounts[0]))
	t.Setenv("AWS_SECRET_ACCESS_KEY", "simulated")
	return serve(t, simaws.New(), p)
}

// serve serves a profile of a front over a socket until the test ends.
func serve(t *testing.T, front sim.Front, p sim.Profile) (*sim.Server, string) {
	t.Helper()
	server, err := sim.New(front, p)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return server, "http://" + listener.Addr().String()
}

// TestMapFindsTheEstate: a map of a simulated account is what the account has, by
// type and id, with nothing twice and no gap.
func TestMapFindsTheEstate(t *testing.T) {
	ownCache(t)
	p := sim.Default(simaws.New())
	p.Quotas = nil                                              // this is about what is found
	p.Faults = []sim.Fault{{Kind: sim.Latency, Seconds: 0.002}} // and not about how quickly
	p.Estate = sim.EstateConfig{Accounts: sim.ExampleAccounts(2), Regions: []string{"us-east-1", "eu-west-1"}, Assets: 3000}
	server, url := simulate(t, p)
	dir := filepath.Join(t.TempDir(), "out")
	var stderr bytes.Buffer
	config := filepath.Join(t.TempDir(), "cloudpace.yaml")
	if err := os.WriteFile(config, []byte("ratelimit:\n  enabled: false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t.Context(), []string{"map", "--endpoint-url", url, "-o", dir, "--config", config, "--fail-on-partial"}, strings.NewReader(""), io.Discard, &stderr); got != exitDone {
		t.Fatalf("exit code %d\n%s", got, &stderr)
	}
	found := make(map[string][]string) // type -> ids
	for _, a := range collected(t, dir) {
		found[a.Type] = append(found[a.Type], a.ID)
	}
	e := server.Estate()
	for _, k := range e.Kinds() {
		listed := slices.ContainsFunc(inventoryaws.Kinds(), func(row inventory.Kind) bool { return slices.Contains(row.Types, k.Name) })
		var want []string
		for place := range e.Places() {
			switch {
			case place.Account != p.Estate.Accounts[0]:
			case listed:
				want = slices.AppendSeq(want, e.IDs(place, k.Name))
			default: // the sweep finds what has tags
				want = slices.AppendSeq(want, simaws.Tagged(e, place, k.Name))
			}
		}
		got := found[k.Name]
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %d, there are %d\nfound %.200q\nthere are %.200q", k.Name, len(got), len(want), got, want)
		}
	}
	if len(found) < 12 {
		t.Errorf("found %d types", len(found))
	}
}

// outcomeOf runs sim until it serves, calls during, interrupts it, and gives what
// it printed.
func outcomeOf(t *testing.T, during func(url string), args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	read, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		code := run(ctx, append([]string{"sim", "--listen", "127.0.0.1:0"}, args...), strings.NewReader(""), &out, write)
		write.Close()
		ended <- code
	}()
	var text strings.Builder
	buffer := make([]byte, 4096)
	for during != nil {
		n, err := read.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			break
		}
		if _, rest, ok := strings.Cut(text.String(), "Status: "); ok {
			if url, _, ok := strings.Cut(rest, "/_sim/"); ok {
				during(url)
				during = nil
				cancel()
			}
		}
	}
	rest, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	text.Write(rest)
	code = <-ended
	t.Logf("exit code %d\n%s", code, text.String())
	return code, out.String(), text.String()
}

func get(t *testing.T, url string) string {
	t.Helper()
	transport := new(http.Transport)
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSim: it says where it is and what to set, serves, and prints the totals when
// it is stopped.
func TestSim(t *testing.T) {
	code, stdout, stderr := outcomeOf(t, func(url string) {
		if text := get(t, url+"/_sim/stats"); !strings.Contains(text, `"seed": 9`) || !strings.Contains(text, `"assets": 4321`) {
			t.Errorf("statistics: %s", text)
		}
		get(t, url+"/")
	}, "--accounts", "3", "--regions", "us-east-1,eu-west-1", "--assets", "4321", "--seed", "9", "--json")
	if code != exitDone {
		t.Errorf("exit code %d, want 0", code)
	}
	for _, want := range []string{"4,321 assets", "3 accounts", "2 regions", "AWS_ACCESS_KEY_ID=AKIA111122223333EXAM", "--endpoint-url http://127.0.0.1:", "Asked 1 time", "Stop: Ctrl-C"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr does not say %q", want)
		}
	}
	var r sim.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || r.Totals.Asked != 1 || r.Accounts != 3 {
		t.Errorf("%v: %s", err, stdout)
	}
}

// TestSimRefused: what cannot work is said at once.
func TestSimRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sim.yaml")
	if err := os.WriteFile(file, []byte("faults:\n  - fault: rest\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pages := filepath.Join(dir, "pages.yaml")
	if err := os.WriteFile(pages, []byte("faults:\n  - fault: repeat_token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string
	}{
		{"unknown profile", []string{"--profile", "asw"}, exitUsage, []string{"asw", "did you mean aws?"}},
		{"no such file", []string{"--profile", filepath.Join(dir, "none.yaml")}, exitUsage, []string{"none.yaml"}},
		{"unknown fault", []string{"--profile", file}, exitUsage, []string{"line 2", "faults[0].fault", `"rest"`, "did you mean reset?", "hang"}},
		{"too large", []string{"--assets", "999999999999"}, exitUsage, []string{"estate.assets", "at most 50000000", "GB of disk"}},
		{"accounts", []string{"--accounts", "0"}, exitUsage, []string{"--accounts is 0", "1 to 5000"}},
		{"region", []string{"--regions", "us-esat-1"}, exitUsage, []string{"us-esat-1", "us-east-1"}},
		{"speed", []string{"--speed", "0"}, exitUsage, []string{"speed", "0.001 to 1000"}},
		{"flag", []string{"--asset", "3"}, exitUsage, []string{"--asset"}},
		{"upstream is no URL", []string{"--upstream", "localhost"}, exitUsage, []string{"localhost", "http://"}},
		{"upstream and estate", []string{"--upstream", "http://127.0.0.1:1", "--assets", "3"}, exitUsage, []string{"--assets", "--upstream"}},
		{"pages of an upstream", []string{"--upstream", "http://127.0.0.1:1", "--profile", pages}, exitUsage, []string{"repeat_token", "upstream"}},
		{"upstream is down", []string{"--upstream", gone.URL}, exitBroken, []string{gone.URL, "does not answer", "refused"}},
		{"address is taken", []string{"--listen", taken.Addr().String()}, exitBroken, []string{"--listen", "in use"}},
		{"address is none", []string{"--listen", "nowhere"}, exitBroken, []string{"--listen", "nowhere"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, _, stderr := outcomeOf(t, nil, c.args...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.says {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr does not say %q", want)
				}
			}
		})
	}
}

// TestSimFaultsInAMap: what a map says of a cloud in which things go wrong.
func TestSimFaultsInAMap(t *testing.T) {
	p := sim.Default(simaws.New())
	p.Estate = sim.EstateConfig{Accounts: sim.ExampleAccounts(1), Regions: []string{"us-east-1", "eu-west-1"}, Types: map[string]int{"AWS::EC2::Volume": 2500, "AWS::EC2::VPC": 3}}
	on := func(region, service, operation string) sim.Match {
		m := sim.Match{}
		for text, into := range map[string]*sim.Patterns{region: &m.Region, service: &m.Service, operation: &m.Operation} {
			if text != "" {
				*into = sim.Patterns{text}
			}
		}
		return m
	}
	cut := on("us-east-1", "ec2", "DescribeVolumes")
	cut.Page = 2
	p.Faults = []sim.Fault{
		// A client that tries once may lose the answer of a server that is quicker than
		// its own goroutines.
		{Kind: sim.Latency, Seconds: 0.005},
		{Kind: sim.DeniedByPolicy, Match: on("eu-west-1", "", "DescribeSnapshots")},
		{Kind: sim.HTTP503, Match: on("", "sqs", "")},
		{Kind: sim.RepeatToken, Match: cut},
		{Kind: sim.Expired, Match: on("", "lambda", "")},
	}
	server, url := simulate(t, p)
	o := command(t, t.Context(), &fakeaws.Server{URL: url}, "--regions", "us-east-1,eu-west-1", "--skip", "tags")
	if o.code != exitDone {
		t.Errorf("exit code %d", o.code)
	}
	status := func(task, region string) string {
		for _, r := range o.document(t).Coverage {
			if r.Task == task && r.Region == region {
				return fmt.Sprintf("%s %s %d", r.Status, r.Reason, r.Assets)
			}
		}
		return "no record"
	}
	for where, want := range map[[2]string]string{
		{"ec2_volumes", "us-east-1"}:      "PARTIAL truncated 2000",
		{"ec2_volumes", "eu-west-1"}:      "SUCCESS  2500",
		{"ec2_vpcs", "eu-west-1"}:         "SUCCESS  3",
		{"lambda_functions", "us-east-1"}: "FAILED credentials_expired 0",
	} {
		if got := status(where[0], where[1]); got != want {
			t.Errorf("%s in %s: %s, want %s", where[0], where[1], got, want)
		}
	}
	for _, where := range [][2]string{{"ec2_snapshots", "eu-west-1"}, {"sqs_queues", "us-east-1"}} {
		if got := status(where[0], where[1]); !strings.HasPrefix(got, "FAILED") {
			t.Errorf("%s in %s: %s, want FAILED", where[0], where[1], got)
		}
	}
	if c := server.Report().Totals; c.Asked != c.Served+c.Throttled+c.FaultedTotal() || c.Faulted["repeat_token"] != 1 {
		t.Errorf("counted %+v", c)
	}
}

// TestSimEndsWhatHangs: Ctrl-C does not wait for requests that hang.
func TestSimEndsWhatHangs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sim.yaml")
	if err := os.WriteFile(file, []byte("faults: [{fault: hang}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var begun time.Time
	hung := make(chan error, 1)
	code, _, stderr := outcomeOf(t, func(url string) {
		transport := new(http.Transport)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIA111122223333EXAM/20261130/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0")
		go func() {
			_, err := transport.RoundTrip(r)
			transport.CloseIdleConnections()
			hung <- err
		}()
		for !strings.Contains(get(t, url+"/_sim/stats"), `"hang": 1`) {
			time.Sleep(5 * time.Millisecond)
		}
		begun = time.Now()
	}, "--profile", file)
	if took := time.Since(begun); code != exitDone || took > 2*time.Second {
		t.Errorf("exit code %d after %s", code, took)
	}
	if err := <-hung; err == nil {
		t.Error("the request that hung was answered")
	}
	if !strings.Contains(stderr, "1 faulted") {
		t.Error("the totals do not have the fault")
	}
}
