package pacehttp_test

import (
	"net/http"
	"testing"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacehttp"
)

// instant answers without a network, so that what is measured is the governing.
type instant struct{ resp *http.Response }

func (i instant) RoundTrip(*http.Request) (*http.Response, error) { return i.resp, nil }

func unlimited(t testing.TB) *cloudpace.Governor {
	return governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MaxConcurrency = 1e12, 1e12, 1024 })
}

func BenchmarkRoundTrip(b *testing.B) {
	rt := pacehttp.NewTransport(instant{&http.Response{StatusCode: 200, Body: http.NoBody}}, nil, pacehttp.WithGovernor(unlimited(b)))
	req := request(b, "GET", "")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rt.RoundTrip(req); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAnUncontendedRequestAllocatesLittle(t *testing.T) {
	rt := pacehttp.NewTransport(instant{&http.Response{StatusCode: 200, Body: http.NoBody}}, nil, pacehttp.WithGovernor(unlimited(t)))
	req := request(t, "GET", "")
	n := testing.AllocsPerRun(1000, func() {
		if _, err := rt.RoundTrip(req); err != nil {
			t.Fatal(err)
		}
	})
	// The call, its context, the copy of the request, and the copy of the settings
	// with their tables.
	if n > 40 {
		t.Errorf("%v allocations", n)
	}
}
