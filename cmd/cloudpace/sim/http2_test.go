package sim_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/databricks"
)

// cloud is a simulated workspace on a real socket: it tells what was carried out.
type cloud struct {
	front  *databricks.Front
	server *sim.Server
	addr   string
	conns  atomic.Int32 // that clients got for their requests
	client *http.Client
}

// startHTTP2 serves a workspace to a client that speaks HTTP/2 alone.
func startHTTP2(t *testing.T, faults ...sim.Fault) *cloud {
	t.Helper()
	c := &cloud{front: databricks.New()}
	p := sim.Default(c.front)
	p.Faults = faults
	var err error
	if c.server, err = sim.New(c.front, p); err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.addr = listener.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.server.Serve(ctx, listener) }()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	c.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

// execute runs a statement. The body is replayed by no one unless it may be.
func (c *cloud) execute(ctx context.Context, text string, replay bool) (int, string, error) {
	body := fmt.Sprintf(`{"statement":%q,"warehouse_id":"abc"}`, text)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { c.conns.Add(1) }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.addr+databricks.StatementsPath, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	if !replay {
		r.GetBody = nil
	}
	response, err := c.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if response.ProtoMajor != 2 {
		return 0, "", errors.New(response.Proto)
	}
	return response.StatusCode, string(got), err
}

// TestHTTP2: many requests at a time, with bodies and answers larger than a window.
func TestHTTP2(t *testing.T) {
	c := startHTTP2(t)
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			text := fmt.Sprintf("SELECT %d", i)
			if i%20 == 0 {
				text += strings.Repeat(" ", 200_000)
			}
			status, body, err := c.execute(t.Context(), text, true)
			if err != nil || status != http.StatusOK || !strings.Contains(body, "row-00001") {
				t.Errorf("%d: %d %s, %v", i, status, body, err)
			}
		})
	}
	wg.Wait()
	if e := c.server.Report().Executions; e.Executions != 200 {
		t.Errorf("ran %d", e.Executions)
	}
	// A page of the status is larger than what a client lets come at first.
	response, err := c.client.Get("http://" + c.addr + "/_sim/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(text), `"executions": 200`) {
		t.Errorf("%v: %.200s", err, text)
	}
}

// TestGoAway: a request that met GOAWAY was not carried out, and the client that
// sends it again on another connection has it carried out once. Those under way
// at that time are answered.
func TestGoAway(t *testing.T) {
	first := sim.Match{Item: sim.Patterns{"SELECT 1*"}}
	c := startHTTP2(t,
		sim.Fault{Kind: sim.GoAway, Match: first, First: 3},
		sim.Fault{Kind: sim.Latency, Seconds: 0.05, Match: sim.Match{Item: sim.Patterns{"SELECT slow"}}})
	slow := make(chan error, 1)
	go func() {
		_, body, err := c.execute(t.Context(), "SELECT slow", false)
		if err == nil && !strings.Contains(body, "row-00001") {
			err = errors.New(body)
		}
		slow <- err
	}()
	for c.server.Report().Totals.Asked == 0 {
		time.Sleep(time.Millisecond)
	}
	if status, body, err := c.execute(t.Context(), "SELECT 1", true); status != 200 || err != nil {
		t.Errorf("%d %s, %v", status, body, err)
	}
	if err := <-slow; err != nil {
		t.Errorf("what was under way: %v", err)
	}
	r := c.server.Report()
	if got := c.front.Executions(); got["SELECT 1"] != 1 || got["SELECT slow"] != 1 || r.Totals.Faulted["goaway"] != 3 || c.conns.Load() != 5 {
		t.Errorf("ran %v, %d attempts, counted %+v", got, c.conns.Load(), r.Totals)
	}
	// Who may not send again has an error, and nothing ran.
	always := startHTTP2(t, sim.Fault{Kind: sim.GoAway})
	if status, body, err := always.execute(t.Context(), "SELECT 1", false); err == nil {
		t.Errorf("%d %s", status, body)
	}
	// Without an end, net/http sends again and again.
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := always.execute(ctx, "SELECT 1", true); err == nil || always.conns.Load() < 3 {
		t.Errorf("%v after %d attempts", err, always.conns.Load())
	}
	if e := always.server.Report().Executions; e.Executions != 0 {
		t.Errorf("ran %+v", e)
	}
}

// TestFaultsOverHTTP2: what breaks the connection breaks it, and tells truly
// whether the statement ran.
func TestFaultsOverHTTP2(t *testing.T) {
	for _, c := range []struct {
		fault sim.Fault
		whole bool
		ran   int
	}{
		{sim.Fault{Kind: sim.Reset}, false, 0},
		{sim.Fault{Kind: sim.Close}, false, 0},
		{sim.Fault{Kind: sim.Hang}, false, 0},
		{sim.Fault{Kind: sim.Reset, At: new(0)}, false, 1},
		{sim.Fault{Kind: sim.Close, At: new(5)}, false, 1},
		{sim.Fault{Kind: sim.Close, At: new(200)}, false, 1},
		{sim.Fault{Kind: sim.Hang, At: new(200)}, false, 1},
		{sim.Fault{Kind: sim.Close, At: new(1 << 20)}, true, 1},
		{sim.Fault{Kind: sim.Cut}, false, 1},
		{sim.Fault{Kind: sim.CloseMidBody}, false, 1},
		{sim.Fault{Kind: sim.HTTP503}, true, 0},
	} {
		cloud := startHTTP2(t, c.fault)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if c.fault.Kind == sim.Hang {
			ctx, cancel = context.WithTimeout(t.Context(), 60*time.Millisecond)
		}
		status, body, err := cloud.execute(ctx, "SELECT 1", false)
		cancel()
		if (err == nil) != c.whole {
			t.Errorf("%+v: %d %s, %v", c.fault, status, body, err)
		}
		if got := cloud.front.Executions()["SELECT 1"]; got != c.ran {
			t.Errorf("%+v: ran %d times, want %d", c.fault, got, c.ran)
		}
	}
}

// TestWindow: no more is sent than the client lets come, on the connection either.
func TestWindow(t *testing.T) {
	c := startHTTP2(t)
	for i := range 1000 { // whose list is the answer: longer than the window
		if status, _, err := c.execute(t.Context(), fmt.Sprintf("SELECT %d AS something_longer_than_a_number", i), false); status != 200 || err != nil {
			t.Fatal(status, err)
		}
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", c.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var fields bytes.Buffer
	e := hpack.NewEncoder(&fields)
	for _, h := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "x"}, {":path", "/_sim/stats"}} {
		if err := e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	f := http2.NewFramer(conn, conn)
	if err := errors.Join(
		f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20}),
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields.Bytes(), EndHeaders: true, EndStream: true}),
	); err != nil {
		t.Fatal(err)
	}
	got, ended := 0, false
	receive := func(upTo int) {
		for got < upTo && !ended {
			frame, err := f.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := frame.(*http2.DataFrame); ok {
				got += len(d.Data())
				ended = d.StreamEnded()
			}
		}
	}
	for _, more := range []int{65535, 1000, 1 << 20} {
		if more != 65535 {
			if err := f.WriteWindowUpdate(0, uint32(more)); err != nil {
				t.Fatal(err)
			}
		}
		want := got + more
		receive(want)
		if !ended && got != want {
			t.Fatalf("%d bytes came, %d were let", got, want)
		}
		// Nothing else comes but the answer to this.
		if err := f.WritePing(false, [8]byte{1}); err != nil {
			t.Fatal(err)
		}
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := frame.(*http2.DataFrame); ok {
				t.Fatal("more came than was let")
			}
			if p, ok := frame.(*http2.PingFrame); ok && p.IsAck() {
				break
			}
		}
	}
	if !ended || got < 70_000 {
		t.Errorf("%d bytes, the end: %v", got, ended)
	}
}

// TestBadHTTP2: clients that do not keep to the rules are dropped, and others are
// served.
func TestBadHTTP2(t *testing.T) {
	c := startHTTP2(t)
	var fields bytes.Buffer
	e := hpack.NewEncoder(&fields)
	for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":authority", "x"}, {":path", databricks.StatementsPath}} {
		if err := e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
			t.Fatal(err)
		}
	}
	frames := func(write func(f *http2.Framer)) []byte {
		var b bytes.Buffer
		b.WriteString(http2.ClientPreface)
		write(http2.NewFramer(&b, nil))
		return b.Bytes()
	}
	headers := func(id uint32) http2.HeadersFrameParam {
		return http2.HeadersFrameParam{StreamID: id, BlockFragment: fields.Bytes(), EndHeaders: true}
	}
	for name, text := range map[string][]byte{
		"no preface":     []byte("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"),
		"half a preface": []byte("PRI * HTTP/2.0\r\n\r\nSM"),
		"nonsense":       []byte(http2.ClientPreface + strings.Repeat("x", 100)),
		"an even stream": frames(func(f *http2.Framer) { _ = f.WriteSettings(); _ = f.WriteHeaders(headers(2)) }),
		"a stream twice": frames(func(f *http2.Framer) {
			_ = f.WriteSettings()
			_ = f.WriteHeaders(headers(1))
			_ = f.WriteData(1, true, []byte("{}"))
			_ = f.WriteData(1, true, []byte("{}"))
			_ = f.WriteHeaders(headers(1))
			_ = f.WriteHeaders(headers(1))
		}),
		"no stream": frames(func(f *http2.Framer) {
			_ = f.WriteSettings()
			_ = f.WriteData(7, true, []byte("{}"))
			_ = f.WriteRSTStream(9, http2.ErrCodeCancel)
			_ = f.WriteWindowUpdate(11, 5)
			_ = f.WritePing(false, [8]byte{})
		}),
	} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_ = conn.(*net.TCPConn).CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: the connection stays open", name)
		}
		_ = conn.Close()
	}
	if status, _, err := c.execute(t.Context(), "SELECT 1", false); status != 200 || err != nil {
		t.Errorf("afterwards %d, %v", status, err)
	}
}
