package httpbody

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

// body counts what is read of it and notes that it was closed.
type body struct {
	io.Reader
	read   int
	closed int
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read += n
	return n, err
}

func (b *body) Close() error { b.closed++; return nil }

func TestS7_6PeekPutsEveryByteBack(t *testing.T) {
	for _, size := range []int{0, 1, 99, 100, 101, 102, 5000} {
		text := bytes.Repeat([]byte("0123456789"), 500)[:size]
		for name, reader := range map[string]io.Reader{
			"at once":     bytes.NewReader(text),
			"bytewise":    iotest.OneByteReader(bytes.NewReader(text)),
			"with an EOF": iotest.DataErrReader(bytes.NewReader(text)),
		} {
			b := &body{Reader: reader}
			resp := &http.Response{Body: b}
			head, whole, err := Peek(resp, 100)
			if err != nil || !bytes.Equal(head, text[:min(size, 100)]) || whole != (size <= 100) {
				t.Errorf("%s, %d bytes: %d, %v, %v", name, size, len(head), whole, err)
			}
			if whole != (b.closed == 1) {
				t.Errorf("%s, %d bytes: whole %v, closed %d times", name, size, whole, b.closed)
			}
			if b.read > 101 {
				t.Errorf("%s: %d bytes read", name, b.read)
			}
			rest, err := io.ReadAll(resp.Body)
			if err != nil || !bytes.Equal(rest, text) {
				t.Errorf("%s, %d bytes: %d came back, %v", name, size, len(rest), err)
			}
			if err := resp.Body.Close(); err != nil || b.closed != 1 {
				t.Errorf("%s, %d bytes: closed %d times, %v", name, size, b.closed, err)
			}
		}
	}
}

func TestS7_6PeekKeepsTheError(t *testing.T) {
	broken := errors.New("broken off")
	b := &body{Reader: io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(broken))}
	resp := &http.Response{Body: b}
	head, whole, err := Peek(resp, 100)
	if string(head) != "begin" || whole || err != broken || b.closed != 1 {
		t.Errorf("%q %v %v, closed %d times", head, whole, err, b.closed)
	}
	rest, err := io.ReadAll(resp.Body)
	if string(rest) != "begin" || err != broken {
		t.Errorf("%q %v", rest, err)
	}
}

func TestPeekOfNothing(t *testing.T) {
	for _, b := range []io.ReadCloser{nil, http.NoBody} {
		resp := &http.Response{Body: b}
		if head, whole, err := Peek(resp, 100); len(head) > 0 || !whole || err != nil || resp.Body != b {
			t.Errorf("%v %v %v", head, whole, err)
		}
	}
}

func TestE22DropIsBounded(t *testing.T) {
	endless := &body{Reader: iotest.DataErrReader(zeros{})}
	Drop(&http.Response{Body: endless}, 1000)
	if endless.read > 1001 || endless.closed != 1 {
		t.Errorf("read %d bytes, closed %d times", endless.read, endless.closed)
	}
	short := &body{Reader: strings.NewReader(strings.Repeat("x", 1000))}
	Drop(&http.Response{Body: short}, 1000)
	if n, err := short.Reader.Read(make([]byte, 1)); n != 0 || err != io.EOF || short.closed != 1 {
		t.Errorf("%d bytes left, closed %d times", n, short.closed)
	}
	Drop(nil, 10)
	Drop(&http.Response{}, 10)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestE21Rewind(t *testing.T) {
	request := func(b io.Reader) *http.Request {
		req, err := http.NewRequest(http.MethodPut, "http://example.com", b)
		if err != nil {
			t.Fatal(err)
		}
		return req
	}
	type mark struct{}
	ctx := context.WithValue(t.Context(), mark{}, true)

	req := request(strings.NewReader("text"))
	_, _ = io.ReadAll(req.Body)
	again, err := Rewind(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := io.ReadAll(again.Body); string(text) != "text" || again == req || again.Context() != ctx || req.Context() == ctx {
		t.Errorf("%q", text)
	}

	for _, b := range []io.Reader{nil, http.NoBody} {
		if again, err := Rewind(ctx, request(b)); err != nil || again.Context() != ctx {
			t.Errorf("no body: %v", err)
		}
	}
	once := request(io.NopCloser(strings.NewReader("text")))
	if _, err := Rewind(ctx, once); !errors.Is(err, ErrNotRewindable) || CanRewind(once) {
		t.Errorf("one-shot: %v", err)
	}
	broken := errors.New("gone")
	req.GetBody = func() (io.ReadCloser, error) { return nil, broken }
	if _, err := Rewind(ctx, req); !errors.Is(err, broken) {
		t.Errorf("GetBody: %v", err)
	}
}

func TestClose(t *testing.T) {
	b := &body{Reader: strings.NewReader("x")}
	Close(&http.Request{Body: b})
	Close(&http.Request{})
	if b.closed != 1 {
		t.Errorf("closed %d times", b.closed)
	}
}
