package httpbody

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestAtEnd(t *testing.T) {
	for name, c := range map[string]struct {
		body io.Reader
		read int64 // so much of it, before it is closed
		done int   // times, before it is closed
	}{
		"read to its end": {strings.NewReader("text"), 100, 1},
		"broken off":      {iotest.ErrReader(io.ErrUnexpectedEOF), 100, 1},
		"closed early":    {strings.NewReader("text"), 2, 0},
	} {
		done := 0
		b := AtEnd(&body{Reader: c.body}, func() { done++ })
		_, _ = io.CopyN(io.Discard, b, c.read)
		if done != c.done {
			t.Errorf("%s: done %d times, want %d", name, done, c.done)
		}
		_ = b.Close()
		_ = b.Close()
		if done != 1 {
			t.Errorf("%s: done %d times once it is closed", name, done)
		}
	}
}
