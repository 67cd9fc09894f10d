package pacedatabricks_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacedatabricks"
	"github.com/cloudpace/cloudpace/verdict"
)

func bubble(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }

const statementsURL = "https://dbc-1.example.com/api/2.0/sql/statements"

// asked is one command in each of the ways in which it can be asked for.
type asked struct {
	name       string
	repeatable bool
	request    func(t *testing.T) *http.Request
}

func commands() (list []asked) {
	for _, c := range []struct {
		command    string
		repeatable bool
	}{
		{"GetOperationStatus", true}, {"CancelOperation", true}, {"CloseOperation", true}, {"CloseSession", true},
		{"ExecuteStatement", false}, {"OpenSession", false}, {"FetchResults", false}, {"GetResultSetMetadata", false}, {"SomethingNew", false},
	} {
		list = append(list, asked{c.command, c.repeatable, func(t *testing.T) *http.Request { return thriftRequest(t, t.Context(), c.command) }})
	}
	for _, c := range []struct {
		method, path, body string
		repeatable         bool
	}{
		{"POST", "", `{"statement":"` + statement + `"}`, false},
		{"GET", "/" + queryID, "", true},
		{"GET", "/" + queryID + "/", "", true},
		{"GET", "/" + queryID + "/result/chunks/1", "", true},
		{"POST", "/" + queryID + "/cancel", "", true},
		{"DELETE", "/" + queryID, "", true},
		{"PUT", "/" + queryID, "{}", false},
	} {
		list = append(list, asked{c.method + " statements" + c.path, c.repeatable, func(t *testing.T) *http.Request {
			return request(t, t.Context(), c.method, statementsURL+c.path, c.body)
		}})
	}
	list = append(list,
		asked{"GET jobs", true, func(t *testing.T) *http.Request {
			return request(t, t.Context(), "GET", "https://dbc-1.example.com/api/2.1/jobs/list", "")
		}},
		asked{"POST jobs", false, func(t *testing.T) *http.Request {
			return request(t, t.Context(), "POST", "https://dbc-1.example.com/api/2.1/jobs/run-now", `{"job_id":1}`)
		}},
		asked{"DELETE jobs", false, func(t *testing.T) *http.Request {
			return request(t, t.Context(), "DELETE", "https://dbc-1.example.com/api/2.1/jobs/1", "")
		}},
	)
	return list
}

func dial(errno syscall.Errno) error { return &net.OpError{Op: "dial", Net: "tcp", Err: errno} }

func read(errno syscall.Errno) error { return &net.OpError{Op: "read", Net: "tcp", Err: errno} }

// TestS14_2_WhatIsRepeated: every command after every failure.
func TestS14_2_WhatIsRepeated(t *testing.T) {
	const anyone, repeatable, never = 0, 1, 2
	header := func(v string) http.Header { return http.Header{"Retry-After": {v}} }
	for name, c := range map[string]struct {
		answer
		who int
	}{
		"429 with a hint":              {answer{status: 429, header: header("1")}, anyone},
		"503 with a hint":              {answer{status: 503, header: header("1")}, anyone},
		"503 with an unreadable hint":  {answer{status: 503, header: header("soon")}, anyone},
		"503 with an empty hint":       {answer{status: 503, header: header("")}, anyone},
		"dial refused":                 {answer{err: dial(syscall.ECONNREFUSED)}, anyone},
		"dial timed out":               {answer{err: dial(syscall.ETIMEDOUT)}, anyone},
		"no file descriptor to dial":   {answer{err: dial(syscall.EMFILE)}, anyone},
		"name lookup timed out":        {answer{err: &net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}}}, anyone},
		"429 without":                  {answer{status: 429}, repeatable},
		"503 without":                  {answer{status: 503}, repeatable},
		"502":                          {answer{status: 502}, repeatable},
		"504":                          {answer{status: 504}, repeatable},
		"502 with a hint":              {answer{status: 502, header: header("1")}, repeatable},
		"H01, the status was lost":     {answer{status: 400, body: `{"error_code":"REQUEST_LIMIT_EXCEEDED"}`}, repeatable},
		"a warehouse that is starting": {answer{status: 400, body: `{"message":"Warehouse a1 has not been initialized"}`}, repeatable},
		"408":                          {answer{status: 408}, never},
		"reset":                        {answer{err: read(syscall.ECONNRESET)}, repeatable},
		"reset, twice wrapped":         {answer{err: errors.Join(errors.New("x"), read(syscall.ECONNRESET))}, repeatable},
		"closed":                       {answer{err: io.EOF}, repeatable},
		"closed in the headers":        {answer{err: io.ErrUnexpectedEOF}, repeatable},
		"timed out":                    {answer{err: context.DeadlineExceeded}, repeatable},
		"500":                          {answer{status: 500}, never},
		"400":                          {answer{status: 400}, never},
		"401":                          {answer{status: 401, header: header("1")}, never},
		"404":                          {answer{status: 404}, never},
		"unknown host":                 {answer{err: &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}}, never},
		"an error nobody knows":        {answer{err: errors.New("what is this")}, never},
	} {
		for _, command := range commands() {
			t.Run(name+"/"+command.name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					s := script(c.answer, answer{status: 200, body: "{}"})
					rt := transport(t, s, pacedatabricks.WithGovernor(fast(t)))
					resp, err := rt.RoundTrip(command.request(t))
					want := 1
					if c.who == anyone || c.who == repeatable && command.repeatable {
						want = 2
					}
					if len(s.asked) != want {
						t.Fatalf("sent %d times, want %d", len(s.asked), want)
					}
					if want == 2 && (err != nil || resp.StatusCode != 200 || s.bodies[0] != s.bodies[1] || s.sent()[1] < time.Second) {
						t.Errorf("%v, %v, after %v", resp, err, s.sent())
					}
					if want == 1 && c.err != nil {
						var failed *pacedatabricks.RetryError
						if !errors.As(err, &failed) || failed.Reason != "non-retryable error" || !errors.Is(err, c.err) {
							t.Errorf("%v", err)
						}
					}
					if want == 1 && c.err == nil {
						if err != nil || resp.StatusCode != c.status || pacedatabricks.Failure(resp).Reason != "non-retryable error" {
							t.Errorf("%v, %v", resp, err)
						}
					}
					if resp != nil {
						_ = resp.Body.Close()
					}
					if s.open != 0 {
						t.Errorf("%d bodies left open", s.open)
					}
				})
			})
		}
	}
}

// TestH01_AThrottleInsideA200 is one, of the REST API; the error of a statement is not.
func TestH01_AThrottleInsideA200(t *testing.T) {
	for body, sent := range map[string]int{
		`{"error_code":"REQUEST_LIMIT_EXCEEDED","message":"slow down"}`:                                2,
		`{"statement_id":"a","status":{"state":"FAILED","error":{"error_code":"RESOURCE_EXHAUSTED"}}}`: 1,
		`{"error_code":"NOT_FOUND"}`: 1,
	} {
		bubble(t, func(t *testing.T) {
			s := script(answer{status: 200, body: body}, answer{status: 200, body: "{}"})
			resp, err := transport(t, s, pacedatabricks.WithGovernor(fast(t))).RoundTrip(request(t, t.Context(), "GET", statementsURL+"/"+queryID, ""))
			if err != nil || len(s.asked) != sent || sent == 2 && s.sent()[1] < 5*time.Second {
				t.Errorf("%s: %v, %v, sent at %v", body, resp, err, s.sent())
			}
		})
	}
}

// TestS14_2_AnAnswerThatBreaksOff is asked for again where that is safe, as long as
// what arrived is no more than is kept.
func TestS14_2_AnAnswerThatBreaksOff(t *testing.T) {
	for _, c := range []struct {
		command string
		size    int
		asked   int
	}{
		{"GetOperationStatus", 1000, 2}, {"GetOperationStatus", 1 << 20, 2}, {"CloseOperation", 10, 2},
		{"GetOperationStatus", 3 << 20, 1}, {"FetchResults", 1000, 1}, {"ExecuteStatement", 1000, 1},
	} {
		bubble(t, func(t *testing.T) {
			whole := strings.Repeat("x", c.size)
			s := script(answer{status: 200, body: whole, broken: read(syscall.ECONNRESET)}, answer{status: 200, body: whole})
			resp, err := transport(t, s, pacedatabricks.WithGovernor(fast(t))).RoundTrip(thriftRequest(t, t.Context(), c.command))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if len(s.asked) != c.asked {
				t.Errorf("%+v: sent %d times", c, len(s.asked))
			}
			if c.asked == 2 && (err != nil || string(got) != whole) || c.asked == 1 && (!errors.Is(err, syscall.ECONNRESET) || len(got) != c.size/2) {
				t.Errorf("%+v: %d bytes, %v", c, len(got), err)
			}
			if s.open != 0 {
				t.Errorf("%d bodies left open", s.open)
			}
		})
	}
}

// TestS14_2_UnreadableCommandsAreSentOnce and not governed.
func TestS14_2_UnreadableCommandsAreSentOnce(t *testing.T) {
	long := "\x80\x01\x00\x01\x00\x00\x00\x60" + strings.Repeat("x", 300)
	for name, req := range map[string]*http.Request{
		"compact":          request(t, t.Context(), "POST", warehouse, "\x82\x21\x01\x12GetOperationStatus\x1c"),
		"truncated":        request(t, t.Context(), "POST", warehouse, string(thriftCall("GetOperationStatus")[:20])),
		"a lying length":   request(t, t.Context(), "POST", warehouse, long),
		"telemetry":        request(t, t.Context(), "POST", "https://dbc-1.example.com/telemetry-ext", `{"uploadTime":1}`),
		"a token":          request(t, t.Context(), "POST", "https://dbc-1.example.com/oidc/v1/token", "grant_type=client_credentials"),
		"a cloud download": request(t, t.Context(), "GET", "https://bucket.example.com/result?sig=x", ""),
		"without a body":   request(t, t.Context(), "POST", warehouse, ""),
	} {
		for _, a := range []answer{{status: 429, header: http.Header{"Retry-After": {"1"}}}, {err: read(syscall.ECONNRESET)}} {
			g := fast(t)
			for _, rewinds := range []bool{true, false} {
				s := script(a)
				sent := req.Clone(t.Context())
				text := ""
				if req.GetBody != nil {
					sent.Body, _ = req.GetBody()
					body, _ := req.GetBody()
					b, _ := io.ReadAll(body)
					text = string(b)
				}
				if !rewinds {
					sent.GetBody = nil
				}
				resp, err := transport(t, s, pacedatabricks.WithGovernor(g)).RoundTrip(sent)
				if resp != nil {
					_ = resp.Body.Close()
				}
				if err != a.err || len(s.asked) != 1 || s.bodies[0] != text {
					t.Errorf("%s: %v, sent %d times, %q", name, err, len(s.asked), s.bodies)
				}
			}
			if n := g.Summary(nil).Totals.Calls; n != 0 {
				t.Errorf("%s: %d governed", name, n)
			}
		}
	}
}

// TestS14_2_Bodies are replayed from GetBody or a buffer, or the request is sent
// once.
func TestS14_2_Bodies(t *testing.T) {
	poll := string(thriftCall("GetOperationStatus"))
	huge := string(thriftCall("ExecuteStatement")) + strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		body  string
		alter func(*http.Request)
		asked int
	}{
		"from GetBody":            {poll, func(*http.Request) {}, 2},
		"from the buffer":         {poll, func(r *http.Request) { r.GetBody = nil }, 2},
		"length unknown":          {poll, func(r *http.Request) { r.GetBody, r.ContentLength = nil, -1 }, 2},
		"too long":                {huge, func(r *http.Request) { r.GetBody = nil }, 1},
		"too long and unknown":    {huge, func(r *http.Request) { r.GetBody, r.ContentLength = nil, -1 }, 1},
		"long with GetBody":       {huge, func(*http.Request) {}, 2},
		"GetBody fails":           {poll, func(r *http.Request) { r.GetBody = func() (io.ReadCloser, error) { return nil, io.ErrClosedPipe } }, 1},
		"GetBody fails later":     {poll, func(r *http.Request) { r.GetBody = once(r.GetBody) }, 1},
		"length of nobody's body": {poll, func(r *http.Request) { r.ContentLength = 0 }, 2},
	} {
		bubble(t, func(t *testing.T) {
			s := script(answer{status: 503, header: http.Header{"Retry-After": {"1"}}}, answer{status: 200})
			req := request(t, t.Context(), "POST", warehouse, c.body)
			c.alter(req)
			before := *req
			resp, err := transport(t, s, pacedatabricks.WithGovernor(fast(t))).RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if len(s.asked) != c.asked {
				t.Errorf("%s: sent %d times", name, len(s.asked))
			}
			for _, b := range s.bodies {
				if b != c.body {
					t.Errorf("%s: %d bytes sent, want %d", name, len(b), len(c.body))
				}
			}
			if req.Body != before.Body || req.ContentLength != before.ContentLength || (req.GetBody == nil) != (before.GetBody == nil) {
				t.Errorf("%s: the caller's request was changed", name)
			}
			if s.open != 0 {
				t.Errorf("%s: %d bodies left open", name, s.open)
			}
		})
	}
}

// once works the first time, when the command is read.
func once(f func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	n := 0
	return func() (io.ReadCloser, error) {
		if n++; n > 1 {
			return nil, io.ErrClosedPipe
		}
		return f()
	}
}

// TestS14_2_ABodyThatCannotBeRead ends the request, and closes it.
func TestS14_2_ABodyThatCannotBeRead(t *testing.T) {
	s := script(answer{status: 200})
	for _, url := range []string{warehouse, statementsURL} {
		req := request(t, t.Context(), "POST", url, "x")
		closed := false
		req.GetBody, req.ContentLength = nil, -1
		req.Body = struct {
			io.Reader
			io.Closer
		}{failing{io.ErrClosedPipe}, closer(func() { closed = true })}
		if _, err := transport(t, s, pacedatabricks.WithGovernor(fast(t))).RoundTrip(req); !errors.Is(err, io.ErrClosedPipe) || !closed || len(s.asked) > 0 {
			t.Errorf("%s: %v, closed %v, sent %d times", url, err, closed, len(s.asked))
		}
	}
}

type closer func()

func (c closer) Close() error { c(); return nil }

// TestS1_2_Scopes: workspace, API and command.
func TestS1_2_Scopes(t *testing.T) {
	g := fast(t)
	rt := transport(t, script(answer{status: 200}), pacedatabricks.WithGovernor(g))
	ctx, stats := cloudpace.WithStats(t.Context())
	for _, c := range commands() {
		resp, err := rt.RoundTrip(c.request(t).WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	calls := map[string]int{}
	for _, s := range g.Summary(stats).Scopes {
		calls[s.Scope] = s.Calls
	}
	for scope, n := range map[string]int{"sql": 9, "sqlexec": 7, "jobs": 3} {
		if got := calls["databricks/dbc-1.example.com/*/"+scope]; got != n {
			t.Errorf("%s: %d calls, want %d (%v)", scope, got, n, calls)
		}
	}
}

// TestS14_5_TheError names everything, keeps its cause and tells no secret.
func TestS14_5_TheError(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cause := read(syscall.ECONNRESET)
		s := script(answer{status: 503, header: http.Header{"Retry-After": {"3"}}}, answer{err: cause})
		_, err := transport(t, s, pacedatabricks.WithGovernor(fast(t))).RoundTrip(thriftRequest(t, t.Context(), "ExecuteStatement"))
		var e *pacedatabricks.RetryError
		if !errors.As(err, &e) || !errors.Is(err, syscall.ECONNRESET) {
			t.Fatal(err)
		}
		if e.Method != "ExecuteStatement" || e.SessionID != sessionID || e.QueryID != "" || e.HTTPCode != 0 || e.Reason != "non-retryable error" ||
			e.Delay != 5*time.Second || e.Elapsed < 3*time.Second || e.Attempt != 2 || e.Attempts != 30 {
			t.Errorf("%+v", e)
		}
		const want = "databricks: ExecuteStatement, session " + sessionID + ": non-retryable error after attempt 2/30 in 3s/15m0s, delay 5s: read tcp: connection reset by peer"
		if e.Error() != want {
			t.Errorf("%s\nwant %s", e, want)
		}
		if e.Timeout() || verdict.ClassifyFor("databricks", err) != verdict.Transient {
			t.Error("kind or time-out is lost")
		}
		s = script(answer{err: read(syscall.ETIMEDOUT)})
		_, err = transport(t, s, pacedatabricks.WithGovernor(fast(t))).RoundTrip(thriftRequest(t, t.Context(), "OpenSession"))
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%v is no time-out", err)
		}
	})
}
