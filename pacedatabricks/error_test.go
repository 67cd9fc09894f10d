package pacedatabricks_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacedatabricks"
)

func logger(h slog.Handler) pacedatabricks.Option {
	return pacedatabricks.WithLogger(slog.New(h))
}

// TestS14_5_WhatTheServerSays is told, unless it quotes the statement.
func TestS14_5_WhatTheServerSays(t *testing.T) {
	const column = "card_number"
	post := `{"statement":"SELECT card_number FROM payments WHERE name = 'd\u006fe'","parameters":[{"name":"n","value":"4111-1111"}]}`
	for name, c := range map[string]struct {
		method, url, body string
		status            int
		answer            string
		want              string
	}{
		"a poll":                   {"GET", statementsURL + "/" + queryID, "", 404, `{"error_code":"NOT_FOUND","message":"no such statement"}`, "no such statement"},
		"a parse error":            {"POST", statementsURL, post, 400, `{"error_code":"BAD_REQUEST","message":"cannot resolve card_number == SQL == SELECT card_number"}`, ""},
		"a limit":                  {"POST", statementsURL, post, 429, `{"error_code":"REQUEST_LIMIT_EXCEEDED","message":"too many requests"}`, "too many requests"},
		"a limit that quotes":      {"POST", statementsURL, post, 429, `{"error_code":"REQUEST_LIMIT_EXCEEDED","message":"rejected: SELECT card_number FROM"}`, ""},
		"a parameter":              {"POST", statementsURL, post, 503, `{"error_code":"TEMPORARILY_UNAVAILABLE","message":"while binding 4111-1111"}`, ""},
		"a gateway before Thrift":  {"POST", warehouse, string(thriftCall("ExecuteStatement")), 503, `{"message":"the warehouse is starting"}`, "the warehouse is starting"},
		"one that quotes":          {"POST", warehouse, string(thriftCall("ExecuteStatement")), 502, `{"message":"cannot forward SELECT card_number"}`, ""},
		"a token in the message":   {"GET", statementsURL + "/" + queryID, "", 403, `{"message":"invalid token dapi0123456789abcdef0123456789abcdef"}`, "invalid token …"},
		"a statement of one word":  {"POST", statementsURL, `{"statement":"hush"}`, 429, `{"message":"not now, hush"}`, ""},
		"a header says it":         {"POST", warehouse, string(thriftCall("GetOperationStatus")), 401, "", "unauthorized, says the header"},
		"a body that is not to be": {"POST", statementsURL, post, 500, `{"message":"internal"}`, ""},
	} {
		g := fast(t)
		ctx, ledger := cloudpace.WithLedger(t.Context())
		header := http.Header{}
		if c.answer == "" {
			header.Set("X-Thriftserver-Error-Message", "unauthorized, says the header")
		}
		rt := transport(t, script(answer{status: c.status, body: c.answer, header: header}), pacedatabricks.WithGovernor(g),
			pacedatabricks.WithRetry(pacedatabricks.Retry{Attempts: 1}))
		resp, err := rt.RoundTrip(request(t, ctx, c.method, c.url, c.body))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		e := pacedatabricks.Failure(resp)
		text := e.Error() + errors.Unwrap(e).Error() + ledger.String()
		for _, s := range g.Summary(nil).Scopes {
			text += s.LastError
		}
		if c.want != "" && !strings.Contains(e.Error(), ": "+c.want) {
			t.Errorf("%s: %s, want %q in it", name, e, c.want)
		}
		for _, hidden := range []string{column, "payments", "4111", secret, "hush", "dapi0", "Bearer"} {
			if strings.Contains(text, hidden) {
				t.Errorf("%s: %q in %s", name, hidden, text)
			}
		}
	}
}

// TestS14_4_Failure is known after http.Client has wrapped the answer, and nil for
// successes and strangers.
func TestS14_4_Failure(t *testing.T) {
	s := script(answer{status: 404, body: "nothing here"}, answer{status: 200}, answer{status: 200, body: thriftReply("CloseOperation", 4)},
		answer{status: 200, body: thriftReply("ExecuteStatement", 3)})
	client := &http.Client{Transport: transport(t, s, pacedatabricks.WithGovernor(fast(t))), Timeout: time.Minute}
	for i, want := range []string{"non-retryable error", "", "non-retryable error", ""} {
		command := []string{"GetOperationStatus", "GetOperationStatus", "CloseOperation", "ExecuteStatement"}[i]
		resp, err := client.Do(thriftRequest(t, t.Context(), command))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		switch e := pacedatabricks.Failure(resp); {
		case want == "" && e != nil, want != "" && (e == nil || e.Reason != want || e.HTTPCode != resp.StatusCode):
			t.Errorf("%d: %v, want %q", i, e, want)
		case i == 2 && !strings.Contains(e.Error(), "INVALID_HANDLE_STATUS"):
			t.Errorf("%v", e)
		}
	}
	if pacedatabricks.Failure(nil) != nil || pacedatabricks.Failure(&http.Response{}) != nil {
		t.Error("a stranger has failed")
	}
}

// TestS14_6_Levels: INFO for what networks do, WARN for anything else; one line a
// failure, which says whether a retry follows.
func TestS14_6_Levels(t *testing.T) {
	for _, c := range []struct {
		level string
		errs  []error
	}{
		{"INFO", []error{
			read(syscall.ESHUTDOWN), read(syscall.EAFNOSUPPORT), read(syscall.ECONNRESET), read(syscall.ETIMEDOUT), read(syscall.EPIPE),
			dial(syscall.ECONNREFUSED), dial(syscall.EHOSTUNREACH), dial(syscall.ENETUNREACH), net.ErrClosed, os.ErrDeadlineExceeded,
			&net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}},
			errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=\"\""),
			errors.New("http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] after Request.Body was written"),
		}},
		{"WARN", []error{
			read(syscall.EMFILE), read(syscall.EACCES), read(syscall.EINVAL), syscall.EMFILE, dial(syscall.EACCES),
			&net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}, &net.OpError{Op: "dial", Err: &net.DNSError{IsTemporary: true}},
		}},
	} {
		for _, err := range c.errs {
			bubble(t, func(t *testing.T) {
				logged := &lines{}
				rt := transport(t, script(answer{err: err}, answer{status: 200}), pacedatabricks.WithGovernor(fast(t)), logger(logged))
				_, _ = rt.RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
				_, failed := rt.RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
				if failed != nil {
					t.Error(failed)
				}
				if len(logged.all) != 1 || logged.all[0].Level.String() != c.level {
					t.Errorf("%v: logged %+v, want one line at %s", err, logged.all, c.level)
				}
			})
		}
	}
	bubble(t, func(t *testing.T) {
		logged := &lines{}
		rt := transport(t, script(answer{err: read(syscall.ECONNRESET)}), pacedatabricks.WithGovernor(fast(t)), logger(logged),
			pacedatabricks.WithRetry(pacedatabricks.Retry{Attempts: 2}))
		_, _ = rt.RoundTrip(thriftRequest(t, t.Context(), "GetOperationStatus"))
		if len(logged.all) != 2 || !attr(logged.all[0], "retry").Bool() || attr(logged.all[1], "retry").Bool() {
			t.Errorf("%+v", logged.all)
		}
		for key, want := range map[string]string{
			"method": "GetOperationStatus", "session_id": "", "query_id": queryID, "delay": "5s", "attempt": "2", "attempts": "2", "elapsed": "5s",
			"resends": "0", "error": "read tcp: connection reset by peer",
		} {
			if got := attr(logged.all[1], key).String(); got != want {
				t.Errorf("%s is %q, want %q", key, got, want)
			}
		}
	})
}

// lines keeps what is logged.
type lines struct {
	levels
	all []slog.Record
}

func (l *lines) Handle(_ context.Context, r slog.Record) error { l.all = append(l.all, r); return nil }

func attr(r slog.Record, key string) (v slog.Value) {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == key {
			v = a.Value
		}
		return true
	})
	return v
}

// TestS14_3_Settings: zero is the configured, what is out of range is clamped with
// one warning, what contradicts itself is refused.
func TestS14_3_Settings(t *testing.T) {
	logged := &lines{}
	rt := transport(t, script(answer{status: 200}), logger(logged), pacedatabricks.WithRetry(pacedatabricks.Retry{
		DelayMin: time.Millisecond, DelayMax: 2 * time.Hour, Duration: 25 * time.Hour, DelayDefault: time.Hour, Attempts: 61,
	}))
	if rt == nil || len(logged.all) != 1 || logged.all[0].Level != slog.LevelWarn {
		t.Fatalf("logged %+v, want one warning", logged.all)
	}
	for _, want := range []string{
		"DelayMin is 1ms (allowed: 100ms to 1m0s), taken as 100ms", "DelayMax is 2h0m0s (allowed: 5s to 1h0m0s), taken as 1h0m0s",
		"Duration is 25h0m0s", "DelayDefault is 1h0m0s (allowed: 1s to 1m0s), taken as 1m0s", "Attempts is 61 (allowed: 1 to 60), taken as 60",
	} {
		if text := attr(logged.all[0], "settings").String(); !strings.Contains(text, want) {
			t.Errorf("%s, want %q in it", text, want)
		}
	}
	for _, r := range []pacedatabricks.Retry{{DelayMin: 11 * time.Second, DelayMax: 10 * time.Second}, {DelayMin: 61 * time.Second, DelayMax: time.Millisecond}} {
		if rt, err := pacedatabricks.NewTransport(nil, pacedatabricks.WithRetry(r), logger(logged)); err == nil || rt != nil || !strings.Contains(err.Error(), "DelayMin is") {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if len(logged.all) != 1 {
		t.Errorf("%d warnings", len(logged.all))
	}
	bubble(t, func(t *testing.T) {
		g := governor(t, func(c *cloudpace.Config, _ *cloudpace.Provider) { c.Databricks.Retry.DelayDefault = 7 * time.Second })
		s := script(answer{err: read(syscall.ECONNRESET)})
		rt := transport(t, s, pacedatabricks.WithGovernor(g), pacedatabricks.WithRetry(pacedatabricks.Retry{Attempts: 2}))
		if _, err := rt.RoundTrip(thriftRequest(t, t.Context(), "CloseSession")); err == nil || len(s.asked) != 2 || s.sent()[1] != 7*time.Second {
			t.Errorf("%v, sent at %v, want the configured delay", err, s.sent())
		}
	})
}
