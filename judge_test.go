package cloudpace_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// odd is an error that Go cannot compare though its type says it can.
type odd struct{ v any }

func (odd) Error() string { return "odd" }

// list is one whose type says that it cannot.
type several []error

func (several) Error() string { return "several" }

// TestS5_3_ErrorsThatPanic are taken for errors nothing is known about: the call
// ends, and everything comes back.
func TestS5_3_ErrorsThatPanic(t *testing.T) {
	for name, err := range map[string]error{
		"a typed nil":        (*url.Error)(nil),
		"a panic in Is":      panics{},
		"not to be compared": odd{[]int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			g := governor(t, nil)
			got := cloudpace.Do(t.Context(), scope, func(ctx context.Context) error {
				_ = cloudpace.Do(ctx, scope, func(context.Context) error { return odd{[]int{2}} }, cloudpace.WithGovernor(g))
				return err
			}, cloudpace.WithGovernor(g))
			if got == nil {
				t.Error("no error")
			}
			if n := slotsOf(t, g, "111122223333").InUse; n != 0 {
				t.Errorf("%d slots in use", n)
			}
			c := begin(t, g, scope, cloudpace.HoldSlot())
			if kind := c.Failed(err); kind != verdict.Fatal {
				t.Errorf("%s, want fatal", kind)
			}
			c.End(err)
			if b := breakerOf(t, g, sqs); b.Failures != 0 {
				t.Errorf("%+v", b)
			}
		})
	}
}

type panics struct{}

func (panics) Error() string   { return "panics" }
func (panics) Is(error) bool   { panic("Is") }
func (panics) As(any) bool     { panic("As") }
func (panics) Unwrap() []error { panic("Unwrap") }

// TestS5_4_WhichOfSeveral: of several calls under one, each is known again, and
// none is repeated by the outer call or counted there.
func TestS5_4_WhichOfSeveral(t *testing.T) {
	other := scope
	other.Service = "sns"
	off := cloudpace.Scope{Provider: "off", Account: "1", Service: "x"}
	inner := func(ctx context.Context, g *cloudpace.Governor, s cloudpace.Scope, err error) error {
		return cloudpace.Do(ctx, s, func(context.Context) error { return err }, cloudpace.WithGovernor(g), cloudpace.WithMaxRetries(0))
	}
	for name, work := range map[string]func(context.Context, *cloudpace.Governor) error{
		"the first of two": func(ctx context.Context, g *cloudpace.Governor) error {
			first := inner(ctx, g, other, throttle())
			_ = inner(ctx, g, other, denied())
			return first
		},
		"the first of a hundred": func(ctx context.Context, g *cloudpace.Governor) error {
			first := inner(ctx, g, other, throttle())
			for range 100 {
				_ = inner(ctx, g, other, denied())
			}
			return fmt.Errorf("wrapped: %w", first)
		},
		"the last of a hundred": func(ctx context.Context, g *cloudpace.Governor) error {
			for range 100 {
				_ = inner(ctx, g, other, denied())
			}
			return errors.Join(errors.New("and more"), inner(ctx, g, other, throttle()))
		},
		"through a call that nobody governs": func(ctx context.Context, g *cloudpace.Governor) error {
			return cloudpace.Do(ctx, off, func(ctx context.Context) error { return inner(ctx, g, other, throttle()) }, cloudpace.WithGovernor(g))
		},
		"one that cannot be compared": func(ctx context.Context, g *cloudpace.Governor) error {
			return inner(ctx, g, other, several{throttle(), io.ErrUnexpectedEOF})
		},
		"one that was not admitted": func(ctx context.Context, g *cloudpace.Governor) error {
			drain(t, g, other, 40)
			ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			return inner(ctx, g, other, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, clock func() time.Duration) {
				g := governor(t, nil)
				cfg := g.Config()
				p := cloudpace.DefaultProvider()
				p.Enabled = false
				cfg.Providers["off"] = p
				if err := g.Configure(cfg); err != nil {
					t.Fatal(err)
				}
				outer := 0
				if err := cloudpace.Do(t.Context(), scope, func(ctx context.Context) error {
					outer++
					return work(ctx, g)
				}, cloudpace.WithGovernor(g)); err == nil {
					t.Error("no error")
				}
				if outer != 1 {
					t.Errorf("%d outer attempts, want 1", outer)
				}
				if b := bucketOf(t, g, sqs); b.RPS != 20 {
					t.Errorf("outer rate %v, want 20", b.RPS)
				}
				if b := breakerOf(t, g, sqs); b.Failures != 0 {
					t.Errorf("outer breaker %+v", b)
				}
			})
		})
	}
}

// TestS5_4_AnErrorThatLooksLikeAnOldOne: a nested failure that was swallowed in an
// earlier attempt does not make the outer call's own alike error final.
func TestS5_4_AnErrorThatLooksLikeAnOldOne(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		n := 0
		err := cloudpace.Do(t.Context(), scope, func(ctx context.Context) error {
			if n++; n == 1 {
				_ = cloudpace.Do(ctx, scope, func(context.Context) error { return io.ErrUnexpectedEOF },
					cloudpace.WithGovernor(g), cloudpace.WithMaxRetries(0))
				return unavailable()
			}
			if n == 2 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}, cloudpace.WithGovernor(g))
		if err != nil || n != 3 {
			t.Errorf("%d attempts: %v", n, err)
		}
	})
}

// TestS2_9_TimeToRetry: the own errors tell theirs, not that of the error inside.
func TestS2_9_TimeToRetry(t *testing.T) {
	for _, c := range []struct {
		err  error
		want time.Duration
		ok   bool
	}{
		{&cloudpace.CircuitOpenError{RetryAfter: time.Minute, Err: throttleFor(2)}, time.Minute, true},
		{&cloudpace.DeadlineExceededError{RetryAfter: time.Minute}, time.Minute, true},
		{&cloudpace.DeadlineExceededError{Err: throttleFor(2)}, 2 * time.Second, true},
		{&cloudpace.RetryBudgetExhaustedError{RetryAfter: 3 * time.Second, Err: throttle()}, 3 * time.Second, true},
		{&cloudpace.RetryBudgetExhaustedError{Err: throttle()}, 0, false},
	} {
		if d, ok := verdict.RetryAfter(fmt.Errorf("wrapped: %w", c.err)); d != c.want || ok != c.ok {
			t.Errorf("%v: %s, %v; want %s, %v", c.err, d, ok, c.want, c.ok)
		}
	}
}

// TestS8_3_CallsThatWereNeverSent are lost too: the ledger has them once, the
// numbers and the breaker not at all (S2.9).
func TestS8_3_CallsThatWereNeverSent(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		fail(t, g, scope, throttleFor(60))
		before := g.Summary(nil).Totals

		ctx, ledger := cloudpace.WithLedger(t.Context())
		work := func(context.Context) error { return nil }
		_ = cloudpace.Do(ctx, scope, work, cloudpace.WithGovernor(g), cloudpace.WithDeadline(time.Second))
		if text := ledger.String(); !strings.HasPrefix(text, "throttled: 1 call(s) gave up") || !strings.Contains(text, sqs) {
			t.Errorf("%q", text)
		}

		ctx, ledger = cloudpace.WithLedger(t.Context())
		other := scope
		other.Service = "sns"
		_ = cloudpace.Do(ctx, other, func(ctx context.Context) error {
			return cloudpace.Do(ctx, scope, work, cloudpace.WithGovernor(g), cloudpace.WithDeadline(time.Second))
		}, cloudpace.WithGovernor(g))
		if text := ledger.String(); !strings.HasPrefix(text, "throttled: 1 call(s) gave up") {
			t.Errorf("under another: %q", text)
		}

		ctx, ledger = cloudpace.WithLedger(t.Context())
		c, err := g.Begin(ctx, other, cloudpace.Until(time.Now().Add(5*time.Second)))
		if err != nil {
			t.Fatal(err)
		}
		c.Succeeded() // a page
		drain(t, g, other, 38)
		fail(t, g, other, throttleFor(60))
		late := c.Next(t.Context())
		c.End(late)
		if text := ledger.String(); !strings.HasPrefix(text, "throttled: 1 call(s) gave up") {
			t.Errorf("the second page: %v: %q", late, text)
		}
		after := g.Summary(nil).Totals
		if after.GaveUp != before.GaveUp+1 { // other's own throttle
			t.Errorf("gave up %d, then %d", before.GaveUp, after.GaveUp)
		}
	})
}

// TestS8_1_WhoGetsATokenAtOnceDidNotWait, also while somebody waits elsewhere under
// a shared level.
func TestS8_1_WhoGetsATokenAtOnceDidNotWait(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.AccountMaxRPS, p.AccountBurst = 1000, 1000 })
		drain(t, g, scope, 40)
		done := make(chan error)
		go func() {
			c, err := g.Begin(t.Context(), scope)
			if err == nil {
				c.End(nil)
			}
			done <- err
		}()
		time.Sleep(time.Millisecond)
		other := scope
		other.Service = "sns"
		drain(t, g, other, 20)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := g.Summary(nil).Totals.Waits; n != 1 {
			t.Errorf("%d waits, want 1", n)
		}
	})
}

// TestS9_3_ChargedToADisabledProvider takes no token anywhere.
func TestS9_3_ChargedToADisabledProvider(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, nil)
		cfg := g.Config()
		cfg.Providers["quota"] = cloudpace.Provider{}
		if err := g.Configure(cfg); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			begin(t, g, scope, cloudpace.ChargedTo(cloudpace.Scope{Provider: "quota"})).End(throttleFor(5))
			begin(t, g, scope).End(nil) // keeps the circuit closed
			time.Sleep(time.Second)
		}
		if clock() != 100*time.Second {
			t.Errorf("it took %s", clock())
		}
	})
}

// coded is an error with a code alone, as callers' functions may return it.
type coded struct{ code string }

func (e coded) Error() string       { return e.code }
func (e coded) ErrorCode() string   { return e.code }
func (e coded) HTTPStatusCode() int { return 503 }

// TestS2_8_DescribedAsJudged: the label stands where the scope's provider makes it
// throttling, and nowhere else.
func TestS2_8_DescribedAsJudged(t *testing.T) {
	g := governor(t, nil)
	ctx, ledger := cloudpace.WithLedger(t.Context())
	c, err := g.Begin(ctx, scope)
	if err != nil {
		t.Fatal(err)
	}
	c.End(coded{"ServiceUnavailable"})
	s := g.Summary(nil).Scopes[0]
	if s.TransientErrors != 1 || s.LastError != "ServiceUnavailable" || strings.Contains(ledger.String(), "throttled: Serv") {
		t.Errorf("%+v, %q", s, ledger)
	}
}
