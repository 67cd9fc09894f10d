//go:build unix

package redisstore_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/fleet/internal/redistest"
	"github.com/cloudpace/cloudpace/fleet/redisstore"
)

// events counts what is logged, by level.
type events struct {
	slog.Handler
	warnings, infos atomic.Int32
}

func (e *events) Enabled(context.Context, slog.Level) bool { return true }

func (e *events) Handle(_ context.Context, r slog.Record) error {
	switch r.Level {
	case slog.LevelWarn:
		e.warnings.Add(1)
	case slog.LevelInfo:
		e.infos.Add(1)
	}
	return nil
}

// A Redis that is gone for a while, in whatever way: no call is lost, each goes on within
// its share, says so once, and shares again.
func TestOutages(t *testing.T) {
	for name, c := range map[string]struct {
		gone  time.Duration
		leave func(t *testing.T, s *redistest.Server) (back func())
	}{
		"frozen": {10 * time.Second, func(t *testing.T, s *redistest.Server) func() { return s.Freeze(t) }},
		"restarted": {3 * time.Second, func(t *testing.T, s *redistest.Server) func() {
			s.Stop()
			return func() { s.Run(t) }
		}},
		"full": {4 * time.Second, func(t *testing.T, s *redistest.Server) func() {
			s.Do(t, "CONFIG", "SET", "maxmemory", "1")
			return func() { s.Do(t, "CONFIG", "SET", "maxmemory", "0") }
		}},
		"a replica": {4 * time.Second, func(t *testing.T, s *redistest.Server) func() {
			s.Do(t, "REPLICAOF", "127.0.0.1", "1")
			return func() { s.Do(t, "REPLICAOF", "NO", "ONE") }
		}},
	} {
		t.Run(name, func(t *testing.T) { outage(t, cloudpace.ControllerAIMD, c.gone, c.leave) })
		t.Run(name+", learning", func(t *testing.T) { outage(t, cloudpace.ControllerLearn, c.gone, c.leave) })
	}
}

func outage(t *testing.T, controller cloudpace.Controller, gone time.Duration, leave func(*testing.T, *redistest.Server) func()) {
	t.Parallel()
	server := redistest.Start(t)
	var calls atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var work sync.WaitGroup
	var members []*fleet.Membership
	logged := []*events{{}, {}}
	for _, log := range logged {
		store, err := redisstore.Open(ctx, "redis://"+server.Addr, redisstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		conf := cloudpace.DefaultConfig()
		aws := conf.Providers["aws"]
		aws.Controller = controller
		conf.Providers["aws"] = aws
		g, err := cloudpace.New(conf)
		if err != nil {
			t.Fatal(err)
		}
		m, err := fleet.Join(ctx, g, store, fleet.Options{Lease: 3 * time.Second, Logger: slog.New(log)})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		members = append(members, m)
		for range 8 {
			work.Go(func() {
				for {
					err := cloudpace.Do(ctx, ec2Operation, func(context.Context) error { calls.Add(1); return nil }, cloudpace.WithGovernor(g))
					if ctx.Err() != nil {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	start := time.Now()
	never := func(when string) { // more than the bucket has
		if n, most := calls.Load(), cloudBurst+cloudRate*time.Since(start).Seconds()+40; float64(n) > most {
			t.Errorf("%s: %d calls, where %.0f are allowed and some more at the change", when, n, most)
		}
	}
	time.Sleep(4 * time.Second) // each knows of the other
	never("shared")
	back := leave(t, server)
	before := calls.Load()
	time.Sleep(gone)
	if n := calls.Load() - before; float64(n) < (gone.Seconds()-2)*cloudRate/2 {
		t.Errorf("%d calls in %s without Redis", n, gone)
	}
	never("alone")
	for _, m := range members {
		if s := m.State(); !s.Alone || s.Outages == 0 || s.Members != 2 {
			t.Errorf("without Redis: %+v", s)
		}
	}
	back()
	redistest.Eventually(t, "both share again", func() error {
		for _, m := range members {
			if s := m.State(); s.Alone {
				return context.DeadlineExceeded
			}
		}
		return nil
	})
	before = calls.Load()
	time.Sleep(3 * time.Second)
	if n := calls.Load() - before; n < 30 || n > 180 {
		t.Errorf("%d calls in 3 s when it is back", n)
	}
	stop()
	work.Wait()
	for i, log := range logged {
		// A busy machine may make one outage more, but each is told once.
		outages := members[i].State().Outages
		if w, i := log.warnings.Load(), log.infos.Load(); int(w) != outages || int(i) != outages {
			t.Errorf("%d outages, %d warnings and %d other events", outages, w, i)
		}
	}
}
