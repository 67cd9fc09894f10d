package bench

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacedatabricks"
)

// poll is a GetOperationStatus as the Thrift clients send it.
func poll() []byte {
	const name = "GetOperationStatus"
	b := binary.BigEndian.AppendUint32([]byte{0x80, 1, 0, 1}, uint32(len(name)))
	b = append(b, name+"\x00\x00\x00\x01"...)
	b = append(b, "\x0c\x00\x01\x0c\x00\x01\x0c\x00\x01\x0b\x00\x01\x00\x00\x00\x10"...)
	return append(b, make([]byte, 40)...)
}

// BenchmarkDatabricksPoll is a healthy poll over a loopback connection: what the
// layers cost that wait for the unhealthy ones.
func BenchmarkDatabricksPoll(b *testing.B) {
	answer := []byte(strings.Repeat("x", 200))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(answer)
	}))
	defer server.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()

	cfg := cloudpace.DefaultConfig()
	p := cfg.Providers["databricks"]
	p.MaxRPS, p.Burst = 1e9, 1e9
	cfg.Providers["databricks"] = p
	governor, err := cloudpace.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	paced, err := pacedatabricks.NewTransport(base, pacedatabricks.WithGovernor(governor))
	if err != nil {
		b.Fatal(err)
	}
	retrying := retryablehttp.NewClient() // what the Go SQL driver has by itself
	retrying.HTTPClient.Transport = base
	retrying.Logger = nil

	for _, with := range []struct {
		name   string
		client *http.Client
	}{
		{"bare", &http.Client{Transport: base}},
		{"cloudpace", &http.Client{Transport: paced}},
		{"retryablehttp", retrying.StandardClient()},
	} {
		for _, rest := range []bool{false, true} {
			name := map[bool]string{false: "Thrift", true: "REST"}[rest]
			b.Run(fmt.Sprintf("%s/%s", name, with.name), func(b *testing.B) {
				body := poll()
				b.ReportAllocs()
				for b.Loop() {
					req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+"/sql/1.0/warehouses/a1", bytes.NewReader(body))
					if rest {
						req, err = http.NewRequestWithContext(b.Context(), http.MethodGet, server.URL+"/api/2.0/sql/statements/01ef9999-8888-7777-6666-555544443333", nil)
					}
					if err != nil {
						b.Fatal(err)
					}
					resp, err := with.client.Do(req)
					if err != nil {
						b.Fatal(err)
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			})
		}
	}
}
