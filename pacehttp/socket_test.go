package pacehttp_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacehttp"
)

// listen serves over a real socket and counts connections.
func listen(t testing.TB, h http.HandlerFunc) (url string, base *http.Transport, made *atomic.Int64) {
	t.Helper()
	made = new(atomic.Int64)
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	srv.Start()
	base = &http.Transport{}
	t.Cleanup(func() {
		base.CloseIdleConnections()
		srv.Close()
	})
	return srv.URL, base, made
}

// quick makes back-off short enough for a test over a socket.
func quick(t testing.TB) *cloudpace.Governor {
	return governor(t, func(p *cloudpace.Provider) {
		p.MaxBackoff, p.MaxRPS, p.Burst, p.MinRPS, p.Adaptive = time.Microsecond, 1e9, 1e9, 1, false
	})
}

func TestE21BodyOverAConnectionThatCloses(t *testing.T) {
	var got []string
	url, base, _ := listen(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = append(got, string(b))
		w.Header().Set("Connection", "close")
		if len(got) < 3 {
			w.WriteHeader(503)
			fmt.Fprint(w, "not yet")
			return
		}
		fmt.Fprint(w, "done")
	})
	client := &http.Client{Transport: pacehttp.NewTransport(base, nil, pacehttp.WithGovernor(quick(t)))}
	body := strings.Repeat("x", 123)
	req, err := http.NewRequest("PUT", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if text(t, resp) != "done" || len(got) != 3 || got[0] != body || got[1] != body || got[2] != body {
		t.Errorf("%q", got)
	}
	// One-shot: the answer of the only attempt.
	got = nil
	req, err = http.NewRequest("PUT", url, io.MultiReader(strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	if resp, err = client.Do(req); err != nil {
		t.Fatal(err)
	}
	if text(t, resp) != "not yet" || resp.StatusCode != 503 || len(got) != 1 || got[0] != body {
		t.Errorf("%q", got)
	}
}

func TestE22NothingLeaksOverAThousandRepeats(t *testing.T) {
	if testing.Short() {
		t.Skip("three thousand requests")
	}
	// A body that fits is read to its end and the connection used again; one that
	// does not is given up with its connection, and costs no more than the bound.
	for _, tc := range []struct {
		size, most, requests int
	}{{500, 3, 1000}, {60_000, 3, 10}, {2 << 20, 2*10 + 3, 10}} {
		var n atomic.Int64
		filler := make([]byte, tc.size)
		url, base, made := listen(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1)%3 != 0 {
				w.WriteHeader(503)
				_, _ = w.Write(filler)
				return
			}
			fmt.Fprint(w, "ok")
		})
		rt := pacehttp.NewTransport(base, nil, pacehttp.WithGovernor(quick(t)))
		client := &http.Client{Transport: rt}
		before := runtime.NumGoroutine()
		for range tc.requests {
			resp, err := client.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			if text(t, resp) != "ok" {
				t.Fatal(resp.Status)
			}
		}
		if int(made.Load()) > tc.most {
			t.Errorf("%d bytes: %d connections", tc.size, made.Load())
		}
		client.CloseIdleConnections()
		for range 200 {
			if runtime.NumGoroutine() <= before+2 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if after := runtime.NumGoroutine(); after > before+2 {
			t.Errorf("%d bytes: %d goroutines, %d before", tc.size, after, before)
		}
	}
}

// The body is looked at for the kind and comes back byte for byte, whatever its
// form. The peek matters: here only the body says that it is a throttle.
func TestC03BodiesComeBackByteForByte(t *testing.T) {
	const throttle = `{"__type":"ThrottlingException","message":"Rate exceeded"}`
	const denial = `{"__type":"AccessDeniedException","message":"no"}`
	long := `{"__type":"ThrottlingException","message":"` + strings.Repeat("x", 300_000) + `"}`
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, throttle)
	_ = z.Close()
	for name, tc := range map[string]struct {
		write func(http.ResponseWriter)
		want  string
		sent  int
	}{
		"length known":   {func(w http.ResponseWriter) { w.WriteHeader(400); fmt.Fprint(w, throttle) }, throttle, 2},
		"another code":   {func(w http.ResponseWriter) { w.WriteHeader(400); fmt.Fprint(w, denial) }, denial, 1},
		"length unknown": {func(w http.ResponseWriter) { w.WriteHeader(400); fmt.Fprint(w, throttle); w.(http.Flusher).Flush() }, throttle, 2},
		"chunks": {func(w http.ResponseWriter) {
			w.WriteHeader(400)
			for _, b := range []byte(throttle) {
				_, _ = w.Write([]byte{b})
				w.(http.Flusher).Flush()
			}
		}, throttle, 2},
		"long": {func(w http.ResponseWriter) { w.WriteHeader(400); fmt.Fprint(w, long) }, long, 2},
		"gzip": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(400)
			_, _ = w.Write(packed.Bytes())
		}, packed.String(), 2},
		"empty": {func(w http.ResponseWriter) { w.WriteHeader(429) }, "", 2},
	} {
		var sent int
		url, base, _ := listen(t, func(w http.ResponseWriter, r *http.Request) { sent++; tc.write(w) })
		cfg := cloudpace.DefaultConfig()
		aws := cfg.Providers["aws"]
		aws.MaxRetries, aws.MaxBackoff = 1, time.Microsecond
		cfg.Providers["aws"] = aws
		g, err := cloudpace.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		scope := func(*http.Request) cloudpace.Scope { return cloudpace.Scope{Provider: "aws", Service: "x"} }
		req, err := http.NewRequest("POST", url, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", "gzip") // so that the transport leaves it packed
		resp, err := pacehttp.NewTransport(base, scope, pacehttp.WithGovernor(g)).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, resp); got != tc.want {
			t.Errorf("%s: %d bytes came back, want %d", name, len(got), len(tc.want))
		}
		if sent != tc.sent {
			t.Errorf("%s: sent %d times, want %d", name, sent, tc.sent)
		}
	}
}

// An answer that breaks off is returned with what arrived and the error.
func TestABodyThatBreaksOff(t *testing.T) {
	url, base, _ := listen(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(404)
		fmt.Fprint(w, "half")
	})
	resp, err := pacehttp.NewTransport(base, nil, pacehttp.WithGovernor(quick(t))).RoundTrip(request404(t, url))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if string(b) != "half" || err != io.ErrUnexpectedEOF {
		t.Errorf("%q %v", b, err)
	}
}

func request404(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// A download goes on after RoundTrip, whatever the deadline of the call was.
func TestS7_6ADownloadIsNotCut(t *testing.T) {
	url, base, _ := listen(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "begin ")
		w.(http.Flusher).Flush()
		time.Sleep(150 * time.Millisecond)
		fmt.Fprint(w, "end")
	})
	g := governor(t, func(p *cloudpace.Provider) { p.Deadline = 50 * time.Millisecond })
	resp, err := pacehttp.NewTransport(base, nil, pacehttp.WithGovernor(g)).RoundTrip(request404(t, url))
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, resp); got != "begin end" {
		t.Errorf("%q", got)
	}
}

// An error whose body stalls is taken for what its headers say, by its time, and the
// next attempt is made.
func TestAnErrorWhoseBodyStalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		start := time.Now()
		var closed atomic.Int32
		stalls := roundTripper(func(*http.Request) (*http.Response, error) {
			body := &stalling{Reader: strings.NewReader("busy"), gone: make(chan struct{}), closed: &closed}
			return &http.Response{StatusCode: 503, Header: http.Header{}, Body: body}, nil
		})
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries = 1 })
		resp, err := pacehttp.NewTransport(stalls, nil, pacehttp.WithGovernor(g)).RoundTrip(request404(t, "http://example.com"))
		if err != nil || resp.StatusCode != 503 {
			t.Fatal(resp, err)
		}
		if d := time.Since(start); d < 20*time.Second || d > 22*time.Second {
			t.Errorf("two attempts took %v", d)
		}
		b, err := io.ReadAll(resp.Body)
		var late interface{ Timeout() bool }
		if string(b) != "busy" || !errors.As(err, &late) || !late.Timeout() {
			t.Errorf("%q %v", b, err)
		}
		synctest.Wait()
		if closed.Load() != 2 {
			t.Errorf("%d bodies were closed", closed.Load())
		}
	})
}

// stalling is a body that has a beginning and no end.
type stalling struct {
	io.Reader
	gone   chan struct{}
	closed *atomic.Int32
}

func (s *stalling) Read(p []byte) (int, error) {
	if n, err := s.Reader.Read(p); err == nil {
		return n, nil
	}
	<-s.gone
	return 0, io.ErrClosedPipe
}

func (s *stalling) Close() error {
	s.closed.Add(1)
	close(s.gone)
	return nil
}
