package pacegcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"
	"github.com/googleapis/gax-go/v2"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacegcp"
	"github.com/cloudpace/cloudpace/verdict"
)

// long is a deadline beyond all that a test waits for. Without one gax ends a call after
// 60 s with all its retries.
func long(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Hour)
	t.Cleanup(cancel)
	return ctx
}

func getFeed(ctx context.Context, c *asset.Client) error {
	_, err := c.GetFeed(ctx, &assetpb.GetFeedRequest{Name: parent + "/feeds/f"})
	return err
}

func createFeed(ctx context.Context, c *asset.Client) error {
	_, err := c.CreateFeed(ctx, &assetpb.CreateFeedRequest{Parent: parent, FeedId: "f"})
	return err
}

func TestS13_4_AnyCallOfAClientIsGoverned(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 1, 1 })
		var held []int
		f := newFake(func(int, arrival) reply {
			held = append(held, slots(g, parent))
			return reply{}
		})
		c := inMemory(t, f).governed(t, g)
		for range 3 {
			if err := getFeed(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		if at := f.times(); at[2] != 2*time.Second {
			t.Errorf("requests at %v, want one a second", at)
		}
		if n := numbers(t, g, listScope); n.Calls != 3 || held[1] != 1 || slots(g, parent) != 0 {
			t.Errorf("%+v, slots %v and %d", n.Totals, held, slots(g, parent))
		}
	})
}

func TestS13_4_AThrottledCallIsRepeatedAndSlowsItsScope(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t)
		f := script(throttled(retryIn(20*time.Second)), reply{})
		if err := getFeed(t.Context(), inMemory(t, f).governed(t, g)); err != nil {
			t.Fatal(err)
		}
		if at := f.times(); len(at) != 2 || at[1] < 20*time.Second {
			t.Errorf("requests at %v, want the second after RetryInfo's 20 s", at)
		}
		if n := numbers(t, g, listScope); n.Throttled != 1 || n.Retries != 1 || n.LowestRPS != 5 {
			t.Errorf("%+v", n)
		}
	})
}

// E23: gax's own retries do not multiply ours. GetFeed is a method that gax repeats after
// UNAVAILABLE and DEADLINE_EXCEEDED.
func TestE23_RetriesDoNotMultiply(t *testing.T) {
	for _, code := range []codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Internal} {
		bubble(t, func(t *testing.T) {
			g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxRetries = 3 })
			f := script(fails(code, info("RATE_LIMIT_EXCEEDED", "consumer", "projects/1")))
			c := inMemory(t, f).governed(t, g)
			// The strictest client: it repeats whatever gax knows to repeat.
			c.CallOptions.GetFeed = append(c.CallOptions.GetFeed, gax.WithRetry(func() gax.Retryer {
				return gax.OnCodes([]codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted,
					codes.Internal, codes.Aborted, codes.Unknown, codes.Canceled}, gax.Backoff{Initial: time.Second})
			}))
			err := getFeed(long(t), c)
			if n := len(f.arrivals()); n != 4 {
				t.Errorf("%v: %d requests, want 1 + 3 retries", code, n)
			}
			// S2.9: the SDK's own handlers find an error of their kind, with the details.
			var (
				api    *apierror.APIError
				budget *cloudpace.RetryBudgetExhaustedError
			)
			if !errors.As(err, &api) || !errors.As(err, &budget) {
				t.Fatalf("%v: %v", code, err)
			}
			if api.Metadata()["consumer"] != "projects/1" {
				t.Errorf("%v: the provider's details are lost: %v", code, api.Details())
			}
			if st, _ := status.FromError(budget.Err); st.Code() != code {
				t.Errorf("%v: the provider's own status is %v", code, st.Code())
			}
		})
	}
}

// S7.5: what changes something is repeated only where it was surely not carried out.
func TestS13_4_UnsafeCallsAreNotRepeatedAfterAnAmbiguousFailure(t *testing.T) {
	for code, want := range map[codes.Code]int{codes.Unavailable: 1, codes.Internal: 1, codes.DeadlineExceeded: 1, codes.ResourceExhausted: 2} {
		bubble(t, func(t *testing.T) {
			g := governor(t, unpaced)
			f := script(fails(code), reply{})
			err := createFeed(long(t), inMemory(t, f).governed(t, g))
			if n := len(f.arrivals()); n != want {
				t.Errorf("%v: %d requests, want %d (%v)", code, n, want, err)
			}
			if want == 1 && status.Code(err) != code {
				t.Errorf("%v: the caller gets %v", code, err)
			}
		})
	}
}

// E17, S6.3: an open circuit refuses at once, gax does not repeat it, and it says when.
func TestE17_AnOpenCircuitFailsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.BreakerThreshold, p.MaxRetries = 1, 0 })
		f := script(fails(codes.Unavailable))
		c := inMemory(t, f).governed(t, g)
		_ = getFeed(long(t), c)
		before := time.Now()
		err := getFeed(long(t), c)
		var (
			open *cloudpace.CircuitOpenError
			api  *apierror.APIError
		)
		if !errors.As(err, &open) || !errors.As(err, &api) || time.Since(before) != 0 || len(f.arrivals()) != 1 {
			t.Fatalf("%v after %v and %d requests", err, time.Since(before), len(f.arrivals()))
		}
		if d := api.Details().RetryInfo.GetRetryDelay().AsDuration(); d != open.RetryAfter || d == 0 {
			t.Errorf("RetryInfo %v, want %v", d, open.RetryAfter)
		}
		if verdict.Classify(err) != verdict.Throttled {
			t.Errorf("it reads as %v", verdict.Classify(err))
		}
	})
}

// S5.4: the calls within a Do are part of it, and their final error is not repeated by it.
func TestS5_4_ADoAroundAGovernedClient(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxConcurrency, p.MaxRetries = 1, 2 })
		f := script(fails(codes.Unavailable))
		c := inMemory(t, f).governed(t, g)
		scope := cloudpace.Scope{Provider: "gcp", Account: parent, Service: "job"}
		err := cloudpace.Do(long(t), scope, func(ctx context.Context) error { return getFeed(ctx, c) }, cloudpace.WithGovernor(g))
		if err == nil || len(f.arrivals()) != 3 {
			t.Errorf("%d requests, want 1 + 2 retries (%v)", len(f.arrivals()), err)
		}
		f2 := script(fails(codes.NotFound))
		c2 := inMemory(t, f2).governed(t, g)
		err = cloudpace.Do(long(t), scope, func(ctx context.Context) error { return createFeed(ctx, c2) }, cloudpace.WithGovernor(g))
		if status.Code(err) != codes.NotFound || len(f2.arrivals()) != 1 {
			t.Errorf("%v, %d requests", err, len(f2.arrivals()))
		}
	})
}

// A listing within a Do is part of it too.
func TestS5_4_ADoAroundAListing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxConcurrency, p.MaxRetries = 1, 2 })
		f := script(fails(codes.Internal))
		c := inMemory(t, f).client(t)
		scope := cloudpace.Scope{Provider: "gcp", Account: parent, Service: "job"}
		err := cloudpace.Do(t.Context(), scope, func(ctx context.Context) error {
			_, err := list(ctx, c, g)
			return err
		}, cloudpace.WithGovernor(g))
		if err == nil || len(f.arrivals()) != 3 {
			t.Errorf("%d requests, want 1 + 2 retries (%v)", len(f.arrivals()), err)
		}
	})
}

func TestS13_6_AReadThatHangsIsCutAndRepeated(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		f := script(reply{hang: true}, reply{})
		if err := getFeed(long(t), inMemory(t, f).governed(t, g)); err != nil {
			t.Fatal(err)
		}
		if at := f.times(); len(at) != 2 || at[1] < 61*time.Second || at[1] > 62*time.Second {
			t.Errorf("requests at %v", at)
		}
	})
}

// What changes something is not cut: it might have been carried out.
func TestS13_6_AWriteIsNotCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		f := script(reply{after: 5 * time.Minute})
		if err := createFeed(long(t), inMemory(t, f).governed(t, g)); err != nil || len(f.arrivals()) != 1 {
			t.Errorf("%v, %d requests", err, len(f.arrivals()))
		}
	})
}

// The listing helper's admission serves the page it was made for and nothing else that
// is called under it, as an interceptor of the user's may.
func TestS13_6_OtherCallsUnderAListingAreGoverned(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t)
		f := script(page("", "1"))
		before := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if strings.HasSuffix(method, listAssets) {
				if _, err := assetpb.NewAssetServiceClient(cc).GetFeed(ctx, &assetpb.GetFeedRequest{Name: parent + "/feeds/f"}); err != nil {
					return err
				}
			}
			return invoke(ctx, method, req, reply, cc, opts...)
		}
		options := append([]option.ClientOption{option.WithGRPCDialOption(grpc.WithChainUnaryInterceptor(before))},
			pacegcp.ClientOptions(pacegcp.WithGovernor(g))...)
		if _, err := list(t.Context(), inMemory(t, f).client(t, options...), g); err != nil {
			t.Fatal(err)
		}
		tokens := map[string]float64{}
		for _, b := range g.Snapshot().Buckets {
			tokens[b.Scope] = b.Tokens
		}
		if tokens[listScope+"/ListAssets"] != 9 || tokens[listScope] != 19 {
			t.Errorf("tokens left: %v, want one taken for the page and one for the call", tokens)
		}
	})
}

// S3.5, E19: a wait that cannot end in time is not begun, and says so with the
// provider's error inside.
func TestE19_AHintBeyondTheDeadlineEndsAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		f := script(throttled(retryIn(5 * time.Minute)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := getFeed(ctx, inMemory(t, f).governed(t, g))
		var late *cloudpace.DeadlineExceededError
		if !errors.As(err, &late) || !errors.Is(err, context.DeadlineExceeded) || time.Since(f.start) > time.Second {
			t.Fatalf("%v after %v", err, time.Since(f.start))
		}
		if verdict.Classify(err) != verdict.Throttled {
			t.Errorf("it reads as %v", verdict.Classify(err))
		}
	})
}

// S2.1: the caller's own end gives everything back and is no mark against the service.
func TestS2_1_TheCallersEndDuringABackoff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.BreakerThreshold = 1 })
		f := script(fails(codes.Unavailable))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second/2, cancel)
		err := getFeed(ctx, inMemory(t, f).governed(t, g))
		if !errors.Is(err, context.Canceled) || status.Code(err) != codes.Canceled {
			t.Errorf("%v (%v)", err, status.Code(err))
		}
		if len(g.Summary(nil).Breakers) != 0 || slots(g, parent) != 0 {
			t.Errorf("%+v, %d slots", g.Summary(nil).Breakers, slots(g, parent))
		}
	})
}

// S9.3: while the governor or its provider is disabled, the client is as it was.
func TestS9_3_DisabledTheSDKIsAsBefore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.Enabled, p.MaxRPS, p.Burst = false, 1, 1 })
		f := script(fails(codes.Unavailable), page("a", "1"), throttled())
		c := inMemory(t, f).governed(t, g)
		got, err := list(t.Context(), c, g) // gax repeats UNAVAILABLE and no throttle
		if len(got) != 1 || status.Code(errors.Unwrap(err)) != codes.ResourceExhausted || len(f.arrivals()) != 3 {
			t.Errorf("%v, %v, %d requests", got, err, len(f.arrivals()))
		}
		if err := getFeed(t.Context(), c); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("%v", err)
		}
		if n := g.Summary(nil).Totals; n.Calls != 0 {
			t.Errorf("%+v", n)
		}
	})
}

// S3.6: a caller that cares for its latency goes on after its patience.
func TestS3_6_WithMaxWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst = 0.1, 1 })
		c := inMemory(t, script(reply{})).governed(t, g)
		ctx := cloudpace.WithMaxWait(t.Context(), time.Second)
		before := time.Now()
		for range 2 {
			if err := getFeed(ctx, c); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(before); d != time.Second {
			t.Errorf("two calls took %v", d)
		}
	})
}
