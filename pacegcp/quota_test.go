package pacegcp_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/grpc/codes"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacegcp"
)

// D12: three clients in one process read through one quota project, and keep to its 100
// requests a minute together.
func TestD12_ThreeClientsOnOneQuotaProject(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t)
		through := pacegcp.WithQuotaProject(quota)
		f := newFake(func(n int, _ arrival) reply { return page(names("t", n+1)[n], "x") })
		e := inMemory(t, f)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		done := make(chan struct{})
		parents := []string{"projects/a", "folders/2", "organizations/3"}
		for _, p := range parents {
			c := e.governed(t, g, through)
			go func() {
				defer func() { done <- struct{}{} }()
				for _, err := range pacegcp.ListAssets(ctx, c, &assetpb.ListAssetsRequest{Parent: p}, pacegcp.WithGovernor(g), through) {
					if err != nil {
						return
					}
				}
			}()
		}
		for range parents {
			<-done
		}
		times := f.times()
		for i, at := range times {
			n := 0
			for _, later := range times[i:] {
				if later < at+time.Minute {
					n++
				}
			}
			if n > 100 {
				t.Fatalf("%d requests in the minute from %v", n, at)
			}
		}
		if len(times) < 270 {
			t.Errorf("%d requests in three minutes: the quota is not used", len(times))
		}
	})
}

// D10: no call goes on for ever, with no deadline of its caller's either, and its error
// says what it was and what came last.
func TestD10_EveryCallIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxRetries = 50 })
		f := script(fails(codes.Unavailable))
		c := inMemory(t, f).governed(t, g)
		stub := assetpb.NewAssetServiceClient(c.Connection()) //nolint:staticcheck // without gax, which sets a deadline
		_, err := stub.GetFeed(context.Background(), &assetpb.GetFeedRequest{Name: parent + "/feeds/f"})
		var late *cloudpace.DeadlineExceededError
		if !errors.As(err, &late) || late.Scope.Operation != "GetFeed" {
			t.Fatalf("%v", err)
		}
		if d := time.Since(f.start); d > 900*time.Second || d < 800*time.Second {
			t.Errorf("it ended after %v", d)
		}
		before := time.Now()
		_, err = list(context.Background(), c, g)
		if d := time.Since(before); !errors.As(err, &late) || d > 900*time.Second {
			t.Errorf("a listing: %v after %v", err, d)
		}
	})
}
