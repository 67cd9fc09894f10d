package sim

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// open begins a stream, or ends it where these are trailers.
func (c *h2Conn) open(f *http2.MetaHeadersFrame) error {
	c.mu.Lock()
	st, leaving, many := c.streams[f.StreamID], c.leaving, len(c.streams) >= h2Streams
	c.mu.Unlock()
	switch {
	case st != nil && f.StreamEnded() && !st.begun:
		return c.answer(st)
	case st != nil:
		return nil
	case f.StreamID <= c.opened || f.StreamID%2 == 0:
		return io.ErrUnexpectedEOF // of a client that counts otherwise, no more is read
	}
	c.opened = f.StreamID
	switch {
	case leaving:
		return nil
	case many:
		return c.reset(f.StreamID, http2.ErrCodeRefusedStream)
	}
	u, err := url.ParseRequestURI(f.PseudoValue("path"))
	if err != nil {
		return c.reset(f.StreamID, http2.ErrCodeProtocol)
	}
	ctx, cancel := context.WithCancel(c.ctx)
	r := &http.Request{
		Method: f.PseudoValue("method"), URL: u, RequestURI: f.PseudoValue("path"), Host: f.PseudoValue("authority"),
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: make(http.Header), RemoteAddr: c.conn.RemoteAddr().String(),
	}
	for _, h := range f.RegularFields() {
		r.Header.Add(h.Name, h.Value)
	}
	c.mu.Lock()
	st = &h2Stream{id: f.StreamID, request: r.WithContext(ctx), cancel: cancel, window: c.initial}
	c.streams[st.id] = st
	c.mu.Unlock()
	if f.StreamEnded() {
		return c.answer(st)
	}
	return nil
}

// data takes a part of a body, and lets as much more come.
func (c *h2Conn) data(f *http2.DataFrame) error {
	var st *h2Stream
	err := c.write(func() error {
		st = c.streams[f.StreamID]
		if f.Length == 0 {
			return nil
		}
		if err := c.framer.WriteWindowUpdate(0, f.Length); err != nil || st == nil || f.StreamEnded() {
			return err
		}
		return c.framer.WriteWindowUpdate(st.id, f.Length)
	})
	if err != nil || st == nil || st.begun {
		return err
	}
	if st.body.Len()+len(f.Data()) > h2Body {
		c.forget(st.id)
		return c.reset(st.id, http2.ErrCodeRefusedStream)
	}
	st.body.Write(f.Data())
	if f.StreamEnded() {
		return c.answer(st)
	}
	return nil
}

// answer begins to answer a request, unless a fault has the connection go away.
// Only this goroutine begins, so it knows which streams were begun.
func (c *h2Conn) answer(st *h2Stream) error {
	st.begun = true
	st.request.Body = io.NopCloser(bytes.NewReader(st.body.Bytes()))
	st.request.ContentLength = int64(st.body.Len())
	switch c.server.balks(st.request, c.idle(st)) {
	case GoAway:
		return c.goAway(st)
	case Idle:
		hangUp(c.conn, Reset)
		return net.ErrClosed
	}
	c.mu.Lock()
	c.newest = max(c.newest, st.id)
	c.mu.Unlock()
	c.active.Add(1)
	go func() {
		defer c.active.Done()
		defer c.finish(st)
		w := &h2Writer{conn: c, stream: st, header: make(http.Header)}
		if c.serve(w, st.request) {
			w.send(true)
			return
		}
		// In the middle of an answer, or before it.
		if w.status != 0 {
			w.send(false)
		}
		_ = c.reset(st.id, http2.ErrCodeInternal)
	}()
	return nil
}

// serve tells whether the handler came to its end.
func (c *h2Conn) serve(w http.ResponseWriter, r *http.Request) (ended bool) {
	defer func() {
		if problem := recover(); problem != nil && problem != http.ErrAbortHandler { //nolint:errorlint // the very value, as net/http compares it
			c.server.log.Error("request not answered", "panic", problem)
		}
	}()
	c.server.ServeHTTP(w, r)
	return true
}

// finish drops a stream; the last one of a connection that goes away closes it.
func (c *h2Conn) finish(st *h2Stream) {
	st.cancel()
	c.mu.Lock()
	delete(c.streams, st.id)
	c.rests = time.Now()
	if c.leaving && len(c.streams) == 0 && !c.dead {
		c.leave()
	}
	c.mu.Unlock()
}

// idle is for how long nothing was asked before a request.
func (c *h2Conn) idle(st *h2Stream) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.streams {
		if id != st.id {
			return 0
		}
	}
	return time.Since(c.rests)
}

// balks counts a request that nothing is made of, and tells why: GoAway or Idle.
func (s *Server) balks(r *http.Request, idle time.Duration) FaultKind {
	if !s.faults.have(asGoAway) && !s.faults.have(asIdle) {
		return ""
	}
	call, settled := s.front.Identify(r, s.setting())
	if settled != nil {
		return ""
	}
	call.idle = time.Duration(float64(idle) * s.profile.Speed)
	f := s.faults.find(call, asGoAway)
	if f == nil {
		f = s.faults.find(call, asIdle)
	}
	if f == nil {
		return ""
	}
	s.stats.arrive(call, time.Now()).faulted(f.Kind)
	return f.Kind
}

// goAway says which streams are answered still. That of the request, and those
// after the last that was begun, are not, nor were they.
func (c *h2Conn) goAway(st *h2Stream) error {
	return c.write(func() error {
		c.leaving = true
		for id, other := range c.streams {
			if id == st.id || id > c.newest {
				other.cancel()
				delete(c.streams, id)
			}
		}
		if err := c.framer.WriteGoAway(c.newest, http2.ErrCodeNo, nil); err != nil {
			return err
		}
		if st.id < c.newest { // which GOAWAY does not say
			if err := c.framer.WriteRSTStream(st.id, http2.ErrCodeRefusedStream); err != nil {
				return err
			}
		}
		if len(c.streams) == 0 {
			c.leave()
		}
		return nil
	})
}

// h2Writer keeps an answer until it is whole.
type h2Writer struct {
	conn   *h2Conn
	stream *h2Stream
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is that of the answer.
func (w *h2Writer) Header() http.Header { return w.header }

// WriteHeader sets the status, once.
func (w *h2Writer) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
}

// Write adds to the body.
func (w *h2Writer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

// send writes the answer, as far as the client lets it; end says that it is whole.
func (w *h2Writer) send(end bool) {
	w.WriteHeader(http.StatusOK)
	c, st, body := w.conn, w.stream, w.body.Bytes()
	trailer := trailerOf(w.header)
	last := end && len(trailer) == 0 // the body's end is the stream's
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead || st.gone || w.head(c.framer, last && len(body) == 0) != nil {
		return
	}
	for len(body) > 0 {
		for !c.dead && !st.gone && min(c.window, st.window) <= 0 {
			c.changed.Wait()
		}
		if c.dead || st.gone {
			return
		}
		n := min(int64(len(body)), c.window, st.window, h2Frame)
		if c.framer.WriteData(st.id, last && n == int64(len(body)), body[:n]) != nil {
			return
		}
		c.window -= n
		st.window -= n
		body = body[n:]
	}
	if end && !last {
		_ = w.block(c.framer, "", trailer, true) // whoever has left does not miss it
	}
}

// trailerOf takes what follows the body out of a header, where it is written as
// net/http wants it.
func trailerOf(h http.Header) http.Header {
	trailer := make(http.Header)
	for name, values := range h {
		if after, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			trailer[after] = values
			delete(h, name)
		}
	}
	return trailer
}

// head writes status and headers. The caller holds the lock.
func (w *h2Writer) head(to *http2.Framer, end bool) error {
	return w.block(to, strconv.Itoa(w.status), w.header, end)
}

// block writes fields: those of a head, or without a status of a trailer.
func (w *h2Writer) block(to *http2.Framer, status string, fields http.Header, end bool) error {
	c := w.conn
	c.fields.Reset()
	field := func(name, value string) { _ = c.encoder.WriteField(hpack.HeaderField{Name: name, Value: value}) } // into memory
	if status != "" {
		field(":status", status)
	}
	for name, values := range fields {
		switch name = strings.ToLower(name); name {
		case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade": // HTTP/1.1's
			continue
		}
		for _, value := range values {
			field(name, value)
		}
	}
	text := c.fields.Bytes()
	n := min(len(text), h2Frame)
	err := to.WriteHeaders(http2.HeadersFrameParam{StreamID: w.stream.id, BlockFragment: text[:n], EndHeaders: n == len(text), EndStream: end})
	for text = text[n:]; err == nil && len(text) > 0; text = text[n:] {
		n = min(len(text), h2Frame)
		err = to.WriteContinuation(w.stream.id, n == len(text), text[:n])
	}
	return err
}

// breakOff sends the first bytes of an answer's frames. Nothing comes after them
// on the connection.
func (w *h2Writer) breakOff(a Answer, at int) {
	c := w.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return
	}
	c.dead = true
	c.changed.Broadcast()
	w.header, w.status = a.Header, a.Status
	var b bytes.Buffer
	frames := http2.NewFramer(&b, nil)
	last := len(a.Trailer) == 0
	_ = w.head(frames, last && len(a.Body) == 0) // into memory, as the others
	for body := a.Body; len(body) > 0; {
		n := min(len(body), h2Frame)
		_ = frames.WriteData(w.stream.id, last && n == len(body), body[:n])
		body = body[n:]
	}
	if !last {
		_ = w.block(frames, "", a.Trailer, true)
	}
	_, _ = c.conn.Write(b.Bytes()[:min(at, b.Len())])
}
