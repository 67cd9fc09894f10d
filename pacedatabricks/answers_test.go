package pacedatabricks_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/pacedatabricks"
)

// TestAnswersWithoutTheirBody: the length that these tell is that of a body that does
// not come.
func TestAnswersWithoutTheirBody(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "500")
			if r.Method == http.MethodGet {
				w.Header().Del("Content-Length")
				w.Header()["Content-Length"] = nil
				w.WriteHeader(http.StatusNotModified)
			}
		}))
		s.EnableHTTP2 = h2
		s.StartTLS()
		defer s.Close()
		for _, method := range []string{"HEAD", "GET"} {
			resp, err := transport(t, s.Client().Transport, pacedatabricks.WithGovernor(fast(t)), soon(2)).
				RoundTrip(request(t, t.Context(), method, s.URL+"/api/2.0/fs/files/a", ""))
			if err != nil {
				t.Errorf("%s, HTTP/2 %v: %v", method, h2, err)
				continue
			}
			_ = resp.Body.Close()
		}
		s.Client().CloseIdleConnections()
	}
}

// nobody answers without a body, as a base may.
type nobody struct{ asked int }

func (b *nobody) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.asked++; b.asked == 1 {
		return &http.Response{StatusCode: 502, Header: http.Header{}, Request: r}, nil
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r}, nil
}

func TestANilBodyIsNone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		client := &http.Client{Transport: transport(t, &nobody{}, pacedatabricks.WithGovernor(fast(t)))}
		resp, err := client.Do(request(t, t.Context(), "GET", statementsURL+"/"+queryID, ""))
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		_ = resp.Body.Close()
	})
}

// TestAnswersThatDoNotEnd are handed on: a connection that was switched to another
// protocol, which can be written to, and a stream of events.
func TestAnswersThatDoNotEnd(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: x\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_, _ = io.Copy(conn, conn)
	}))
	defer s.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	rt := transport(t, base, pacedatabricks.WithGovernor(fast(t)), soon(1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	req := request(t, ctx, "GET", s.URL+"/api/2.0/apps/x/logs", "")
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "echo")
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	stream, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		t.Fatalf("a body of %T cannot be written to", resp.Body)
	}
	heard := make([]byte, 5)
	if _, err := io.WriteString(stream, "hello"); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(stream, heard); err != nil || string(heard) != "hello" {
		t.Errorf("%q, %v", heard, err)
	}
	_ = stream.Close()

	resp, err = rt.RoundTrip(request(t, ctx, "GET", s.URL+"/api/2.0/pipelines/events", ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, heard); err != nil || string(heard) != "data:" {
		t.Errorf("%q, %v", heard, err)
	}
	_ = resp.Body.Close()
}

// TestS14_2_AProxyThatRefuses to connect: nothing was sent, so any command may go
// again. It says nothing about the workspace's rate.
func TestS14_2_AProxyThatRefuses(t *testing.T) {
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	target.Config.ErrorLog = log.New(io.Discard, "", 0)
	target.StartTLS()
	t.Cleanup(target.Close)
	for status, attempts := range map[string]int64{
		"429 Too Many Requests": 2, "502 Bad Gateway": 2, "503 Service Unavailable": 2, "504 Gateway Timeout": 2, "407 Proxy Authentication Required": 1,
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			for _, command := range []string{"GetOperationStatus", "ExecuteStatement"} {
				var asked atomic.Int64
				proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					conn, _, err := w.(http.Hijacker).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					defer conn.Close()
					if asked.Add(1) == 1 {
						_, _ = io.WriteString(conn, "HTTP/1.1 "+status+"\r\nContent-Length: 0\r\n\r\n")
						return
					}
					up, err := new(net.Dialer).DialContext(r.Context(), "tcp", r.Host)
					if err != nil {
						t.Error(err)
						return
					}
					defer up.Close()
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
					go func() { _, _ = io.Copy(up, conn) }()
					_, _ = io.Copy(conn, up)
				}))
				base := target.Client().Transport.(*http.Transport).Clone()
				through, err := url.Parse(proxy.URL)
				if err != nil {
					t.Fatal(err)
				}
				base.Proxy = http.ProxyURL(through)
				base.DisableKeepAlives = true
				g, logged := fast(t), &lines{}
				resp, err := post(t, transport(t, base, pacedatabricks.WithGovernor(g), soon(3), logger(logged)), target.URL, command, "")
				if err == nil {
					_ = resp.Body.Close()
				}
				if (err == nil) != (attempts == 2) || asked.Load() != attempts || len(logged.all) != int(attempts-1) || g.Summary(nil).Totals.Throttled != 0 {
					t.Errorf("%s: asked %d times, logged %d, %v", command, asked.Load(), len(logged.all), err)
				}
				base.CloseIdleConnections()
				proxy.Close()
			}
		})
	}
}

// cancelling ends its caller's context just as an answer comes.
type cancelling struct {
	cancel context.CancelFunc
	http.RoundTripper
}

func (c cancelling) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	c.cancel()
	return resp, err
}

func TestS14_5_CanceledAsAnAnswerComes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := script(answer{status: 404})
	_, err := transport(t, cancelling{cancel, s}, pacedatabricks.WithGovernor(fast(t))).RoundTrip(request(t, ctx, "GET", statementsURL+"/"+queryID, ""))
	var e *pacedatabricks.RetryError
	if !errors.As(err, &e) || !errors.Is(err, context.Canceled) || e.HTTPCode != 404 || e.Reason != "canceled" || s.open != 0 {
		t.Errorf("%v, %d bodies open", err, s.open)
	}
}

// TestS14_4_FailureIsOfOneAnswer: a request that was made from an answer's does not
// bring its failure along.
func TestS14_4_FailureIsOfOneAnswer(t *testing.T) {
	rt := transport(t, script(answer{status: 404}, answer{status: 200}), pacedatabricks.WithGovernor(fast(t)))
	resp, err := rt.RoundTrip(request(t, t.Context(), "GET", statementsURL+"/"+queryID, ""))
	if err != nil || pacedatabricks.Failure(resp) == nil {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	resp, err = rt.RoundTrip(resp.Request.Clone(resp.Request.Context()))
	if err != nil || pacedatabricks.Failure(resp) != nil {
		t.Errorf("%v, %v", err, pacedatabricks.Failure(resp))
	}
	_ = resp.Body.Close()
}

// TestS14_4_WhoCannotRepeatSaysSo: the log has no retry that does not follow.
func TestS14_4_WhoCannotRepeatSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		owner, cancel := context.WithCancel(t.Context())
		cancel()
		left := thriftRequest(t, pacedatabricks.WithOwner(context.WithoutCancel(owner), owner), "CloseOperation")
		broken := thriftRequest(t, t.Context(), "CloseOperation")
		broken.GetBody = once(broken.GetBody)
		for reason, req := range map[string]*http.Request{"canceled": left, "non-retryable error": broken} {
			logged := &lines{}
			s := script(answer{err: read(syscall.ECONNRESET)})
			_, err := transport(t, s, pacedatabricks.WithGovernor(fast(t)), logger(logged)).RoundTrip(req)
			var e *pacedatabricks.RetryError
			if !errors.As(err, &e) || e.Reason != reason || len(s.asked) != 1 || len(logged.all) != 1 || attr(logged.all[0], "retry").Bool() {
				t.Errorf("%s: %v, logged %+v", reason, err, logged.all)
			}
		}
	})
}

// TestS14_5_PollsQuoteNothing either, in whatever case.
func TestS14_5_PollsQuoteNothing(t *testing.T) {
	for _, c := range []struct{ method, url, body, message string }{
		{"GET", statementsURL + "/" + queryID, "", "[PARSE_SYNTAX_ERROR] == SQL == " + statement},
		{"GET", statementsURL + "/" + queryID, "", "cannot resolve card_number"},
		{"POST", statementsURL, `{"statement":"insert into payments values (card_number)"}`, "refused: " + strings.ToUpper("insert into payments values (card_number)")},
	} {
		for _, status := range []int{400, 500, 503} {
			if status == 503 && strings.HasPrefix(c.message, "cannot") {
				continue // a gateway does not read statements
			}
			rt := transport(t, script(answer{status: status, body: `{"error_code":"X","message":"` + c.message + `"}`}), pacedatabricks.WithGovernor(fast(t)), soon(1))
			resp, err := rt.RoundTrip(request(t, t.Context(), c.method, c.url, c.body))
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.ToLower(pacedatabricks.Failure(resp).Error()); strings.Contains(text, "card_number") {
				t.Errorf("%d: %s", status, text)
			}
		}
	}
}

// TestS14_4_TheOwnersDeadline ends a wait for a token before it is begun, as the
// caller's own does.
func TestS14_4_TheOwnersDeadline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := slow(t)
		owner, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		start := time.Now()
		rt := transport(t, script(answer{err: read(syscall.ECONNRESET)}), pacedatabricks.WithGovernor(g))
		_, err := rt.RoundTrip(thriftRequest(t, pacedatabricks.WithOwner(t.Context(), owner), "GetOperationStatus"))
		var e *pacedatabricks.RetryError
		if !errors.As(err, &e) || e.Reason != "out of time" || !errors.Is(err, syscall.ECONNRESET) || time.Since(start) != 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}
