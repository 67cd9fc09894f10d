package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/fleet/internal/redistest"
	"github.com/cloudpace/cloudpace/fleet/redisstore"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// tally counts the tokens of a bucket that hardly refills: each ask is for one, by another
// member, and what is gone of the burst is what was granted.
type tally struct {
	mu         sync.Mutex
	asks       int
	told, lost int
	errs       map[redisstore.Reason]int
}

var slow = sharing.Limits{Rate: 0.001, Burst: 100_000}

func (c *tally) ask(ctx context.Context, s fleet.Store, keys ...string) error {
	c.mu.Lock()
	c.asks++
	member := strconv.Itoa(c.asks)
	c.mu.Unlock()
	var asks []fleet.BucketAsk
	for _, k := range keys {
		a := sharing.Ask{Limits: slow, Want: 1}
		if strings.HasPrefix(k, "learn") { // which hands out more to those that are served
			a.Learn, a.Served, a.Trip = true, 1, time.Millisecond
		}
		asks = append(asks, fleet.BucketAsk{Key: k, Ask: a})
	}
	grants, err := s.Exchange(ctx, member, asks)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.errs == nil {
		c.errs = map[redisstore.Reason]int{}
	}
	note := func(err error, n int) {
		c.lost += n
		var e *redisstore.Error
		if errors.As(err, &e) {
			c.errs[e.Reason] += n
		} else {
			c.errs[redisstore.Reason(err.Error())] += n
		}
	}
	if err != nil {
		note(err, len(asks))
		return err
	}
	for _, g := range grants {
		if g.Err != nil {
			note(g.Err, 1)
			err = g.Err
		} else {
			c.told += g.Tokens
		}
	}
	return err
}

// check compares with what the store says is gone.
func (c *tally) check(t *testing.T, s fleet.Store) {
	t.Helper()
	st, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for _, b := range st.Buckets {
		gone += int(math.Round(slow.Burst - b.Tokens))
	}
	if gone < c.told || gone > c.told+c.lost {
		t.Errorf("%d tokens are gone; %d were told of and %d asks have no answer (%v)", gone, c.told, c.lost, c.errs)
	}
}

// frail is a connection that breaks off after so many bytes in either direction.
type frail struct {
	net.Conn
	left *atomic.Int64
}

func (f frail) pass(p []byte, by func([]byte) (int, error)) (int, error) {
	left := f.left.Load()
	if left <= 0 {
		f.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := by(p[:min(int64(len(p)), left)])
	f.left.Add(int64(-n))
	if err == nil && n < len(p) && left < int64(len(p)) {
		f.Close()
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (f frail) Write(p []byte) (int, error) { return f.pass(p, f.Conn.Write) }
func (f frail) Read(p []byte) (int, error) {
	if f.left.Load() <= 0 {
		f.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := f.Conn.Read(p)
	f.left.Add(int64(-n))
	return n, err
}

// A client whose connections break off at any byte never grants twice, though it is set
// to repeat commands, and leaves no key that stays for ever.
func TestConnectionsThatBreakOff(t *testing.T) {
	t.Parallel()
	server, nodes := redistest.Start(t), redistest.Cluster(t)
	dial := func(_ context.Context, network, addr string) (net.Conn, error) {
		c, err := net.Dial(network, addr)
		if err != nil {
			return nil, err
		}
		left := &atomic.Int64{}
		left.Store(500 + rand.Int64N(30_000))
		return frail{c, left}, nil
	}
	for name, c := range map[string]struct {
		client  redis.UniversalClient
		url     string
		servers []*redistest.Server
	}{
		"one server": {redis.NewClient(&redis.Options{Addr: server.Addr, Dialer: dial}), "redis://" + server.Addr, []*redistest.Server{server}},
		"cluster":    {redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{nodes[0].Addr}, Dialer: dial}), nodes.URL(), nodes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer c.client.Close()
			prefix := "test " + t.Name()
			s := redisstore.New(c.client, redisstore.Options{Prefix: prefix, Timeout: patient})
			var count tally
			for range 300 {
				_ = count.ask(t.Context(), s, "a", "b", "learn c", "learn d")
			}
			count.check(t, openWith(t, c.url, redisstore.Options{Prefix: prefix, Timeout: patient}))
			if count.lost < 20 || count.told < 100 {
				t.Errorf("%d told, %d lost: nothing is shown", count.told, count.lost)
			}
			for key, d := range left(c.servers...)(t) {
				if d <= 0 {
					t.Errorf("%q is kept for %s", key, d)
				}
			}
		})
	}
}

// Scripts that are gone are taught again, unseen, and without each caller doing so.
func TestScriptsThatAreGone(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, "redis://"+server.Addr)
	var count tally
	for range 5 {
		server.Do(t, "script", "flush")
		server.Do(t, "config", "resetstat")
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				for range 5 {
					if err := count.ask(t.Context(), s, []string{"", "learn "}[i%2]+strconv.Itoa(i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		stats := server.Info(t, "cmdstat_eval")
		n, _ := strconv.Atoi(strings.TrimPrefix(strings.Split(stats, ",")[0], "calls="))
		if n < 1 || n > 400 { // one that learns makes two calls
			t.Errorf("of 1000 calls %d went with their script's text: %s", n, stats)
		}
	}
	count.check(t, s)
}

// A server that is stopped and started again, with all it knew lost.
func TestRestart(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, "redis://"+server.Addr)
	var count tally
	if err := count.ask(t.Context(), s, "a", "learn b"); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	for range 30 {
		if count.ask(t.Context(), s, "a", "learn b") == nil {
			t.Fatal("a server that is gone answers")
		}
	}
	if n := count.errs[redisstore.Unreachable]; n != 60 {
		t.Errorf("errors: %v", count.errs)
	}
	server.Run(t)
	redistest.Eventually(t, "the store is back", func() error { return count.ask(t.Context(), s, "a", "learn b") })
	works(t, open(t, "redis://"+server.Addr))
}

// Memory that is full is told, and what was granted before counts on.
func TestFullMemory(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--maxmemory-policy", "noeviction")
	s := open(t, "redis://"+server.Addr)
	var count tally
	for range 10 {
		if err := count.ask(t.Context(), s, "a", "learn b"); err != nil {
			t.Fatal(err)
		}
	}
	server.Do(t, "config", "set", "maxmemory", "1")
	for range 10 {
		_ = count.ask(t.Context(), s, "a", "learn b")
		_ = count.ask(t.Context(), s, "learn b")
	}
	if n := count.errs[redisstore.Full]; n != 30 {
		t.Errorf("errors: %v", count.errs)
	}
	fails(t, "redis://"+server.Addr, redisstore.Options{}, redisstore.Full)
	server.Do(t, "config", "set", "maxmemory", "0")
	if err := count.ask(t.Context(), s, "a", "learn b"); err != nil {
		t.Error(err)
	}
	if count.check(t, s); count.told != 22 {
		t.Errorf("%d told", count.told)
	}
}

// A master that becomes a replica under a store's feet, and back.
func TestBecomesReplica(t *testing.T) {
	t.Parallel()
	server, master := redistest.Start(t), redistest.Start(t)
	s := open(t, "redis://"+server.Addr)
	works(t, s)
	server.Do(t, "replicaof", "127.0.0.1", master.Port)
	var count tally
	for range 5 {
		_ = count.ask(t.Context(), s, "learn a")
		_ = count.ask(t.Context(), s, "a")
	}
	if n := count.errs[redisstore.ReadOnly]; n != 10 {
		t.Errorf("errors: %v", count.errs)
	}
	server.Do(t, "replicaof", "no", "one")
	redistest.Eventually(t, "it can be written again", func() error { return count.ask(t.Context(), s, "a") })
}

// A key at our name that is something else is named, left alone, and spoils nothing else.
func TestKeysThatAreNotOurs(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := openWith(t, "redis://"+server.Addr, redisstore.Options{Timeout: patient})
	put := map[string][]any{
		"text":    {"set", "text"},
		"list":    {"rpush", "1", "2"},
		"hash":    {"hset", "field", "value"},
		"version": {"hset", "s", "2 1 2 3"},
		"short":   {"hset", "s", "1 1 2 3"},
		"member":  {"hset", "m", "1 2"},
	}
	for name, c := range put {
		for _, kind := range []string{"bucket", "slots"} {
			args := append([]any{c[0], "cloudpace:" + kind + ":{" + name + "}"}, c[1:]...)
			server.Do(t, args...)
		}
		for _, others := range []bool{false, true} {
			asks := []fleet.BucketAsk{{Key: name, Ask: sharing.Ask{Limits: slow, Want: 1}}}
			if others {
				asks = append(asks, fleet.BucketAsk{Key: "ours", Ask: sharing.Ask{Limits: slow, Want: 1}})
			}
			g, err := s.Exchange(t.Context(), "a", asks)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var e *redisstore.Error
			if !errors.As(g[0].Err, &e) || e.Reason != redisstore.NotOurs || e.Key != "cloudpace:bucket:{"+name+"}" || !strings.Contains(e.Error(), e.Key) {
				t.Errorf("%s: %v", name, g[0].Err)
			}
			if others && g[1].Err != nil {
				t.Errorf("%s: the other bucket: %v", name, g[1].Err)
			}
		}
		p, err := s.Slots(t.Context(), "a", []fleet.SlotsAsk{{Key: name, SlotAsk: sharing.SlotAsk{Max: 1, Want: 1, Lasts: time.Minute}}})
		var e *redisstore.Error
		if err != nil || !errors.As(p[0].Err, &e) || e.Reason != redisstore.NotOurs || e.Key != "cloudpace:slots:{"+name+"}" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	st, err := s.Status(t.Context())
	if err == nil || len(st.Buckets) != 1 {
		t.Errorf("status: %+v, %v", st, err)
	}
	for name := range put {
		if kind := server.Do(t, "type", "cloudpace:bucket:{"+name+"}"); kind == "none" {
			t.Errorf("%s is gone", name)
		}
	}
	server.Do(t, "set", "cloudpace:members", "x")
	if _, err := s.Present(t.Context(), fleet.Member{ID: "a"}, time.Second); err == nil || !strings.Contains(err.Error(), "cloudpace:members") {
		t.Errorf("members: %v", err)
	}
}

// Sentinel makes another server the master: members go on there, with what it had heard.
func TestFailover(t *testing.T) {
	t.Parallel()
	w := redistest.Sentinel(t)
	s := open(t, w.URL())
	var count tally
	for range 50 {
		if err := count.ask(t.Context(), s, "a", "learn b"); err != nil {
			t.Fatal(err)
		}
	}
	redistest.Eventually(t, "the replicas have it all", func() error {
		want := w.Servers[0].Info(t, "master_repl_offset")
		for _, r := range w.Servers[1:] {
			if got := r.Info(t, "slave_repl_offset"); len(got) < len(want) || len(got) == len(want) && got < want {
				return fmt.Errorf("%s of %s", got, want)
			}
		}
		return nil
	})
	w.FailOver(t)
	redistest.Eventually(t, "the store is back", func() error { return count.ask(t.Context(), s, "a", "learn b") })
	for range 50 {
		if err := count.ask(t.Context(), s, "a", "learn b"); err != nil {
			t.Error(err)
		}
	}
	count.check(t, s)

	for _, server := range w.Servers { // and then the new one dies
		if server.Info(t, "role") == "master" {
			server.Stop()
			break
		}
	}
	redistest.Eventually(t, "the store is back again", func() error { return count.ask(t.Context(), s, "a", "learn b") })
	works(t, s)
}

// While slots of a cluster move to another node, every call is answered, and once.
func TestClusterMoves(t *testing.T) {
	t.Parallel()
	nodes := redistest.Cluster(t)
	s := open(t, nodes.URL())
	keys := []string{"a", "learn b", "c", "learn d"}
	var count tally
	if err := count.ask(t.Context(), s, keys...); err != nil {
		t.Fatal(err)
	}
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		for _, k := range keys {
			nodes.Move(t, "{"+k+"}")
		}
	}()
	for done := false; !done; {
		select {
		case <-moved:
			done = true
		default:
		}
		if err := count.ask(t.Context(), s, keys...); err != nil {
			t.Error(err)
			done = true
		}
	}
	<-moved
	count.check(t, s)
	t.Logf("%d tokens told", count.told)
}

// A node of a cluster that is gone takes its buckets with it, and no others.
func TestClusterNodeGone(t *testing.T) {
	t.Parallel()
	nodes := redistest.Cluster(t)
	for _, n := range nodes {
		n.Do(t, "config", "set", "cluster-require-full-coverage", "no")
	}
	s := openWith(t, nodes.URL(), redisstore.Options{Timeout: time.Second})
	var keys []string
	for i := range 30 {
		keys = append(keys, fmt.Sprint([]string{"key ", "learn "}[i%2], i))
	}
	var count tally
	if err := count.ask(t.Context(), s, keys...); err != nil {
		t.Fatal(err)
	}
	nodes[2].Stop()
	if err := count.ask(t.Context(), s, keys...); err == nil {
		t.Error("a node that is gone answers")
	}
	if count.told < 35 || count.lost < 1 || count.lost > 25 {
		t.Errorf("%d told, %d lost, %v", count.told, count.lost, count.errs)
	}
}
