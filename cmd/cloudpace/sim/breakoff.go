package sim

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
)

// maxAt bounds how far into an answer a connection can break, in bytes.
const maxAt = 1 << 30

// breakOff sends the first bytes of an answer and breaks the connection. What was
// asked for has been done.
func (s *Server) breakOff(w http.ResponseWriter, r *http.Request, a Answer, f *Fault) {
	if w, ok := w.(*h2Writer); ok {
		w.breakOff(a, *f.At)
		defer hangUp(w.conn.conn, f.Kind)
		s.disconnect(w, r, f.Kind)
	}
	conn, ok := takeOver(w)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	var b bytes.Buffer
	a.Header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	a.head(&b)
	b.Write(a.Body)
	_, _ = conn.Write(b.Bytes()[:min(*f.At, b.Len())]) // whoever has left has had the fault already
	if f.Kind == Hang {
		s.outlast(conn)
	}
	hangUp(conn, f.Kind)
}

// outlast waits until the client leaves or the server ends.
func (s *Server) outlast(conn net.Conn) {
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = io.Copy(io.Discard, conn) // until it ends, however it does
	}()
	select {
	case <-left:
	case <-s.done:
		_ = conn.Close()
		<-left
	}
}
