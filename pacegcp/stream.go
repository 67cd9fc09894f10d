package pacegcp

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/cloudpace/cloudpace"
)

// stream governs the opening of a stream: the circuit, a token, a slot, and the first
// answer, which is its outcome. Nothing is repeated, since what was sent is not known
// here, and no time limit is set. The slot is held until the first answer of a stream
// on which the server alone sends, and until it is open where the client sends too:
// such a stream may be idle for hours.
func (w *wiring) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if admitted(ctx, w.governor, method) {
		return open(ctx, desc, cc, method, opts...)
	}
	scope, quotaProject := w.scopeOf(ctx, method, cc.Target(), nil)
	call, err := w.governor.Begin(ctx, scope, charged(scope, quotaProject))
	if err != nil {
		return nil, forCaller(err)
	}
	if !call.Governed() {
		return open(ctx, desc, cc, method, opts...)
	}
	s := &stream{call: call, ctx: ctx, sent: time.Now()}
	defer s.leave()
	s.enter()
	opened := false
	defer func() {
		if !opened {
			call.Drop() // a panic
		}
	}()
	inner, err := open(call.Context(), desc, cc, method, append(opts[:len(opts):len(opts)], grpc.OnFinish(s.finished))...)
	opened = true
	if err != nil {
		err = (&received{}).failure(err)
		s.over(err)
		return nil, err
	}
	s.ClientStream = inner
	if desc.ClientStreams {
		call.LendSlot()
	}
	return s, nil
}

// stream is a stream whose first answer ends the governed call. So does whatever else
// ends it before: a message that cannot be sent, after which no caller asks for an
// answer; the end of its context or its connection, which no method may be there to see.
type stream struct {
	grpc.ClientStream
	call *cloudpace.Call
	ctx  context.Context
	sent time.Time
	once sync.Once

	busy  atomic.Int32 // methods under way, which tell the end better than finished can
	ended atomic.Bool
	why   error // once it has ended; what gRPC says of it
}

func (s *stream) enter() { s.busy.Add(1) }

func (s *stream) leave() {
	if s.busy.Add(-1) == 0 && s.ended.Load() {
		s.once.Do(s.call.Drop) // where a method has seen the end, that came first
	}
}

// finished is told by gRPC of the stream's end, while it holds a lock of its own.
func (s *stream) finished(err error) {
	s.why = err
	s.ended.Store(true)
	if s.busy.Load() == 0 {
		s.once.Do(s.call.Drop)
	}
}

// over ends the call.
func (s *stream) over(err error) {
	s.once.Do(func() {
		if ranOut(s.ctx, s.sent, err) {
			err = &callersOwn{err}
		}
		s.call.End(err)
	})
}

// failure is err with what came back beside it.
func (s *stream) failure(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	got := received{trailer: s.Trailer()}
	if len(got.trailer) == 0 {
		got.header, _ = s.ClientStream.Header() // at the end it does not wait
	}
	return got.failure(err)
}

// RecvMsg takes the first answer for the outcome, and gives every error with what came
// back beside it.
func (s *stream) RecvMsg(m any) error {
	s.enter()
	defer s.leave()
	err := s.failure(s.ClientStream.RecvMsg(m))
	if errors.Is(err, io.EOF) {
		s.over(nil)
	} else {
		s.over(err)
	}
	return err
}

// SendMsg fails with io.EOF where the answer tells why, and for good otherwise.
func (s *stream) SendMsg(m any) error {
	s.enter()
	defer s.leave()
	err := s.ClientStream.SendMsg(m)
	if err != nil && !errors.Is(err, io.EOF) {
		err = (&received{}).failure(err)
		s.over(err)
	}
	return err
}

// Header keeps an error to itself, for RecvMsg to give. Not every caller goes on to ask.
func (s *stream) Header() (metadata.MD, error) {
	s.enter()
	defer s.leave()
	md, err := s.ClientStream.Header()
	if s.ended.Load() {
		s.over(s.failure(s.why))
	}
	return md, err
}
