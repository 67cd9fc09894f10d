// Package gcp is the simulator's Google Cloud front: Cloud Asset Inventory over gRPC
// and REST, and Resource Manager's search for projects over REST.
//
// # Who is asking
//
// Nobody is asked who they are: clients without credentials are answered. A bearer
// token opens everything, except [ExpiredToken], which was good once.
//
// The accounts of an estate are projects, by their ids. They are in two [Folders],
// every second in the second, and the folders are in one [Organization]. A project
// can be asked for by its number too, see [Number].
//
// # How a client is set up
//
// The server speaks plain HTTP, gRPC and REST on one address:
//
//	client, err := asset.NewClient(ctx,
//		option.WithEndpoint("127.0.0.1:4599"), option.WithoutAuthentication(),
//		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
//
//	client, err := asset.NewRESTClient(ctx,
//		option.WithEndpoint("http://127.0.0.1:4599"), option.WithoutAuthentication())
//
// The gcloud command is told by variables:
//
//	CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDASSET=http://127.0.0.1:4599/
//	CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true
//
// # Who is charged
//
// The quotas of a project are charged to the quota project, which the header
// x-goog-user-project names; where there is none, to the project that is asked
// about, and for folders and organizations to [NoProject]. The quotas of the
// organization are charged to it.
//
// # What is answered
//
// ListAssets, SearchAllResources, SearchAllIamPolicies, and projects:search. Beside
// what the estate counts there are the projects themselves, and below the
// organization and the folders these. [Assets] and [Bindings] have all of that, to
// hold against what a map found. Listings of other things are empty, or are refused
// where a profile is strict; what changes something is not modelled.
package gcp
