package pacegcp_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/api/option"
	gtransport "google.golang.org/api/transport/grpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacegcp"
)

const tailScope = "gcp/projects/example-1/*/logging"

// connect makes a connection as the generated clients do, for RPCs that none of them has
// here.
func connect(t testing.TB, e *endpoint, g *cloudpace.Governor) *grpc.ClientConn {
	t.Helper()
	options := append(append([]option.ClientOption(nil), e.options...), pacegcp.ClientOptions(pacegcp.WithGovernor(g))...)
	conn, err := gtransport.Dial(context.Background(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// open opens a stream as a generated client does, with its routing header.
func open(ctx context.Context, conn *grpc.ClientConn, desc *grpc.StreamDesc, method string) (grpc.ClientStream, error) {
	ctx = metadata.AppendToOutgoingContext(ctx, "x-goog-request-params", "resource_names=projects%2Fexample-1")
	s, err := conn.NewStream(ctx, desc, method)
	if err != nil {
		return nil, err
	}
	if err := s.SendMsg(wrapperspb.String("go")); err != nil {
		return nil, err
	}
	if desc.ClientStreams {
		return s, nil
	}
	return s, s.CloseSend()
}

// drain reads a stream to its end.
func drain(s grpc.ClientStream) (n int, err error) {
	for {
		if err := s.RecvMsg(&wrapperspb.StringValue{}); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return n, err
		}
		n++
	}
}

func TestS13_4_StreamsAreGoverned(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 1 })
		f := newFake(func(int, arrival) reply {
			if n := slots(g, parent); n != 1 {
				t.Errorf("%d slots while the server has not answered", n)
			}
			return page("", "1", "2")
		})
		conn := connect(t, inMemory(t, f), g)
		for range 2 {
			s, err := open(t.Context(), conn, &tailDesc, tailMethod)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := drain(s); n != 2 || err != nil {
				t.Fatal(n, err)
			}
		}
		if at := f.times(); at[1] != time.Second {
			t.Errorf("streams at %v, want one a second", at)
		}
		if n := numbers(t, g, tailScope); n.Calls != 2 || slots(g, parent) != 0 {
			t.Errorf("%+v, %d slots", n.Totals, slots(g, parent))
		}
	})
}

func TestS13_4_AThrottledStreamSlowsItsScope(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.BreakerThreshold = 2 })
		f := script(throttled(retryIn(30 * time.Second)))
		conn := connect(t, inMemory(t, f), g)
		for range 2 {
			s, err := open(t.Context(), conn, &tailDesc, tailMethod)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := drain(s); status.Code(err) != codes.ResourceExhausted {
				t.Fatalf("the caller gets %v", err)
			}
		}
		if at := f.times(); at[1] < 30*time.Second {
			t.Errorf("streams at %v, want the second after the hint", at)
		}
		if n := numbers(t, g, tailScope); n.Throttled != 2 || n.GaveUp != 2 || n.Retries != 0 {
			t.Errorf("%+v", n.Totals)
		}
		_, err := open(t.Context(), conn, &tailDesc, tailMethod)
		var refused *cloudpace.CircuitOpenError
		if !errors.As(err, &refused) || status.Code(err) != codes.FailedPrecondition {
			t.Errorf("an open circuit: %v", err)
		}
	})
}

// A stream on which the client sends too may be idle for hours, and holds no slot.
func TestS13_4_AnIdleStreamHoldsNoSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		conn := connect(t, inMemory(t, script(reply{hang: true})), g)
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			if _, err := open(ctx, conn, &chatDesc, chatMethod); err != nil {
				t.Fatal(err)
			}
		}
		if n := slots(g, parent); n != 0 {
			t.Errorf("%d slots", n)
		}
		cancel()
	})
}

// A stream that its caller leaves gives its slot back, and says nothing of the service.
func TestS5_3_AnAbandonedStreamGivesItsSlotBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.BreakerThreshold = 1 })
		conn := connect(t, inMemory(t, script(reply{hang: true})), g)
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := open(ctx, conn, &tailDesc, tailMethod); err != nil {
			t.Fatal(err)
		}
		if n := slots(g, parent); n != 1 {
			t.Errorf("%d slots while it waits", n)
		}
		cancel()
		time.Sleep(time.Second)
		if n := slots(g, parent); n != 0 || len(g.Summary(nil).Breakers) != 0 {
			t.Errorf("%d slots, %+v", n, g.Summary(nil).Breakers)
		}
	})
}

// Ended by the caller while it is read, it is no event of the service either.
func TestS2_1_AStreamThatTheCallerEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.BreakerThreshold = 1 })
		conn := connect(t, inMemory(t, script(reply{hang: true, header: true})), g)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s, err := open(ctx, conn, &tailDesc, tailMethod)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := drain(s); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("%v", err)
		}
		if n := numbers(t, g, tailScope); n.TransientErrors != 0 || len(g.Summary(nil).Breakers) != 0 {
			t.Errorf("%+v, %+v", n.Totals, g.Summary(nil).Breakers)
		}
	})
}

// S9.3: while the provider is disabled a stream is the SDK's alone.
func TestS9_3_DisabledAStreamPassesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.Enabled = false })
		conn := connect(t, inMemory(t, script(throttled())), g)
		s, err := open(t.Context(), conn, &tailDesc, tailMethod)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := drain(s); status.Code(err) != codes.ResourceExhausted || errors.Unwrap(err) != nil {
			t.Errorf("%T: %v", err, err)
		}
	})
}

// S5.3: whatever ends a stream, its slot comes back, also where nobody asks for an answer
// any more.
func TestS5_3_AStreamThatEndsUnread(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, conn *grpc.ClientConn, ctx context.Context) func(){
		"a message that cannot be sent": func(t *testing.T, conn *grpc.ClientConn, ctx context.Context) func() {
			s, err := conn.NewStream(ctx, &tailDesc, tailMethod)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.SendMsg(wrapperspb.String("\xff")); status.Code(err) != codes.Internal {
				t.Errorf("%v", err)
			}
			return func() {}
		},
		"a connection that is closed": func(t *testing.T, conn *grpc.ClientConn, ctx context.Context) func() {
			if _, err := open(ctx, conn, &tailDesc, tailMethod); err != nil {
				t.Fatal(err)
			}
			return func() { _ = conn.Close() }
		},
	} {
		bubble(t, func(t *testing.T) {
			g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxConcurrency, p.BreakerThreshold = 1, 1 })
			conn := connect(t, inMemory(t, script(reply{hang: true})), g)
			ctx := metadata.AppendToOutgoingContext(context.Background(), "x-goog-request-params", "resource_names=projects%2Fexample-1")
			end(t, conn, ctx)()
			time.Sleep(time.Second)
			if n := numbers(t, g, tailScope); slots(g, parent) != 0 || n.TransientErrors != 0 || len(g.Summary(nil).Breakers) != 0 {
				t.Errorf("%s: %d slots, %+v, %+v", name, slots(g, parent), n.Totals, g.Summary(nil).Breakers)
			}
		})
	}
}

// Header gives no error, and who asks it first may leave it at that. The outcome counts
// all the same, once.
func TestS13_4_AnOutcomeThatHeaderMeets(t *testing.T) {
	for _, read := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			g := governor(t, unpaced)
			conn := connect(t, inMemory(t, script(throttled(retryIn(time.Minute)))), g)
			s, err := open(context.Background(), conn, &tailDesc, tailMethod)
			if err != nil {
				t.Fatal(err)
			}
			if md, err := s.Header(); md != nil || err != nil {
				t.Errorf("%v, %v", md, err)
			}
			if read {
				if _, err := drain(s); status.Code(err) != codes.ResourceExhausted {
					t.Errorf("%v", err)
				}
			}
			time.Sleep(time.Second)
			if n := numbers(t, g, tailScope); n.Throttled != 1 || n.GaveUp != 1 || slots(g, parent) != 0 {
				t.Errorf("%+v, %d slots", n.Totals, slots(g, parent))
			}
		})
	}
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		conn := connect(t, inMemory(t, script(reply{header: true, items: []string{"1"}})), g)
		s, err := open(context.Background(), conn, &tailDesc, tailMethod)
		if err != nil {
			t.Fatal(err)
		}
		if md, err := s.Header(); len(md["x-server"]) != 1 || err != nil {
			t.Errorf("%v, %v", md, err)
		}
		if n, err := drain(s); n != 1 || err != nil || slots(g, parent) != 0 {
			t.Errorf("%d, %v", n, err)
		}
	})
}
