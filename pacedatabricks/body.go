package pacedatabricks

import (
	"bytes"
	"io"
	"net/http"
	"slices"

	"github.com/cloudpace/cloudpace/internal/databricks"
	"github.com/cloudpace/cloudpace/internal/httpbody"
)

// replayed is how much of a request's body is kept in memory, in bytes, where it
// has to be: the body cannot be had again from GetBody.
const replayed = 1 << 20

// read tells what the request asks for, and makes its body one that can be sent
// again where that is possible. It is false for requests that are not to be
// governed. x.req is then what is to be sent: the caller's request is not changed.
func (x *exchange) read() (known bool, err error) {
	req := x.req
	if req.URL == nil {
		return false, nil // base says what is wrong with it
	}
	if c, ok := databricks.REST(req.Method, req.URL.Path); ok {
		x.command = c
		return true, x.keep(nil)
	}
	if req.Method != http.MethodPost || !httpbody.Has(req) {
		return false, nil
	}
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return false, nil //nolint:nilerr // such a request can be sent once, as it is
		}
		n, _ := io.ReadFull(body, x.head[:]) // a body that is shorter is a body
		_ = body.Close()
		x.command, known = databricks.Thrift(x.head[:n])
		return known, nil
	}
	n, err := io.ReadFull(req.Body, x.head[:])
	head := slices.Clone(x.head[:n])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		_ = req.Body.Close()
		return false, err
	}
	x.command, known = databricks.Thrift(head)
	if known {
		return true, x.keep(head)
	}
	x.req = withBody(req, httpbody.Joined(head, req.Body))
	return false, nil
}

// keep reads a body without GetBody into memory, head of which has been read
// already, so that it can be sent again. One that is too long is sent once.
func (x *exchange) keep(head []byte) error {
	req := x.req
	if httpbody.CanRewind(req) {
		return nil
	}
	if req.ContentLength > replayed {
		x.req = withBody(req, httpbody.Joined(head, req.Body))
		return nil
	}
	rest, err := io.ReadAll(io.LimitReader(req.Body, int64(replayed-len(head))+1))
	text := append(head, rest...)
	if err != nil {
		_ = req.Body.Close()
		return err
	}
	if len(text) > replayed {
		x.req = withBody(req, httpbody.Joined(text, req.Body))
		return nil
	}
	_ = req.Body.Close()
	x.req = withBody(req, io.NopCloser(bytes.NewReader(text)))
	x.req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	return nil
}

func withBody(req *http.Request, body io.ReadCloser) *http.Request {
	changed := req.WithContext(req.Context())
	changed.Body = body
	return changed
}
