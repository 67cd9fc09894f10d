package sim

import (
	"context"
	"net"
	"sync"
)

// Memory is a network inside the process: what dials it is accepted by it. It is
// a listener, and its Dial is for an [http.Transport]'s DialContext.
type Memory struct {
	once  sync.Once
	conns chan net.Conn
	done  chan struct{}
}

// NewMemory makes one.
func NewMemory() *Memory {
	return &Memory{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Dial connects, whatever the address.
func (m *Memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case m.conns <- there:
		return here, nil
	case <-m.done:
		return nil, &net.OpError{Op: "dial", Net: "memory", Addr: m.Addr(), Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept waits for the next connection.
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.done:
		return nil, &net.OpError{Op: "accept", Net: "memory", Addr: m.Addr(), Err: net.ErrClosed}
	}
}

// Close ends it; connections that there are stay.
func (m *Memory) Close() error {
	m.once.Do(func() { close(m.done) })
	return nil
}

// Addr is none that leads anywhere.
func (m *Memory) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "memory" }
