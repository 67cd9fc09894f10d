// Package httpbody handles the bodies of HTTP requests and answers for clients
// that send a request more than once: a request's body is rewound, the beginning
// of an answer's is read ahead and put back, and what is dropped is drained so
// that its connection can be used again. Everything it reads is bounded.
//
// A body is read as long as its sender sends: it is the request's context that
// ends a read which takes too long, except with [PeekWithin].
package httpbody

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// ErrNotRewindable says that a request's body can be read only once.
var ErrNotRewindable = errors.New("the request's body cannot be rewound")

// Has tells whether a request has a body.
func Has(req *http.Request) bool { return req.Body != nil && req.Body != http.NoBody }

// CanRewind tells whether a request can be sent again: it has no body, or one
// that GetBody gives anew.
func CanRewind(req *http.Request) bool {
	return !Has(req) || req.GetBody != nil
}

// Rewind gives a copy of req to send once more, under ctx and with a body from
// its beginning. req is not changed; header and URL are shared with it. It
// returns [ErrNotRewindable], or what GetBody returned.
func Rewind(ctx context.Context, req *http.Request) (*http.Request, error) {
	if !CanRewind(req) {
		return nil, ErrNotRewindable
	}
	again := req.WithContext(ctx)
	if !Has(req) {
		return again, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, fmt.Errorf("rewinding the request's body: %w", err)
	}
	again.Body = body
	return again, nil
}

// Close closes a request's body that will not be sent: a RoundTripper has to.
func Close(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// Peek reads up to limit bytes of an answer's body and puts them back: resp.Body
// then gives the same bytes and the same error as before. When the body ends
// within the limit it is closed, so that its connection is free while the answer
// is kept; whole tells this. The error is what reading met, io.EOF apart.
func Peek(resp *http.Response, limit int) (head []byte, whole bool, err error) {
	if resp.Body == nil || resp.Body == http.NoBody {
		return nil, true, nil
	}
	// One byte more, to tell a body that ends at the limit from one that goes on.
	head, err = io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	return putBack(resp, head, limit, err)
}

// putBack gives an answer the body that was read of it, and the rest.
func putBack(resp *http.Response, head []byte, limit int, err error) ([]byte, bool, error) {
	switch {
	case err != nil:
		// The rest is lost. Who reads on is told after what did arrive.
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(head), failing{err}))
		return head[:min(len(head), limit)], false, err
	case len(head) <= limit:
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(head))
		return head, true, nil
	}
	resp.Body = Joined(head, resp.Body)
	return head[:limit], false, nil
}

// Drop reads up to limit bytes of the body of an answer that nobody wants, and
// closes it. A connection whose answer was read to its end is used again; one
// with more to come is given up, since that costs less than reading on.
func Drop(resp *http.Response, limit int) {
	if resp == nil || resp.Body == nil {
		return
	}
	// One byte more: the end is seen only when it is read.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, int64(limit)+1))
	_ = resp.Body.Close()
}

// Joined is a body that gives head, which was read from it before, and then the rest.
// Closing it closes the rest.
func Joined(head []byte, rest io.ReadCloser) io.ReadCloser {
	return &joined{Reader: io.MultiReader(bytes.NewReader(head), rest), Closer: rest}
}

type joined struct {
	io.Reader
	io.Closer
}

// failing gives an error where a body broke off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
