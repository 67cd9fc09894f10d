package redisstore_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/fleet/internal/redistest"
	"github.com/cloudpace/cloudpace/fleet/redisstore"
	"github.com/cloudpace/cloudpace/verdict"
)

// What makes this program a process of a fleet; see calls.
const (
	processStore = "CLOUDPACE_TEST_STORE" // the store's URL
	processCloud = "CLOUDPACE_TEST_CLOUD" // where calls go
)

// The bucket that the processes share, and the server has.
const (
	cloudRate, cloudBurst = 20.0, 100.0
	processes, callers    = 8, 8
)

// process joins the fleet and calls the cloud, with eight callers, until it is killed.
func process(store, cloud string) error {
	ctx := context.Background()
	s, err := redisstore.Open(ctx, store, redisstore.Options{})
	if err != nil {
		return err
	}
	g, err := cloudpace.New(cloudpace.DefaultConfig())
	if err != nil {
		return err
	}
	if _, err := fleet.Join(ctx, g, s, fleet.Options{Lease: 3 * time.Second}); err != nil {
		return err
	}
	fmt.Println("joined")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil { // all begin together
		return err
	}
	var work sync.WaitGroup
	failed := make(chan error, callers)
	for range callers {
		work.Go(func() {
			for {
				if err := cloudpace.Do(ctx, ec2Operation, call(cloud), cloudpace.WithGovernor(g)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	return <-failed
}

var ec2Operation = cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "ec2", Operation: "DescribeInstanceTypes"}

func call(cloud string) func(context.Context) error {
	return func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/%d", cloud, os.Getpid()), nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return err
		}
		if resp.StatusCode != http.StatusOK {
			return &verdict.ResponseError{Provider: "aws", StatusCode: resp.StatusCode, Code: "RequestLimitExceeded"}
		}
		return nil
	}
}

// cloud is a server with one bucket. It remembers when it was asked, and by whom.
type cloud struct {
	mu      sync.Mutex
	tokens  float64
	last    time.Time
	first   time.Time
	arrived []time.Duration // since the first
	refused int
	by      map[string]int
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.first.IsZero() {
		c.first, c.last, c.tokens = now, now, cloudBurst
	}
	c.tokens = math.Min(cloudBurst, c.tokens+cloudRate*now.Sub(c.last).Seconds())
	c.last = now
	c.arrived = append(c.arrived, now.Sub(c.first))
	c.by[path.Base(r.URL.Path)]++
	if c.tokens < 1 {
		c.refused++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	c.tokens--
}

// worker is a started process.
type worker struct {
	cmd   *exec.Cmd
	begin func()
}

func startWorker(t *testing.T, store, cloud string) *worker {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), processStore+"="+store, processCloud+"="+cloud)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) != "joined" {
		t.Fatalf("a process says %q, %v", line, err)
	}
	return &worker{cmd, func() {
		if _, err := io.WriteString(in, "\n"); err != nil {
			t.Error(err)
		}
	}}
}

// Eight processes with eight callers each, on one bucket of EC2's: never more than it
// has, hardly anything refused, and all get the same. One that is killed leaves nothing
// behind, and what it had is the others'.
func TestProcesses(t *testing.T) {
	t.Parallel()
	url := "redis://" + redistest.Start(t).Addr
	c := &cloud{by: map[string]int{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	var workers []*worker
	for range processes {
		workers = append(workers, startWorker(t, url, server.URL))
	}
	for _, w := range workers {
		w.begin()
	}
	const seconds = 12
	time.Sleep(seconds * time.Second)
	c.mu.Lock()
	arrived, refused := slices.Clone(c.arrived), c.refused
	var shares []int
	for _, n := range c.by {
		shares = append(shares, n)
	}
	c.mu.Unlock()
	slices.Sort(shares)
	// A request is on its way for some milliseconds, which may bring two closer together.
	const jitter = 3
	for i, at := range arrived {
		if most := cloudBurst + cloudRate*at.Seconds() + jitter; float64(i+1) > most {
			t.Fatalf("%d requests in %s, where %.0f are allowed", i+1, at, most)
		}
	}
	t.Logf("%d requests in %d s, %d refused, shares %v", len(arrived), seconds, refused, shares)
	if refused*50 >= len(arrived) { // TestEightProcessesOnOneBucket has the figures, in virtual time
		t.Errorf("%d of %d requests were refused", refused, len(arrived))
	}
	even := float64(len(arrived)) / processes
	if len(shares) != processes || float64(shares[0]) < 0.7*even || float64(shares[processes-1]) > 1.3*even {
		t.Errorf("shares: %v", shares)
	}

	killed := workers[0].cmd
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	s, err := redisstore.Open(t.Context(), url, redisstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	time.Sleep(4 * time.Second) // its lease of 3 s is over
	status, err := s.Status(t.Context())
	if err != nil || len(status.Members) != processes-1 || len(status.Slots) != 1 || len(status.Slots[0].Slots) > processes-1 {
		t.Errorf("%+v, %v", status, err)
	}
	before := c.count()
	time.Sleep(4 * time.Second)
	if n := c.count() - before; n < 4*cloudRate/4 || n > 4*cloudRate*2 { // a busy machine is slow, and may be refused
		t.Errorf("%d requests in 4 s by those that are left", n)
	}
}

func (c *cloud) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.arrived)
}
