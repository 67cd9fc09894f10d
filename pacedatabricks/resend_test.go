package pacedatabricks_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/pacedatabricks"
)

// stream is what an HTTP/2 server does with one.
type stream int

const (
	served       stream = iota // carried out and answered
	gone                       // GOAWAY that names no stream: not carried out
	refused                    // REFUSED_STREAM: not carried out
	ranAndFailed               // carried out, and ended with PROTOCOL_ERROR
	ranAndGone                 // carried out, then GOAWAY that names it, and the end
)

// h2server speaks as much HTTP/2 as the faults need, which no handler can cause. It
// counts the requests that it got, and those that it carried out.
type h2server struct {
	listener    net.Listener
	acts        func(n int64) stream
	lastWords   []byte // of ranAndGone's GOAWAY: its code, and what it has to say
	asked, ran  atomic.Int64
	work        sync.WaitGroup
	mu          sync.Mutex
	connections []net.Conn
}

func newH2Server(t *testing.T, acts func(n int64) stream) (*h2server, *http.Transport) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &h2server{listener: l, acts: acts, lastWords: code(0)}
	s.work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.connections = append(s.connections, conn)
			s.mu.Unlock()
			s.work.Go(func() { s.serve(conn) })
		}
	})
	base := &http.Transport{Protocols: new(http.Protocols)}
	base.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(func() {
		base.CloseIdleConnections()
		_ = l.Close()
		s.mu.Lock()
		for _, c := range s.connections {
			_ = c.Close()
		}
		s.mu.Unlock()
		s.work.Wait()
	})
	return s, base
}

func (s *h2server) url() string { return "http://" + s.listener.Addr().String() }

const (
	frameData, frameHeaders, frameReset, frameSettings, frameGoAway = 0, 1, 3, 4, 7
	endStream, endHeaders, ack                                      = 1, 4, 1
	protocolError, refusedStream                                    = 1, 7
)

func frame(kind, flags byte, stream uint32, payload ...byte) []byte {
	b := []byte{0, 0, byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

func code(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func (s *h2server) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	if _, err := io.CopyN(io.Discard, r, int64(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	_, _ = conn.Write(frame(frameSettings, 0, 0))
	for {
		var head [9]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		size := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, r, size); err != nil {
			return
		}
		kind, flags, id := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		switch {
		case kind == frameSettings && flags&ack == 0:
			_, _ = conn.Write(frame(frameSettings, ack, 0))
		case (kind == frameHeaders || kind == frameData) && flags&endStream != 0:
			if !s.answer(conn, id) {
				return
			}
		}
	}
}

// answer tells whether the connection goes on.
func (s *h2server) answer(conn net.Conn, id uint32) bool {
	switch s.acts(s.asked.Add(1)) {
	case gone:
		_, _ = conn.Write(frame(frameGoAway, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
		return false
	case refused:
		_, _ = conn.Write(frame(frameReset, 0, id, code(refusedStream)...))
	case ranAndFailed:
		s.ran.Add(1)
		_, _ = conn.Write(frame(frameReset, 0, id, code(protocolError)...))
	case ranAndGone:
		s.ran.Add(1)
		_, _ = conn.Write(frame(frameGoAway, 0, 0, append(code(id), s.lastWords...)...))
		return false
	default:
		s.ran.Add(1)
		_, _ = conn.Write(frame(frameHeaders, endStream|endHeaders, id, 0x88)) // :status 200
	}
	return true
}

// TestS14_2_HTTP2: net/http's own resends run nothing twice that must not be, and
// what they hide is repeated by the schedule where that is safe.
func TestS14_2_HTTP2(t *testing.T) {
	for _, c := range []struct {
		name    string
		first   stream
		command string
		succeed bool
		ran     int64
	}{
		{"a poll after GOAWAY", gone, "GetOperationStatus", true, 1},
		{"a poll that was refused", refused, "GetOperationStatus", true, 1},
		{"a poll whose stream failed", ranAndFailed, "GetOperationStatus", true, 2},
		{"a poll whose connection ended", ranAndGone, "GetOperationStatus", true, 2},
		{"a statement after GOAWAY", gone, "ExecuteStatement", true, 1},
		{"a statement that was refused", refused, "ExecuteStatement", true, 1},
		{"a statement whose stream failed", ranAndFailed, "ExecuteStatement", false, 1},
		{"a statement whose connection ended", ranAndGone, "ExecuteStatement", false, 1},
	} {
		for _, warm := range []bool{true, false} {
			name := c.name + map[bool]string{true: "", false: ", at first"}[warm]
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var struck atomic.Bool
				struck.Store(warm) // the session is opened first
				s, base := newH2Server(t, func(int64) stream {
					if struck.Swap(true) {
						return served
					}
					return c.first
				})
				rt := transport(t, base, pacedatabricks.WithGovernor(fast(t)), soon(4))
				if warm {
					resp, err := post(t, rt, s.url(), "OpenSession", "")
					if err != nil {
						t.Fatal(err)
					}
					_ = resp.Body.Close()
					s.ran.Store(0)
					struck.Store(false)
				}
				resp, err := post(t, rt, s.url(), c.command, "")
				if err == nil {
					_ = resp.Body.Close()
				}
				succeed := c.succeed
				if !warm && c.command == "ExecuteStatement" {
					// Nothing is known yet of the connection but that it is HTTP/2, and net/http
					// hides why it would send again: once more is once too much.
					succeed = false
				}
				if (err == nil) != succeed {
					t.Errorf("%v", err)
				}
				want := c.ran
				if !succeed && c.first != ranAndFailed && c.first != ranAndGone {
					want = 0
				}
				if got := s.ran.Load(); got != want {
					t.Errorf("ran %d times, want %d", got, want)
				}
			})
		}
	}
}

// TestS14_2_EndlessResends are bounded per attempt, counted and logged.
func TestS14_2_EndlessResends(t *testing.T) {
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/sql/1.0/warehouses/a1", string(thriftCall("GetOperationStatus"))},
		{"GET", "/api/2.0/sql/statements/" + queryID, ""},
	} {
		s, base := newH2Server(t, func(int64) stream { return gone })
		logged := &lines{}
		rt := transport(t, base, pacedatabricks.WithGovernor(fast(t)), soon(2), logger(logged))
		start := time.Now()
		_, err := rt.RoundTrip(request(t, t.Context(), c.method, s.url()+c.path, c.body))
		var e *pacedatabricks.RetryError
		if !errors.As(err, &e) || e.Reason != "out of attempts" || e.Attempt != 2 || e.Resends < 2 || e.Resends > 8 {
			t.Errorf("%s: %v", c.method, err)
		}
		if n := s.asked.Load(); n < 2 || n > 8 {
			t.Errorf("%s: asked %d times in %s", c.method, n, time.Since(start))
		}
		if len(logged.all) != 2 || attr(logged.all[0], "resends").Int64() < 1 || logged.all[0].Level.String() != "INFO" {
			t.Errorf("%s: logged %+v", c.method, logged.all)
		}
	}
}

// TestS14_2_StaleConnections: net/http's resends over connections that the server
// has closed are bounded as well.
func TestS14_2_StaleConnections(t *testing.T) {
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/2.0/sql/statements/" + queryID, ""},
		{"POST", "/sql/1.0/warehouses/a1", string(thriftCall("GetOperationStatus"))},
	} {
		s, hits := staleServer(t)
		rt := transport(t, s.base, pacedatabricks.WithGovernor(fast(t)), soon(1))
		_, err := rt.RoundTrip(request(t, t.Context(), c.method, s.URL+c.path, c.body))
		var e *pacedatabricks.RetryError
		if !errors.As(err, &e) || e.Resends > 3 || hits.Load() > 4 {
			t.Errorf("%s: %v, reached the server %d times", c.method, err, hits.Load())
		}
		if c.method == "GET" && (e.Resends != 3 || !strings.Contains(e.Error(), "3 hidden resends")) {
			t.Errorf("%v", e)
		}
	}
}
