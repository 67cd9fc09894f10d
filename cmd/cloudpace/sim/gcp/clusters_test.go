package gcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
)

// TestClusters: a list that lacks a region says so, and has the rest.
func TestClusters(t *testing.T) {
	o := startWith(t, sim.Fault{Kind: sim.Unreachable, After: 3})
	names := func(path string) (in []string, missing any) {
		t.Helper()
		code, body := o.get(path)
		if code != 200 {
			t.Fatalf("%d %v", code, body)
		}
		for _, c := range body["clusters"].([]any) {
			in = append(in, fmt.Sprint(c.(map[string]any)["location"], "/", c.(map[string]any)["name"]))
		}
		return in, body["missingZones"]
	}
	all, missing := names("/v1/" + first + "/locations/-/clusters")
	want, kept := 0, 0
	for a := range gcp.Assets(o.server.Estate(), first) {
		if a.Type == "container.googleapis.com/Cluster" {
			want++
			if !strings.Contains(a.Name, "/europe-west1/") {
				kept++
			}
		}
	}
	if len(all) != want || missing != nil || kept == want {
		t.Errorf("%v, want %d; missing %v", all, want, missing)
	}
	if here, _ := names("/v1/" + first + "/locations/us-central1/clusters"); len(here) != kept {
		t.Errorf("%v in a region of %d", here, kept)
	}
	if none, _ := names("/v1/" + first + "/locations/nowhere/clusters"); len(none) != 0 {
		t.Error(none)
	}
	if rest, missing := names("/v1/" + first + "/locations/-/clusters"); len(rest) != kept || fmt.Sprint(missing) != "[europe-west1-a europe-west1-b europe-west1-c]" {
		t.Errorf("%v, missing %v", rest, missing)
	}
	if code, _ := o.get("/v1/projects/nobodys-1/locations/-/clusters"); code != 403 {
		t.Error(code)
	}
	p := sim.Default(aws.New())
	p.Faults = []sim.Fault{{Kind: sim.Unreachable}}
	if err := p.Check(aws.New(), false); err == nil || !strings.Contains(err.Error(), "aws") {
		t.Errorf("%v", err)
	}
}
