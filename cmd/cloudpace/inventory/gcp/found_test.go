package gcp

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// TestFound: assets with their properties, and a role of somebody for each member of
// each binding, as of one moment and on the quota of the project that was named.
func TestFound(t *testing.T) {
	f := &fake{answer: func(q question) page {
		if q.token == "" {
			return of("2", instance)
		}
		return of("", names("db", 2)...)
	}}
	before := time.Now()
	r := run(t, f.open(t, one, "organizations/123"))
	if want := []string{"gcp_list_assets SUCCESS", "gcp_list_assets SUCCESS", "gcp_iam_policies SUCCESS", "gcp_iam_policies SUCCESS"}; !slices.Equal(r.tasks(), want) {
		t.Fatalf("%v", r.tasks())
	}
	if len(r.assets) != 6 || len(r.edges) != 18 || r.doc.Summary.Edges != 18 || r.doc.Summary.EdgesFile != inventory.EdgesFile || r.doc.Summary.Outcome != inventory.Complete {
		t.Errorf("%d assets, %d edges, %+v", len(r.assets), len(r.edges), r.doc.Summary)
	}
	i := slices.IndexFunc(r.assets, func(a inventory.Asset) bool { return a.ID == instance && a.Account == one })
	a := r.assets[i]
	if a.Provider != "gcp" || a.Region != "us-central1-a" || a.Type != "compute.googleapis.com/Instance" || a.Name != "web-1" || a.Tags["env"] != "test" || a.Task != "gcp_list_assets" {
		t.Errorf("%+v", a)
	}
	for _, want := range []string{`"machineType":"e2-small"`, `"cpus":2`, `"ancestors":["projects/77","organizations/123"]`, `"updateTime":"2023-11-14T22:13:20Z"`, "startup-script", notKept} {
		if !strings.Contains(string(a.Properties), want) {
			t.Errorf("the properties lack %s: %s", want, a.Properties)
		}
	}
	if strings.Contains(string(a.Properties), "hunter2") {
		t.Errorf("a secret was kept: %s", a.Properties)
	}
	i = slices.IndexFunc(r.edges, func(e inventory.Edge) bool { return e.To == instance && e.Account == one && e.Role == "roles/editor" })
	e := r.edges[i]
	if e.Kind != inventory.IAMBinding || e.From != "serviceAccount:c@example-1.iam.gserviceaccount.com" || e.ToType != a.Type || e.Condition.Title != "until May" || e.Task != "gcp_iam_policies" || e.Time.IsZero() {
		t.Errorf("%+v", e)
	}
	moment := f.questions("")[0].asOf
	if age := before.Sub(moment); age < settled-time.Minute || age > settled+time.Minute {
		t.Errorf("asked as of %v", moment)
	}
	for _, q := range f.questions("") {
		if q.rpc != "ListAssets" || !q.asOf.Equal(moment) || q.size != 1000 || q.quotaProject != "quota-1" {
			t.Errorf("%+v", q)
		}
	}
	for _, rec := range r.records {
		if rec.Pages != 2 || rec.Calls != 2 || !rec.ReadTime.Equal(moment) || rec.Assets+rec.Edges != map[bool]int{true: 3, false: 9}[rec.Task == "gcp_list_assets"] {
			t.Errorf("%+v", rec)
		}
	}
}

// TestSearchAlone: the family "search" reads everything by itself, and says that it
// knows less.
func TestSearchAlone(t *testing.T) {
	f := &fake{answer: whole(instance)}
	r := run(t, f.open(t, one), "search")
	if want := []string{"gcp_search_resources SUCCESS", "gcp_search_iam_policies SUCCESS"}; !slices.Equal(r.tasks(), want) {
		t.Fatalf("%v", r.tasks())
	}
	a := r.assets[0]
	if a.Name != "Web 1" || a.Region != "us-central1-a" || a.Tags["team"] != "web" || !strings.Contains(string(a.Properties), `"state":"RUNNING"`) || strings.Contains(string(a.Properties), "hunter2") {
		t.Errorf("%+v %s", a, a.Properties)
	}
	if len(r.edges) != 3 || !r.records[0].ReadTime.IsZero() || !strings.Contains(r.records[0].Covers, "not all properties") {
		t.Errorf("%d edges, %+v", len(r.edges), r.records[0])
	}
	for _, q := range f.questions("") {
		if q.size != 500 {
			t.Errorf("%+v", q)
		}
	}
}

// TestHide: what may be a secret is not kept, at any depth, and names are.
func TestHide(t *testing.T) {
	for _, c := range []struct{ typ, in, want string }{
		{"run.googleapis.com/Service", `{"template":{"containers":[{"env":[{"name":"TOKEN","value":"s"},{"name":"K","valueSource":{"secretKeyRef":{"secret":"s"}}}]}]}}`,
			`{"template":{"containers":[{"env":[{"name":"TOKEN","value":"(not kept)"},{"name":"K","valueSource":{"secretKeyRef":{"secret":"(not kept)"}}}]}]}}`},
		{"cloudfunctions.googleapis.com/CloudFunction", `{"environmentVariables":{"A":"s"},"labels":{"env":"test"}}`, `{"environmentVariables":{"A":"(not kept)"},"labels":{"env":"test"}}`},
		{"k8s.io/Secret", `{"data":{"a":"s"},"metadata":{"name":"n"}}`, `{"data":{"a":"(not kept)"},"metadata":{"name":"n"}}`},
		{"compute.googleapis.com/VpnTunnel", `{"sharedSecret":"s","sharedSecretHash":"h"}`, `{"sharedSecret":"(not kept)","sharedSecretHash":"h"}`},
		{"x", `{"password":"","secret":{"a":"b"},"userData":["s"],"env":"test"}`, `{"env":"test","password":"","secret":{"a":"b"},"userData":["(not kept)"]}`},
		{"compute.googleapis.com/Project", `{"commonInstanceMetadata":{"items":[{"key":"db","value":"s"}],"kind":"compute#metadata"}}`, `{"commonInstanceMetadata":{"items":[{"key":"db","value":"(not kept)"}],"kind":"compute#metadata"}}`},
		{"compute.googleapis.com/Instance", `{"metadata":{"fingerprint":"f","kind":"compute#metadata"}}`, `{"metadata":{"fingerprint":"f","kind":"compute#metadata"}}`},
		{"container.googleapis.com/Cluster", `{"nodeConfig":{"metadata":{"db":"s"}}}`, `{"nodeConfig":{"metadata":{"db":"(not kept)"}}}`},
		{"dataproc.googleapis.com/Cluster", `{"config":{"gceClusterConfig":{"metadata":{"db":"s"}}}}`, `{"config":{"gceClusterConfig":{"metadata":{"db":"(not kept)"}}}}`},
		{"aiplatform.googleapis.com/Dataset", `{"metadata":{"inputConfig":{"uri":"u"}}}`, `{"metadata":{"inputConfig":{"uri":"u"}}}`},
		{"appengine.googleapis.com/Version", `{"buildEnvVariables":{"A":"s"},"envVariables":{"B":"s"}}`, `{"buildEnvVariables":{"A":"(not kept)"},"envVariables":{"B":"(not kept)"}}`},
		{"cloudfunctions.googleapis.com/Function", `{"buildConfig":{"environmentVariables":{"A":"s"}},"serviceConfig":{"secretEnvironmentVariables":[{"key":"K","secret":"s"}]}}`,
			`{"buildConfig":{"environmentVariables":{"A":"(not kept)"}},"serviceConfig":{"secretEnvironmentVariables":[{"key":"K","secret":"(not kept)"}]}}`},
		{"apps.k8s.io/Deployment", `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"env\":[]}","a":"b"},"name":"n"}}`,
			`{"metadata":{"annotations":{"a":"b","kubectl.kubernetes.io/last-applied-configuration":"(not kept)"},"name":"n"}}`},
		{"k8s.io/Pod", `{"metadata":{"name":"n"}}`, `{"metadata":{"name":"n"}}`},
		{"run.googleapis.com/Revision", `{"metadata":{"name":"n"}}`, `{"metadata":{"name":"n"}}`},
	} {
		data := make(map[string]any)
		if err := json.Unmarshal([]byte(c.in), &data); err != nil {
			t.Fatal(err)
		}
		hide(data, c.typ)
		if got := string(text(data, "")); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// TestOddAssets: what an asset lacks is not made up, and numbers that JSON does not have
// do not break the line.
func TestOddAssets(t *testing.T) {
	a := assetOf(&assetpb.Asset{})
	if a.Region != nowhere || a.Tags == nil || string(a.Properties) != "{}" {
		t.Errorf("%+v %s", a, a.Properties)
	}
	a = assetOf(&assetpb.Asset{Name: "//x/y", Resource: &assetpb.Resource{Data: &structpb.Struct{Fields: map[string]*structpb.Value{
		"n": structpb.NewNumberValue(math.NaN()), "updateTime": structpb.NewStringValue("own"), "displayName": structpb.NewStringValue("Y"), "labels": structpb.NewNumberValue(1),
		"resourceLabels": structpb.NewStructValue(must(structpb.NewStruct(map[string]any{"a": "b"}))), "none": nil,
	}}}})
	if a.Name != "Y" || a.Tags["a"] != "b" || !strings.Contains(string(a.Properties), `"n":"NaN"`) || !strings.Contains(string(a.Properties), `"updateTime":"own"`) {
		t.Errorf("%+v %s", a, a.Properties)
	}
}

// FuzzAsset: whatever answers hold, an asset is a line of JSON.
func FuzzAsset(f *testing.F) {
	seed := &assetpb.Asset{Name: instance, AssetType: "k8s.io/Secret", Resource: &assetpb.Resource{Data: properties()}}
	f.Add(must(proto.Marshal(seed)))
	f.Add(must(proto.Marshal(&assetpb.ResourceSearchResult{Name: instance, AdditionalAttributes: properties()})))
	f.Fuzz(func(t *testing.T, message []byte) {
		var a assetpb.Asset
		if proto.Unmarshal(message, &a) == nil {
			if got := assetOf(&a); !json.Valid(got.Properties) || got.Region == "" || got.Tags == nil {
				t.Errorf("%+v", got)
			}
		}
		var r assetpb.ResourceSearchResult
		if proto.Unmarshal(message, &r) == nil {
			if got := foundAsset(&r); !json.Valid(got.Properties) || got.Region == "" || got.Tags == nil {
				t.Errorf("%+v", got)
			}
		}
	})
}
