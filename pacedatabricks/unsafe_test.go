package pacedatabricks_test

import (
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacedatabricks"
)

// staleServer has ten idle connections, each of which carries out the request that it
// gets next and ends without an answer. It gives how often that was.
func staleServer(t *testing.T) (s *server, ran *atomic.Int64) {
	t.Helper()
	var strike atomic.Bool
	ran = new(atomic.Int64)
	gate := make(chan struct{})
	s = warehouseServer(t, func(w http.ResponseWriter, n int64, _ string) bool {
		if strike.Load() {
			ran.Add(1)
			faults["closed"](w)
			return true
		}
		if n == 10 {
			close(gate) // ten are there at once: ten connections
		}
		<-gate
		return false
	})
	s.base.ResponseHeaderTimeout = 0
	var work sync.WaitGroup
	for range 10 {
		work.Go(func() {
			resp, err := s.base.RoundTrip(request(t, t.Context(), "GET", s.URL, ""))
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		})
	}
	work.Wait()
	strike.Store(true)
	return s, ran
}

// TestS14_2_IdempotencyKeys: to net/http a key, with a value or none, is leave to
// repeat what may have been carried out. It is not here.
func TestS14_2_IdempotencyKeys(t *testing.T) {
	for _, c := range []struct {
		name, path, body, key string
		value                 []string
	}{
		{"a value", "/sql/1.0/warehouses/a1", string(thriftCall("ExecuteStatement")), "Idempotency-Key", []string{"x"}},
		{"no value", "/sql/1.0/warehouses/a1", string(thriftCall("ExecuteStatement")), "Idempotency-Key", nil},
		{"the other name", "/sql/1.0/warehouses/a1", string(thriftCall("ExecuteStatement")), "X-Idempotency-Key", []string{"x"}},
		{"without a body", "/api/2.0/sql/warehouses/a1/start", "", "Idempotency-Key", []string{"x"}},
		{"no key", "/api/2.0/sql/warehouses/a1/start", "", "Other", []string{"x"}},
	} {
		s, ran := staleServer(t)
		req := request(t, t.Context(), "POST", s.URL+c.path, c.body)
		req.Header[c.key] = c.value
		if _, err := transport(t, s.base, pacedatabricks.WithGovernor(fast(t)), soon(2)).RoundTrip(req); err == nil || ran.Load() != 1 {
			t.Errorf("%s: ran %d times, %v", c.name, ran.Load(), err)
		}
	}
}

// TestS14_2_WhatAServerSaysProvesNothing: a server that carried a statement out and
// goes away can put any words into its GOAWAY.
func TestS14_2_WhatAServerSaysProvesNothing(t *testing.T) {
	for name, words := range map[string][]byte{
		"the code of a refusal": code(refusedStream),
		"a refusal":             append(code(2), "upstream: stream error: stream ID 1; REFUSED_STREAM; received from peer"...),
		"a shutdown":            append(code(0), "http2: Transport received Server's graceful shutdown GOAWAY"...),
	} {
		for _, warm := range []bool{true, false} {
			var struck atomic.Bool
			struck.Store(warm)
			s, base := newH2Server(t, func(int64) stream {
				if struck.Swap(true) {
					return served
				}
				return ranAndGone
			})
			s.lastWords = words
			rt := transport(t, base, pacedatabricks.WithGovernor(fast(t)), soon(3))
			if warm {
				resp, err := post(t, rt, s.url(), "OpenSession", "")
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				s.ran.Store(0)
				struck.Store(false)
			}
			if _, err := post(t, rt, s.url(), "ExecuteStatement", ""); err == nil || s.ran.Load() != 1 {
				t.Errorf("%s, warm %v: ran %d times, %v", name, warm, s.ran.Load(), err)
			}
		}
	}
}

// TestS14_2_WithoutABody: what may not be repeated and has no body is not carried out
// twice over HTTP/2 either.
func TestS14_2_WithoutABody(t *testing.T) {
	for _, act := range []stream{ranAndFailed, gone, refused, ranAndGone} {
		var struck atomic.Bool
		s, base := newH2Server(t, func(int64) stream {
			if struck.Swap(true) {
				return served
			}
			return act
		})
		rt := transport(t, base, pacedatabricks.WithGovernor(fast(t)), soon(3))
		resp, err := rt.RoundTrip(request(t, t.Context(), "DELETE", s.url()+"/api/2.0/secrets/a", ""))
		if err == nil {
			_ = resp.Body.Close()
		}
		if err == nil || s.ran.Load() > 1 {
			t.Errorf("%v: ran %d times, %v", act, s.ran.Load(), err)
		}
	}
}

// TestS14_7_BoundedResendsCount in the numbers and the ledger, as the failed
// connections that they are.
func TestS14_7_BoundedResendsCount(t *testing.T) {
	s, base := newH2Server(t, func(int64) stream { return gone })
	g := fast(t)
	ctx, ledger := cloudpace.WithLedger(t.Context())
	rt := transport(t, base, pacedatabricks.WithGovernor(g), soon(1))
	req := request(t, ctx, "POST", s.url()+"/sql/1.0/warehouses/a1", string(thriftCall("GetOperationStatus")))
	if _, err := rt.RoundTrip(req); err == nil {
		t.Fatal("no error")
	}
	if n := g.Summary(nil).Totals; n.TransientErrors != 1 || !ledger.Degraded() || g.Snapshot().Breakers[0].Failures != 1 {
		t.Errorf("%+v, %q, %+v", n, ledger, g.Snapshot().Breakers)
	}
}

// TestS14_4_NoSleepInVain: where the governor lets nobody go before the time is over,
// nothing is waited for.
func TestS14_4_NoSleepInVain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		start := time.Now()
		s := script(answer{status: 429, header: http.Header{"Retry-After": {"300"}}})
		rt := transport(t, s, pacedatabricks.WithGovernor(fast(t)), pacedatabricks.WithRetry(pacedatabricks.Retry{Duration: 100 * time.Second}))
		resp, err := rt.RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
		if err != nil || pacedatabricks.Failure(resp).Reason != "out of time" || time.Since(start) != 0 {
			t.Errorf("%v, %v after %s", resp, err, time.Since(start))
		}
	})
}
