//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// startRedis starts a redis-server with a password on a free port, and gives its URL.
func startRedis(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	cmd := exec.CommandContext(t.Context(), "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--requirepass", "hunter2", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // it is killed when the test's context ends
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			c.Close()
			return "redis://:hunter2@127.0.0.1:" + port
		} else if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

// TestFleet: maps that run at the same time share one account's limits through a real
// Redis, find all that there is, and are seen while they do.
func TestFleet(t *testing.T) {
	store := startRedis(t)
	s := startSim(t, "--accounts", "1", "--assets", "2000", "--regions", region)
	const maps = 3
	results := make([]result, maps)
	var work sync.WaitGroup
	for i := range results {
		work.Go(func() {
			results[i] = runMap(t, []string{"CLOUDPACE_FLEET=" + store, "AWS_ACCESS_KEY_ID=AKIA111122223333EXAM", "AWS_SECRET_ACCESS_KEY=simulated"}, "-p", "aws", "--regions", region, "--endpoint-url", s.url)
		})
	}
	most := 0
	seen := make(chan struct{})
	go func() {
		work.Wait()
		close(seen)
	}()
	for running := true; running; {
		select {
		case <-seen:
			running = false
		case <-time.After(time.Second):
			most = max(most, fleetMembers(t, store))
		}
	}
	if most != maps {
		t.Errorf("at most %d of %d processes were seen", most, maps)
	}
	for i, r := range results {
		if r.code != 0 || len(r.assets(t)) < 2000 {
			t.Errorf("map %d: exit code %d, %d assets", i, r.code, len(r.assets(t)))
		}
		f := r.document(t).Fleet
		if f.Exchanges == 0 || f.Tokens == 0 || strings.Contains(f.Store, "hunter2") {
			t.Errorf("map %d: %+v", i, f)
		}
		if !strings.Contains(r.stderr, "Shared its limits with ") || strings.Contains(r.stderr, "hunter2") {
			t.Errorf("map %d says\n%s", i, r.stderr)
		}
	}
	report := s.stop(t)
	t.Logf("%d of %d requests were throttled", report.Totals.Throttled, report.Totals.Asked)
	if report.Totals.Throttled*20 > report.Totals.Asked { // alone each, a third and more
		t.Errorf("%d of %d requests were throttled", report.Totals.Throttled, report.Totals.Asked)
	}
	if n := fleetMembers(t, store); n != 0 {
		t.Errorf("%d processes are still there", n)
	}
}

// fleetMembers counts those that `cloudpace fleet status` shows.
func fleetMembers(t *testing.T, store string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "fleet", "status", "--json")
	cmd.Env = clean(t.TempDir(), "CLOUDPACE_FLEET="+store)
	out, err := cmd.Output()
	var status struct {
		Members []struct{ ID string }
	}
	if err == nil {
		err = json.Unmarshal(out, &status)
	}
	if err != nil {
		t.Error(fmt.Errorf("fleet status: %w\n%s", err, out))
	}
	return len(status.Members)
}
