package gcp

import (
	"net/http"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// Asset Inventory knows everything or nothing: none of its lists says that a place
// is missing. Kubernetes Engine's list of clusters does (ListClustersResponse,
// missingZones), and stands here for all that do.

const clusters = "container.googleapis.com/Cluster"

// clusterPath reads /v1/projects/example-1/locations/-/clusters.
func clusterPath(method, path string) (project, location string, ok bool) {
	s := strings.Split(path, "/")
	if method != http.MethodGet || len(s) != 7 || s[1] != "v1" || s[2] != "projects" || s[4] != "locations" || s[5] == "" || s[6] != "clusters" {
		return "", "", false
	}
	return "projects/" + s[3], s[5], true
}

// listClusters answers a project's clusters in a location, or in all.
func (x *context) listClusters() (any, *problem) {
	e := x.world.estate
	list, regions := []any{}, x.world.regions
	o := object{}
	if last := regions[len(regions)-1]; x.edit.Unreachable {
		regions = regions[:len(regions)-1]
		o["missingZones"] = []any{last + "-a", last + "-b", last + "-c"}
	}
	only := func(k *kind) bool { return k.name == clusters }
	for _, t := range x.world.walk(x.scope, start, only) {
		if x.location != "-" && x.location != t.place.Region || !slices.Contains(regions, t.place.Region) {
			continue
		}
		list = append(list, object{
			"name": t.short(e), "location": t.place.Region, "status": t.state(e), "resourceLabels": t.labels(e),
			"selfLink": "https://container.googleapis.com/v1/" + relative(t.fullName(e)),
		})
	}
	o["clusters"] = list
	return o, nil
}

var _ sim.Partial = (*Front)(nil)
