package redisstore_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cloudpace/cloudpace/fleet/internal/redistest"
	"github.com/cloudpace/cloudpace/fleet/redisstore"
	"github.com/cloudpace/cloudpace/fleet/storetest"
)

// patient is for tests that are not about time: a busy machine is no fault.
const patient = 10 * time.Second

// open opens a store that shares nothing with those of other tests.
func open(t *testing.T, url string) *redisstore.Store {
	t.Helper()
	return openWith(t, url, redisstore.Options{Timeout: patient, Prefix: "test " + t.Name()})
}

func openWith(t *testing.T, url string, o redisstore.Options) *redisstore.Store {
	t.Helper()
	var s *redisstore.Store
	redistest.Eventually(t, "the store opens", func() (err error) {
		s, err = redisstore.Open(t.Context(), url, o)
		return err
	})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// left tells how long every key of a test is kept.
func left(servers ...*redistest.Server) func(*testing.T) map[string]time.Duration {
	return func(t *testing.T) map[string]time.Duration {
		keys := map[string]time.Duration{}
		for _, s := range servers {
			all, _ := s.Do(t, "keys", "test "+t.Name()+":*").([]any)
			for _, k := range all {
				switch ms := s.Do(t, "pttl", k).(int64); ms {
				case -2: // gone since
				case 0:
					keys[k.(string)] = 1 // in this millisecond
				default:
					keys[k.(string)] = time.Duration(ms) * time.Millisecond
				}
			}
		}
		return keys
	}
}

// The suite, over every way to run Redis, two clients each.
func TestStore(t *testing.T) {
	t.Parallel()
	suite := func(url string, servers ...*redistest.Server) func(*testing.T) {
		return func(t *testing.T) {
			storetest.Run(t, func(t *testing.T, test func(*testing.T, storetest.Harness)) {
				t.Parallel()
				test(t, storetest.Harness{Store: open(t, url), Other: open(t, url), Left: left(servers...)})
			})
		}
	}
	single := redistest.Start(t)
	nodes := redistest.Cluster(t)
	t.Run("one server", suite("redis://"+single.Addr+"/0", single))
	t.Run("cluster", suite(nodes.URL(), nodes...))
}

// The suite with a clock that stands still, on which every answer is compared with the
// law: the scripts ask a key for the time, and the server for nothing.
func TestLaw(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--databases", "100")
	db := 0
	storetest.Run(t, func(t *testing.T, test func(*testing.T, storetest.Harness)) {
		db++
		url := fmt.Sprintf("redis://%s/%d", server.Addr, db)
		c := newClock(t, server.Addr, db)
		c.Sleep(0)
		test(t, storetest.Harness{Store: c.store(t, url), Now: c.Now, Sleep: c.Sleep, Back: func(d time.Duration) { c.Sleep(-d) }})
	})
}

// clock is a time that is kept in Redis.
type clock struct {
	client *redis.Client
	mu     sync.Mutex
	now    time.Time
}

func newClock(t *testing.T, addr string, db int) *clock {
	c := &clock{client: redis.NewClient(&redis.Options{Addr: addr, DB: db, ReadTimeout: patient}), now: time.UnixMicro(1_700_000_000_123_456)}
	t.Cleanup(func() { c.client.Close() })
	return c
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	us := c.now.UnixMicro()
	if err := c.client.HSet(context.Background(), "clock", "s", us/1e6, "us", us%1e6).Err(); err != nil {
		panic(err)
	}
}

// store is one whose scripts go by the clock.
func (c *clock) store(t *testing.T, url string) *redisstore.Store {
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	o.ReadTimeout = patient
	client := redis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	client.AddHook(byKey{})
	return redisstore.New(client, redisstore.Options{Timeout: patient})
}

// byKey is a hook that changes the scripts on their way.
type byKey struct{ redis.Hook }

func (byKey) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (byKey) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (byKey) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			args := cmd.Args()
			for _, text := range redisstore.Scripts {
				switch args[1] {
				case text:
					args[1] = timeByKey(text)
				case sum(text):
					args[1] = sum(timeByKey(text))
				}
			}
		}
		return next(ctx, cmds)
	}
}

func timeByKey(text string) string {
	return strings.Replace(text, "redis.call('TIME')", "redis.call('HMGET', 'clock', 's', 'us')", 1)
}

func sum(text string) string {
	s := sha1.Sum([]byte(text))
	return hex.EncodeToString(s[:])
}
