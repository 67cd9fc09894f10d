package pacegcp_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"
	"github.com/googleapis/gax-go/v2/callctx"
	"google.golang.org/api/option"
	"google.golang.org/grpc/metadata"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacegcp"
)

// restClient is one of the SDK's that sends through rt.
func restClient(t *testing.T, rt http.RoundTripper) *asset.Client {
	t.Helper()
	c, err := asset.NewRESTClient(t.Context(), option.WithHTTPClient(&http.Client{Transport: rt}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// S13.6, E23: a listing over a REST client that NewTransport governs is sent, paced and
// counted once, as over gRPC; and nobody learns how.
func TestS13_6_AListingOverAGovernedRESTClient(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, onePerSecond)
		w := answers(200, `{"assets":[{"name":"1"}],"nextPageToken":"a"}`, 503, "", 503, "", 200, `{"assets":[{"name":"2"}]}`)
		c := restClient(t, pacegcp.NewTransport(w, pacegcp.WithGovernor(g)))
		got, err := list(t.Context(), c, g)
		if err != nil || !slices.Equal(got, []string{"1", "2"}) {
			t.Fatalf("%v, %v", got, err)
		}
		at := w.times()
		if len(at) != 4 || at[1] != time.Second || at[3]-at[2] < 2*time.Second {
			t.Errorf("requests at %v", at)
		}
		if n := numbers(t, g, listScope); n.Calls != 4 || n.Throttled != 2 || n.Retries != 2 {
			t.Errorf("%+v", n.Totals)
		}
		for key := range w.last.Header {
			if strings.Contains(strings.ToLower(key), "cloudpace") {
				t.Errorf("sent %s", key)
			}
		}
	})
	// Throttled for ever, it is asked for 1 + 8 times.
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		w := answers(429, "")
		_, err := list(t.Context(), restClient(t, pacegcp.NewTransport(w, pacegcp.WithGovernor(g))), g)
		var budget *cloudpace.RetryBudgetExhaustedError
		if n := numbers(t, g, listScope); !errors.As(err, &budget) || len(w.times()) != 9 || n.Calls != 9 || n.Throttled != 9 || n.GaveUp != 1 {
			t.Errorf("%v, %d requests, %+v", err, len(w.times()), n.Totals)
		}
	})
}

// An attempt that hangs ends there too, and leaves nothing behind.
func TestS13_6_AGovernedRESTListingThatHangsIsCut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		var ended atomic.Int32
		w := answers(0, "", 200, `{"assets":[{"name":"1"}]}`)
		rt := roundTrip(func(req *http.Request) (*http.Response, error) {
			resp, err := w.RoundTrip(req)
			if err != nil {
				ended.Add(1)
			}
			return resp, err
		})
		got, err := list(t.Context(), restClient(t, pacegcp.NewTransport(rt, pacegcp.WithGovernor(g))), g)
		if at := w.times(); err != nil || len(got) != 1 || len(at) != 2 || at[1] < 61*time.Second || at[1] > 62*time.Second || ended.Load() != 1 {
			t.Errorf("%v, %v, requests at %v, %d of them ended", got, err, at, ended.Load())
		}
	})
}

// An admission is of one governor, for one request.
func TestS13_6_AnotherGovernorsRESTClientIsPacedByBoth(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g, other := governor(t), governor(t)
		w := answers(200, `{"assets":[{"name":"1"}]}`)
		if _, err := list(t.Context(), restClient(t, pacegcp.NewTransport(w, pacegcp.WithGovernor(other))), g); err != nil {
			t.Fatal(err)
		}
		if numbers(t, g, listScope).Calls != 1 || numbers(t, other, listScope).Calls != 1 {
			t.Error("each has its own numbers")
		}
		for key := range w.last.Header {
			if strings.Contains(strings.ToLower(key), "cloudpace") {
				t.Errorf("sent %s", key)
			}
		}
	})
	// Who makes up the header gets nothing for it.
	bubble(t, func(t *testing.T) {
		g := governor(t)
		w := answers(200, "{}")
		req, _ := http.NewRequestWithContext(t.Context(), "GET", "https://cloudasset.googleapis.com/v1/projects/example-1/assets", nil)
		req.Header.Set("X-Cloudpace-Admission", "x")
		resp, err := pacegcp.NewTransport(w, pacegcp.WithGovernor(g)).RoundTrip(req)
		if err != nil || resp.StatusCode != 200 || numbers(t, g, listScope).Calls != 1 || req.Header.Get("X-Cloudpace-Admission") != "x" {
			t.Errorf("%v, %v", resp, err)
		}
		if w.last.Header.Get("X-Cloudpace-Admission") != "" {
			t.Error("the header was sent")
		}
	})
}

// S13.5: a request's own word for its quota project is what is sent and charged, however
// it is made; else the option's.
func TestS13_5_OneRuleForTheQuotaProject(t *testing.T) {
	const named = "named-1"
	ways := map[string]func(context.Context) context.Context{
		"metadata": func(ctx context.Context) context.Context {
			return metadata.AppendToOutgoingContext(ctx, "x-goog-user-project", named)
		},
		"headers": func(ctx context.Context) context.Context {
			return callctx.SetHeaders(ctx, "x-goog-user-project", named)
		},
		"none": func(ctx context.Context) context.Context { return ctx },
	}
	feed := func(ctx context.Context, c *asset.Client, _ *cloudpace.Governor) error { return getFeed(ctx, c) }
	listing := func(ctx context.Context, c *asset.Client, g *cloudpace.Governor) error {
		_, err := list(ctx, c, g, pacegcp.WithQuotaProject(quota))
		return err
	}
	for way, put := range ways {
		for call, do := range map[string]func(context.Context, *asset.Client, *cloudpace.Governor) error{"a call": feed, "a listing": listing} {
			for _, over := range []string{"gRPC", "REST", "gRPC, ungoverned", "REST, ungoverned"} {
				if call == "a call" && strings.Contains(over, "ungoverned") {
					continue
				}
				bubble(t, func(t *testing.T) {
					g := governor(t)
					f, w := script(page("", "1")), answers(200, `{"assets":[{"name":"1"}]}`)
					var c *asset.Client
					switch over {
					case "gRPC":
						c = inMemory(t, f).governed(t, g, pacegcp.WithQuotaProject(quota))
					case "REST":
						c = restClient(t, pacegcp.NewTransport(w, pacegcp.WithGovernor(g), pacegcp.WithQuotaProject(quota)))
					case "gRPC, ungoverned":
						c = inMemory(t, f).client(t)
					case "REST, ungoverned":
						c = restClient(t, w)
					}
					if err := do(put(t.Context()), c, g); err != nil {
						t.Fatal(way, call, over, err)
					}
					want := "projects/" + named
					if way == "none" {
						want = "projects/" + quota
					}
					for _, b := range g.Snapshot().Buckets {
						if took := b.Tokens < b.Burst; took != strings.HasPrefix(b.Scope, "gcp/"+want+"/") {
							t.Errorf("%s, %s over %s: %s has %v of %v", way, call, over, b.Scope, b.Tokens, b.Burst)
						}
					}
				})
			}
		}
	}
}

// A listing that is resumed and ends before a page gives the token that it was given.
func TestS13_3_TheTokenOfAResumedListing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t)
		c := inMemory(t, script(fails(3))).client(t)
		for _, token := range []string{"", "saved"} {
			_, err := collect(pacegcp.ListAssets(t.Context(), c, &assetpb.ListAssetsRequest{Parent: parent, PageToken: token}, pacegcp.WithGovernor(g)))
			var listing *pacegcp.ListingError
			if !errors.As(err, &listing) || listing.PageToken != token {
				t.Errorf("%q: %v", token, err)
			}
		}
	})
}
