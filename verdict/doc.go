// Package verdict says what came back from a cloud API: whether it worked, whether
// the provider wants less, whether trying again later makes sense, and how long the
// server asked to wait.
//
//	err := listSubnets(ctx)
//	switch verdict.ClassifyFor("aws", err) {
//	case verdict.Throttled:
//		wait, ok := verdict.RetryAfter(err)
//		…
//	}
//
// # How it decides
//
// The provider's error code decides first, then the HTTP or gRPC status, then a
// failure of the connection, and the words of the message only when all of these
// are silent. A code that is in no table decides nothing. A name of google.rpc.Code
// is a status where there is none of HTTP: INVALID_ARGUMENT is fatal whatever the
// message says. Codes are read per provider: ServiceUnavailable is a transient code
// of AWS, while a 503 of Azure asks for less; google.rpc.Code's words and numbers
// count outside gcp only where gRPC is spoken, which typed details, trailers or
// Google's own envelope show. See the files codes_aws.go, codes_azure.go, codes_google.go and
// codes_databricks.go for the tables and their sources; adding a provider is one
// such file and one entry in the map of providers.
//
// # What it reads
//
// Chains and joins of errors are followed. In them it knows [ResponseError], the
// errors that registered readers translate ([Register]; the packages that wire an
// SDK register theirs), errors with plain methods ErrorCode() string,
// ErrorMessage() string, HTTPStatusCode() int or Timeout() bool, errnos by the
// platform's own numbers, errors of package net and crypto/tls, io.EOF and its like,
// and the context's errors. Header and body of a ResponseError are searched for
// code, message and hint in the envelopes of all four providers; of a body, the first
// 64 KiB.
//
// # Hints
//
// See [RetryAfter] and [Result]. Durations are never negative; numbers too large for
// a Duration become the largest one. A date is measured from the response's own Date
// header when there is one.
//
// Nothing here does any I/O, keeps state besides the registered readers or starts a
// goroutine; all functions are safe for concurrent use.
package verdict
