package pacedatabricks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacedatabricks"
)

// server is a warehouse on a real socket. It runs statements, and counts how often
// it ran each; what it does with a connection is up to strike.
type server struct {
	*httptest.Server
	base *http.Transport

	strike func(w http.ResponseWriter, n int64, command string) bool // true: it has answered, or not
	asked  atomic.Int64
	conns  atomic.Int64 // open

	mu  sync.Mutex
	ran map[string]int
}

func warehouseServer(t *testing.T, strike func(w http.ResponseWriter, n int64, command string) bool) *server {
	t.Helper()
	s := &server{strike: strike, ran: map[string]int{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.conns.Add(1)
		case http.StateClosed, http.StateHijacked:
			s.conns.Add(-1)
		}
	}
	s.Start()
	s.base = &http.Transport{ResponseHeaderTimeout: 100 * time.Millisecond, MaxIdleConnsPerHost: 64}
	t.Cleanup(func() {
		s.base.CloseIdleConnections()
		s.Close()
	})
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	command := ""
	for _, c := range []string{"OpenSession", "ExecuteStatement", "GetOperationStatus", "FetchResults", "CloseOperation", "CloseSession"} {
		if bytes.Contains(body, []byte(c)) {
			command = c
		}
	}
	if command == "ExecuteStatement" {
		s.mu.Lock()
		s.ran[r.Header.Get("X-Statement")]++
		s.mu.Unlock()
	}
	if s.strike != nil && s.strike(w, s.asked.Add(1), command) {
		return
	}
	_, _ = io.WriteString(w, thriftReply(command, 0))
}

// breakOff ends a connection after some bytes of an answer: with a reset, or as if
// all were said.
func breakOff(w http.ResponseWriter, head string, reset bool) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(conn, head)
	if reset {
		_ = conn.(*net.TCPConn).SetLinger(0)
		// What was written must get there before the reset overtakes it.
		time.Sleep(5 * time.Millisecond)
	}
	_ = conn.Close()
}

const halfAnAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"

// faults are what the wire does, by name.
var faults = map[string]func(w http.ResponseWriter){
	"reset":             func(w http.ResponseWriter) { breakOff(w, "", true) },
	"closed":            func(w http.ResponseWriter) { breakOff(w, "", false) },
	"reset in headers":  func(w http.ResponseWriter) { breakOff(w, "HTTP/1.1 200 OK\r\nConte", true) },
	"closed in headers": func(w http.ResponseWriter) { breakOff(w, "HTTP/1.1 200 OK\r\nConte", false) },
	"reset in body":     func(w http.ResponseWriter) { breakOff(w, halfAnAnswer, true) },
	"closed in body":    func(w http.ResponseWriter) { breakOff(w, halfAnAnswer, false) },
	"hang":              func(http.ResponseWriter) { time.Sleep(300 * time.Millisecond) },
	"502":               func(w http.ResponseWriter) { w.WriteHeader(502) },
	"503":               func(w http.ResponseWriter) { w.WriteHeader(503) },
}

// soon repeats as fast as the schedule allows.
func soon(attempts int) pacedatabricks.Option {
	return pacedatabricks.WithRetry(pacedatabricks.Retry{DelayMin: 100 * time.Millisecond, DelayDefault: time.Second, Attempts: attempts})
}

func post(t *testing.T, rt http.RoundTripper, url, command, name string) (*http.Response, error) {
	t.Helper()
	req := request(t, t.Context(), "POST", url+"/sql/1.0/warehouses/a1", string(thriftCall(command)))
	req.Header.Set("X-Statement", name)
	return rt.RoundTrip(req)
}

// TestS14_2_OnRealSockets: whatever breaks while polling ends in success, and the
// statement ran once; the same on ExecuteStatement ends in an error that is found
// by errors.Is, and ran once too.
func TestS14_2_OnRealSockets(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var struck atomic.Bool
			for _, command := range []string{"GetOperationStatus", "ExecuteStatement"} {
				struck.Store(false)
				s := warehouseServer(t, func(w http.ResponseWriter, _ int64, c string) bool {
					if c != command || struck.Swap(true) {
						return false
					}
					fault(w)
					return true
				})
				rt := transport(t, s.base, pacedatabricks.WithGovernor(fast(t)), soon(5))
				var failed error
				for _, step := range []string{"OpenSession", "ExecuteStatement", "GetOperationStatus", "GetOperationStatus", "CloseOperation", "CloseSession"} {
					resp, err := post(t, rt, s.URL, step, "one")
					if err == nil {
						_, err = io.ReadAll(resp.Body)
						_ = resp.Body.Close()
						if e := pacedatabricks.Failure(resp); err == nil && e != nil {
							err = e
						}
					}
					if err != nil && step != "ExecuteStatement" {
						t.Errorf("%s struck, %s: %v", command, step, err)
					}
					failed = errors.Join(failed, err)
				}
				if (failed != nil) != (command == "ExecuteStatement") {
					t.Errorf("%s struck: %v", command, failed)
				}
				// Of a head that broke off net/http says that it is malformed.
				if command == "ExecuteStatement" && (name == "reset" || name == "reset in body") && !errors.Is(failed, syscall.ECONNRESET) {
					t.Errorf("%v is no reset", failed)
				}
				s.mu.Lock()
				if s.ran["one"] != 1 {
					t.Errorf("%s struck: the statement ran %d times", command, s.ran["one"])
				}
				s.mu.Unlock()
			}
		})
	}
}

// TestS14_2_NothingListens: a connection that was never made is tried again, also
// for a statement, and the error of the last says so.
func TestS14_2_NothingListens(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	_, err = post(t, transport(t, base, pacedatabricks.WithGovernor(fast(t)), soon(2)), "http://"+address, "ExecuteStatement", "")
	var e *pacedatabricks.RetryError
	if !errors.Is(err, syscall.ECONNREFUSED) || !errors.As(err, &e) || e.Attempt != 2 || e.Reason != "out of attempts" {
		t.Errorf("%v", err)
	}
}

// TestS14_2_AHandshakeThatBreaks happens before anything is sent, so a statement
// may be sent again; a certificate that is not trusted stays so.
func TestS14_2_AHandshakeThatBreaks(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepted atomic.Int64
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			_, _ = conn.Read(make([]byte, 10))
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
	})
	base := &http.Transport{}
	_, err = post(t, transport(t, base, pacedatabricks.WithGovernor(fast(t)), soon(2)), "https://"+listener.Addr().String(), "ExecuteStatement", "")
	if !errors.Is(err, syscall.ECONNRESET) || accepted.Load() != 2 {
		t.Errorf("%v after %d connections", err, accepted.Load())
	}
	_ = listener.Close()
	serving.Wait()
	base.CloseIdleConnections()

	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0) // of the client that does not trust it
	tls.StartTLS()
	defer tls.Close()
	_, err = post(t, transport(t, base, pacedatabricks.WithGovernor(fast(t)), soon(2)), tls.URL, "GetOperationStatus", "")
	var e *pacedatabricks.RetryError
	if !errors.As(err, &e) || e.Attempt != 1 || e.Reason != "non-retryable error" {
		t.Errorf("%v", err)
	}
	base.CloseIdleConnections()
}

// TestNothingLeaks over ten thousand requests of which one in three is struck.
func TestNothingLeaks(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand requests")
	}
	strikes := []func(http.ResponseWriter){faults["reset"], faults["closed"], faults["reset in body"], faults["502"], faults["503"], faults["closed in headers"]}
	s := warehouseServer(t, func(w http.ResponseWriter, n int64, _ string) bool {
		if n%3 != 0 {
			return false
		}
		strikes[n/3%int64(len(strikes))](w)
		return true
	})
	s.base.ResponseHeaderTimeout = 0 // a slow machine is not a fault
	g := governor(t, func(_ *cloudpace.Config, p *cloudpace.Provider) {
		p.MaxRPS, p.Burst, p.MaxConcurrency, p.BreakerThreshold = 1e9, 1e9, 16, 1000
	})
	// One attempt: what is measured is what a failure leaves behind, not the sleeps.
	rt := transport(t, s.base, pacedatabricks.WithGovernor(g), soon(1))
	var work sync.WaitGroup
	var failed, bodies atomic.Int64
	for range 20 {
		work.Go(func() {
			for i := range 500 {
				command := []string{"GetOperationStatus", "ExecuteStatement", "CloseOperation"}[i%3]
				resp, err := post(t, rt, s.URL, command, fmt.Sprint(i))
				if err != nil {
					failed.Add(1)
					continue
				}
				if i%2 == 0 { // some read, some only close
					_, _ = io.Copy(io.Discard, resp.Body)
				}
				_ = resp.Body.Close()
				bodies.Add(1)
			}
		})
	}
	work.Wait()
	if failed.Load() < 1000 || failed.Load()+bodies.Load() != 10_000 {
		t.Errorf("%d failed, %d answered", failed.Load(), bodies.Load())
	}
	s.base.CloseIdleConnections()
	for range 200 {
		if s.conns.Load() == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := s.conns.Load(); n != 0 {
		t.Errorf("%d connections left", n)
	}
	for _, b := range g.Snapshot().Bulkheads {
		if b.InUse != 0 {
			t.Errorf("%+v", b)
		}
	}
}

// TestTheClientsDeadline ends a sleep, through http.Client as through a context.
func TestTheClientsDeadline(t *testing.T) {
	s := warehouseServer(t, func(w http.ResponseWriter, _ int64, _ string) bool { faults["reset"](w); return true })
	client := &http.Client{Transport: transport(t, s.base, pacedatabricks.WithGovernor(fast(t)), soon(5)), Timeout: 500 * time.Millisecond}
	_, err := client.Do(request(t, context.Background(), "POST", s.URL, string(thriftCall("GetOperationStatus"))))
	var e *pacedatabricks.RetryError
	if !errors.As(err, &e) || e.Reason != "out of time" || e.Attempt != 1 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v", err)
	}
}
