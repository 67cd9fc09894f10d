package timeline

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// governor is one with a single bucket of 10 calls a second for each service, and
// the context of a run.
func governor(t testing.TB) (*cloudpace.Governor, context.Context, *cloudpace.Stats) {
	t.Helper()
	c := cloudpace.DefaultConfig()
	p := c.Providers["aws"]
	p.Services = nil
	p.MaxRPS, p.Burst = 10, 1
	c.Providers["aws"] = p
	g, err := cloudpace.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stats := cloudpace.WithStats(t.Context())
	return g, ctx, stats
}

// call makes one call, throttled or not.
func call(t testing.TB, ctx context.Context, g *cloudpace.Governor, s cloudpace.Scope, throttled bool) {
	t.Helper()
	c, err := g.Begin(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Drop()
	if throttled {
		err = &verdict.ResponseError{Provider: "aws", StatusCode: 429, Code: "Throttling"}
		c.Failed(err)
		c.End(err)
		return
	}
	c.Succeeded()
	c.End(nil)
}

func service(name string) cloudpace.Scope {
	return cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: name}
}

// TestSlowed: one service is throttled a few seconds into a run and recovers, and
// another is not.
func TestSlowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, ctx, stats := governor(t)
		r := Start(g, stats)
		for range 50 {
			call(t, ctx, g, service("quiet"), false)
		}
		for range 20 {
			call(t, ctx, g, service("busy"), false)
		}
		for range 2 {
			call(t, ctx, g, service("busy"), true)
		}
		for range 600 {
			call(t, ctx, g, service("busy"), false)
		}
		line := r.Stop()
		if len(line.Scopes) != 1 || line.Scopes[0].Scope != service("busy").String() {
			t.Fatalf("scopes %+v, want the busy one", line.Scopes)
		}
		points := line.Scopes[0].Points
		lowest, before, atOnce := math.Inf(1), 0.0, 0.0
		for i, p := range points {
			if p.Seconds < before || p.MaxRPS != 10 || p.RPS > 10 {
				t.Errorf("point %d is %+v after one at %v", i, p, before)
			}
			before = p.Seconds
			if p.Throttled > 0 && atOnce == 0 {
				atOnce = p.Seconds
			}
			lowest = min(lowest, p.RPS)
		}
		first, last := points[0], points[len(points)-1]
		if first.RPS != 10 || first.Throttled != 0 || lowest >= 10 || last.RPS != 10 {
			t.Errorf("from %+v, at least %v, to %+v; want full, less, full again", first, lowest, last)
		}
		if last.Throttled != 2 || last.Calls != 622 || last.Seconds != line.Seconds || last.Waits == 0 {
			t.Errorf("the last point is %+v of %v s", last, line.Seconds)
		}
		if atOnce < 6.5 || atOnce > 8.5 {
			t.Errorf("throttled at %v s, want about 7", atOnce)
		}
	})
}

// TestQuiet: a run in which nothing happens has a timeline without scopes.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, ctx, stats := governor(t)
		r := Start(g, stats)
		call(t, ctx, g, service("quiet"), false)
		time.Sleep(1500 * time.Millisecond)
		if line := r.Stop(); line.Scopes == nil || len(line.Scopes) != 0 || line.LeftOut != 0 || line.Seconds != 1.5 {
			t.Errorf("timeline %+v", line)
		}
	})
}

// fake is a source that says what it is told to.
type fake struct {
	state   cloudpace.Snapshot
	numbers cloudpace.Summary
	takes   time.Duration
	samples int
}

func (f *fake) Snapshot() cloudpace.Snapshot {
	f.samples++
	time.Sleep(f.takes)
	return f.state
}

func (f *fake) Summary(*cloudpace.Stats) cloudpace.Summary { return f.numbers }

// TestCost: samples come seldom in a long run, and more seldom where they take
// long.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		takes, run  time.Duration
		least, most int
	}{
		{0, time.Second, 10, 11},
		{0, 1000 * time.Second, 1100, 1400},
		{100 * time.Millisecond, 100 * time.Second, 10, 22},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{takes: c.takes}
			r := Start(f, nil)
			time.Sleep(c.run)
			r.Stop()
			if f.samples < c.least || f.samples > c.most {
				t.Errorf("%d samples in %s, each taking %s", f.samples, c.run, c.takes)
			}
		})
	}
}

// leaf is the bucket of a service's operation.
func leaf(operation string, rps, most float64) cloudpace.BucketState {
	s := service("ec2")
	s.Operation = operation
	return cloudpace.BucketState{Scope: s.String(), Level: "leaf", RPS: rps, MaxRPS: most}
}

// TestBucketShown: the rate is that of the bucket slowed down the most, and a
// recovered service keeps the one it had.
func TestBucketShown(t *testing.T) {
	h := newHistory()
	numbers := cloudpace.Summary{Scopes: []cloudpace.ScopeSummary{{Scope: service("ec2").String()}}}
	for i, c := range []struct {
		buckets   []cloudpace.BucketState
		rps, most float64
	}{
		{[]cloudpace.BucketState{leaf("A", 100, 100), leaf("B", 20, 20)}, 20, 20},
		{[]cloudpace.BucketState{leaf("A", 40, 100), leaf("B", 20, 20)}, 40, 100},
		{[]cloudpace.BucketState{leaf("A", 100, 100), leaf("B", 20, 20)}, 100, 100},
		{[]cloudpace.BucketState{leaf("A", 90, 100), leaf("B", 5, 20)}, 5, 20},
		{[]cloudpace.BucketState{leaf("A", 90, 100), leaf("B", math.Inf(1), math.Inf(1))}, 90, 100},
		{nil, 0, 0},
		{[]cloudpace.BucketState{leaf("B", 0.00001, math.Inf(1))}, 0.001, 0},
	} {
		h.add(time.Duration(i+1)*time.Second, cloudpace.Snapshot{Buckets: c.buckets}, numbers)
		if p := h.tracks[service("ec2").String()].last; p.RPS != c.rps || p.MaxRPS != c.most {
			t.Errorf("sample %d: %v of %v, want %v of %v", i, p.RPS, p.MaxRPS, c.rps, c.most)
		}
	}
}

// TestPausedAbove: a pause of the account, or of the provider, is one of those of its
// services that somebody waits for.
func TestPausedAbove(t *testing.T) {
	for _, c := range []struct {
		scope   cloudpace.Scope
		waiting int
		paused  bool
	}{
		{cloudpace.Scope{Provider: "aws", Account: "111122223333"}, 1, true},
		{cloudpace.Scope{Provider: "aws"}, 1, true},
		{cloudpace.Scope{Provider: "aws"}, 0, false},
		{cloudpace.Scope{Provider: "aws", Account: "444455556666"}, 1, false},
		{cloudpace.Scope{Provider: "azure"}, 1, false},
	} {
		h := newHistory()
		h.add(time.Second,
			cloudpace.Snapshot{Buckets: []cloudpace.BucketState{
				{Scope: c.scope.String(), Level: "account", PausedSeconds: 1},
				{Scope: service("ec2").String(), Level: "leaf", RPS: 20, MaxRPS: 20, Waiting: c.waiting},
			}},
			cloudpace.Summary{Scopes: []cloudpace.ScopeSummary{{Scope: service("ec2").String()}}})
		if got := len(h.timeline(time.Second).Scopes) == 1; got != c.paused {
			t.Errorf("%s paused: the service counts as paused: %v", c.scope, got)
		}
	}
}

// TestMerged: points stay few and even, and what happened at one of them does not
// get lost between its neighbours.
func TestMerged(t *testing.T) {
	h := newHistory()
	const n = 5000
	for i := 1; i <= n; i++ {
		b := leaf("A", 10, 20)
		if i == 1234 {
			b.RPS, b.PausedSeconds, b.Waiting = 1, 3, 7
		}
		h.add(time.Duration(i)*time.Second, cloudpace.Snapshot{Buckets: []cloudpace.BucketState{b}},
			cloudpace.Summary{Scopes: []cloudpace.ScopeSummary{{Scope: service("ec2").String(), Totals: cloudpace.Totals{Calls: i, Throttled: 1}}}})
	}
	points := h.timeline(n * time.Second).Scopes[0].Points
	if len(points) > MaxPoints || len(points) < MaxPoints/2 || points[len(points)-1].Calls != n {
		t.Errorf("%d points up to %+v", len(points), points[len(points)-1])
	}
	before, found := 0.0, 0
	for _, p := range points {
		if p.Seconds-before > 4*n/MaxPoints {
			t.Errorf("a point spans %v s", p.Seconds-before)
		}
		if before < 1234 && 1234 <= p.Seconds {
			found++
			if p.RPS != 1 || !p.Paused || p.Waiting != 7 {
				t.Errorf("the point with the event is %+v", p)
			}
		}
		before = p.Seconds
	}
	if found != 1 {
		t.Errorf("%d points have the event", found)
	}
}

// TestProlonged: a scope that stands still costs one point.
func TestProlonged(t *testing.T) {
	var points []Point
	for i := range 100 {
		points = follow(points, Point{Seconds: float64(i), Throttled: 1})
	}
	if len(points) != 1 || points[0].Seconds != 99 {
		t.Errorf("points %+v", points)
	}
}

// TestBounds: of very many scopes the most throttled are kept, and the others are
// counted.
func TestBounds(t *testing.T) {
	h := newHistory()
	var numbers cloudpace.Summary
	const n = maxFollowed + 500
	for i := range n {
		numbers.Scopes = append(numbers.Scopes, cloudpace.ScopeSummary{Scope: service(fmt.Sprint(i)).String(), Totals: cloudpace.Totals{Throttled: i + 1}})
	}
	for i := range 3 {
		h.add(time.Duration(i)*time.Second, cloudpace.Snapshot{}, numbers)
	}
	line := h.timeline(time.Minute)
	if len(line.Scopes) != MaxScopes || line.LeftOut != n-MaxScopes || line.Scopes[0].Scope != service(fmt.Sprint(maxFollowed-1)).String() {
		t.Errorf("%d scopes, %d left out, first %s", len(line.Scopes), line.LeftOut, line.Scopes[0].Scope)
	}
}

// BenchmarkSample is one sample of a run with 10,000 service scopes, each with a
// bucket.
func BenchmarkSample(b *testing.B) {
	g, ctx, stats := governor(b)
	for i := range 10_000 {
		s := service(fmt.Sprint(i % 50))
		s.Account = fmt.Sprint(111122220000 + i/50)
		call(b, ctx, g, s, i%20 == 0)
	}
	r := &Recorder{source: g, stats: stats, start: time.Now(), past: newHistory()}
	b.ReportAllocs()
	for b.Loop() {
		r.sample(time.Now())
	}
}
