package paceazure_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/paceazure"
)

// instant answers without a network, so that what is measured is the pipeline.
type instant struct{}

func (instant) Do(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Header: http.Header{}, Request: req, Body: io.NopCloser(strings.NewReader(`{"value":[]}`)),
	}, nil
}

func unlimited(t testing.TB) *cloudpace.Governor {
	return governor(t, func(p *cloudpace.Provider) {
		p.MaxRPS, p.Burst, p.AccountMaxRPS, p.AccountBurst, p.MaxConcurrency = 1e12, 1e12, 1e12, 1e12, 1024
		p.Services = nil
	})
}

func instantOptions() *arm.ClientOptions {
	o := cloudAt("http://arm.example.com")
	o.Transport = instant{}
	return o
}

// one sends one request and is what both kinds of pipeline do in the measurements.
func one(tb testing.TB, c client) {
	req, err := runtime.NewRequest(tb.Context(), "GET", "http://arm.example.com"+computePath)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := c.Pipeline().Do(req); err != nil {
		tb.Fatal(err)
	}
}

func TestAGovernedCallAllocatesAtMostFiveTimesMore(t *testing.T) {
	bare := bareClient(t, instantOptions())
	governed := newClient(t, instantOptions(), unlimited(t))
	without := testing.AllocsPerRun(2000, func() { one(t, bare) })
	with := testing.AllocsPerRun(2000, func() { one(t, governed) })
	t.Logf("%v allocations, %v without a governor", with, without)
	if with-without > 5 {
		t.Errorf("%v allocations more than without a governor; at most 5", with-without)
	}
}

func BenchmarkPipeline(b *testing.B) {
	for _, bench := range []struct {
		name   string
		client client
	}{
		{"bare", bareClient(b, instantOptions())},
		{"governed", newClient(b, instantOptions(), unlimited(b))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				one(b, bench.client)
			}
		})
	}
}

// BenchmarkLoopback has net/http below, which asks for the context's end: then the
// operation's deadline has a timer, unless the caller's own is earlier.
func BenchmarkLoopback(b *testing.B) {
	soon, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	for _, bench := range []struct {
		name     string
		governed bool
		ctx      context.Context
	}{
		{"bare", false, context.Background()},
		{"governed", true, context.Background()},
		{"bare with a deadline", false, soon},
		{"governed with a deadline", true, soon},
	} {
		b.Run(bench.name, func(b *testing.B) {
			options := newFake(func(int, arrival) answer { return ok() }).loopback(b)
			if bench.governed {
				options = paceazure.ClientOptions(options, paceazure.WithGovernor(unlimited(b)))
			}
			c := bareClient(b, options)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.send(bench.ctx, "GET", computePath, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
