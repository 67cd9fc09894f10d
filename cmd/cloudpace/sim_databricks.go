package main

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/azure"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/databricks"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
)

// simProfiles are the clouds that there are.
var simProfiles = []string{"aws", "azure", "gcp", "databricks"}

// front chooses the cloud: by flag, by name, or by what the sim file says.
func (f *simFlags) front(changed func(string) bool) (sim.Front, error) {
	if f.databricks && !changed("profile") {
		f.profile = "databricks"
	}
	provider := sim.ProviderIn(f.profile)
	if provider == f.profile && !slices.Contains(simProfiles, provider) {
		hint := ""
		if near, ok := inventory.Nearest(provider, simProfiles); ok {
			hint = "did you mean " + near + "? "
		}
		return nil, usage("--profile is %q (allowed: %s%s, or a file)", provider, hint, strings.Join(simProfiles, ", "))
	}
	if !f.databricks && provider != "databricks" {
		switch provider {
		case "azure":
			return azure.New(), nil
		case "gcp":
			return gcp.New(), nil
		}
		return aws.New(), nil
	}
	if provider != "" && provider != "databricks" {
		return nil, usage("--databricks and --profile exclude each other: %s is for %s", f.profile, provider)
	}
	for _, name := range []string{"accounts", "regions", "assets", "strict", "upstream"} {
		if changed(name) {
			return nil, usage("--%s is not for a simulated Databricks, which has no estate and no upstream", name)
		}
	}
	return databricks.New(), nil
}

// greetDatabricks says what to give to a driver, and how to try without one.
func greetDatabricks(w io.Writer, at net.Addr) {
	const id = "simulated"
	host, port, err := net.SplitHostPort(at.String())
	if err != nil {
		host = at.String() // an address without a port
	}
	fmt.Fprintf(w, `
    host       %s, port %s, http instead of https
    http path  /sql/1.0/warehouses/%s
    token      any

    curl -d '{"warehouse_id": "%[3]s", "statement": "SELECT 1"}' http://%[4]s%[5]s

Status: http://%[4]s/_sim/   Stop: Ctrl-C
`, host, port, id, at, databricks.StatementsPath)
}
