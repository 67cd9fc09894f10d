package pacegcp

import (
	"context"
	"net/http"
	"testing"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/grpc/metadata"

	"github.com/cloudpace/cloudpace"
)

func TestS1_2_ScopeOfAnRPC(t *testing.T) {
	const method = "/google.cloud.asset.v1.AssetService/ListAssets"
	list := func(parent string) any { return &assetpb.ListAssetsRequest{Parent: parent} }
	for _, c := range []struct {
		target, method string
		req            any
		params         string // the routing header
		want           string
	}{
		{"cloudasset.googleapis.com:443", method, list("projects/example-1"), "", "gcp/projects/example-1/*/cloudasset/ListAssets"},
		{"dns:///cloudasset.googleapis.com:443", method, list("organizations/12"), "", "gcp/organizations/12/*/cloudasset/ListAssets"},
		{"cloudasset.mtls.googleapis.com:443", method, list("folders/7"), "", "gcp/folders/7/*/cloudasset/ListAssets"},
		{"passthrough:///127.0.0.1:50051", method, list("projects/p"), "", "gcp/projects/p/*/cloudasset/ListAssets"},
		{"[::1]:50051", method, list("projects/p"), "", "gcp/projects/p/*/cloudasset/ListAssets"},
		{"bufnet", method, nil, "parent=projects%2Fp", "gcp/projects/p/*/cloudasset/ListAssets"},
		{"bufnet", method, nil, "a=b&name=folders/7", "gcp/folders/7/*/cloudasset/ListAssets"},
		{"bufnet", method, nil, "name=%zz", "gcp/*/*/cloudasset/ListAssets"},
		{"cloudasset.googleapis.com", method, &assetpb.SearchAllResourcesRequest{Scope: "organizations/12"}, "", "gcp/organizations/12/*/cloudasset/ListAssets"},
		{"cloudasset.googleapis.com", method, &assetpb.GetFeedRequest{Name: "projects/p/feeds/f"}, "", "gcp/projects/p/*/cloudasset/ListAssets"},
		{"cloudasset.googleapis.com", method, list("billingAccounts/1"), "", "gcp/*/*/cloudasset/ListAssets"},
		{"cloudasset.googleapis.com", method, list("projects/example.com:p"), "", "gcp/projects/example.com:p/*/cloudasset/ListAssets"},
		{"us-central1-aiplatform.googleapis.com:443", "/google.cloud.aiplatform.v1.ModelService/ListModels", nil, "", "gcp/*/*/aiplatform/ListModels"},
		{"eu-documentai.googleapis.com:443", "/google.cloud.documentai.v1.X/ListY", nil, "", "gcp/*/*/documentai/ListY"},
		{"run.europe-west1.rep.googleapis.com:443", "/google.cloud.run.v2.Services/ListServices", nil, "", "gcp/*/*/run/ListServices"},
		{"cloudasset-mine.p.googleapis.com:443", method, nil, "", "gcp/*/*/cloudasset/ListAssets"},
		{"mine.p.googleapis.com:443", method, nil, "", "gcp/*/*/cloudasset/ListAssets"},
		{"europe-chronicle.googleapis.com:443", "/google.cloud.chronicle.v1.RuleService/ListRules", nil, "", "gcp/*/*/chronicle/ListRules"},
		{"global-discoveryengine.googleapis.com:443", "/google.cloud.discoveryengine.v1.X/ListY", nil, "", "gcp/*/*/discoveryengine/ListY"},
		{"cloudasset.example.com:443", method, list("projects/p"), "", "gcp/projects/p/*/cloudasset/ListAssets"},
		{"private.googleapis.com:443", "/google.pubsub.v1.Publisher/Publish", nil, "", "gcp/*/*/pubsub/Publish"},
		{"cloudasset.example.com:443", "/google.cloud.kms.v1.KeyManagementService/ListKeyRings", nil, "", "gcp/*/*/cloudkms/ListKeyRings"},
		{"x", "/google.iam.admin.v1.IAM/ListRoles", nil, "", "gcp/*/*/iam/ListRoles"},
		{"x", "/google.cloud.bigquery.storage.v1beta2.BigQueryRead/ReadRows", nil, "", "gcp/*/*/bigquerystorage/ReadRows"},
		{"x", "odd", nil, "", "gcp/*/*/*/odd"},
		{"", "", nil, "", "gcp/*/*/*"},
	} {
		ctx := context.Background()
		if c.params != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, "x-goog-request-params", c.params)
		}
		if got, _ := (&wiring{}).scopeOf(ctx, c.method, c.target, c.req); got.String() != c.want {
			t.Errorf("%s %s %q: %s, want %s", c.target, c.method, c.params, got, c.want)
		}
	}
}

func TestS13_5_TheQuotaProjectThatARequestNames(t *testing.T) {
	ctx := metadata.AppendToOutgoingContext(context.Background(), "x-goog-user-project", "q")
	if _, q := (&wiring{}).scopeOf(ctx, "/a.B/C", "x", nil); q != "q" {
		t.Errorf("%q", q)
	}
	// It is what is sent, whatever the client uses otherwise: as over REST.
	if _, q := (&wiring{quotaProject: "named"}).scopeOf(ctx, "/a.B/C", "x", &assetpb.ListAssetsRequest{Parent: "projects/p"}); q != "q" {
		t.Errorf("%q", q)
	}
	if _, q := (&wiring{quotaProject: "named"}).scopeOf(context.Background(), "/a.B/C", "x", nil); q != "named" {
		t.Errorf("%q", q)
	}
	for given, want := range map[string]string{"q": "q", "projects/q": "q", " q ": "q", "": ""} {
		t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "")
		if w := newWiring([]Option{WithQuotaProject(given)}); w.quotaProject != want || w.named != (want != "") {
			t.Errorf("%q: %+v", given, w)
		}
	}
}

func TestS1_2_ScopeOfARESTRequest(t *testing.T) {
	for _, c := range []struct{ method, url, want string }{
		{"GET", "https://cloudasset.googleapis.com/v1/organizations/12/assets?pageSize=1", "gcp/organizations/12/*/cloudasset/ListAssets"},
		{"GET", "https://cloudasset.googleapis.com/v1/projects/p:searchAllResources", "gcp/projects/p/*/cloudasset/SearchAllResources"},
		{"GET", "https://cloudasset.googleapis.com/v1/projects/p:searchAllIamPolicies", "gcp/projects/p/*/cloudasset/SearchAllIamPolicies"},
		{"GET", "http://127.0.0.1:8080/v1/projects/p/assets", "gcp/projects/p/*/cloudasset/ListAssets"},
		{"GET", "http://127.0.0.1:8080/v1/folders/7:searchAllResources", "gcp/folders/7/*/cloudasset/SearchAllResources"},
		{"GET", "http://127.0.0.1:8080/v3/projects/p", "gcp/projects/p/*/127.0.0.1"},
		{"GET", "https://cloudresourcemanager.googleapis.com/v3/folders/7:search", "gcp/folders/7/*/cloudresourcemanager/Search"},
		{"GET", "https://cloudresourcemanager.googleapis.com/v3/projects?parent=folders/7", "gcp/folders/7/*/cloudresourcemanager"},
		{"GET", "https://cloudresourcemanager.googleapis.com/v3/projects/example.com:p", "gcp/projects/example.com:p/*/cloudresourcemanager"},
		{"POST", "https://cloudresourcemanager.googleapis.com/v3/projects/example.com:p:getIamPolicy", "gcp/projects/example.com:p/*/cloudresourcemanager/GetIamPolicy"},
		{"GET", "https://www.googleapis.com/compute/v1/projects/p/zones", "gcp/projects/p/*/compute"},
		{"GET", "https://compute.googleapis.com/compute/v1/projects/p/aggregated/instances", "gcp/projects/p/*/compute"},
		{"GET", "https://storage.googleapis.com/storage/v1/b?project=p", "gcp/projects/p/*/storage"},
		{"GET", "https://storage.googleapis.com/storage/v1/b?project=p%2Fq", "gcp/*/*/storage"},
		{"GET", "https://CLOUDASSET.googleapis.com/v1/projects/p/assets", "gcp/projects/p/*/cloudasset/ListAssets"},
		{"PUT", "https://cloudasset.googleapis.com/v1/projects/p/assets", "gcp/projects/p/*/cloudasset"},
		{"GET", "https://cloudasset.googleapis.com/v1/projects/", "gcp/*/*/cloudasset"},
		{"GET", "https://cloudasset.googleapis.com", "gcp/*/*/cloudasset"},

		// What things are called is no account, and no verb.
		{"GET", "https://storage.googleapis.com/storage/v1/b/x/o/projects%2Fa%2Ff?alt=media", "gcp/*/*/storage"},
		{"GET", "https://storage.googleapis.com/storage/v1/b/x/o/a%3Alist", "gcp/*/*/storage"},
		{"GET", "https://storage.googleapis.com/x/projects/a/f", "gcp/*/*/storage"},
		{"GET", "https://example-1.storage.googleapis.com/projects/a/f", "gcp/*/*/storage"},
		{"GET", "https://storage.googleapis.com/storage/v1/projects/p/serviceAccount", "gcp/projects/p/*/storage"},
		{"POST", "https://storage.googleapis.com/upload/storage/v1/b/x/o?uploadType=media&name=folders/7/f", "gcp/*/*/storage"},
		{"GET", "https://cloudkms.googleapis.com/v1/projects/example.com%3Ap/locations", "gcp/projects/example.com:p/*/cloudkms"},
		{"GET", "https://cloudkms.googleapis.com/v1/x/projects%2Fa/y", "gcp/*/*/cloudkms"},
		{"GET", "https://cloudkms.googleapis.com/v1/projects/a%2Fb%2Fc/y", "gcp/projects/a%252Fb%252Fc/*/cloudkms"},

		{"POST", "https://www.googleapis.com/upload/drive/v3/files?uploadType=media", "gcp/*/*/drive"},
		{"GET", "https://www.googleapis.com/download/storage/v1/b/x/o/y", "gcp/*/*/storage"},
		{"POST", "https://www.googleapis.com/batch/drive/v3", "gcp/*/*/drive"},
		{"POST", "https://www.googleapis.com/batch", "gcp/*/*/batch"},
		{"GET", "https://storage-mine.p.googleapis.com/storage/v1/b/x", "gcp/*/*/storage"},
		{"GET", "https://us-central1-aiplatform-mine.p.googleapis.com/v1/projects/p/x", "gcp/projects/p/*/aiplatform"},
		{"GET", "https://europe-chronicle.googleapis.com/v1/projects/p/x", "gcp/projects/p/*/chronicle"},
		{"GET", "https://asia-southeast1-aiplatform.googleapis.com/v1/projects/p/x", "gcp/projects/p/*/aiplatform"},
		{"GET", "https://global-discoveryengine.googleapis.com/v1/projects/p/x", "gcp/projects/p/*/discoveryengine"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := restScope(req).String(); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.method, c.url, got, c.want)
		}
	}
	if got := restScope(&http.Request{}); got != (cloudpace.Scope{Provider: provider}) {
		t.Errorf("a request without a URL: %+v", got)
	}
}

func TestReadsByName(t *testing.T) {
	for op, want := range map[string]bool{
		"ListAssets": true, "GetFeed": true, "SearchAllResources": true, "QueryAssets": true, "BatchGetAssetsHistory": true, "QueryTimeSeries": true,
		"QueryReasoningEngine": false, "StreamQueryReasoningEngine": false, "Query": false, "QueryAssetsAndRun": false, "Get2": false, "List_": false,
		"CreateFeed": false, "DeleteFeed": false, "AnalyzeIamPolicy": false, "ExportAssets": false, "SetIamPolicy": false, "Listen": false, "Getaway": false, "Get": true, "": false,
	} {
		if reads(op) != want {
			t.Errorf("%s: %v", op, !want)
		}
	}
}
