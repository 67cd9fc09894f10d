// Package azure is the simulator's Azure front: Resource Manager and Resource
// Graph, over HTTP, as the official arm modules speak them.
//
// # Who is asking
//
// Any bearer token opens everything; [Token] is one that says what it is for.
// [ExpiredToken] is answered as one that was good once, and a request without a
// token as Resource Manager answers it, with a challenge. All callers are one
// principal, which is who most of the quotas belong to.
//
// The accounts of an estate are subscriptions, all in the tenant [Tenant]. They are
// in two management groups below the tenant's own, see [Groups].
//
// # How a client is set up
//
// The server speaks plain HTTP. The SDK's clients send tokens over TLS alone
// unless they are told otherwise:
//
//	options := &arm.ClientOptions{ClientOptions: policy.ClientOptions{
//		Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
//			cloud.ResourceManager: {Endpoint: "http://127.0.0.1:4599", Audience: azure.Audience},
//		}},
//		InsecureAllowCredentialWithHTTP: true,
//	}}
//
// The credential is one whose GetToken returns [Token].
//
// # What is answered
//
// A table has the types of resources, with their lists in a subscription and a
// group, and each thing by its id. Parts (subnets, SQL databases, record sets)
// belong to the thing that they are parts of, and come on top of what the estate
// counts; so do resource groups. [Assets] has all of that, to hold against what a
// map found. Other types have empty lists, or are refused where a profile is
// strict. What changes something is accepted, takes [OperationTime], and changes
// nothing.
package azure
