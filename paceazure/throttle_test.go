package paceazure_test

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// leaf gives the state of a leaf bucket.
func leaf(t testing.TB, g *cloudpace.Governor, scope string) cloudpace.BucketState {
	t.Helper()
	for _, b := range g.Snapshot().Buckets {
		if b.Scope == scope && b.Level == "leaf" {
			return b
		}
	}
	t.Fatalf("no leaf %s", scope)
	return cloudpace.BucketState{}
}

func TestS11_3ThrottleSlowsAndPauses(t *testing.T) {
	for _, first := range []answer{
		retryAfter(429, "20"),
		code(503, "ServerBusy", "Retry-After", "20"),
		code(429, "ResourceRequestsThrottled", "x-ms-retry-after-ms", "20000"),
		say(409, `{"error":{"code":"OperationNotAllowed","message":"no","details":[{"code":"TooManyRequests","message":"{}"}]}}`, "Retry-After", "20"),
	} {
		bubble(t, func(t *testing.T) {
			g := governor(t, nil)
			var paused float64
			f := newFake(func(n int, _ arrival) answer {
				if n == 1 {
					return first
				}
				return ok()
			})
			c := newClient(t, f.inProcess(), g)
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := c.get(computePath); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(time.Second)
			paused = leaf(t, g, computeScope).PausedSeconds
			if err := c.get(computePath); err != nil { // another caller is held too
				t.Error(err)
			}
			wg.Wait()
			at := f.at()
			if len(at) != 3 || at[1] < 20*time.Second || at[1] > 21*time.Second {
				t.Errorf("%d: sent at %v", first.status, at)
			}
			if paused != 19 {
				t.Errorf("%d: paused for %v s more", first.status, paused)
			}
			if n := scopeStats(t, g, computeScope); n.LowestRPS != 7.5 || n.Throttled != 1 || n.Retries != 1 || n.GaveUp != 0 {
				t.Errorf("%d: %+v", first.status, n)
			}
		})
	}
}

// S2.6: a lock held by somebody else comes as a 429, is repeated after its hint,
// and slows and pauses nobody.
func TestS11_3LockConflictSlowsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(code(429, "RetryableErrorDueToAnotherOperation", "Retry-After", "9"), ok())
		g := governor(t, nil)
		c := newClient(t, f.inProcess(), g)
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := c.get(computePath); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		if err := c.get(computePath); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if at := f.at(); at[1] != time.Second || at[2] != 9*time.Second {
			t.Errorf("sent at %v", at)
		}
		if b := leaf(t, g, computeScope); b.RPS != b.MaxRPS {
			t.Errorf("slowed to %v rps", b.RPS)
		}
		if n := scopeStats(t, g, computeScope); n.Throttled != 0 || n.TransientErrors != 1 {
			t.Errorf("%+v", n)
		}
	})
}

func TestA01HintsThatOverflow(t *testing.T) {
	for _, value := range []string{"9223372037", "9223372036854775807", "18446744073709551616", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		bubble(t, func(t *testing.T) {
			f := script(retryAfter(429, value))
			g := governor(t, nil)
			err := newClient(t, f.inProcess(), g).get(computePath)
			late := as[*cloudpace.DeadlineExceededError](t, err)
			if as[*azcore.ResponseError](t, err).StatusCode != 429 || late.RetryAfter < time.Hour {
				t.Errorf("%s: %v", value, err)
			}
			if time.Since(f.start) != 0 || len(f.at()) != 1 {
				t.Errorf("%s: after %v, sent at %v", value, time.Since(f.start), f.at())
			}
			if p := leaf(t, g, computeScope).PausedSeconds; p != 300 {
				t.Errorf("%s: paused for %v s", value, p)
			}
		})
	}
}

// Seen: azcore does not wait longer than MaxRetryDelay, it gives up. No cap of ours
// cuts a hint short.
func TestA03C10HintsAboveTheLongestBackoff(t *testing.T) {
	for hint, want := range map[string]time.Duration{"61": 61 * time.Second, "372": 372 * time.Second, "899": 899 * time.Second} {
		bubble(t, func(t *testing.T) {
			f := script(code(429, "ResourceRequestsThrottled", "Retry-After", hint), ok())
			g := governor(t, nil)
			if err := newClient(t, f.inProcess(), g).get(computePath); err != nil {
				t.Fatal(err)
			}
			if at := f.at(); len(at) != 2 || at[1] < want || at[1] > want+time.Second {
				t.Errorf("hint %s: sent at %v", hint, at)
			}
		})
	}
}

func TestA03C10HintBeyondTheDeadlineEndsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(func(n int, a arrival) answer {
			if a.path == computePath {
				return code(429, "ResourceRequestsThrottled", "Retry-After", "372")
			}
			return ok()
		})
		g := governor(t, nil)
		c := newClient(t, f.inProcess(), g)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		_, err := c.send(ctx, "GET", computePath, "")
		if late := as[*cloudpace.DeadlineExceededError](t, err); late.RetryAfter != 372*time.Second || time.Since(f.start) != 0 {
			t.Errorf("after %v: %v", time.Since(f.start), err)
		}
		if verdict.Classify(err) != verdict.Throttled {
			t.Errorf("classified as %v", verdict.Classify(err))
		}
		if err := c.get("/subscriptions/" + subscription + "/resourcegroups"); err != nil || time.Since(f.start) != 0 {
			t.Errorf("another scope went after %v: %v", time.Since(f.start), err)
		}
	})
}

// Malformed hints are none, though azcore reads some of them ("+3").
func TestA04A11MalformedHintsMeanOwnBackoff(t *testing.T) {
	for _, value := range []string{"-5", "+3", "-0", "1.", "1e3", "0x10", "1_000", "5s", "5,", "٣", "NaN", "inf", "1e10000",
		"1000abc", "", "   ", "Wed, 99 Foo 2026 99:99:99 GMT", "0", "0.0"} {
		bubble(t, func(t *testing.T) {
			f := script(retryAfter(503, value), ok())
			if err := newClient(t, f.inProcess(), governor(t, nil)).get(computePath); err != nil {
				t.Fatal(err)
			}
			if at := f.at(); len(at) != 2 || at[1] < 144*time.Millisecond || at[1] > 235*time.Millisecond {
				t.Errorf("%q: sent at %v", value, at)
			}
		})
	}
}

// Seen: azcore ignores fractions and Resource Graph's own header.
func TestA05A06A09HintsWithTheirUnits(t *testing.T) {
	for _, tc := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "5", 5 * time.Second},
		{"Retry-After", "1.5", 1500 * time.Millisecond},
		{"Retry-After", "2.999999999", 2999999999 * time.Nanosecond},
		{"retry-after-ms", "5000", 5 * time.Second},
		{"x-ms-retry-after-ms", "2500.5", 2500500 * time.Microsecond},
		{"x-ms-user-quota-resets-after", "00:00:07", 7 * time.Second},
		{"Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT", 10 * time.Second},
		{"Retry-After", "Sunday, 06-Nov-94 08:49:37 GMT", 10 * time.Second},
		{"Retry-After", "Sun Nov  6 08:49:37 1994", 10 * time.Second},
		{"Retry-After", "Sun, 06 Nov 1994 08:49:60 GMT", 33 * time.Second},
		{"Retry-After", "10, 20", 20 * time.Second},
	} {
		bubble(t, func(t *testing.T) {
			f := script(code(429, "TooManyRequests", tc.name, tc.value, "Date", "Sun, 06 Nov 1994 08:49:27 GMT"), ok())
			if err := newClient(t, f.inProcess(), governor(t, nil)).get(computePath); err != nil {
				t.Fatal(err)
			}
			if at := f.at(); len(at) != 2 || at[1] < tc.want || at[1] > tc.want+250*time.Millisecond {
				t.Errorf("%s: %s: sent at %v", tc.name, tc.value, at)
			}
		})
	}
}

// Twenty callers that are told to wait 10 s, again and again, go on for as long as
// their deadline allows, and not all at once.
func TestA18WaitsAreBoundedByTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		start := time.Now()
		f := newFake(func(int, arrival) answer {
			if time.Since(start) < 100*time.Second {
				return retryAfter(429, "10")
			}
			return ok()
		})
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries, p.BreakerThreshold = 50, 1000 })
		c := newClient(t, f.inProcess(), g)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		var mu sync.Mutex
		var done []time.Duration
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := c.send(ctx, "GET", computePath, ""); err != nil {
					t.Error(err)
				}
				mu.Lock()
				done = append(done, time.Since(start))
				mu.Unlock()
			})
		}
		wg.Wait()
		if first, last := done[0], done[len(done)-1]; last-first < 100*time.Millisecond {
			t.Errorf("all came back between %v and %v", first, last)
		}
		clean(t, g)
	})
}

// The remaining quota that an answer states never shortens a wait.
func TestC08RemainingQuotaDoesNotShorten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(code(429, "TooManyRequests", "Retry-After", "1200", "x-ms-ratelimit-remaining-subscription-reads", "13412"))
		g := governor(t, nil)
		err := newClient(t, f.inProcess(), g).get(computePath)
		if late := as[*cloudpace.DeadlineExceededError](t, err); late.RetryAfter != 1200*time.Second {
			t.Error(err)
		}
		if p := leaf(t, g, computeScope).PausedSeconds; p != 300 {
			t.Errorf("paused for %v s", p)
		}
	})
}

func TestC09NoHintMeansGrowingBackoff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(code(429, "TooManyRequests"))
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries = 5 })
		err := newClient(t, f.inProcess(), g).get(computePath)
		if as[*azcore.ResponseError](t, err).StatusCode != 429 {
			t.Error(err)
		}
		at := f.at()
		if len(at) != 6 {
			t.Fatalf("sent at %v", at)
		}
		for i, d := 2, time.Duration(0); i < len(at); i++ {
			if d = at[i] - at[i-1]; d <= at[i-1]-at[i-2] {
				t.Errorf("back-off does not grow: %v", at)
			}
		}
		if n := scopeStats(t, g, computeScope); n.Throttled != 6 || n.GaveUp != 1 || n.LowestRPS >= 15 {
			t.Errorf("%+v", n)
		}
	})
}

// The longest back-off is max_backoff_seconds, however many retries there are.
func TestS11_1BackoffIsCapped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := script(code(500, "InternalServerError"))
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries, p.MaxBackoff = 50, 2*time.Second })
		err := newClient(t, f.inProcess(), g).get(computePath)
		if as[*azcore.ResponseError](t, err).StatusCode != 500 {
			t.Error(err)
		}
		at := f.at()
		if len(at) != 51 || at[50]-at[49] != 2*time.Second {
			t.Errorf("%d requests, the last ones %v", len(at), at[len(at)-2:])
		}
	})
}

// With neither a deadline nor an end of the throttling a call ends, with the 429.
func TestC06ThrottledForEver(t *testing.T) {
	for hint, most := range map[string]time.Duration{"": 2 * time.Minute, "1": 2 * time.Minute, "100": 15 * time.Minute} {
		bubble(t, func(t *testing.T) {
			f := script(retryAfter(429, hint))
			g := governor(t, nil)
			_, err := newClient(t, f.inProcess(), g).send(context.Background(), "GET", computePath, "")
			if as[*azcore.ResponseError](t, err).StatusCode != 429 || verdict.Classify(err) != verdict.Throttled {
				t.Error(err)
			}
			if d := time.Since(f.start); d > most || len(f.at()) > 9 {
				t.Errorf("hint %q: %d requests in %v", hint, len(f.at()), d)
			}
			clean(t, g)
		})
	}
}

// An error's body is whole for the caller, and was not empty for the judge.
func TestC03BodiesStayWhole(t *testing.T) {
	const body = `{"error":"invalid_client","error_description":"AADSTS7000215 ..."}`
	f := script(say(400, body))
	err := newClient(t, f.loopback(t), governor(t, nil)).get(computePath)
	answer := as[*azcore.ResponseError](t, err)
	b, readErr := io.ReadAll(answer.RawResponse.Body)
	if readErr != nil || string(b) != body {
		t.Errorf("the caller reads %q, %v", b, readErr)
	}
	if r := verdict.Examine("", err); r.Code != "invalid_client" || r.Kind != verdict.Fatal || r.Status != 400 {
		t.Errorf("judged as %+v", r)
	}
}

// C11, scaled: the pacing of one subscription, shared by all namespaces, keeps
// within Resource Manager's bucket of 250 tokens and 25 a second.
func TestC11FanOutKeepsWithinTheSubscriptionsBucket(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const calls = 600
		tokens, last := 250.0, time.Now()
		var mu sync.Mutex
		refused := 0
		f := newFake(func(int, arrival) answer {
			mu.Lock()
			defer mu.Unlock()
			now := time.Now()
			tokens = min(250, tokens+25*now.Sub(last).Seconds())
			last = now
			if tokens < 1 {
				refused++
				return retryAfter(429, "1")
			}
			tokens--
			return ok()
		})
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 50 })
		c := newClient(t, f.inProcess(), g)
		namespaces := []string{"Compute", "Network", "Sql", "Web"}
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() {
				path := "/subscriptions/" + subscription + "/providers/Microsoft." + namespaces[i%len(namespaces)] + "/things"
				if err := c.get(path); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		// 200 at once and 20 a second.
		if d := time.Since(f.start); refused != 0 || d > 21*time.Second {
			t.Errorf("%d refused, %v", refused, d)
		}
		clean(t, g)
	})
}
