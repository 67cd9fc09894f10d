package sim

import (
	"bytes"
	"fmt"
	"html"
	"net"
	"net/http"
	"strconv"
	"time"
)

// disconnect ends a request without an answer. Where the connection is out of
// reach (a recorder) it is aborted in net/http's way.
func (s *Server) disconnect(w http.ResponseWriter, r *http.Request, kind FaultKind) {
	if kind == Hang {
		drain(r)
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
		panic(http.ErrAbortHandler)
	}
	if w, ok := w.(*h2Writer); ok {
		hangUp(w.conn.conn, kind) // with all other streams, as in life
		panic(http.ErrAbortHandler)
	}
	conn, ok := takeOver(w)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	hangUp(conn, kind)
}

// hangUp closes a connection; Reset lets the other side know no more than that.
func hangUp(conn net.Conn, kind FaultKind) {
	if tcp, ok := conn.(*net.TCPConn); ok && kind == Reset {
		_ = tcp.SetLinger(0) // without it the client sees a close, which is a fault too
	}
	_ = conn.Close()
}

// takeOver gets hold of the connection, with no deadline left on it.
func takeOver(w http.ResponseWriter) (net.Conn, bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, false
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, true
}

// spoil answers in a way that a fault says.
func (s *Server) spoil(w http.ResponseWriter, r *http.Request, c *Call, f *Fault) {
	if refusal, ok := f.refusal(); ok {
		f.hint(s.front.Refuse(c, refusal)).write(w)
		return
	}
	switch f.Kind {
	case HTML:
		f.hint(page(f)).write(w)
		return
	case Wrong:
		s.front.Wrong(c).write(w)
		return
	}
	answer, err := s.whole(r, c)
	if err != nil {
		s.log.Error("upstream does not answer", "url", s.upstream.target.Redacted(), "operation", c.Operation, "error", err)
		s.front.Refuse(c, Refusal{Why: WhyBadGateway}).write(w)
		return
	}
	half := answer.Body[:len(answer.Body)/2]
	if f.Kind == Truncated {
		answer.Body = half
		answer.Header.Del("Content-Length")
		answer.write(w)
		return
	}
	if f.At != nil {
		s.breakOff(w, r, answer, f)
		return
	}
	answer.Header.Del("Content-Length")
	if f.Kind == Cut {
		answer.Header.Set("Content-Length", strconv.Itoa(max(2, len(answer.Body))))
	}
	conn, ok := takeOver(w)
	if !ok { // HTTP/2: the stream ends there
		answer.Body = half
		answer.write(w)
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	var b bytes.Buffer
	if f.Kind == CloseMidBody {
		answer.Header.Set("Transfer-Encoding", "chunked")
	}
	answer.head(&b)
	if f.Kind == CloseMidBody && len(half) > 0 {
		fmt.Fprintf(&b, "%x\r\n", len(half))
	}
	b.Write(half)
	_, _ = conn.Write(b.Bytes()) // whoever has left has had the fault already
}

// head writes the head of an answer as HTTP/1.1 has it.
func (a Answer) head(b *bytes.Buffer) {
	fmt.Fprintf(b, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	_ = a.Header.Write(b) // into memory
	b.WriteString("\r\n")
}

// hint adds the header that a fault asks for.
func (f *Fault) hint(a Answer) Answer {
	if f.RetryAfter != "" {
		if a.Header == nil {
			a.Header = make(http.Header)
		}
		a.Header.Set("Retry-After", f.RetryAfter)
	}
	return a
}

// whole gives the answer that there would have been.
func (s *Server) whole(r *http.Request, c *Call) (Answer, error) {
	if s.upstream != nil {
		return s.upstream.fetch(r)
	}
	a := s.front.Answer(c, s.setting(), Edit{})
	if a.Header == nil {
		a.Header = make(http.Header)
	}
	return a, nil
}

// page is what proxies and log-in pages put where an API should answer.
func page(f *Fault) Answer {
	status, text := f.Status, f.Message
	if status == 0 {
		status = http.StatusOK
	}
	if text == "" {
		text = "Please sign in to continue."
		if status >= 500 {
			text = "The server is temporarily unable to service your request."
		}
	}
	title := http.StatusText(status)
	if status == http.StatusOK {
		title = "Sign in"
	}
	body := fmt.Sprintf("<!DOCTYPE html>\n<html><head><title>%s</title></head><body><h1>%[1]s</h1><p>%s</p></body></html>\n", html.EscapeString(title), html.EscapeString(text))
	return Answer{Status: status, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(body)}
}

// drain reads what is left of a body: only then does net/http notice that the
// client leaves. What is longer than usual is left.
func drain(r *http.Request) {
	_, _ = Peek(r, maxDrained-1) // what cannot be read is not missed
}

const maxDrained = 1 << 20
