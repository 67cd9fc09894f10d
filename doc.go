// Package cloudpace lets a program call cloud APIs as hard as the account allows
// and no harder: every call passes one governor, which decides when it may go,
// learns from what came back, and remembers what was lost.
//
// A [Governor] keeps, for each [Scope], token buckets whose rate falls with
// throttles and recovers with success; pauses that the server's hints ask of
// everybody; slots for calls in flight; a circuit breaker; and, for each provider,
// a budget for retries. [Default] is the one of the process.
//
// Most programs do not use this package directly: the pace… packages wire it into
// an SDK or an HTTP client with a line. For any other function there is [Do]:
//
//	scope := cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "ec2"}
//	err := cloudpace.Do(ctx, scope, func(ctx context.Context) error {
//		return describe(ctx)
//	})
//
// What happened to the calls of a run is collected through the context: numbers by
// [WithStats], and by [WithLedger] whether anything was lost, also where the code
// between swallowed the errors.
//
// The verdict package says what an error means, the config package reads settings
// from a file and the environment.
package cloudpace
