package pacedatabricks

import (
	"bytes"
	"errors"
	"io"
	"net/http"

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
func (k *kept) read(resp *http.Response) (whole bool, err error) {
	switch n := resp.ContentLength; {
	case resp.Body == nil || resp.Body == http.NoBody:
		k.data = nil
		return true, nil
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
