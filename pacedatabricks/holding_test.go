package pacedatabricks_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/pacedatabricks"
)

// base answers by a function.
type base func(*http.Request) (*http.Response, error)

func (b base) RoundTrip(r *http.Request) (*http.Response, error) { return b(r) }

// TestTheContextOfAnAttemptEndsWithItsAnswer and not before: an answer that is
// handed on as it comes is read under it.
func TestTheContextOfAnAttemptEndsWithItsAnswer(t *testing.T) {
	for _, closes := range []bool{true, false} {
		var sent context.Context
		rt := transport(t, base(func(r *http.Request) (*http.Response, error) {
			sent = r.Context()
			return &http.Response{StatusCode: 200, ContentLength: 2 << 20, Body: io.NopCloser(strings.NewReader(strings.Repeat("x", 2<<20)))}, nil
		}), pacedatabricks.WithGovernor(fast(t)))
		resp, err := rt.RoundTrip(request(t, t.Context(), "GET", statementsURL+"/"+queryID+"/result/chunks/1", ""))
		if err != nil || sent.Err() != nil {
			t.Fatal(err, sent.Err())
		}
		if closes {
			_ = resp.Body.Close()
		} else if n, err := io.Copy(io.Discard, resp.Body); n != 2<<20 || err != nil {
			t.Error(n, err)
		}
		if sent.Err() == nil {
			t.Errorf("closed %v: the attempt's context goes on", closes)
		}
	}
}

// counted notes that a body was closed.
type counted struct {
	io.Reader
	closed *int
}

func (c counted) Close() error { *c.closed++; return nil }

// TestRequestBodiesAreClosed also where the governor lets the request not go, at
// first or again.
func TestRequestBodiesAreClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := fast(t)
		trip(t, g)
		closed := 0
		req := thriftRequest(t, t.Context(), "ExecuteStatement")
		req.Body = counted{req.Body, &closed}
		if _, err := transport(t, script(answer{status: 200}), pacedatabricks.WithGovernor(g)).RoundTrip(req); err == nil || closed != 1 {
			t.Errorf("refused: %v, closed %d times", err, closed)
		}

		opened, closed := 0, 0
		req = thriftRequest(t, t.Context(), "GetOperationStatus")
		body := req.GetBody
		req.GetBody = func() (io.ReadCloser, error) {
			opened++
			b, err := body()
			return counted{b, &closed}, err
		}
		rt := transport(t, script(answer{err: read(syscall.ECONNRESET)}), pacedatabricks.WithGovernor(slow(t)),
			pacedatabricks.WithRetry(pacedatabricks.Retry{Duration: 20 * time.Second}))
		if _, err := rt.RoundTrip(req); err == nil || opened != closed || opened < 2 {
			t.Errorf("not admitted again: %v, %d bodies, closed %d", err, opened, closed)
		}
	})
}

// TestS14_2_WhatWasNeverWritten was not carried out: net/http asks for the body again
// only then, where the command may not be repeated, and so the schedule goes on.
func TestS14_2_WhatWasNeverWritten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		attempts := 0
		rt := transport(t, base(func(r *http.Request) (*http.Response, error) {
			if attempts++; attempts == 2 {
				return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
			}
			for { // one stale connection after the other
				_ = r.Body.Close()
				if _, err := r.GetBody(); err != nil {
					return nil, err
				}
			}
		}), pacedatabricks.WithGovernor(fast(t)))
		resp, err := rt.RoundTrip(thriftRequest(t, t.Context(), "ExecuteStatement"))
		if err != nil || resp.StatusCode != 200 || attempts != 2 {
			t.Errorf("%v, %v after %d attempts", resp, err, attempts)
		}
		var e *pacedatabricks.RetryError
		if errors.As(err, &e) {
			t.Error(e)
		}
	})
}
