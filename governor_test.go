package cloudpace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cloudpace/cloudpace"
)

// TestS1_1_ScopeText reads back what it writes.
func TestS1_1_ScopeText(t *testing.T) {
	for text, s := range map[string]cloudpace.Scope{
		"aws/111122223333/us-east-1/ec2/DescribeSubnets": {Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "ec2", Operation: "DescribeSubnets"},
		"azure/*/*/resourcegraph":                        {Provider: "azure", Service: "resourcegraph"},
		"gcp/projects/p-1/*/cloudasset/ListAssets":       {Provider: "gcp", Account: "projects/p-1", Service: "cloudasset", Operation: "ListAssets"},
		"databricks/host/*/rest/GET /api/2.0/x":          {Provider: "databricks", Account: "host", Service: "rest", Operation: "GET /api/2.0/x"},
		"x/a%2Fb%25/*/s":                                 {Provider: "x", Account: "a/b%", Service: "s"},
		"*/*/*/*":                                        {},
	} {
		if got := s.String(); got != text {
			t.Errorf("%+v is written %q, want %q", s, got, text)
		}
		if got, err := cloudpace.ParseScope(text); err != nil || got != s {
			t.Errorf("%q is read %+v, %v, want %+v", text, got, err, s)
		}
	}
	for _, bad := range []string{"", "aws", "aws/1/2", "aws/%zz/r/s", "aws/%2/r/s", "gcp/projects/x"} {
		if s, err := cloudpace.ParseScope(bad); err == nil {
			t.Errorf("%q is read %+v, want an error", bad, s)
		}
	}
	part := rapid.OneOf(rapid.StringMatching(`[a-z%/]{1,6}`), rapid.Just("projects"), rapid.Just("folders/x/y"), rapid.Just(""))
	rapid.Check(t, func(t *rapid.T) {
		s := cloudpace.Scope{Provider: part.Draw(t, "p"), Account: part.Draw(t, "a"), Region: part.Draw(t, "r"), Service: part.Draw(t, "s"), Operation: part.Draw(t, "o")}
		if got, err := cloudpace.ParseScope(s.String()); err != nil || got != s {
			t.Fatalf("%+v → %q → %+v, %v", s, s.String(), got, err)
		}
	})
}

func FuzzParseScope(f *testing.F) {
	f.Add("aws/111122223333/us-east-1/ec2/DescribeSubnets")
	f.Add("gcp/projects/p%2F/*/x")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := cloudpace.ParseScope(text)
		if err != nil {
			return
		}
		if again, err := cloudpace.ParseScope(s.String()); err != nil || again != s {
			t.Errorf("%q → %+v → %q → %+v, %v", text, s, s.String(), again, err)
		}
	})
}

// TestS9_2_Configure: the same again changes nothing; a change gives new buckets,
// moves those who queue, and keeps slots in use counted.
func TestS9_2_Configure(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 0.2, 1 })
		held := begin(t, g, scope)
		if err := g.Configure(g.Config()); err != nil {
			t.Fatal(err)
		}
		if b := bucketOf(t, g, sqs); b.Tokens != 0 {
			t.Errorf("the same settings: %v tokens, want the bucket as it was", b.Tokens)
		}
		moved := make(chan time.Duration)
		go func() {
			begin(t, g, scope).End(nil)
			moved <- clock()
		}()
		time.Sleep(time.Second)
		cfg := g.Config()
		p := cfg.Providers["aws"]
		p.MaxRPS, p.Burst, p.MaxConcurrency = 10, 10, 2
		cfg.Providers["aws"] = p
		if err := g.Configure(cfg); err != nil {
			t.Fatal(err)
		}
		wantTime(t, "who queued at the old rate", <-moved, time.Second)
		if s := slotsOf(t, g, "111122223333"); s.InUse != 1 || s.Slots != 2 {
			t.Errorf("%+v, want one of two in use", s)
		}
		held.End(nil)
		if s := slotsOf(t, g, "111122223333"); s.InUse != 0 {
			t.Errorf("%+v, want none in use", s)
		}
		cfg.Providers["aws"] = cloudpace.Provider{Enabled: true, MaxRPS: -1}
		if err := g.Configure(cfg); err == nil {
			t.Error("a bad configuration was taken")
		}
		if got := g.Config().Providers["aws"].MaxRPS; got != 10 {
			t.Errorf("after a refused change max_rps is %v, want 10", got)
		}
	})
}

// TestS8_1_Summary has the line of an eventful scope.
func TestS8_1_Summary(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, nil)
		ec2 := scope
		ec2.Service, ec2.Operation = "ec2", "DescribeInstances"
		sent := 0
		_ = cloudpace.Do(t.Context(), ec2, script(&sent, throttle()), cloudpace.WithGovernor(g), cloudpace.WithMaxRetries(2), cloudpace.WithBackoff(2*time.Second, 2*time.Second))
		sum := g.Summary(nil)
		want := "aws/111122223333/us-east-1/ec2: throttled 3x, slowed to 2.5 rps, 2 retries, 1 call gave up"
		if len(sum.Messages) != 1 || sum.Messages[0] != want {
			t.Errorf("messages %q, want %q", sum.Messages, want)
		}
		if len(sum.Skipped) != 1 || sum.Skipped[0].GaveUp != 1 || !strings.Contains(sum.Skipped[0].Reason, "ThrottlingException") {
			t.Errorf("skipped %+v", sum.Skipped)
		}
		if len(sum.Slowed) != 1 || sum.Slowed[0].RPS != 2.5 || sum.Scopes[0].RPS != 2.5 || sum.Scopes[0].LowestRPS != 2.5 {
			t.Errorf("slowed %+v, scopes %+v", sum.Slowed, sum.Scopes)
		}
	})
}

// TestS8_2_RunsSideBySide keep their numbers apart; the governor has both.
func TestS8_2_RunsSideBySide(t *testing.T) {
	g := governor(t, nil)
	a, sa := cloudpace.WithStats(t.Context())
	b, sb := cloudpace.WithStats(t.Context())
	inner, si := cloudpace.WithStats(b)
	for ctx, n := range map[context.Context]int{a: 3, b: 4, inner: 5} {
		for range n {
			c, err := g.Begin(ctx, scope)
			if err != nil {
				t.Fatal(err)
			}
			c.End(nil)
		}
	}
	for name, c := range map[string]struct {
		stats *cloudpace.Stats
		want  int
	}{"a": {sa, 3}, "b with what is inside": {sb, 9}, "inside b": {si, 5}, "lifetime": {nil, 12}} {
		if got := g.Summary(c.stats).Totals.Calls; got != c.want {
			t.Errorf("%s: %d calls, want %d", name, got, c.want)
		}
		if c.stats != nil && c.stats.Totals() != g.Summary(c.stats).Totals {
			t.Errorf("%s: %+v", name, c.stats.Totals())
		}
	}
}

// TestS8_3_TheLedger words what was lost, also when the errors were swallowed.
func TestS8_3_TheLedger(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.BreakerThreshold = 2 })
		ctx, ledger := cloudpace.WithLedger(t.Context())
		if ledger.Degraded() || ledger.String() != "" {
			t.Errorf("fresh ledger: %q", ledger)
		}
		for range 4 {
			if c, err := g.Begin(ctx, scope); err == nil {
				c.End(throttle())
			}
		}
		text := ledger.String()
		if !strings.HasPrefix(text, "throttled: 2 call(s) gave up after retries, 2 call(s) skipped (circuit open) (") || !ledger.Degraded() {
			t.Errorf("%q", text)
		}
		ctx, ledger = cloudpace.WithLedger(t.Context())
		other := scope
		other.Service = "sns"
		c, err := g.Begin(ctx, other)
		if err != nil {
			t.Fatal(err)
		}
		c.End(unavailable()) // transient counts as given up here
		if text := ledger.String(); !strings.HasPrefix(text, "throttled: 1 call(s) gave up after retries (") {
			t.Errorf("%q", text)
		}
	})
}

// TestE28_TheRateComesBack: after a stretch of throttles the rate is back at 80 %
// of the ceiling within two minutes of light, healthy load.
func TestE28_TheRateComesBack(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.BreakerThreshold = 1000 })
		for range 20 {
			fail(t, g, scope, throttle())
			time.Sleep(time.Second)
		}
		if b := bucketOf(t, g, sqs); b.RPS != 0.2 {
			t.Fatalf("rate %v, want the floor 0.2", b.RPS)
		}
		start := clock()
		for clock()-start < 2*time.Minute {
			begin(t, g, scope).End(nil)
			time.Sleep(10 * time.Millisecond)
		}
		if b := bucketOf(t, g, sqs); b.RPS < 16 {
			t.Errorf("rate %v after two minutes, want 16 at least", b.RPS)
		}
	})
}

func ExampleScope_String() {
	s := cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "ec2", Operation: "DescribeSubnets"}
	fmt.Println(s)
	fmt.Println(cloudpace.Scope{Provider: "azure", Service: "resourcegraph"})
	// Output:
	// aws/111122223333/us-east-1/ec2/DescribeSubnets
	// azure/*/*/resourcegraph
}

func ExampleDo() {
	scope := cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "ec2"}
	err := cloudpace.Do(context.Background(), scope, func(context.Context) error {
		return nil // the call to the provider
	})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleWithLedger() {
	ctx, ledger := cloudpace.WithLedger(context.Background())
	_ = cloudpace.Do(ctx, cloudpace.Scope{Provider: "aws", Service: "sts"}, func(context.Context) error { return nil })
	fmt.Println("partial:", ledger.Degraded())
	// Output: partial: false
}

func ExampleGovernor_Begin() {
	g := cloudpace.Default()
	call, err := g.Begin(context.Background(), cloudpace.Scope{Provider: "aws", Service: "sts"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer call.Drop()
	// … send, with call.Context() …
	call.Succeeded()
	call.End(nil)
	fmt.Println("sent")
	// Output: sent
}

// TestS9_2_CapsOfProvidersOutOfUse: a cap that changes twice, or while the provider
// is switched off, is the one in force when it is used again.
func TestS9_2_CapsOfProvidersOutOfUse(t *testing.T) {
	g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 4 })
	begin(t, g, scope).End(nil)
	change := func(f func(*cloudpace.Provider)) {
		t.Helper()
		cfg := g.Config()
		p := cfg.Providers["aws"]
		f(&p)
		cfg.Providers["aws"] = p
		if err := g.Configure(cfg); err != nil {
			t.Fatal(err)
		}
	}
	want := func(n int) {
		t.Helper()
		begin(t, g, scope).End(nil)
		if s := slotsOf(t, g, "111122223333"); s.Slots != n {
			t.Errorf("%d slots, want %d", s.Slots, n)
		}
	}
	change(func(p *cloudpace.Provider) { p.MaxConcurrency = 8 })
	change(func(p *cloudpace.Provider) { p.MaxConcurrency = 2 })
	want(2)
	change(func(p *cloudpace.Provider) { p.Enabled = false })
	change(func(p *cloudpace.Provider) { p.MaxConcurrency = 5 })
	change(func(p *cloudpace.Provider) { p.Enabled = true })
	want(5)
}

// TestS8_1_NoLimitInJSON: a rate without limit is null, is not cut, and no line says
// so.
func TestS8_1_NoLimitInJSON(t *testing.T) {
	g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.Services = math.Inf(1), 0, nil })
	begin(t, g, scope).End(throttle())
	for what, v := range map[string]any{"snapshot": g.Snapshot(), "summary": g.Summary(nil)} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if what == "snapshot" && !strings.Contains(string(text), `"rps":null`) {
			t.Errorf("%s", text)
		}
	}
	for _, line := range g.Summary(nil).Messages {
		if strings.Contains(line, "slowed") {
			t.Error(line)
		}
	}
	limited := governor(t, nil)
	begin(t, limited, scope).End(nil)
	text, err := json.Marshal(limited.Snapshot().Buckets[0])
	var back map[string]any
	if err := errors.Join(err, json.Unmarshal(text, &back)); err != nil || back["max_rps"] != 20.0 || back["level"] != "leaf" {
		t.Errorf("%s: %v", text, err)
	}
}
