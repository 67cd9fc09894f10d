package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/fleet/internal/redistest"
	"github.com/cloudpace/cloudpace/fleet/redisstore"
	"github.com/cloudpace/cloudpace/internal/scenario"
	"github.com/cloudpace/cloudpace/internal/sharing"
	"github.com/cloudpace/cloudpace/verdict"
)

// Eight members that ask for one bucket without a pause, of a server and of a cluster: no
// token is handed out twice, and none is lost.
func TestRacesForOneBucket(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"one server": "redis://" + redistest.Start(t).Addr, "cluster": redistest.Cluster(t).URL()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var count tally
			var all sync.WaitGroup
			for range 8 {
				s := open(t, url)
				all.Go(func() {
					for range 100 {
						_ = count.ask(t.Context(), s, "learn a")
					}
				})
			}
			all.Wait()
			s := open(t, url)
			if count.told != 800-count.lost {
				t.Errorf("%d asks brought %d tokens, %d failed", 800, count.told, count.lost)
			}
			if n := count.errs[redisstore.Other]; n != count.lost || n > 80 { // others were quicker, 16 times
				t.Errorf("errors: %v", count.errs)
			}
			t.Logf("%d tokens, %v", count.told, count.errs)
			count.lost = 0 // what is told to have failed took nothing
			count.check(t, s)
		})
	}
}

// A key of another kind, or of a later version, is named and left alone, one that cannot be
// read begins anew, and neither spoils anything else.
func TestLearningKeysThatAreNotOurs(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := openWith(t, "redis://"+server.Addr, redisstore.Options{Timeout: patient})
	limits := slow
	limits.Learn = true
	for name, c := range map[string]struct {
		put   []any
		anew  bool
		whose string // what its error says
	}{
		"text":    {[]any{"set", "text"}, false, "WRONGTYPE"},
		"list":    {[]any{"rpush", "1", "2"}, false, "WRONGTYPE"},
		"hash":    {[]any{"hset", "field", "value"}, false, "without a state"},
		"newer":   {[]any{"hset", "state", "\x02 of tomorrow"}, false, "newer form"},
		"older":   {[]any{"hset", "state", "\x00 of yesterday"}, true, ""},
		"garbage": {[]any{"hset", "state", "\x01 garbage"}, true, ""},
		"empty":   {[]any{"hset", "state", ""}, false, "without a state"},
	} {
		key := "cloudpace:learn:{" + name + "}"
		server.Do(t, append([]any{c.put[0], key}, c.put[1:]...)...)
		if st, err := s.Status(t.Context()); (err == nil) != c.anew || slices.ContainsFunc(st.Buckets, func(b fleet.BucketStatus) bool { return b.Key == name }) {
			t.Errorf("%s: status %+v, %v", name, st.Buckets, err)
		}
		for range 2 {
			g, err := s.Exchange(t.Context(), "a", []fleet.BucketAsk{
				{Key: name, Ask: sharing.Ask{Limits: limits, Want: 1}},
				{Key: "learn ours", Ask: sharing.Ask{Limits: limits, Want: 1}},
				{Key: "ours", Ask: sharing.Ask{Limits: slow, Want: 1}},
			})
			if err != nil || g[1].Err != nil || g[2].Err != nil {
				t.Fatalf("%s: %+v, %v", name, g, err)
			}
			var e *redisstore.Error
			switch {
			case c.anew && g[0].Err != nil:
				t.Errorf("%s: %v", name, g[0].Err)
			case !c.anew && (!errors.As(g[0].Err, &e) || e.Reason != redisstore.NotOurs || e.Key != key || !strings.Contains(e.Error(), c.whose)):
				t.Errorf("%s: %v", name, g[0].Err)
			}
		}
		if kind := server.Do(t, "type", key); kind == "none" {
			t.Errorf("%s is gone", name)
		}
		server.Do(t, "del", key)
	}
}

// messages counts what a client sends of buckets that learn.
type messages struct {
	redis.Hook
	n atomic.Int64
}

func (*messages) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (*messages) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (m *messages) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if slices.ContainsFunc(cmds, func(c redis.Cmder) bool {
			return slices.Contains(c.Args(), any("read")) || slices.Contains(c.Args(), any("write"))
		}) {
			m.n.Add(1)
		}
		return next(ctx, cmds)
	}
}

// However many buckets learn, a question takes two messages.
func TestTwoMessages(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr, ReadTimeout: patient})
	defer client.Close()
	var count messages
	client.AddHook(&count)
	s := redisstore.New(client, redisstore.Options{Timeout: patient})
	var asks []fleet.BucketAsk
	for i := range 300 {
		l := slow
		l.Learn = i%3 > 0
		asks = append(asks, fleet.BucketAsk{Key: fmt.Sprint(i), Ask: sharing.Ask{Limits: l, Want: 1}})
	}
	for i := range 3 {
		before := count.n.Load()
		g, err := s.Exchange(t.Context(), fmt.Sprint(i), asks)
		if err != nil || slices.ContainsFunc(g, func(g fleet.BucketGrant) bool { return g.Err != nil || g.Tokens != 1 }) {
			t.Fatalf("%+v, %v", g, err)
		}
		// The scripts are taught the first time.
		if n := count.n.Load() - before; n != 2 && i > 0 {
			t.Errorf("300 buckets in %d messages", n)
		}
	}
}

// modelled is a modelled server that answers functions, in real time.
type modelled struct{ scenario.Live }

func (s *modelled) call(context.Context) error {
	if s.Answer().OK {
		return nil
	}
	return &verdict.ResponseError{Provider: "aws", StatusCode: 400, Code: "ThrottlingException"}
}

// Four members learn together what a server gives, through a real Redis: hardly anything is
// refused, all get about the same, and what that costs is told.
func TestLearnThroughRedis(t *testing.T) {
	for _, c := range []struct {
		rate, server float64
		burst        float64
		workers      int
		lasts        time.Duration
	}{{40, 20, 20, 40, 12 * time.Second}, {1000, 1000, 100, 200, 5 * time.Second}} {
		t.Run(fmt.Sprint(c.server), func(t *testing.T) {
			url := "redis://" + redistest.Start(t).Addr
			const members = 4
			var sent messages
			server := &modelled{scenario.Live{Model: scenario.NewModel(scenario.Scenario{Server: scenario.Server{Burst: c.burst, Refill: c.server}}, time.Now(), 1)}}
			var governors []*cloudpace.Governor
			var joined []*fleet.Membership
			for range members {
				conf := cloudpace.DefaultConfig()
				p := conf.Providers["aws"]
				p.Services = nil
				p.MaxRPS, p.Burst, p.Controller, p.Ceiling, p.MaxConcurrency = c.rate, c.burst, cloudpace.ControllerLearn, cloudpace.CeilingSoft, 500
				conf.Providers["aws"] = p
				g, err := cloudpace.New(conf)
				if err != nil {
					t.Fatal(err)
				}
				o, err := redis.ParseURL(url)
				if err != nil {
					t.Fatal(err)
				}
				client := redis.NewClient(o)
				defer client.Close()
				client.AddHook(&sent)
				m, err := fleet.Join(t.Context(), g, redisstore.New(client, redisstore.Options{}), fleet.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				governors, joined = append(governors, g), append(joined, m)
			}
			shares := make([]atomic.Int64, members)
			start := time.Now()
			var work sync.WaitGroup
			for w := range c.workers {
				work.Go(func() {
					for time.Since(start) < c.lasts {
						if err := cloudpace.Do(t.Context(), ec2Operation, server.call, cloudpace.WithGovernor(governors[w%members])); err != nil {
							t.Error(err)
							return
						}
						shares[w%members].Add(1)
					}
				})
			}
			work.Wait()
			took := time.Since(start)
			var list []int64
			for i := range shares {
				list = append(list, shares[i].Load())
			}
			slices.Sort(list)
			questions := 0
			for _, m := range joined {
				questions += int(m.State().Exchanges)
			}
			calls := float64(server.Accepted)
			t.Logf("%g/s: %g calls in %s, %d throttled, shares %v; %.3f questions and %.3f round trips a call",
				c.server, calls, took.Round(time.Millisecond), server.Throttled, list, float64(questions)/calls, float64(sent.n.Load())/calls)
			if float64(server.Throttled) > 0.1*calls {
				t.Errorf("%d of %g calls were throttled", server.Throttled, calls+float64(server.Throttled))
			}
			if even := calls / members; float64(list[0]) < 0.5*even || float64(list[members-1]) > 1.5*even {
				t.Errorf("shares: %v", list)
			}
			if most := c.burst + c.server*took.Seconds(); calls < most/4 {
				t.Errorf("%g calls, where the server has %g", calls, most)
			}
		})
	}
}
