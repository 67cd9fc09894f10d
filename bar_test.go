package cloudpace_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
)

const scopeText = "aws/111122223333/us-east-1/sqs"

// Who comes after a bar is refused before the wait for a token that would be of no use.
func TestBarRefusesBeforeTheQueue(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MinRPS = 0.01, 1, 0.01 })
		c := begin(t, g, scope)
		c.Bar(time.Now().Add(time.Hour), denied())
		c.End(nil)
		_, err := g.Begin(context.Background(), scope)
		_ = as[*cloudpace.CircuitOpenError](t, err)
		wantTime(t, "it was refused", clock(), 0)
	})
}

// Those who wait when a bar comes are refused there and then, whatever they wait for.
func TestBarRefusesThoseWhoWait(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*cloudpace.Provider)
		before func(t *testing.T, g *cloudpace.Governor, holder *cloudpace.Call)
		option cloudpace.BeginOption
	}{
		"a token": {change: func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 0.001, 1; p.MinRPS = 0.001 }},
		"the end of a pause": {before: func(_ *testing.T, _ *cloudpace.Governor, holder *cloudpace.Call) {
			holder.Failed(throttleFor(200))
		}},
		"a slot": {change: func(p *cloudpace.Provider) { p.MaxConcurrency = 1 }},
		"the circuit": {before: func(t *testing.T, g *cloudpace.Governor, _ *cloudpace.Call) {
			for range 5 {
				fail(t, g, scope, unavailable())
			}
		}, option: cloudpace.WaitForCircuit()},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, clock func() time.Duration) {
				g := governor(t, c.change)
				holder := begin(t, g, scope)
				if c.before != nil {
					c.before(t, g, holder)
				}
				var work sync.WaitGroup
				for range 3 {
					work.Go(func() {
						_, err := g.Begin(t.Context(), scope, c.option)
						if open := as[*cloudpace.CircuitOpenError](t, err); open.RetryAfter != time.Hour {
							t.Errorf("%v", err)
						}
						wantTime(t, "it was told", clock(), 1500*time.Millisecond)
					})
				}
				time.Sleep(1500 * time.Millisecond)
				holder.Bar(time.Now().Add(time.Hour), denied())
				work.Wait()
				holder.End(nil)
				time.Sleep(time.Hour)
				begin(t, g, scope).End(nil)
				if b := slotsOf(t, g, scope.Account); b.InUse != 0 || b.Waiting != 0 {
					t.Errorf("%+v", b)
				}
			})
		})
	}
}

// A bar is on what is charged: those who are charged to it wait there, and are told.
func TestBarReachesWhoIsChargedElsewhere(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MinRPS = 0.001, 1, 0.001 })
		payer, other := scope, scope
		payer.Account, other.Account = "444455556666", "777788889999"
		ctx, stats := cloudpace.WithStats(t.Context())
		holder, err := g.Begin(ctx, scope, cloudpace.ChargedTo(payer))
		if err != nil {
			t.Fatal(err)
		}
		told := make(chan struct{})
		go func() {
			defer close(told)
			_, err := g.Begin(ctx, other, cloudpace.ChargedTo(payer))
			_ = as[*cloudpace.CircuitOpenError](t, err)
		}()
		synctest.Wait()
		holder.Bar(time.Now().Add(time.Hour), denied())
		<-told
		wantTime(t, "it was told", clock(), 0)
		holder.End(nil)
		for name, s := range map[string]*cloudpace.Stats{"run": stats, "lifetime": nil} {
			b := g.Summary(s).Breakers
			if len(b) != 1 || b[0].Scope != "aws/444455556666/us-east-1/sqs" || b[0].State != "barred" {
				t.Errorf("%s: %+v", name, b)
			}
		}
		_, idle := cloudpace.WithStats(t.Context())
		if b := g.Summary(idle).Breakers; len(b) != 0 {
			t.Errorf("a run that called nobody: %+v", b)
		}
	})
}

// A bar is logged once and shown while it lasts.
func TestBarIsSeen(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		var text bytes.Buffer
		g, err := cloudpace.New(cloudpace.DefaultConfig(), cloudpace.WithLogger(slog.New(slog.NewTextHandler(&text, nil))))
		if err != nil {
			t.Fatal(err)
		}
		until := time.Now().Add(time.Hour)
		a, b := begin(t, g, scope), begin(t, g, scope)
		a.Bar(until, denied())
		b.Bar(until, denied())
		b.Bar(until.Add(-time.Minute), denied())
		a.End(nil)
		a.Bar(until.Add(time.Minute), denied()) // over
		b.End(nil)
		if log := text.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "level=WARN") || !strings.Contains(log, scopeText) {
			t.Errorf("logged:\n%s", log)
		}
		if s := breakerOf(t, g, scopeText); s.State != "barred" || s.RetryAfterSeconds != 3600 || !strings.Contains(s.Cause, "AccessDenied") {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Hour)
		if s := breakerOf(t, g, scopeText); s.State != "closed" || s.RetryAfterSeconds != 0 {
			t.Errorf("when it is over: %+v", s)
		}
	})
}

// A quota that is used up stays so, whatever the settings become.
func TestBarOutlastsConfigure(t *testing.T) {
	change := func(t *testing.T, g *cloudpace.Governor, f func(*cloudpace.Provider)) {
		t.Helper()
		cfg := g.Config()
		p := cfg.Providers["aws"]
		f(&p)
		cfg.Providers["aws"] = p
		if err := g.Configure(cfg); err != nil {
			t.Fatal(err)
		}
	}
	more := func(p *cloudpace.Provider) { p.MaxConcurrency++ }
	refused := func(t *testing.T, g *cloudpace.Governor, want bool) {
		t.Helper()
		c, err := g.Begin(t.Context(), scope)
		var open *cloudpace.CircuitOpenError
		if errors.As(err, &open) != want {
			t.Errorf("refused %v, want %v: %v", !want, want, err)
		}
		if err == nil {
			c.End(nil)
		}
	}
	for name, f := range map[string]func(t *testing.T, g *cloudpace.Governor, c *cloudpace.Call){
		"before": func(t *testing.T, g *cloudpace.Governor, c *cloudpace.Call) {
			c.Bar(time.Now().Add(time.Hour), denied())
			change(t, g, more)
		},
		"twice, and unused between": func(t *testing.T, g *cloudpace.Governor, c *cloudpace.Call) {
			c.Bar(time.Now().Add(time.Hour), denied())
			change(t, g, more)
			change(t, g, more)
		},
		"off and on": func(t *testing.T, g *cloudpace.Governor, c *cloudpace.Call) {
			c.Bar(time.Now().Add(time.Hour), denied())
			change(t, g, func(p *cloudpace.Provider) { p.Enabled = false })
			refused(t, g, false)
			change(t, g, func(p *cloudpace.Provider) { p.Enabled = true })
		},
		"by a call that began before": func(t *testing.T, g *cloudpace.Governor, c *cloudpace.Call) {
			change(t, g, more)
			begin(t, g, scope).End(nil)
			c.Bar(time.Now().Add(time.Hour), denied())
		},
		"its operations are told apart now": func(t *testing.T, g *cloudpace.Governor, c *cloudpace.Call) {
			c.Bar(time.Now().Add(time.Hour), denied())
			change(t, g, func(p *cloudpace.Provider) {
				p.Services = map[string]cloudpace.Service{"sqs.ListQueues": {MaxRPS: 1}}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, _ func() time.Duration) {
				g := governor(t, nil)
				c := begin(t, g, scope)
				f(t, g, c)
				c.End(nil)
				refused(t, g, true)
				time.Sleep(time.Hour)
				refused(t, g, false)
				change(t, g, more)
				refused(t, g, false)
			})
		})
	}
}
