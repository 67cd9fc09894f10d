//go:build e2e

package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// unimplemented sends a service's requests to an API that moto_server routes
// and does not implement, so that its own page with HTML and a 500 comes back.
func unimplemented(service string) rewrite {
	return func(s string, out *http.Request) {
		if s != service {
			return
		}
		out.Header.Set("Authorization", strings.Replace(out.Header.Get("Authorization"), "/"+service+"/", "/cloudcontrolapi/", 1))
		out.Header.Set("X-Amz-Target", "CloudApiService.ListResources")
	}
}

// quick is a configuration with which the SDK does not try the same thing eleven
// times.
func quick(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cloudpace.yaml")
	if err := os.WriteFile(path, []byte("aws:\n  max_retries: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestGap: what the provider does not implement is in the record, stops nobody
// else, and is an error only for those who asked for that.
func TestGap(t *testing.T) {
	for _, c := range []struct {
		name string
		flag []string
		code int
	}{
		{"finished", nil, 0},
		{"fail on partial", []string{"--fail-on-partial"}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := startProxy(t, unimplemented("sqs"), nil)
			args := append([]string{"-p", "aws", "--regions", region, "--endpoint-url", p.url, "--config", quick(t), "--only", "identity,messaging,network"}, c.flag...)
			r := runMap(t, credentials, args...)
			if r.code != c.code {
				t.Errorf("exit code %d, want %d", r.code, c.code)
			}
			d := r.document(t)
			for _, got := range d.Coverage {
				if got.Task != "sqs_queues" && got.Status != "SUCCESS" {
					t.Errorf("%s is %s %s %s", got.Task, got.Status, got.Reason, got.Error)
				}
			}
			queues := d.record(t, "sqs_queues")
			if queues.Status != "FAILED" || queues.Reason != "not_supported" || queues.Assets != 0 || queues.Error == "" {
				t.Errorf("the queues' record is %+v, want FAILED not_supported", queues)
			}
			if !strings.Contains(r.stderr, "sqs_queues") || !strings.Contains(r.stderr, "not_supported") {
				t.Error("stderr does not name the gap and its reason")
			}
			if d.Summary.Outcome != "partial" || len(d.Summary.Complete) != len(d.Coverage)-1 {
				t.Errorf("outcome %q, %d of %d complete; want partial, all but one", d.Summary.Outcome, len(d.Summary.Complete), len(d.Coverage))
			}
			for _, s := range d.Summary.Complete {
				if s.Task == "sqs_queues" {
					t.Error("the queues are said to be complete")
				}
			}
			if n := len(ofType(r.assets(t), "AWS::IAM::Role")); n != seeded["AWS::IAM::Role"] {
				t.Errorf("%d roles beside the gap, want %d", n, seeded["AWS::IAM::Role"])
			}
		})
	}
}

// TestNothingCollected: a run in which every task failed is a failed run.
func TestNothingCollected(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close() // nobody listens there any more
	r := runMap(t, credentials, "-p", "aws", "--regions", region, "--endpoint-url", gone.URL, "--config", quick(t))
	if r.code != 1 {
		t.Errorf("exit code %d, want 1", r.code)
	}
	if !strings.Contains(r.stderr, "connection refused") {
		t.Error("stderr does not say why")
	}
}

// TestInterrupt: Ctrl-C in the middle of the fan-out keeps what was read, and
// says what was not.
func TestInterrupt(t *testing.T) {
	// Beyond the burst, so that calls are queueing.
	var once sync.Once
	var mu sync.Mutex
	details, reached := 0, make(chan struct{})
	p := startProxy(t, nil, func(r request) {
		if r.action != "DescribeImageAttribute" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if details++; details >= 140 {
			once.Do(func() { close(reached) })
		}
	})
	run := start(t, credentials, "-p", "aws", "--regions", region, "--endpoint-url", p.url)
	select {
	case <-reached:
	case <-time.After(2 * time.Minute):
		t.Error("the fan-out never went beyond its burst")
	}
	if err := run.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	r := run.wait()
	if r.code != 130 {
		t.Errorf("exit code %d, want 130", r.code)
	}
	d, assets := r.document(t), r.assets(t)
	if d.Summary.Outcome != "interrupted" || d.Summary.Assets != len(assets) {
		t.Errorf("outcome %q with %d assets; the file has %d", d.Summary.Outcome, d.Summary.Assets, len(assets))
	}
	if len(d.Coverage) != tasks {
		t.Errorf("%d records, want %d", len(d.Coverage), tasks)
	}
	images := d.record(t, "ec2_images")
	if images.Status != "PARTIAL" || images.Reason != "truncated" || images.Assets == 0 {
		t.Errorf("the images' record is %+v, want PARTIAL truncated with some assets", images)
	}
	if len(p.of("ec2", "DescribeImageAttribute")) == seeded["AWS::EC2::Image"] {
		t.Error("the interrupt stopped nothing")
	}
	if n := len(ofType(assets, "AWS::EC2::Instance")); n != seeded["AWS::EC2::Instance"] {
		t.Errorf("%d instances were kept, want %d", n, seeded["AWS::EC2::Instance"])
	}
}

// TestRefused: what cannot work is said before anything is sent.
func TestRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		env  []string
		args []string
		code int
		says []string
	}{
		{"no credentials", nil, nil, 1, []string{"AWS_ACCESS_KEY_ID", "profile"}},
		{"output directory", credentials, []string{"-o", filepath.Join(file, "out")}, 1, []string{file}},
		{"unknown region", credentials, []string{"--regions", "us-esat-1"}, 2, []string{"us-esat-1", "us-east-1"}},
		{"unknown family", credentials, []string{"--only", "netwrok"}, 2, []string{"netwrok", "network"}},
		{"unknown provider", credentials, []string{"-p", "asw"}, 2, []string{"asw", "aws"}},
		{"unknown flag", credentials, []string{"--regoins", "us-east-1"}, 2, []string{"--regoins"}},
		{"configuration", credentials, []string{"--config", filepath.Join(file, "no.yaml")}, 2, []string{"no.yaml"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := startProxy(t, nil, nil)
			r := runMap(t, c.env, append([]string{"-p", "aws", "--regions", region, "--endpoint-url", p.url}, c.args...)...)
			if r.code != c.code {
				t.Errorf("exit code %d, want %d", r.code, c.code)
			}
			for _, want := range c.says {
				if !strings.Contains(r.stderr, want) {
					t.Errorf("stderr does not mention %q", want)
				}
			}
			if n := p.count(); n != 0 {
				t.Errorf("%d requests were sent", n)
			}
		})
	}
}
