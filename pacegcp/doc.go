// Package pacegcp puts the clients of Google Cloud under a cloudpace governor: their
// calls are paced, slots are counted, an open circuit refuses them, retries are paid
// for, and what was lost is remembered.
//
//	options := pacegcp.ClientOptions(pacegcp.WithQuotaProject("example-1"))
//	client, err := asset.NewClient(ctx, options...)
//	… // governed, and so is any other client over gRPC
//	for a, err := range pacegcp.ListAssets(ctx, client, req, pacegcp.WithQuotaProject("example-1")) {
//		if err != nil {
//			… // a *ListingError: the assets before it are good
//		}
//	}
//
// [NewTransport] does the same for REST clients and the services of
// google.golang.org/api.
//
// # Scopes, and whose quota it is
//
// A call's scope is gcp/projects/example-1/*/cloudasset/ListAssets: what is read, from
// the parent or name in the request; the API, from the client's target; the RPC. Google
// charges most requests to another project, that of the client: with [WithQuotaProject]
// tokens and rate are that project's, however many parents are read through it.
//
// # Listings
//
// [ListAssets], [SearchAllResources] and [SearchAllIamPolicies] ask the circuit once,
// hold one slot to the end, and take a token for each page request, of which exactly
// one is sent at a time. A request that is throttled, unavailable, cut or failed inside
// the service is repeated after 1 s, 2 s, 4 s … (max_backoff_seconds at most, RetryInfo
// at least, which also pauses the quota for everybody), max_retries times in a row for a
// page and within deadline_seconds. One that has no answer after 60 s is cut. Where a
// listing ends early the last pair has a [*ListingError] with the token to go on from.
// A quota per day that is used up ends it at once, and calls on the same quota are
// refused until Google renews it, at midnight Pacific Time, those that wait as well; the
// governor's log, Snapshot and Summary tell. It is known by the unit or the name of the
// limit in the answer's details, else by its words ("per day", "daily limit").
//
// A listing paces whatever client it is given. One that [ClientOptions] or
// [NewTransport] governs with the same governor is not charged twice.
//
// # Other calls
//
// A call is one operation with its retries, as above. What only reads, by its name
// (List, Get, Search …; of those called Query only QueryAssets and QueryTimeSeries), is
// repeated after any throttle or transient failure, and cut after 60 s; anything else
// only where it was certainly not carried out, such as one that was never connected, and
// never cut. What the server asks not to repeat (grpc-retry-pushback-ms) is not, and
// neither is what cannot be better the next time: a request that cannot be encoded, a
// certificate that does not fit, a host that does not exist.
// Streams are governed as they open: the first answer is the outcome, nothing is
// repeated, and what fails later is the caller's to see. The REST transport works alike;
// it returns the last answer as it is, except to clients that would begin again (see
// [NewTransport]).
//
// What the caller's own deadline ends says nothing of the service, also where the server
// is the one to say so. But an attempt that has had 55 s or more and no answer is held
// against it: gax sets 60 s where its caller sets no deadline.
//
// # What callers get
//
// Answers and errors of calls that were sent are the SDK's: a gRPC status, an
// *apierror.APIError, a *googleapi.Error. Where cloudpace ends an operation, errors.As
// finds the *cloudpace.CircuitOpenError, *cloudpace.RetryBudgetExhaustedError or
// *cloudpace.DeadlineExceededError, and in it what the provider answered. Over gRPC such
// an error has the status FAILED_PRECONDITION, whatever the provider's was: with that,
// gax would begin the operation again. So has what is not to be repeated at all.
//
// Importing the package also teaches the verdict package to read Google's errors,
// whether they come from governed clients or not.
//
// # What stays the SDK's
//
// Login; the time that gax gives a call with all its retries where the context has no
// deadline of its own (60 s for most, waits for tokens included; give the context a later one and
// that holds; listings are not bound by it); gax's retries of calls that are not
// repeated here; storage's of connections that fail. The SDK's REST clients drop the
// context that a listing is given; what the listing says goes with a header instead
// (X-Cloudpace-Admission), which [NewTransport] takes off, and a page that hangs over
// another transport is left behind. Prefer gRPC for listings. A client with a connection
// of its own (option.WithGRPCConn) is not governed, except by a listing. Polling a
// long-running operation is one call each time.
//
// While the governor or its provider "gcp" is disabled, the hooks do nothing and clients
// retry as the SDK does.
package pacegcp
