package pacegcp

import (
	"net/http"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/cloudpace/cloudpace/verdict"
)

// received is the metadata that came back with one attempt. That there is any is what
// tells an answer of the server from a status that the client library made (S13.4).
type received struct{ header, trailer metadata.MD }

// options makes gRPC fill it.
func (r *received) options() []grpc.CallOption {
	return []grpc.CallOption{grpc.Header(&r.header), grpc.Trailer(&r.trailer)}
}

// failure is err with what came back beside it, for verdict. An error that is no
// status stays what it is.
func (r *received) failure(err error) error {
	if err == nil {
		return nil
	}
	st := statusOf(err)
	if st == nil {
		return err
	}
	return &failure{err: err, trailer: r.trailer, local: r.local(st)}
}

// local tells a status that no server sent. One that a server sends has trailers, or
// at least headers before them; a connection that breaks between the two leaves the
// headers, and then the words decide, which is verdict's business. A page of a proxy
// came from the network too.
func (r *received) local(st *status.Status) bool {
	switch {
	case len(r.trailer) > 0:
		return false
	case len(r.header) > 0:
		// The server had not finished, or had nothing to say. These two codes are how
		// the library words the end of a context.
		return st.Code() == codes.Canceled || st.Code() == codes.DeadlineExceeded
	}
	return !strings.Contains(st.Message(), "unexpected HTTP status code received from server")
}

// failure is a failed attempt as the SDK's callers get it: the same text, the same
// status and the same error inside.
type failure struct {
	err     error
	trailer metadata.MD
	local   bool
}

func (e *failure) Error() string { return e.err.Error() }
func (e *failure) Unwrap() error { return e.err }

// GRPCStatus is that of the error inside.
func (e *failure) GRPCStatus() *status.Status { return statusOf(e.err) }

// response is what verdict reads.
func (e *failure) response() *verdict.ResponseError {
	r := responseOf(e.GRPCStatus())
	if r == nil {
		return &verdict.ResponseError{Provider: provider, Err: e.err}
	}
	r.Header = http.Header(e.trailer)
	r.Err = e.err
	if e.local {
		r.Err = verdict.Local(e.err)
	}
	return r
}

// statusOf is the status that an error has itself, not one inside of it, and not one
// that gax has made of an HTTP answer.
func statusOf(err error) *status.Status {
	if httpCode(err) > 0 {
		return nil
	}
	if s, ok := err.(interface{ GRPCStatus() *status.Status }); ok {
		return s.GRPCStatus()
	}
	return nil
}

// httpCode is the HTTP status that an error of gax's is about, 0 where there is none.
func httpCode(err error) int {
	if e, ok := err.(interface{ HTTPCode() int }); ok {
		return max(0, e.HTTPCode())
	}
	return 0
}
