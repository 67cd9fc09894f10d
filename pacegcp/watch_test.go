package pacegcp_test

import (
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Cloud Asset Inventory streams nothing, so the fake has two streams of its own.
const (
	tailMethod = "/google.logging.v2.LoggingServiceV2/Tail" // the server alone sends
	chatMethod = "/google.logging.v2.LoggingServiceV2/Chat" // both do
)

var (
	tailDesc = grpc.StreamDesc{StreamName: "Tail", Handler: tail, ServerStreams: true}
	chatDesc = grpc.StreamDesc{StreamName: "Chat", Handler: tail, ServerStreams: true, ClientStreams: true}

	watchDesc = grpc.ServiceDesc{
		ServiceName: "google.logging.v2.LoggingServiceV2",
		HandlerType: (*any)(nil),
		Streams:     []grpc.StreamDesc{tailDesc, chatDesc},
	}
)

// tail sends the items of the fake's answer, and then fails or ends.
func tail(srv any, s grpc.ServerStream) error {
	if err := s.RecvMsg(&wrapperspb.StringValue{}); err != nil {
		return err
	}
	r, err := srv.(*fake).answer(s.Context(), arrival{rpc: "Tail"})
	for _, item := range r.items {
		if err := s.SendMsg(wrapperspb.String(item)); err != nil {
			return err
		}
	}
	return err
}
