package httpbody

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// dripping gives its text in pieces, each after a pause, and then nothing until it is
// closed.
type dripping struct {
	pieces []string
	pause  time.Duration
	closed chan struct{}
}

func (d *dripping) Read(p []byte) (int, error) {
	if len(d.pieces) == 0 {
		<-d.closed
		return 0, errors.New("read of a closed body")
	}
	time.Sleep(d.pause)
	n := copy(p, d.pieces[0])
	d.pieces = d.pieces[1:]
	return n, nil
}

func (d *dripping) Close() error { close(d.closed); return nil }

func TestPeekWithinLeavesABodyThatStalls(t *testing.T) {
	for _, pieces := range [][]string{nil, {"be", "gin"}} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			resp := &http.Response{Body: &dripping{pieces, time.Second, make(chan struct{})}}
			head, whole, err := PeekWithin(resp, 100)
			text := strings.Join(pieces, "")
			var late interface{ Timeout() bool }
			if string(head) != text || whole || !errors.As(err, &late) || !late.Timeout() || time.Since(start) != Patience {
				t.Errorf("%q %v %v after %v", head, whole, err, time.Since(start))
			}
			rest, again := io.ReadAll(resp.Body)
			if string(rest) != text || again != err {
				t.Errorf("it reads as %q, %v", rest, again)
			}
			_ = resp.Body.Close()
		})
	}
}

// A body that comes in time is as after Peek.
func TestPeekWithinIsPeek(t *testing.T) {
	broken := errors.New("broken off")
	for name, c := range map[string]struct {
		body  io.Reader
		whole bool
		err   error
	}{
		"short":      {strings.NewReader("text"), true, nil},
		"at limit":   {strings.NewReader("0123456789"), true, nil},
		"longer":     {strings.NewReader("0123456789abc"), false, nil},
		"broken off": {io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(broken)), false, broken},
		"slow":       {iotest.OneByteReader(strings.NewReader("0123456789abc")), false, nil},
	} {
		b := &body{Reader: c.body}
		resp := &http.Response{Body: b}
		head, whole, err := PeekWithin(resp, 10)
		if whole != c.whole || err != c.err || len(head) > 10 {
			t.Errorf("%s: %q %v %v", name, head, whole, err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != c.err || !strings.HasPrefix(string(text), string(head)) || len(text) < len(head) {
			t.Errorf("%s: it reads as %q, %v", name, text, err)
		}
		if _ = resp.Body.Close(); b.closed != 1 {
			t.Errorf("%s: closed %d times", name, b.closed)
		}
	}
	resp := &http.Response{Body: http.NoBody}
	if head, whole, err := PeekWithin(resp, 10); head != nil || !whole || err != nil {
		t.Errorf("no body: %q %v %v", head, whole, err)
	}
}
