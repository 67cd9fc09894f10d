package pacegcp

import (
	"io"
	"sync"
)

// errHung is what an attempt came to that was cut.
var errHung error = hungError{}

type hungError struct{}

func (hungError) Error() string { return "pacegcp: no answer within " + hang.String() }

// Timeout makes it a time-out to verdict and to net's callers.
func (hungError) Timeout() bool { return true }

// body lets the attempt's context go at its end, or when it is closed.
type body struct {
	io.ReadCloser
	done func()
	once sync.Once
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.once.Do(b.done)
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(b.done)
	return err
}
