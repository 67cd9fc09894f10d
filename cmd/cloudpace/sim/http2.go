package sim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// HTTP/2 without TLS, for clients that know beforehand that it is spoken here.
// net/http speaks it too, but does not say which streams of a connection it has
// begun; a GOAWAY that lies about that makes clients repeat what was done.

const (
	h2Streams = 1000     // at a time on one connection
	h2Frame   = 16 << 10 // the largest that every client takes
	h2Window  = 65535    // what may be sent before the client says otherwise
	h2Head    = 1 << 20  // bytes of a request's head
	h2Body    = 32 << 20 // and of its body
)

// h2Conn is one connection.
type h2Conn struct {
	server *Server
	conn   net.Conn
	framer *http2.Framer
	ctx    context.Context
	active sync.WaitGroup // streams that are being answered
	opened uint32         // the newest that came

	mu      sync.Mutex // guards writing too
	changed sync.Cond  // a window grew, or a stream ended
	streams map[uint32]*h2Stream
	newest  uint32    // of those that were begun to be answered
	rests   time.Time // since when nothing is asked, while nothing is
	leaving bool      // GOAWAY was sent
	dead    bool      // nothing is written any more
	window  int64     // what may still be sent
	initial int64     // a stream's window to begin with
	fields  bytes.Buffer
	encoder *hpack.Encoder
}

// h2Stream is one request.
type h2Stream struct {
	id      uint32
	request *http.Request
	cancel  context.CancelFunc
	body    bytes.Buffer
	begun   bool // to be answered
	window  int64
	gone    bool // the client has reset it
}

// speaksHTTP2 recognizes the first line of an HTTP/2 connection, which net/http
// hands on as a request.
func speaksHTTP2(r *http.Request) bool {
	return r.Method == "PRI" && r.RequestURI == "*" && r.ProtoMajor == 2 && len(r.Header) == 0
}

// serveHTTP2 serves a connection until it ends, or the server does.
func (s *Server) serveHTTP2(w http.ResponseWriter) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	if !s.begin() {
		return
	}
	defer s.http2.Done()
	rest := make([]byte, len("SM\r\n\r\n"))
	if _, err := io.ReadFull(buffered, rest); err != nil || string(rest) != "SM\r\n\r\n" || conn.SetDeadline(time.Time{}) != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := &h2Conn{
		server: s, conn: conn, ctx: ctx, framer: http2.NewFramer(conn, buffered),
		streams: make(map[uint32]*h2Stream), window: h2Window, initial: h2Window, rests: time.Now(),
	}
	c.changed.L = &c.mu
	c.encoder = hpack.NewEncoder(&c.fields)
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.framer.MaxHeaderListSize = h2Head
	if err := c.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: h2Streams}); err != nil {
		return
	}
	read := make(chan struct{})
	go func() {
		select {
		case <-s.done:
			_ = conn.SetReadDeadline(time.Unix(1, 0)) // no more requests
		case <-read:
		}
	}()
	err = c.read()
	close(read)
	cancel()
	var stopped net.Error
	if errors.As(err, &stopped) && stopped.Timeout() {
		// The server ends, or nothing was left: what is being answered may be finished.
		defer time.AfterFunc(shutdownTimeout, c.kill).Stop()
	} else {
		c.kill()
	}
	c.active.Wait()
}

// begin counts a connection, unless the server is ending.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
		return false
	default:
		s.http2.Add(1)
		return true
	}
}

// kill ends the connection and all that waits for it.
func (c *h2Conn) kill() {
	_ = c.conn.Close() // first: whoever writes holds the lock
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = true
	c.changed.Broadcast()
}

// read takes frames until the connection ends.
func (c *h2Conn) read() error {
	for {
		frame, err := c.framer.ReadFrame()
		var stream http2.StreamError
		switch {
		case errors.As(err, &stream):
			c.forget(stream.StreamID)
			err = c.reset(stream.StreamID, stream.Code)
		case err == nil:
			err = c.take(frame)
		}
		if err != nil {
			return err
		}
	}
}

func (c *h2Conn) take(frame http2.Frame) error {
	switch f := frame.(type) {
	case *http2.MetaHeadersFrame:
		return c.open(f)
	case *http2.DataFrame:
		return c.data(f)
	case *http2.SettingsFrame:
		return c.settings(f)
	case *http2.WindowUpdateFrame:
		c.mu.Lock()
		defer c.mu.Unlock()
		if f.StreamID == 0 {
			c.window += int64(f.Increment)
		} else if st := c.streams[f.StreamID]; st != nil {
			st.window += int64(f.Increment)
		}
		c.changed.Broadcast()
	case *http2.PingFrame:
		if !f.IsAck() {
			return c.write(func() error { return c.framer.WritePing(true, f.Data) })
		}
	case *http2.RSTStreamFrame:
		c.forget(f.StreamID)
	}
	return nil
}

func (c *h2Conn) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	return c.write(func() error {
		if size, ok := f.Value(http2.SettingInitialWindowSize); ok {
			for _, st := range c.streams {
				st.window += int64(size) - c.initial
			}
			c.initial = int64(size)
			c.changed.Broadcast()
		}
		if size, ok := f.Value(http2.SettingHeaderTableSize); ok {
			c.encoder.SetMaxDynamicTableSize(min(size, 4096))
		}
		return c.framer.WriteSettingsAck()
	})
}

// write runs what writes to a connection that is not dead.
func (c *h2Conn) write(frames func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return nil
	}
	return frames()
}

// leave ends a connection after GOAWAY. The client closes it, or does not within
// a second: to close it here, with something unread, would reset it, and GOAWAY
// would be lost. The caller holds the lock.
func (c *h2Conn) leave() {
	c.dead = true
	if tcp, ok := c.conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
}

// forget ends a stream that the client no longer wants.
func (c *h2Conn) forget(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if st := c.streams[id]; st != nil {
		st.gone = true
		st.cancel()
		delete(c.streams, id)
		c.changed.Broadcast()
	}
}

func (c *h2Conn) reset(id uint32, code http2.ErrCode) error {
	return c.write(func() error { return c.framer.WriteRSTStream(id, code) })
}
