package pacedatabricks

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/cloudpace/cloudpace/internal/httpbody"
)

// kept is an answer's body in memory.
type kept struct {
	bytes.Reader
	data []byte
}

// read takes the body of an answer into memory, so that one which breaks off is
// noticed while the request can be repeated. A body longer than buffered goes to
// the caller as it comes; whole tells that this one does not.
func (k *kept) read(resp *http.Response, method string) (whole bool, err error) {
	switch n := resp.ContentLength; {
	case resp.Body == http.NoBody, method == http.MethodHead, resp.StatusCode == http.StatusNoContent, resp.StatusCode == http.StatusNotModified:
		// The length that such an answer tells is that of another.
		k.data = nil
		return true, nil
	case resp.StatusCode == http.StatusSwitchingProtocols, strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"):
		return false, nil // its body has no end that could be waited for
	case n > buffered:
		return false, nil
	case n < 0:
		k.data, whole, err = httpbody.Peek(resp, buffered)
		return whole, err
	default:
		k.data = make([]byte, n)
		if _, err := io.ReadFull(resp.Body, k.data); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return false, err
		}
	}
	// The connection is free only once the end has been seen.
	var end [1]byte
	if n, err := resp.Body.Read(end[:]); n == 0 && err != io.EOF && err != nil {
		return false, err
	}
	_ = resp.Body.Close()
	k.Reset(k.data)
	resp.Body = k
	return true, nil
}

func (*kept) Close() error { return nil }
