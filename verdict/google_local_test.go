package verdict

import (
	"errors"
	"net/http"
	"testing"
)

// S7.5, S13.4: statuses that gRPC's client library has made. Whether one proves that
// nothing was sent is told only where it is known to be the library's.
func TestStatusesMadeByGRPC(t *testing.T) {
	const handshake = `connection error: desc = "transport: authentication handshake failed: `
	for _, c := range []struct {
		code, text  string
		want        Kind
		unprocessed bool
	}{
		{"UNAVAILABLE", `connection error: desc = "transport: Error while dialing: dial tcp 192.0.2.1:443: connect: connection refused"`, Transient, true},
		{"UNAVAILABLE", `last connection error: connection error: desc = "error reading server preface: EOF"`, Transient, true},
		{"UNAVAILABLE", "name resolver error: dns: A record lookup error: lookup example.com on 192.0.2.1:53: server misbehaving", Transient, true},
		{"UNAVAILABLE", handshake + `EOF"`, Transient, true},
		{"UNAVAILABLE", handshake + `context deadline exceeded"`, Transient, true},
		{"UNAVAILABLE", handshake + `tls: failed to verify certificate: x509: certificate signed by unknown authority"`, Fatal, true},
		{"UNAVAILABLE", handshake + `x509: certificate has expired or is not yet valid"`, Fatal, true},
		{"UNAVAILABLE", handshake + `remote error: tls: bad certificate"`, Fatal, true},
		{"UNAVAILABLE", handshake + `tls: first record does not look like a TLS handshake"`, Fatal, true},
		{"UNAVAILABLE", "name resolver error: produced zero addresses", Fatal, true},
		{"UNAVAILABLE", `connection error: desc = "transport: Error while dialing: dial tcp: lookup example.invalid: no such host"`, Fatal, true},
		// These can break off a request that is under way.
		{"UNAVAILABLE", `connection error: desc = "error reading from server: EOF"`, Transient, false},
		{"UNAVAILABLE", "transport is closing", Transient, false},
		{"UNAVAILABLE", `closing transport due to: connection error: desc = "error reading from server: read tcp: connection reset by peer"`, Transient, false},

		{"INTERNAL", "grpc: error while marshaling: string field contains invalid UTF-8", Fatal, false},
		{"INTERNAL", "grpc: error while compressing: disk", Fatal, false},
		{"INTERNAL", `grpc: Compressor is not installed for requested grpc-encoding "x"`, Fatal, false},
		{"INTERNAL", "stream terminated by RST_STREAM with error code: INTERNAL_ERROR", Transient, false},

		{"RESOURCE_EXHAUSTED", "stream terminated by RST_STREAM with error code: ENHANCE_YOUR_CALM", Throttled, false},
		{"RESOURCE_EXHAUSTED", "trying to send message larger than max (5 vs. 4)", Fatal, false},
	} {
		known := Examine("gcp", &ResponseError{Provider: "gcp", Code: c.code, Message: c.text, Err: Local(errors.New(c.text))})
		if known.Kind != c.want || known.Unprocessed != c.unprocessed || known.Answered || known.NoRepeat {
			t.Errorf("%s %q: %+v", c.code, c.text, known)
		}
		// The text alone may be that of a server, which quotes what it met itself.
		record := Examine("gcp", &ResponseError{Provider: "gcp", Code: c.code, Message: c.text})
		if record.Kind != c.want || record.Unprocessed {
			t.Errorf("%s %q, from a record: %+v", c.code, c.text, record)
		}
		// With trailers it was one.
		sent := Examine("gcp", &ResponseError{Provider: "gcp", Code: c.code, Message: c.text, Header: http.Header{"Content-Type": {"application/grpc"}}})
		want, unprocessed := Throttled, false
		switch c.code {
		case "INTERNAL":
			want = Transient
		case "RESOURCE_EXHAUSTED":
			if want = c.want; want == Throttled {
				unprocessed = true
			}
		}
		if sent.Kind != want || sent.Unprocessed != unprocessed || !sent.Answered {
			t.Errorf("%s %q, sent: %+v", c.code, c.text, sent)
		}
	}
}
