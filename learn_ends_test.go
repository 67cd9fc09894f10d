package cloudpace_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/scenario"
)

func TestLearnEveryEnd(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		ends := map[string]func(*cloudpace.Call){
			"success":   func(c *cloudpace.Call) { c.End(nil) },
			"denied":    func(c *cloudpace.Call) { c.End(denied()) },
			"transient": func(c *cloudpace.Call) { c.End(unavailable()) },
			"local":     func(c *cloudpace.Call) { c.End(context.Canceled) },
			"dropped":   func(c *cloudpace.Call) { c.Drop() },
			"next": func(c *cloudpace.Call) {
				c.Succeeded()
				if err := c.Next(context.Background()); err != nil {
					t.Error(err)
				}
				c.Drop()
			},
			"not reported": func(c *cloudpace.Call) {
				if err := c.Next(context.Background()); err != nil {
					t.Error(err)
				}
				c.End(nil)
			},
		}
		for name, end := range ends {
			g := learning(t, scenario.Client{Rate: 20, Burst: 40}, cloudpace.CeilingSoft)
			end(begin(t, g, scope))
			time.Sleep(time.Minute)
			if l := g.Learned(); len(l.Scopes) != 0 {
				t.Errorf("%s: something is left: %+v", name, l.Scopes)
			}
		}
	})
}

func TestLearnAnyEnd(t *testing.T) {
	payer := scope
	payer.Region = "eu-west-1"
	for seed := range uint64(60) {
		bubble(t, func(t *testing.T, _ func() time.Duration) {
			rng := rand.New(rand.NewPCG(seed, 1))
			settings := func(p *cloudpace.Provider) {
				p.MaxRPS, p.Burst, p.Controller, p.Ceiling = 10, 20, cloudpace.ControllerLearn, cloudpace.CeilingSoft
				p.MaxConcurrency, p.BreakerThreshold, p.AccountMaxRPS = 3, 1000, 15
				if seed%2 == 0 {
					p.Ceiling = cloudpace.CeilingHard
				}
			}
			g := governor(t, settings)
			debts := seed%3 == 0 // nothing succeeds in such a run: it would be news
			var wg sync.WaitGroup
			for range 60 {
				begins, ends := rng.Int64N(int64(5*time.Second)), rng.Int64N(int64(8*time.Second))
				var opts []cloudpace.BeginOption
				for _, o := range []cloudpace.BeginOption{cloudpace.ChargedTo(payer), cloudpace.HoldSlot(), cloudpace.FreeTransientRetries()} {
					if rng.IntN(2) == 0 {
						opts = append(opts, o)
					}
				}
				steps := make([]int, 6)
				for i := range steps {
					steps[i] = rng.IntN(9)
				}
				wg.Go(func() {
					time.Sleep(time.Duration(begins))
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(ends))
					defer cancel()
					if debts {
						ctx = cloudpace.WithMaxWait(ctx, 300*time.Millisecond)
					}
					if c, err := g.Begin(ctx, scope, opts...); err == nil {
						endSomehow(ctx, g, c, steps, debts)
					}
				})
			}
			if seed%5 == 0 {
				time.Sleep(3 * time.Second)
				cfg := g.Config()
				p := cfg.Providers["aws"]
				p.MaxRetries++
				cfg.Providers["aws"] = p
				if err := g.Configure(cfg); err != nil {
					t.Fatal(err)
				}
			}
			wg.Wait()
			time.Sleep(time.Hour)
			if l := g.Learned(); len(l.Scopes) != 0 {
				t.Errorf("seed %d: something is left: %+v", seed, l.Scopes)
			}
		})
	}
}

func endSomehow(ctx context.Context, g *cloudpace.Governor, c *cloudpace.Call, steps []int, fails bool) {
	defer c.Drop()
	for _, step := range steps {
		time.Sleep(100 * time.Millisecond)
		switch step {
		case 0, 1:
			c.Failed(unavailable())
			_ = c.Retry()
		case 2:
			if !fails {
				c.Succeeded()
			}
		case 3, 4, 5:
			_ = c.Next(ctx)
		case 6:
			go func() {
				time.Sleep(50 * time.Millisecond)
				c.Drop()
			}()
		case 7:
			if inner, err := g.Begin(c.Context(), scope); err == nil {
				inner.End(unavailable())
			}
		default:
			c.End(context.Canceled)
		}
	}
}
