package main

import (
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
)

// greetGCP says how to ask: with gcloud, and with a client of one's own. The quota
// project is a header, which gcloud sends with credentials alone.
func greetGCP(w io.Writer, at net.Addr, project string) {
	fmt.Fprintf(w, `
    cloudpace map -p gcp --gcp-endpoint http://%[1]s --quota-project %[2]s
    export CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDASSET=http://%[1]s/ CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true
    gcloud asset list --project=%[2]s
    gcloud asset list --organization=%[3]s --content-type=iam-policy
    curl -H 'x-goog-user-project: %[2]s' 'http://%[1]s/v1/%[4]s/assets?contentType=RESOURCE'

gRPC and REST for clients, without credentials: %[1]s   Quota project: x-goog-user-project, or who is asked about
Status: http://%[1]s/_sim/   Stop: Ctrl-C
`, at, project, strings.TrimPrefix(gcp.Organization, "organizations/"), gcp.Organization)
}
