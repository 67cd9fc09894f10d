package pacehttp_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacehttp"
)

func TestA09SecondsAreSeconds(t *testing.T) {
	for _, tc := range []struct {
		header, value string
		least         time.Duration
	}{
		{"Retry-After", "5", 5 * time.Second},
		{"Retry-After", "1.5", 1500 * time.Millisecond}, // A05
		{"Retry-After", "2.999999999", 2999999999 * time.Nanosecond},
		{"Retry-After-Ms", "5000", 5 * time.Second},
		{"X-Ms-Retry-After-Ms", "2500", 2500 * time.Millisecond},
		{"X-Amz-Retry-After", "1500", 1500 * time.Millisecond}, // A15
	} {
		bubble(t, func(t *testing.T) {
			s := script(answer{status: 429, header: http.Header{tc.header: {tc.value}}}, answer{status: 200, body: "ok"})
			resp, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(governor(t, nil))).RoundTrip(request(t, "GET", ""))
			if err != nil || resp.StatusCode != 200 || text(t, resp) != "ok" {
				t.Fatal(resp, err)
			}
			sent := s.sent()
			if len(sent) != 2 || sent[1] < tc.least || sent[1] > max(tc.least, 1500*time.Millisecond)+100*time.Millisecond {
				t.Errorf("%s: %s: sent at %v", tc.header, tc.value, sent)
			}
			if s.open != 0 {
				t.Errorf("%d bodies left open", s.open)
			}
		})
	}
}

// A hint that cannot be read is none, and a hint of zero still has a back-off.
func TestA04A11UnreadableHintsMeanOwnBackoff(t *testing.T) {
	for _, value := range []string{"-5", "+3", "-0", "1.", "1e3", "0x10", "1_000", "5s", "5,", "٣", "NaN", "inf", "1e10000",
		"1000abc", "", "   ", "Wed, 99 Foo 2026 99:99:99 GMT", "0", "0.0"} {
		bubble(t, func(t *testing.T) {
			s := script(again(429, value), answer{status: 200})
			resp, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(governor(t, nil))).RoundTrip(request(t, "GET", ""))
			if err != nil || resp.StatusCode != 200 {
				t.Fatal(resp, err)
			}
			if sent := s.sent(); len(sent) != 2 || sent[1] < 500*time.Millisecond || sent[1] > 1600*time.Millisecond {
				t.Errorf("Retry-After %q: sent at %v", value, sent)
			}
		})
	}
}

func TestA11RepeatedHintsGiveTheLarger(t *testing.T) {
	for _, values := range [][]string{{"10", "20"}, {"10, 20"}} {
		bubble(t, func(t *testing.T) {
			s := script(again(429, values...), answer{status: 200})
			if _, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(governor(t, nil))).RoundTrip(request(t, "GET", "")); err != nil {
				t.Fatal(err)
			}
			if sent := s.sent(); sent[1] < 20*time.Second || sent[1] > 20100*time.Millisecond {
				t.Errorf("%q: sent at %v", values, sent)
			}
		})
	}
}

func TestA06DatesInAllThreeForms(t *testing.T) {
	for _, value := range []string{"Sun, 06 Nov 1994 08:49:47 GMT", "Sunday, 06-Nov-94 08:49:47 GMT", "Sun Nov  6 08:49:47 1994"} {
		bubble(t, func(t *testing.T) {
			s := script(answer{status: 429, header: http.Header{
				"Retry-After": {value}, "Date": {"Sun, 06 Nov 1994 08:49:37 GMT"},
			}}, answer{status: 200})
			if _, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(governor(t, nil))).RoundTrip(request(t, "GET", "")); err != nil {
				t.Fatal(err)
			}
			if sent := s.sent(); sent[1] < 10*time.Second || sent[1] > 10100*time.Millisecond {
				t.Errorf("%q: sent at %v", value, sent)
			}
		})
	}
}

func TestA01AHintBeyondTheDeadlineEndsTheCallAtOnce(t *testing.T) {
	for _, value := range []string{"9223372037", "9223372036854775807", "18446744073709551616", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "901"} {
		bubble(t, func(t *testing.T) {
			s := script(answer{status: 429, header: http.Header{"Retry-After": {value}}, body: "later"})
			g := governor(t, nil)
			rt := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g))
			resp, err := rt.RoundTrip(request(t, "GET", ""))
			if err != nil || resp.StatusCode != 429 || text(t, resp) != "later" {
				t.Fatal(resp, err)
			}
			if d := time.Since(s.start); d != 0 {
				t.Errorf("%s: ended after %v", value, d)
			}
			// The pause holds for everybody, no longer than max_pause_seconds.
			if _, err := rt.RoundTrip(request(t, "GET", "")); err != nil {
				t.Fatal(err)
			}
			if sent := s.sent(); len(sent) != 2 || sent[1] < 300*time.Second || sent[1] > 301*time.Second {
				t.Errorf("%s: sent at %v", value, sent)
			}
		})
	}
}

func TestA03NoCapCutsAHint(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := script(again(429, "61"), answer{status: 200})
		resp, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(governor(t, nil))).RoundTrip(request(t, "GET", ""))
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		if sent := s.sent(); sent[1] < 61*time.Second || sent[1] > 62*time.Second {
			t.Errorf("sent at %v", sent)
		}
	})
}

func TestE19ADeadlineTooShortEndsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		defer cancel()
		s := script(answer{status: 429, header: http.Header{"Retry-After": {"5"}}, body: "slow down please"})
		resp, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(governor(t, nil))).RoundTrip(request(t, "GET", "").WithContext(ctx))
		if err != nil || text(t, resp) != "slow down please" || time.Since(s.start) != 0 {
			t.Error(resp, err, time.Since(s.start))
		}
	})
	// A connection that failed leaves no answer, so the error tells both.
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		defer cancel()
		s := script(answer{err: syscall.ECONNRESET})
		_, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(governor(t, nil))).RoundTrip(request(t, "GET", "").WithContext(ctx))
		var late *cloudpace.DeadlineExceededError
		if !errors.As(err, &late) || !errors.Is(err, syscall.ECONNRESET) || time.Since(s.start) != 0 {
			t.Error(err, time.Since(s.start))
		}
	})
}

// Twenty callers are turned away for ten seconds each time. They are bounded by
// the time, not by the count, and leave the pause one after the other.
func TestA18ThrottlesAreBoundedByTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) {
			p.MaxRetries, p.Deadline, p.BreakerThreshold = 50, 5*time.Minute, 1000
		})
		s := script(answer{status: 429, header: http.Header{"Retry-After": {"10"}}, body: "x"})
		rt := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g))
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				resp, err := rt.RoundTrip(request(t, "GET", ""))
				if err != nil || resp.StatusCode != 429 || text(t, resp) != "x" {
					t.Error(resp, err)
				}
			})
		}
		wg.Wait()
		if d := time.Since(s.start); d > 5*time.Minute || d < 4*time.Minute {
			t.Errorf("ended after %v", d)
		}
		if s.open != 0 {
			t.Errorf("%d bodies left open", s.open)
		}
		late := map[time.Duration]int{}
		for _, at := range s.sent() {
			if at > 0 && at < 10*time.Second {
				t.Fatalf("sent at %v, within the first pause", at)
			}
			late[at.Truncate(100*time.Millisecond)]++
		}
		for at, n := range late {
			if at > 0 && n > 2 {
				t.Errorf("%d sent within 100 ms at %v", n, at)
			}
		}
	})
}
