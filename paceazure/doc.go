// Package paceazure puts the clients of the Azure SDK for Go under a cloudpace
// governor: their requests are paced, slots are counted, an open circuit refuses
// them, retries are paid for, and what was lost is remembered.
//
//	options := paceazure.ClientOptions(nil)
//	client, err := armcompute.NewVirtualMachinesClient(subscription, cred, options)
//	… // governed, with its pagers and pollers
//
// [NewGraph] and [GraphFrom] read Azure Resource Graph page by page.
//
// # How a request goes
//
// ClientOptions adds two policies to azcore's pipeline and sets its retries. One
// policy stands before the retry loop and knows when an operation begins and ends;
// the other stands inside it, behind the login. There every HTTP request is
// admitted: an open circuit refuses it, then it waits for a token of its
// subscription and of its resource provider, and for one of the subscription's
// slots, which it gives back when the answer is there. So nothing is held while a
// token is fetched, or between two attempts. The scope comes from the URL:
// azure/{subscription}/*/compute, and azure/*/*/resourcegraph for queries of
// Resource Graph, whose quota is the caller's.
//
// azcore's loop repeats and backs off; what is repeated is settled here, when an
// attempt has failed: throttled or transient, sent again only if the request may be
// sent twice or was certainly not carried out, and paid for. A hint is waited out in
// full. Where it lies behind the end of the operation (deadline_seconds, or the
// caller's deadline) the operation ends at once.
//
// Answers tell what is left of a quota, and that is believed before the first 429:
// no user quota left pauses Resource Graph to its reset, fewer than 25 reads left a
// subscription for a second, and fewer than 10 calls left of a policy of the
// resource provider (x-ms-ratelimit-remaining-resource) its namespace for five. Where
// Resource Graph's bucket learns (controller: learn), it is told what is left each time.
//
// # What callers get
//
// Answers are azcore's. The error of a request that was sent is the one that came,
// wrapped where azcore must not repeat it: errors.Is and errors.As find it, a type
// assertion may not. Beside the end of the caller's own context is what the provider
// answered before it. Where cloudpace ends an operation, errors.As finds the *cloudpace.CircuitOpenError,
// *cloudpace.RetryBudgetExhaustedError or *cloudpace.DeadlineExceededError, and in
// it what the provider answered, as an *azcore.ResponseError. An open circuit reads
// as an answer of 429, so handlers written before cloudpace keep working.
//
// Importing the package also teaches the verdict package to read azcore's errors,
// whether they come from governed clients or not.
//
// # What stays the SDK's
//
// Login, redirects, the registration of resource providers (whose requests are
// governed ones of their own), polling and its intervals: a 202 with a Retry-After
// is no throttle. A body that is streamed is not cut by the operation's deadline.
// Retry options in a call's own context (policy.WithRetryOptions) go before those
// of the client, and the budget is asked all the same. A wait for a token comes
// after the login, so a bearer token ages in it; azcore fetches one five minutes
// before the old one ends.
//
// While the governor or its provider "azure" is disabled, the policies do nothing
// and clients retry as their options said before.
package paceazure
