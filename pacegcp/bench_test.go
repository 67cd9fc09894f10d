package pacegcp_test

import (
	"context"
	"net/http"
	"testing"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacegcp"
)

func unlimited(p *cloudpace.Provider) {
	unpaced(p)
	p.MaxConcurrency = 1024
}

func feed(ctx context.Context, tb testing.TB, c *asset.Client) {
	if _, err := c.GetFeed(ctx, &assetpb.GetFeedRequest{Name: parent + "/feeds/f"}); err != nil {
		tb.Fatal(err)
	}
}

// The bound: at most 14 allocations over a bare call.
func TestAGovernedCallAllocatesAtMostFourteenTimesMore(t *testing.T) {
	e := inMemory(t, silent())
	bare, governed := e.client(t), e.governed(t, governor(t, unlimited))
	without := testing.AllocsPerRun(2000, func() { feed(context.Background(), t, bare) })
	with := testing.AllocsPerRun(2000, func() { feed(context.Background(), t, governed) })
	t.Logf("%v allocations, %v without a governor", with, without)
	if with-without > 14 {
		t.Errorf("%v allocations more than without a governor; at most 14", with-without)
	}
}

// Without gax there is no deadline, and the cut of an attempt that hangs needs a context
// and a timer of its own.
func TestAGovernedCallWithoutADeadlineAllocatesAtMostFourteenTimesMore(t *testing.T) {
	e := inMemory(t, silent())
	call := func(c *asset.Client) func() {
		stub := assetpb.NewAssetServiceClient(c.Connection()) //nolint:staticcheck // it is the one there is
		return func() {
			if _, err := stub.GetFeed(context.Background(), &assetpb.GetFeedRequest{Name: parent + "/feeds/f"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	without := testing.AllocsPerRun(2000, call(e.client(t)))
	with := testing.AllocsPerRun(2000, call(e.governed(t, governor(t, unlimited))))
	t.Logf("%v allocations, %v without a governor", with, without)
	if with-without > 14 {
		t.Errorf("%v allocations more than without a governor; at most 14", with-without)
	}
}

// silent remembers no arrivals.
func silent() *fake { return &fake{handle: func(int, arrival) reply { return reply{} }, forget: true} }

func BenchmarkCall(b *testing.B) {
	e := inMemory(b, silent())
	for _, bench := range []struct {
		name   string
		client *asset.Client
	}{
		{"bare", e.client(b)},
		{"governed", e.governed(b, governor(b, unlimited))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				feed(context.Background(), b, bench.client)
			}
		})
	}
}

// BenchmarkPage is a page of a listing, by a governed client and the helper.
func BenchmarkPage(b *testing.B) {
	g := governor(b, unlimited)
	c := inMemory(b, silent()).governed(b, g)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := list(context.Background(), c, g); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkREST(b *testing.B) {
	ok := roundTrip(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	})
	req, err := http.NewRequestWithContext(context.Background(), "GET", restURL, nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, rt := range map[string]http.RoundTripper{
		"bare": ok, "governed": pacegcp.NewTransport(ok, pacegcp.WithGovernor(governor(b, unlimited))),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				resp, err := rt.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				_ = resp.Body.Close()
			}
		})
	}
}
