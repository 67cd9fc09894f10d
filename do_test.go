package cloudpace_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// script answers with one error after the other, and the last one for ever.
func script(sent *int, errs ...error) func(context.Context) error {
	return func(context.Context) error {
		i := min(*sent, len(errs)-1)
		*sent++
		return errs[i]
	}
}

// TestS7_1_DoRepeats what was throttled or transient, and nothing else.
func TestS7_1_DoRepeats(t *testing.T) {
	for name, c := range map[string]struct {
		answers []error
		sent    int
		fails   bool
	}{
		"success":   {[]error{nil}, 1, false},
		"throttled": {[]error{throttle(), throttle(), nil}, 3, false},
		"transient": {[]error{unavailable(), nil}, 2, false},
		"fatal":     {[]error{denied(), nil}, 1, true},
		"local":     {[]error{errors.New("cannot marshal"), nil}, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, _ func() time.Duration) {
				sent := 0
				err := cloudpace.Do(t.Context(), scope, script(&sent, c.answers...), cloudpace.WithGovernor(governor(t, nil)))
				if sent != c.sent || (err != nil) != c.fails {
					t.Errorf("%d sends and %v, want %d", sent, err, c.sent)
				}
			})
		})
	}
}

// TestS7_2_TheSleep: between base and three times the one before, at most the
// cap; a longer hint raises it, whatever the cap is (A03).
func TestS7_2_TheSleep(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.RetryBudget = 0; p.BreakerThreshold = 1000 })
		for range 50 {
			var at []time.Duration
			_ = cloudpace.Do(t.Context(), scope, func(context.Context) error {
				at = append(at, clock())
				return unavailable()
			}, cloudpace.WithGovernor(g), cloudpace.WithoutBudget(), cloudpace.WithBackoff(time.Second, 5*time.Second))
			previous := time.Second
			for i := 1; i < len(at); i++ {
				d := at[i] - at[i-1]
				if d < time.Second || d > min(5*time.Second, 3*previous) {
					t.Fatalf("sleep %d was %s after one of %s", i, d, previous)
				}
				previous = d
			}
			if len(at) != 9 {
				t.Fatalf("%d attempts, want 9", len(at))
			}
			time.Sleep(time.Minute)
		}
		sent, start := 0, clock()
		hinted := unavailable()
		hinted.Header.Set("Retry-After", "61")
		if err := cloudpace.Do(t.Context(), scope, script(&sent, hinted, nil), cloudpace.WithGovernor(g)); err != nil {
			t.Fatal(err)
		}
		wantTime(t, "attempt after a hint of 61 s", clock()-start, 61*time.Second)
		// S2.7: a transient answer's hint pauses nobody else.
		if b := bucketOf(t, g, sqs); b.PausedSeconds != 0 {
			t.Errorf("paused for %v s", b.PausedSeconds)
		}
	})
}

// TestS7_3_GivesUp: after max_retries with the provider's error inside (C06, E20).
func TestS7_3_GivesUp(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		sent := 0
		ctx, ledger := cloudpace.WithLedger(context.Background())
		err := cloudpace.Do(ctx, scope, script(&sent, throttle()), cloudpace.WithGovernor(g))
		if sent != 9 {
			t.Errorf("%d sends, want 9", sent)
		}
		if e := as[*verdict.ResponseError](t, err); e.Code != "ThrottlingException" {
			t.Errorf("inside: %+v", e)
		}
		for _, part := range []string{"aws/111122223333/us-east-1/sqs", "9 attempts", "ThrottlingException"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not tell %q", err, part)
			}
		}
		if verdict.Classify(err) != verdict.Throttled {
			t.Errorf("kind %v", verdict.Classify(err))
		}
		if n := g.Summary(nil).Totals; n.Calls != 9 || n.Throttled != 9 || n.Retries != 8 || n.GaveUp != 1 {
			t.Errorf("totals %+v", n)
		}
		if !ledger.Degraded() {
			t.Error("not in the ledger")
		}
	})
}

// TestS7_3_AHintBeyondTheDeadline ends the call now, with the provider's error
// inside (A01, E19).
func TestS7_3_AHintBeyondTheDeadline(t *testing.T) {
	for name, hint := range map[string]string{
		"beyond the context": "5", "overflowing": "9223372037", "huge": "99999999999999999999",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, clock func() time.Duration) {
				g := governor(t, nil)
				ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
				defer cancel()
				answer := throttle()
				answer.Header.Set("Retry-After", hint)
				sent := 0
				err := cloudpace.Do(ctx, scope, script(&sent, answer), cloudpace.WithGovernor(g))
				wantTime(t, "end", clock(), 0)
				_ = as[*cloudpace.DeadlineExceededError](t, err)
				_ = as[*verdict.ResponseError](t, err)
				if sent != 1 || !errors.Is(err, context.DeadlineExceeded) || verdict.Classify(err) != verdict.Throttled {
					t.Errorf("%d sends, %v of kind %v", sent, err, verdict.Classify(err))
				}
				if b := bucketOf(t, g, sqs); b.PausedSeconds <= 0 || b.PausedSeconds > 300 {
					t.Errorf("paused for %v s, want the hint up to 300", b.PausedSeconds)
				}
			})
		})
	}
}

// TestA18_ThrottlesAreBoundedByTime: 20 callers, a hint of 10 s each time, five
// minutes; they come back at the bucket's pace and not together. SPEC S7.2 raises
// the sleep to the hint and adds nothing: the pause's queue is what spreads them.
func TestA18_ThrottlesAreBoundedByTime(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.BreakerThreshold = 1000; p.RetryBudget = 100000 })
		back := make(chan time.Duration, 20)
		for range 20 {
			go func() {
				first := true
				_ = cloudpace.Do(t.Context(), scope, func(context.Context) error {
					if !first {
						select {
						case back <- clock():
						default:
						}
						return nil
					}
					first = false
					return throttleFor(10)
				}, cloudpace.WithGovernor(g), cloudpace.WithMaxRetries(50), cloudpace.WithDeadline(5*time.Minute))
			}()
		}
		var last time.Duration
		for i := range 20 {
			at := <-back
			if at < 10*time.Second {
				t.Errorf("caller %d back at %s, before the hint", i, at)
			}
			if i > 0 && at-last < 80*time.Millisecond {
				t.Errorf("caller %d back %s after the one before", i, at-last)
			}
			last = at
		}
	})
}

// TestS7_5_NotIdempotent: only what proves that nothing was run is repeated.
func TestS7_5_NotIdempotent(t *testing.T) {
	hinted := answer(503, "")
	hinted.Header.Set("Retry-After", "1")
	for name, c := range map[string]struct {
		err  error
		sent int
	}{
		"throttled by code": {throttle(), 2},
		"429":               {answer(429, ""), 2},
		"503 with a hint":   {hinted, 2},
		"no connection":     {&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, 2},
		"500":               {unavailable(), 1},
		"reset":             {&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, _ func() time.Duration) {
				sent := 0
				_ = cloudpace.Do(t.Context(), scope, script(&sent, c.err, nil), cloudpace.WithGovernor(governor(t, nil)), cloudpace.Idempotent(false))
				if sent != c.sent {
					t.Errorf("%d sends, want %d", sent, c.sent)
				}
			})
		})
	}
}

// TestDoEndsWithItsContext: a cancel ends the sleep at once and leaves no mark.
func TestDoEndsWithItsContext(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		sent := 0
		err := cloudpace.Do(ctx, scope, script(&sent, throttleFor(30)), cloudpace.WithGovernor(g))
		wantTime(t, "end", clock(), 100*time.Millisecond)
		if !errors.Is(err, context.Canceled) || verdict.Classify(err) != verdict.Canceled {
			t.Errorf("%v of kind %v", err, verdict.Classify(err))
		}
		_ = as[*verdict.ResponseError](t, err)
		if n := g.Summary(nil).Totals; n.GaveUp != 0 || breakerOf(t, g, sqs).Failures != 0 {
			t.Errorf("totals %+v: a cancelled call leaves no mark", n)
		}
	})
}

// TestDoValue gives the value of the attempt that arrived.
func TestDoValue(t *testing.T) {
	v, err := cloudpace.DoValue(t.Context(), scope, func(context.Context) (string, error) { return "x", nil },
		cloudpace.WithGovernor(governor(t, nil)))
	if v != "x" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
}

// TestS9_3_Disabled: Do calls once, nothing is held, and throttling is still told.
func TestS9_3_Disabled(t *testing.T) {
	for name, change := range map[string]func(*cloudpace.Config){
		"governor": func(c *cloudpace.Config) { c.Enabled = false },
		"provider": func(c *cloudpace.Config) {
			p := c.Providers["aws"]
			p.Enabled = false
			c.Providers["aws"] = p
		},
		"zero config": func(c *cloudpace.Config) { *c = cloudpace.Config{} },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := cloudpace.DefaultConfig()
			change(&cfg)
			g, err := cloudpace.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			sent := 0
			err = cloudpace.Do(t.Context(), scope, script(&sent, throttle()), cloudpace.WithGovernor(g))
			if sent != 1 || !strings.HasPrefix(verdict.Describe(err), "throttled: ") {
				t.Errorf("%d sends, %q", sent, verdict.Describe(err))
			}
			for range 1000 { // no pace, no slot
				if c, err := g.Begin(t.Context(), scope); err != nil || c.Governed() {
					t.Fatalf("Begin: governed %v, %v", c.Governed(), err)
				}
			}
		})
	}
}

// A caller's function may make an error of an answer that is none: a 304 is
// returned as it is, and the rate recovers as after any answer.
func TestS4_3_AnAnswerThatIsReturnedAsAnError(t *testing.T) {
	bubble(t, func(t *testing.T, _ func() time.Duration) {
		g := governor(t, nil)
		fail(t, g, scope, throttle())
		time.Sleep(10 * time.Second)
		unchanged := &verdict.ResponseError{StatusCode: 304}
		err := cloudpace.Do(t.Context(), scope, func(context.Context) error { return unchanged }, cloudpace.WithGovernor(g))
		if err != unchanged {
			t.Errorf("%v, want it as it was", err)
		}
		if b := bucketOf(t, g, sqs); b.RPS != 11 {
			t.Errorf("rate %v, want 11", b.RPS)
		}
		if n := slotsOf(t, g, "111122223333").InUse; n != 0 {
			t.Errorf("%d slots in use", n)
		}
	})
}
