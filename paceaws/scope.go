package paceaws

import (
	"context"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"

	"github.com/cloudpace/cloudpace"
)

// provider is the name of AWS in scopes and in the configuration.
const provider = "aws"

// scopeOf tells which scope an operation belongs to (S1.2), and false when it is
// not governed. name is the name the operation's own stack was made with.
//
// A client of the instance metadata service inherits the hooks but is no AWS
// API. It sets no metadata of its own, so its service id is empty; and when it
// runs inside another call, fetching that call's credentials, the metadata
// still in the context is the outer call's, whose operation name is not ours.
func scopeOf(ctx context.Context, account, name string) (cloudpace.Scope, bool) {
	id, operation := awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx)
	if id == "" || operation != name {
		return cloudpace.Scope{}, false
	}
	service := serviceName(id)
	return cloudpace.Scope{
		Provider:  provider,
		Account:   account,
		Region:    ScopeRegion(service, awsmiddleware.GetRegion(ctx)),
		Service:   service,
		Operation: operation,
	}, true
}

// ScopeRegion gives the region that stands in the scopes of a service, by
// botocore's name, for clients of a region: that region, or the pseudo-region of
// its partition, such as "aws-global", for services with one endpoint and quota for
// all of it.
func ScopeRegion(service, region string) string {
	if globalServices[service] {
		return pseudoRegion(region)
	}
	return region
}
