package verdict

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"
	"time"
)

func op(name string, err error) error { return &net.OpError{Op: name, Net: "tcp", Err: err} }

type timeoutError bool

func (e timeoutError) Error() string { return "slow" }
func (e timeoutError) Timeout() bool { return bool(e) }

func TestS2_4_Network(t *testing.T) {
	for _, c := range []struct {
		name        string
		err         error
		want        Kind
		reason      string
		unprocessed bool
		usual       bool
	}{
		{"EOF", io.EOF, Transient, "connection closed early", false, true},
		{"unexpected EOF", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), Transient, "connection closed early", false, true},
		{"closed", op("read", net.ErrClosed), Transient, "connection closed early", false, true},
		{"Timeout()", timeoutError(true), Transient, "timed out", false, true},
		{"i/o timeout", op("read", os.ErrDeadlineExceeded), Transient, "connection failed", false, true},
		{"dial timeout", op("dial", os.ErrDeadlineExceeded), Transient, "connection not made", true, true},
		{"dial, other", op("dial", errors.New("too many open files")), Transient, "connection not made", true, false},
		{"dial by http", &url.Error{Op: "Get", Err: op("dial", timeoutError(true))}, Transient, "timed out", true, true},
		{"proxy", op("proxyconnect", errors.New("no")), Transient, "connection not made", true, false},
		{"write, other", op("write", errors.New("odd")), Transient, "connection failed", false, false},
		{"unknown host", &net.DNSError{Name: "x", Err: "no such host", IsNotFound: true}, Fatal, "unknown host", true, false},
		{"unknown host while dialing", &url.Error{Op: "Get", Err: op("dial", &net.DNSError{IsNotFound: true})}, Fatal, "unknown host", true, false},
		{"resolver slow", op("dial", &net.DNSError{IsTimeout: true}), Transient, "name lookup failed", true, true},
		{"resolver busy", op("dial", &net.DNSError{IsTemporary: true}), Transient, "name lookup failed", true, false},
		{"resolver broken", op("dial", &net.DNSError{}), Fatal, "name lookup failed", true, false},
		{"no port", op("dial", &net.AddrError{Err: "missing port"}), Fatal, "invalid address", true, false},
		{"certificate", &url.Error{Op: "Get", Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}, Fatal, "TLS verification failed", true, false},
		{"host name", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x"}, Fatal, "TLS verification failed", true, false},
		{"not TLS", tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, Fatal, "TLS handshake failed", true, false},
		{"alert", op("remote error", tls.AlertError(40)), Fatal, "TLS handshake failed", false, false},
		{"GOAWAY", errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR"), Transient, "HTTP/2 connection closed by the server", false, true},
		{"GOAWAY under an SDK's frame", &ResponseError{Err: errors.New("http2: server sent GOAWAY and closed the connection")}, Transient, "HTTP/2 connection closed by the server", false, true},
		{"a head that broke off", errors.New("net/http: HTTP/1.x transport connection broken: malformed MIME header: missing colon: \"Conte\""), Transient, "connection broken", false, true},
		{"GOAWAY before the stream", errors.New("http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] after Request.Body was written"), Transient, "HTTP/2 connection closed by the server", true, true},
		{"GOAWAY in whose words the server says more", errors.New(`http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=REFUSED_STREAM, debug="stream error: stream ID 1; REFUSED_STREAM; received from peer"`), Transient, "HTTP/2 connection closed by the server", false, true},
		{"GOAWAY that quotes another", errors.New(`http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug="http2: Transport received Server's graceful shutdown GOAWAY"`), Transient, "HTTP/2 connection closed by the server", false, true},
		{"a head that quotes", errors.New(`net/http: HTTP/1.x transport connection broken: malformed HTTP response "stream error: stream ID 1; REFUSED_STREAM"`), Transient, "connection broken", false, true},
		{"a body of another length", errors.New("net/http: HTTP/1.x transport connection broken: http: ContentLength=3 with Body length 5"), Fatal, "the body has another length than its request says", false, false},
		{"refused stream", errors.New("stream error: stream ID 3; REFUSED_STREAM; received from peer"), Transient, "HTTP/2 stream refused", true, true},
		{"idle connection", errors.New("http: server closed idle connection"), Transient, "connection closed early", false, true},
		{"under a status of 0", &ResponseError{Err: &url.Error{Op: "Get", Err: io.EOF}}, Transient, "connection closed early", false, true},
		{"gRPC around a dial", &ResponseError{Provider: "gcp", Code: "UNAVAILABLE", Err: op("dial", timeoutError(true))}, Transient, "code UNAVAILABLE: made locally, without an answer", true, true},
	} {
		r := Examine("", c.err)
		if r.Kind != c.want || r.Reason != c.reason || r.Unprocessed != c.unprocessed || r.Usual != c.usual || !r.Network || r.Answered {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	if r := Examine("", timeoutError(false)); r.Kind != Fatal || r.Network {
		t.Errorf("Timeout() false: %+v", r)
	}
	if got := Classify(errors.New("net/http: request canceled")); got != Canceled {
		t.Errorf("net/http's own word for a cancellation: %v", got)
	}
	// The body broke off after the status had come: answered, and repeatable.
	if r := Examine("", &ResponseError{StatusCode: 200, Err: io.ErrUnexpectedEOF}); r.Kind != Transient || !r.Answered {
		t.Errorf("cut body: %+v", r)
	}
	// A status outweighs what broke afterwards.
	if r := Examine("", &ResponseError{StatusCode: 404, Err: io.ErrUnexpectedEOF}); r.Kind != Fatal || !r.Answered {
		t.Errorf("cut body of a 404: %+v", r)
	}
}

// The real thing, over loopback.
func TestS2_4_RealConnections(t *testing.T) {
	get := func(ctx context.Context, c *http.Client, url string) error {
		req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		return err
	}
	check := func(name string, err error, kind Kind, unprocessed bool) {
		t.Helper()
		if r := Examine("", err); r.Kind != kind || r.Answered || r.Unprocessed != unprocessed {
			t.Errorf("%s: %v: %+v", name, err, r)
		}
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	address := "http://" + listener.Addr().String()
	_ = listener.Close()
	check("refused", get(t.Context(), &http.Client{}, address), Transient, true)

	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-hang
		case "/cut":
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
	}))
	defer server.Close()
	defer close(hang)
	check("cut", get(t.Context(), server.Client(), server.URL+"/cut"), Transient, false)
	slow := &http.Client{Transport: server.Client().Transport, Timeout: 20 * time.Millisecond}
	check("client's time-out", get(t.Context(), slow, server.URL+"/hang"), Transient, false)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	check("context's time-out", get(ctx, server.Client(), server.URL+"/hang"), Transient, false)
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	check("canceled", get(ctx, server.Client(), server.URL+"/hang"), Canceled, false)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	check("canceled before dialing", get(ended, &http.Client{}, address), Canceled, false)

	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	check("TLS", get(t.Context(), &http.Client{Transport: &http.Transport{}}, secure.URL), Fatal, true)
}
