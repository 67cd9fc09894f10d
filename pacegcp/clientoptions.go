package pacegcp

import (
	"google.golang.org/api/option"
	"google.golang.org/grpc"
)

// ClientOptions gives options with which a Google Cloud client over gRPC is governed,
// whatever API it is of. They go to its constructor. Interceptors of options that come
// after them run inside of ours, once for each attempt; those of options before run
// outside, once for each call.
//
// A client that is given a connection of its own (option.WithGRPCConn) never uses the
// options, and says nothing: make that connection with grpc.NewClient and the
// interceptors that you want. REST clients take [NewTransport] instead.
func ClientOptions(opts ...Option) []option.ClientOption {
	w := newWiring(opts)
	options := []option.ClientOption{
		option.WithGRPCDialOption(grpc.WithChainUnaryInterceptor(w.unary)),
		option.WithGRPCDialOption(grpc.WithChainStreamInterceptor(w.stream)),
	}
	if w.named {
		options = append(options, option.WithQuotaProject(w.quotaProject))
	}
	return options
}
