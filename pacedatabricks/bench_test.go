package pacedatabricks_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/pacedatabricks"
)

// instant answers without a network, so that what is measured is the transport. It
// does with a request's body what net/http does.
type instant struct{ text string }

func (i *instant) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
		_ = req.Body.Close()
	}
	return &http.Response{
		StatusCode: 200, Header: http.Header{}, ContentLength: int64(len(i.text)),
		Body: io.NopCloser(strings.NewReader(i.text)), Request: req, ProtoMajor: 1,
	}, nil
}

// polls are the healthy polls of both APIs.
var polls = []struct {
	name, method, url, body string
}{
	{"Thrift", "POST", warehouse, string(thriftCall("GetOperationStatus"))},
	{"REST", "GET", statementsURL + "/" + queryID, ""},
}

func poll(tb testing.TB, rt http.RoundTripper, req *http.Request) {
	if req.GetBody != nil {
		req.Body, _ = req.GetBody()
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		tb.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
}

// TestAHealthyPollAllocatesLittle: at most ten over the bare transport.
func TestAHealthyPollAllocatesLittle(t *testing.T) {
	base := &instant{thriftReply("GetOperationStatus", 0)}
	for _, p := range polls {
		req := request(t, t.Context(), p.method, p.url, p.body)
		bare := testing.AllocsPerRun(1000, func() { poll(t, base, req) })
		rt := transport(t, base, pacedatabricks.WithGovernor(fast(t)))
		n := testing.AllocsPerRun(1000, func() { poll(t, rt, req) }) - bare
		t.Logf("%s: %v allocations over %v", p.name, n, bare)
		if n > 10 {
			t.Errorf("%s: %v allocations over the bare transport, want at most 10", p.name, n)
		}
	}
}

func BenchmarkPoll(b *testing.B) {
	base := &instant{thriftReply("GetOperationStatus", 0)}
	for _, p := range polls {
		for _, with := range []struct {
			name string
			rt   http.RoundTripper
		}{{"bare", base}, {"paced", transport(b, base, pacedatabricks.WithGovernor(fast(b)))}} {
			b.Run(p.name+"/"+with.name, func(b *testing.B) {
				req := request(b, b.Context(), p.method, p.url, p.body)
				b.ReportAllocs()
				for b.Loop() {
					poll(b, with.rt, req)
				}
			})
		}
	}
}
