package pacegcp

import (
	"context"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"

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
	opened := false
	defer func() {
		if !opened {
			call.Drop()
		}
	}()
	s, err := open(call.Context(), desc, cc, method, opts...)
	if err != nil {
		err = (&received{}).failure(err)
		call.End(err)
		return nil, err
	}
	opened = true
	if desc.ClientStreams {
		call.LendSlot()
	}
	// Whoever leaves a stream unread ends its context.
	return &stream{ClientStream: s, call: call, forget: context.AfterFunc(ctx, call.Drop)}, nil
}

// stream is a stream whose first answer ends the governed call.
type stream struct {
	grpc.ClientStream
	call   *cloudpace.Call
	forget func() bool
	once   sync.Once
}

// RecvMsg takes the first answer for the outcome, and gives every error with what came
// back beside it.
func (s *stream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil && !errors.Is(err, io.EOF) {
		got := received{trailer: s.Trailer()}
		if len(got.trailer) == 0 {
			got.header, _ = s.Header() // at the end it does not wait
		}
		err = got.failure(err)
	}
	s.once.Do(func() {
		if errors.Is(err, io.EOF) {
			s.call.End(nil)
		} else {
			s.call.End(err)
		}
		s.forget()
	})
	return err
}
