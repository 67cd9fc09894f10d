package httpbody

import (
	"io"
	"sync"
)

// AtEnd is a body that calls done once, when it ends, breaks off or is closed: what
// an answer holds has to be held until its body is read.
func AtEnd(body io.ReadCloser, done func()) io.ReadCloser {
	return &ending{ReadCloser: body, done: done}
}

type ending struct {
	io.ReadCloser
	done func()
	once sync.Once
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil {
		e.once.Do(e.done)
	}
	return n, err
}

func (e *ending) Close() error {
	err := e.ReadCloser.Close()
	e.once.Do(e.done)
	return err
}
