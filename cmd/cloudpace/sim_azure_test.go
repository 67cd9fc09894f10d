package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
)

// TestSimAzure: it says how to ask, and what it says is what works.
func TestSimAzure(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		says []string
	}{
		{"by name", []string{"--profile", "azure", "--accounts", "5", "--regions", "norwayeast", "--assets", "1234"}, []string{"Simulating azure", "1,234 assets in 5 accounts and 1 region"}},
		{"by a file", []string{"--profile", "sim/testdata/azure.yaml", "--assets", "1500"}, []string{"Simulating azure", "5 accounts and 4 regions, seed 7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, _, stderr := outcomeOf(t, func(url string) {
				transport := new(http.Transport)
				defer transport.CloseIdleConnections()
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/subscriptions?api-version=2022-12-01", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+azure.Token)
				response, err := transport.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				text, err := io.ReadAll(response.Body)
				var list struct {
					Value []struct{ SubscriptionID string }
				}
				if err != nil || json.Unmarshal(text, &list) != nil || len(list.Value) != 5 || list.Value[4].SubscriptionID != "00000000-0000-0000-0000-000000000005" {
					t.Errorf("%s, %v", text, err)
				}
			}, c.args...)
			if code != exitDone {
				t.Errorf("exit code %d", code)
			}
			for _, want := range append(c.says, "cloudpace map -p azure --azure-endpoint http://127.0.0.1:", "curl -H 'Authorization: Bearer simulated' 'http://127.0.0.1:", "/subscriptions/00000000-0000-0000-0000-000000000001/resources?api-version=", azure.Audience, "Asked 1 time", "1 served") {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr does not say %q", want)
				}
			}
			if strings.Contains(stderr, "AWS") {
				t.Error("stderr speaks of AWS")
			}
		})
	}
}
