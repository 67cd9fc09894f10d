package pacehttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacehttp"
)

func TestE20TheLastAnswerIsReturnedUnread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		long := strings.Repeat("database unavailable ", 10000)
		s := script(answer{status: 500, body: long})
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries = 3 })
		resp, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g)).RoundTrip(request(t, "GET", ""))
		if err != nil || resp.StatusCode != 500 || text(t, resp) != long {
			t.Error(resp, err)
		}
		if n := len(s.sent()); n != 4 || s.open != 0 {
			t.Errorf("%d sent, %d bodies left open", n, s.open)
		}
		totals := g.Summary(nil).Totals
		if totals.Calls != 4 || totals.Retries != 3 || totals.TransientErrors != 4 {
			t.Errorf("%+v", totals)
		}
	})
}

func TestS7_6MethodsThatAreRepeated(t *testing.T) {
	transient, hinted := answer{status: 502}, again(503, "2")
	for _, tc := range []struct {
		method string
		first  answer
		sent   int
	}{
		{"GET", transient, 2}, {"", transient, 2}, {"HEAD", transient, 2}, {"OPTIONS", transient, 2}, {"PUT", transient, 2}, {"DELETE", transient, 2},
		{"POST", transient, 1}, {"PATCH", transient, 1}, {"CONNECT", transient, 1},
		{"GET", answer{err: syscall.ECONNRESET}, 2}, {"POST", answer{err: syscall.ECONNRESET}, 1},
		// S7.5: outcomes that prove that the request was not run.
		{"POST", again(429), 2}, {"PATCH", hinted, 2}, {"POST", answer{status: 503}, 1},
		{"POST", answer{status: 400, body: `{"code": "ThrottlingException"}`}, 2},
		{"POST", answer{err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, 2},
		{"GET", answer{status: 404}, 1}, {"GET", answer{status: 403}, 1}, {"GET", answer{status: 501}, 1},
		// A hint on a success or a redirect is none (S2.7).
		{"GET", again(202, "3"), 1}, {"GET", again(302, "3"), 1},
	} {
		bubble(t, func(t *testing.T) {
			s := script(tc.first, answer{status: 200})
			req := request(t, "GET", "")
			req.Method = tc.method
			resp, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(governor(t, nil))).RoundTrip(req)
			if (err == nil) == (resp == nil) {
				t.Error(resp, err)
			}
			if n := len(s.sent()); n != tc.sent {
				t.Errorf("%s after %d %v: sent %d times, want %d", tc.method, tc.first.status, tc.first.err, n, tc.sent)
			}
		})
	}
}

func TestS7_6BodiesAreRewound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := script(again(429), answer{err: syscall.ECONNRESET}, answer{status: 200})
		req := request(t, "PUT", "the body")
		before := req.Body
		if _, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(governor(t, nil))).RoundTrip(req); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(s.bodies) != "[the body the body the body]" {
			t.Errorf("%q", s.bodies)
		}
		if req.Body != before {
			t.Error("the request was changed")
		}
	})
	// One that cannot be rewound is sent once, and its answer returned.
	bubble(t, func(t *testing.T) {
		s := script(again(429), answer{status: 200})
		req := request(t, "PUT", "the body")
		req.GetBody = nil
		resp, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(governor(t, nil))).RoundTrip(req)
		if err != nil || resp.StatusCode != 429 || len(s.sent()) != 1 || time.Since(s.start) != 0 {
			t.Error(resp, err, s.sent(), time.Since(s.start))
		}
	})
	// GetBody may fail when it is asked.
	for _, first := range []answer{again(429), {err: syscall.ECONNRESET}} {
		bubble(t, func(t *testing.T) {
			s := script(first, answer{status: 200})
			req, gone := request(t, "PUT", "the body"), errors.New("file is gone")
			req.GetBody = func() (io.ReadCloser, error) { return nil, gone }
			g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
			resp, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g)).RoundTrip(req)
			if first.err == nil && (err != nil || resp.StatusCode != 429) || first.err != nil && (!errors.Is(err, gone) || !errors.Is(err, first.err)) {
				t.Error(resp, err)
			}
			if n := g.Summary(nil).Totals; n.Calls != 1 || n.Retries != 0 || n.GaveUp != count(first.err == nil) {
				t.Errorf("%+v, want one call, not repeated", n)
			}
			free, err := g.Begin(t.Context(), cloudpace.Scope{Provider: "http", Account: "example.com", Service: "web"})
			if err != nil {
				t.Fatal(err)
			}
			free.Drop()
		})
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// The deadline of the whole is not the attempt's context: a base that derives its
// own limit from that still gets it.
func TestS7_3AnAttemptKeepsItsOwnTimeouts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxPause = time.Hour })
		s := script(again(429, "880"), answer{status: 200})
		base := roundTripper(func(req *http.Request) (*http.Response, error) {
			if len(s.sent()) == 0 {
				return s.RoundTrip(req)
			}
			ctx, cancel := context.WithTimeout(req.Context(), 30*time.Second)
			defer cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		})
		_, err := pacehttp.NewTransport(base, nil, pacehttp.WithGovernor(g)).RoundTrip(request(t, "GET", ""))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(s.start) > 920*time.Second {
			t.Error(err, time.Since(s.start))
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestS6_3AnOpenCircuitSendsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.BreakerThreshold, p.MaxRetries = 1, 0 })
		s := script(answer{status: 503})
		rt := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g))
		if resp, err := rt.RoundTrip(request(t, "GET", "")); err != nil || resp.StatusCode != 503 {
			t.Fatal(resp, err)
		}
		body := &closer{Reader: strings.NewReader("x")}
		req := request(t, "PUT", "")
		req.Body = body
		_, err := (&http.Client{Transport: rt}).Do(req)
		var open *cloudpace.CircuitOpenError
		if !errors.As(err, &open) || open.RetryAfter != time.Minute || len(s.sent()) != 1 {
			t.Error(err, s.sent())
		}
		if !body.closed {
			t.Error("the body of a request that was not sent is open")
		}
	})
}

type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

func TestS7_4AnEmptyBudgetReturnsTheAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.RetryBudget = 0 })
		s := script(answer{status: 500, body: "x"})
		resp, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g)).RoundTrip(request(t, "GET", ""))
		if err != nil || text(t, resp) != "x" || len(s.sent()) != 3 {
			t.Error(resp, err, s.sent())
		}
	})
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.RetryBudget = 0 })
		s := script(answer{err: syscall.ECONNRESET})
		_, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g)).RoundTrip(request(t, "GET", ""))
		var empty *cloudpace.RetryBudgetExhaustedError
		if !errors.As(err, &empty) || !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
	})
}

func TestS2_1CancellationEndsTheSleepAndCountsForNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.BreakerThreshold = 1 })
		s := script(answer{status: 429, header: http.Header{"Retry-After": {"30"}}, body: "x"}, answer{status: 200})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		rt := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g))
		resp, err := rt.RoundTrip(request(t, "GET", "").WithContext(ctx))
		if resp != nil || err != context.Canceled || time.Since(s.start) != 3*time.Second || s.open != 0 {
			t.Error(resp, err, time.Since(s.start), s.open)
		}
		if n := g.Summary(nil).Totals; n.GaveUp != 0 || n.BreakerTrips != 0 {
			t.Errorf("%+v", n)
		}
	})
	// While it waits for the pause of another, too.
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries = 0 })
		s := script(again(429, "30"))
		rt := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g))
		if _, err := rt.RoundTrip(request(t, "GET", "")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		if _, err := rt.RoundTrip(request(t, "GET", "").WithContext(ctx)); !errors.Is(err, context.Canceled) || time.Since(s.start) != 3*time.Second {
			t.Error(err, time.Since(s.start))
		}
	})
}

// The wait before the first attempt is bounded by deadline_seconds too.
func TestS7_3TheFirstWaitIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries, p.Deadline = 0, 10*time.Second })
		s := script(again(429, "60"))
		rt := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g))
		if _, err := rt.RoundTrip(request(t, "GET", "")); err != nil {
			t.Fatal(err)
		}
		_, err := rt.RoundTrip(request(t, "GET", ""))
		var late *cloudpace.DeadlineExceededError
		if !errors.As(err, &late) || time.Since(s.start) != 0 {
			t.Error(err, time.Since(s.start))
		}
	})
}

// So is the wait for a slot, before the first attempt and before a later one.
func TestS7_3TheWaitForASlotIsBounded(t *testing.T) {
	for name, answers := range map[string][]answer{
		"first": {{status: 200}},
		"later": {again(429, "2"), {status: 200}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency, p.Deadline = 1, 10*time.Second })
				s := script(answers...)
				rt := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g))
				req := request(t, "GET", "")
				occupy := func() {
					held, err := g.Begin(t.Context(), pacehttp.HostScope(req))
					if err != nil {
						t.Error(err)
						return
					}
					t.Cleanup(held.Drop)
				}
				if name == "first" {
					occupy()
				} else {
					time.AfterFunc(time.Second, occupy)
				}
				resp, err := rt.RoundTrip(req)
				if name == "later" {
					if err != nil || resp.StatusCode != 429 || time.Since(s.start) != 10*time.Second {
						t.Error(resp, err, time.Since(s.start))
					}
					return
				}
				var late *cloudpace.DeadlineExceededError
				if !errors.As(err, &late) || time.Since(s.start) != 10*time.Second {
					t.Error(err, time.Since(s.start))
				}
			})
		})
	}
}

func TestS3_6MaxWaitReachesTheWiring(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries = 0 })
		s := script(again(429, "60"), answer{status: 200})
		rt := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g))
		if _, err := rt.RoundTrip(request(t, "GET", "")); err != nil {
			t.Fatal(err)
		}
		req := request(t, "GET", "")
		if _, err := rt.RoundTrip(req.WithContext(cloudpace.WithMaxWait(req.Context(), time.Second))); err != nil || time.Since(s.start) != time.Second {
			t.Error(err, time.Since(s.start))
		}
	})
}

func TestS9_3DisabledPassesThrough(t *testing.T) {
	for name, change := range map[string]func(*cloudpace.Config){
		"all":          func(c *cloudpace.Config) { c.Enabled = false },
		"one provider": func(c *cloudpace.Config) { c.Providers["http"] = cloudpace.Provider{} },
	} {
		cfg := cloudpace.DefaultConfig()
		change(&cfg)
		g, err := cloudpace.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s := script(again(429, "60"))
		req := request(t, "GET", "")
		resp, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g)).RoundTrip(req)
		if err != nil || resp.StatusCode != 429 || len(s.sent()) != 1 || resp.Request != req {
			t.Errorf("%s: %v %v", name, resp, err)
		}
	}
}

// The slot is free when the headers are there, and during back-off.
func TestS7_6TheSlotEndsWithTheHeaders(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		inFlight := 0
		s := script(answer{status: 200, body: "unread"})
		s.during = func(*http.Request) {
			inFlight++
			if inFlight > 1 {
				t.Error("two at once")
			}
			time.Sleep(time.Second)
			inFlight--
		}
		rt := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g))
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := rt.RoundTrip(request(t, "GET", "")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if sent := s.sent(); sent[2] != 3*time.Second {
			t.Errorf("sent at %v", sent)
		}
	})
}

// A request inside a Do of the same account takes no second slot (S5.4).
func TestS5_4UnderADoNoSecondSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency, p.Deadline = 1, time.Minute })
		s := script(answer{status: 200})
		rt := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g))
		scope := cloudpace.Scope{Provider: "http", Account: "example.com", Service: "web"}
		err := cloudpace.Do(t.Context(), scope, func(ctx context.Context) error {
			_, err := rt.RoundTrip(request(t, "GET", "").WithContext(ctx))
			return err
		}, cloudpace.WithGovernor(g))
		if err != nil || time.Since(s.start) != 0 {
			t.Error(err, time.Since(s.start))
		}
	})
}

// What base itself sends through the governor, as for a fresh access token, goes
// under the request's slot.
func TestS5_4UnderARequestNoSecondSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		s := script(answer{status: 200})
		s.during = func(req *http.Request) {
			ctx, cancel := context.WithTimeout(req.Context(), time.Minute)
			defer cancel()
			call, err := g.Begin(ctx, pacehttp.HostScope(req))
			if err != nil {
				t.Error(err)
				return
			}
			call.End(nil)
		}
		if _, err := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g)).RoundTrip(request(t, "GET", "")); err != nil {
			t.Error(err)
		}
	})
}

// A base that panics leaves nothing held (S5.3).
func TestE11APanicGivesTheSlotBack(t *testing.T) {
	g := governor(t, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
	s := script(answer{status: 200})
	s.during = func(*http.Request) { panic("base") }
	rt := pacehttp.NewTransport(s, nil, pacehttp.WithGovernor(g))
	func() {
		defer func() { _ = recover() }()
		_, _ = rt.RoundTrip(request(t, "GET", ""))
	}()
	s.during = nil
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := rt.RoundTrip(request(t, "GET", "").WithContext(ctx)); err != nil {
		t.Error(err)
	}
}

func TestABaseThatReturnsNothingIsAnError(t *testing.T) {
	rt := pacehttp.NewTransport(nothing{}, nil, pacehttp.WithGovernor(governor(t, nil)))
	if resp, err := rt.RoundTrip(request(t, "GET", "")); resp != nil || err == nil {
		t.Error(resp, err)
	}
}

type nothing struct{}

func (nothing) RoundTrip(*http.Request) (*http.Response, error) { return nil, nil }
