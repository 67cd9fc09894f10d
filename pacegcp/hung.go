package pacegcp

import (
	"io"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errHung is what an attempt over REST came to that was cut.
var errHung error = hungError{}

type hungError struct{}

// hung is the same over gRPC, a status as if a deadline had passed.
func hung() error {
	return &failure{err: status.Error(codes.DeadlineExceeded, errHung.Error()), local: true}
}

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
