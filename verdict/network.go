package verdict

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"regexp"
	"strings"
)

// cause is what one error says about the connection.
type cause struct {
	kind      Kind
	why       string
	usual     bool // one of the failures that networks have
	neverMade bool // there was no connection, so nothing was sent
}

// network gathers the causes along one path. The first sure one counts; what an
// outer error only knows in general is replaced by what an inner one knows exactly.
type network struct {
	cause
	is    bool // the connection itself failed
	set   bool
	sure  bool
	dials bool
}

// add takes a cause that is sure.
func (n *network) add(c cause) {
	if n.sure {
		return
	}
	n.cause = c
	n.is, n.set, n.sure = true, true, true
	n.neverMade = n.neverMade || n.dials
}

// suppose takes a cause that a more exact one may replace.
func (n *network) suppose(c cause) {
	if n.set {
		return
	}
	n.cause = c
	n.is, n.set = true, true
	n.neverMade = n.neverMade || n.dials
}

// look takes what one error says about the network. Its parts come later in the
// walk, so no chain is followed here.
func (n *network) look(err error) {
	switch err {
	case context.DeadlineExceeded:
		// Somebody's clock ran out, which says nothing about the connection.
		if !n.set {
			n.cause, n.set = cause{kind: Transient, usual: true, why: "timed out"}, true
		}
		return
	case io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed:
		n.add(cause{kind: Transient, usual: true, why: "connection closed early"})
		return
	}
	if c, ok := errnoCause(err); ok {
		n.add(c)
		return
	}
	switch x := err.(type) {
	case *net.OpError:
		n.operation(x)
	case *net.DNSError:
		n.dns(x)
	case *net.AddrError, *net.ParseError, net.UnknownNetworkError, net.InvalidAddrError:
		n.add(cause{kind: Fatal, why: "invalid address", neverMade: true})
	case *tls.CertificateVerificationError, x509.UnknownAuthorityError, x509.HostnameError, x509.CertificateInvalidError, x509.SystemRootsError,
		*x509.UnknownAuthorityError, *x509.HostnameError, *x509.CertificateInvalidError:
		n.add(cause{kind: Fatal, why: "TLS verification failed", neverMade: true})
	case tls.RecordHeaderError, *tls.RecordHeaderError, tls.AlertError, *tls.ECHRejectionError:
		n.add(cause{kind: Fatal, why: "TLS handshake failed", neverMade: true})
	default:
		if t, ok := err.(interface{ Timeout() bool }); ok && t.Timeout() {
			n.suppose(cause{kind: Transient, usual: true, why: "timed out"})
		}
	}
}

// operation reads the frame that package net puts around a failure. Before a
// connection stood nothing was sent.
func (n *network) operation(x *net.OpError) {
	switch x.Op {
	case "dial", "proxyconnect", "socks connect":
		n.dials = true
		n.suppose(cause{kind: Transient, why: "connection not made", usual: x.Timeout()})
		n.neverMade = true // also where an outer error has said in general that it timed out
	case "remote error", "local error": // TLS alerts
		n.add(cause{kind: Fatal, why: "TLS handshake failed"})
	default:
		n.suppose(cause{kind: Transient, why: "connection failed", usual: x.Timeout()})
	}
}

// dns: a name that does not exist stays so, and any other failure may pass if the
// resolver says so.
func (n *network) dns(x *net.DNSError) {
	switch {
	case x.IsNotFound:
		n.add(cause{kind: Fatal, why: "unknown host", neverMade: true})
	case x.IsTimeout, x.IsTemporary:
		n.add(cause{kind: Transient, why: "name lookup failed", usual: x.IsTimeout, neverMade: true})
	default:
		n.add(cause{kind: Fatal, why: "name lookup failed", neverMade: true})
	}
}

// unexported are failures of net/http whose types or values it does not export, by
// words of their own. A server may have its words in such a text too, but only
// behind these, so the first that is found counts.
var unexported = []struct {
	text string
	cause
}{
	// To streams that the server did not take on (RFC 9113, 6.8).
	{"http2: Transport received Server's graceful shutdown GOAWAY", cause{kind: Transient, why: "HTTP/2 connection closed by the server", usual: true, neverMade: true}},
	{"http2: Transport received GOAWAY from server", cause{kind: Transient, why: "HTTP/2 connection closed by the server", usual: true, neverMade: true}},
	{"http2: server sent GOAWAY", cause{kind: Transient, why: "HTTP/2 connection closed by the server", usual: true}},
	{"http2: client connection lost", cause{kind: Transient, why: "connection lost", usual: true}},
	{"net/http: HTTP/1.x transport connection broken: http: ContentLength=", cause{kind: Fatal, why: "the body has another length than its request says"}},
	// Of an answer whose head broke off the reader says that it is malformed, before
	// it looks whether there was more to come.
	{"net/http: HTTP/1.x transport connection broken", cause{kind: Transient, why: "connection broken", usual: true}},
	{"http: server closed idle connection", cause{kind: Transient, why: "connection closed early", usual: true}},
	{"stream error: stream ID ", cause{kind: Transient, why: "HTTP/2 stream failed", usual: true}},
	{"net/http: request canceled", cause{kind: Canceled, why: "canceled by the caller"}},
	{"connection error: PROTOCOL_ERROR", cause{kind: Transient, why: "HTTP/2 connection failed"}},
}

// refusedStream is a stream that was not processed (RFC 9113, 8.7).
var refusedStream = regexp.MustCompile(`^stream error: stream ID [0-9]+; REFUSED_STREAM\b`)

// unexportedCause looks at the text of an error that nothing else explains.
func unexportedCause(err error) (found cause, ok bool) {
	text := head(err.Error(), maxText)
	first := len(text)
	for _, u := range unexported {
		at := strings.Index(text, u.text)
		if at >= 0 && at < first {
			found, first, ok = u.cause, at, true
		}
	}
	if ok && refusedStream.MatchString(text[first:]) {
		found.why, found.neverMade = "HTTP/2 stream refused", true
	}
	return found, ok
}

// usualErrno is the cause for an errno that networks have in daily use.
func usualErrno(why string, neverMade bool) cause {
	return cause{kind: Transient, why: why, usual: true, neverMade: neverMade}
}
