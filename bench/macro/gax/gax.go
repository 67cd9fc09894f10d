// Package gax makes the calls of a scenario as Google's generated clients do.
package gax

import (
	"context"
	"time"

	gax "github.com/googleapis/gax-go/v2"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/cloudpace/cloudpace/bench/macro"
	"github.com/cloudpace/cloudpace/internal/scenario"
)

// New is a method with the options that generated clients have by default: 60 s for
// everything, a back-off from 100 ms to 60 s by 1.3. Most of them repeat Unavailable
// alone; here ResourceExhausted too, as those do that expect throttling.
func New(_ scenario.Scenario, server *macro.Server) (macro.Client, error) {
	options := []gax.CallOption{
		gax.WithTimeout(60 * time.Second),
		gax.WithRetry(func() gax.Retryer {
			return gax.OnCodes([]codes.Code{codes.Unavailable, codes.ResourceExhausted},
				gax.Backoff{Initial: 100 * time.Millisecond, Max: 60 * time.Second, Multiplier: 1.3})
		}),
	}
	call := func(context.Context, gax.CallSettings) error {
		a := server.Attempt()
		if a.OK {
			return nil
		}
		s := status.New(codes.ResourceExhausted, "Quota exceeded for quota metric 'Read requests'.")
		if a.RetryAfter > 0 {
			var err error
			if s, err = s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(a.RetryAfter)}); err != nil {
				return err
			}
		}
		return s.Err()
	}
	return func(ctx context.Context) error { return gax.Invoke(ctx, call, options...) }, nil
}
