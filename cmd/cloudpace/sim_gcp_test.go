package main

import (
	"errors"
	"strings"
	"testing"

	asset "cloud.google.com/go/asset/apiv1"
	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
)

// TestSimGCP: it says how to ask, and what it says is what works.
func TestSimGCP(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []string
		assets int
		says   []string
	}{
		{"by name", []string{"--profile", "gcp", "--accounts", "5", "--regions", "europe-north1", "--assets", "1234"}, 1234, []string{"Simulating gcp", "1,234 assets in 5 accounts and 1 region"}},
		{"by a file", []string{"--profile", "sim/testdata/gcp.yaml", "--assets", "1500", "--regions", "us-east1"}, 1500 + 5*40, []string{"Simulating gcp", "5 accounts and 1 region, seed 7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, _, stderr := outcomeOf(t, func(url string) {
				client, err := asset.NewClient(t.Context(), option.WithEndpoint(strings.TrimPrefix(url, "http://")), option.WithoutAuthentication(),
					option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				it := client.ListAssets(t.Context(), &assetpb.ListAssetsRequest{Parent: gcp.Organization, PageSize: 1000})
				found := 0
				for {
					_, err := it.Next()
					if errors.Is(err, iterator.Done) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					found++
				}
				if found != c.assets+5+2+1 {
					t.Errorf("found %d", found)
				}
			}, c.args...)
			if code != exitDone {
				t.Errorf("exit code %d", code)
			}
			for _, want := range append(c.says, "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDASSET=http://127.0.0.1:", "CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true", "gcloud asset list --project=example-1\n", "--organization=123456789012", "x-goog-user-project", "served") {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr does not say %q", want)
				}
			}
			if strings.Contains(stderr, "AWS") || strings.Contains(stderr, "azure") {
				t.Error("stderr speaks of others")
			}
		})
	}
}
