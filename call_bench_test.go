package cloudpace_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/cloudpace/cloudpace"
)

// fast is a configuration whose buckets never run dry in a benchmark.
func fast(tb testing.TB) *cloudpace.Governor {
	tb.Helper()
	cfg := cloudpace.DefaultConfig()
	p := cfg.Providers["aws"]
	p.Services = nil
	p.MaxRPS, p.Burst, p.MaxConcurrency = 1e12, 1e12, 1024
	cfg.Providers["aws"] = p
	g, err := cloudpace.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

var benchScope = cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "ec2", Operation: "DescribeInstances"}

func BenchmarkBeginEnd(b *testing.B) {
	g, ctx := fast(b), context.Background()
	b.ReportAllocs()
	for b.Loop() {
		c, err := g.Begin(ctx, benchScope)
		if err != nil {
			b.Fatal(err)
		}
		c.End(nil)
	}
}

func BenchmarkBeginEndParallel(b *testing.B) {
	g, ctx := fast(b), context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c, err := g.Begin(ctx, benchScope)
			if err != nil {
				b.Error(err)
				return
			}
			c.End(nil)
		}
	})
}

func BenchmarkDo(b *testing.B) {
	ctx := context.Background()
	with := cloudpace.WithGovernor(fast(b))
	fn := func(context.Context) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		if err := cloudpace.Do(ctx, benchScope, fn, with); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDoValue(b *testing.B) {
	ctx := context.Background()
	with := cloudpace.WithGovernor(fast(b))
	fn := func(context.Context) (int, error) { return 1, nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cloudpace.DoValue(ctx, benchScope, fn, with); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWithStatsAndLedger(b *testing.B) {
	g := fast(b)
	ctx, _ := cloudpace.WithStats(context.Background())
	ctx, _ = cloudpace.WithLedger(ctx)
	b.ReportAllocs()
	for b.Loop() {
		c, err := g.Begin(ctx, benchScope)
		if err != nil {
			b.Fatal(err)
		}
		c.End(nil)
	}
}

// tenThousand gives a governor whose scopes have a bucket of their own and one of their
// account, and knows ten thousand of them.
func tenThousand(tb testing.TB) (*cloudpace.Governor, []cloudpace.Scope) {
	tb.Helper()
	cfg := fast(tb).Config()
	p := cfg.Providers["aws"]
	p.AccountMaxRPS, p.AccountBurst = 1e12, 1e12
	cfg.Providers["aws"] = p
	g, err := cloudpace.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	scopes := make([]cloudpace.Scope, 10_000)
	for i := range scopes {
		s := benchScope
		s.Account, s.Region = fmt.Sprintf("1111222%05d", i/100), fmt.Sprintf("region-%d", i%20)
		s.Operation = fmt.Sprintf("Describe%d", i/20%5)
		scopes[i] = s
		begin(tb, g, s).End(nil)
	}
	return g, scopes
}

func BenchmarkDoAmongTenThousand(b *testing.B) {
	g, scopes := tenThousand(b)
	ctx, with := context.Background(), cloudpace.WithGovernor(g)
	fn := func(context.Context) error { return nil }
	one := scopes[len(scopes)/2]
	b.Run("One", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := cloudpace.Do(ctx, one, fn, with); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Each", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if err := cloudpace.Do(ctx, scopes[i%len(scopes)], fn, with); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("OneParallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := cloudpace.Do(ctx, one, fn, with); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
	b.Run("EachParallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				if err := cloudpace.Do(ctx, scopes[i%len(scopes)], fn, with); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}

// TestAllocationsAmongTenThousandScopes: Do makes one, of at most 64 bytes, also where two
// levels of buckets apply and each call is of another scope.
func TestAllocationsAmongTenThousandScopes(t *testing.T) {
	g, scopes := tenThousand(t)
	ctx, with := context.Background(), cloudpace.WithGovernor(g)
	fn := func(context.Context) error { return nil }
	var err error
	i := 0
	if n := testing.AllocsPerRun(2*len(scopes), func() {
		err = errors.Join(err, cloudpace.Do(ctx, scopes[i%len(scopes)], fn, with))
		i++
	}); n > 1 {
		t.Errorf("%v allocations, want at most 1", n)
	}
	if err != nil {
		t.Error(err)
	}
	const runs = 10_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		err = errors.Join(err, cloudpace.Do(ctx, scopes[0], fn, with))
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / runs; each > 64 || err != nil {
		t.Errorf("%d bytes a call, want at most 64; %v", each, err)
	}
}

// TestAllocationsOnAWarmScope: Begin with End, and Do, make at most one.
func TestAllocationsOnAWarmScope(t *testing.T) {
	g, ctx := fast(t), context.Background()
	with := cloudpace.WithGovernor(g)
	fn := func(context.Context) error { return nil }
	value := func(context.Context) (int, error) { return 1, nil }
	for name, f := range map[string]func() error{
		"Begin+End": func() error {
			c, err := g.Begin(ctx, benchScope)
			if err == nil {
				c.End(nil)
			}
			return err
		},
		"Begin+Succeeded+End+Drop": func() error {
			c, err := g.Begin(ctx, benchScope, cloudpace.CountOnce(), cloudpace.FreeTransientRetries())
			if err != nil {
				return err
			}
			defer c.Drop()
			c.Succeeded()
			c.End(nil)
			return nil
		},
		"Do": func() error { return cloudpace.Do(ctx, benchScope, fn, with) },
		"DoValue": func() error {
			v, err := cloudpace.DoValue(ctx, benchScope, value, with)
			if v != 1 {
				return errors.New("no value")
			}
			return err
		},
	} {
		var err error
		if n := testing.AllocsPerRun(200, func() { err = errors.Join(err, f()) }); n > 1 {
			t.Errorf("%s: %v allocations, want at most 1", name, n)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
