// Package pacedatabricks carries requests to Databricks over net/http, repeats
// what is safe to repeat when the wire breaks, and never what is not. It fits the
// Go SQL driver (WithTransport), the Databricks SDK (Config.HTTPTransport) and any
// other http.Client, and depends on none of them.
//
//	transport, err := pacedatabricks.NewTransport(nil)
//	if err != nil {
//		return err
//	}
//	client := &http.Client{Transport: transport}
//
// # What is repeated
//
// The command is read from the Thrift message (binary protocol, strict or old) or
// from method and path of the REST API.
//
//	                                    status, cancel, close;     every other
//	                                    GET of the REST API        command
//	429 or 503 with Retry-After         yes                        yes
//	no connection was made              yes                        yes
//	429 or 503 without, 502, 504        yes                        never
//	reset, closed, timed out, GOAWAY    yes                        never
//	an answer that breaks off           yes, up to 1 MiB of it     never
//	other answers, also in a 200        never                      never
//	TLS verification, unknown host      never                      never
//
// So ExecuteStatement, OpenSession and FetchResults are sent twice only where it is
// certain that they were not run. What cannot be read (the compact protocol, a
// header that is cut off) or is neither Thrift nor under /api/, such as a driver's
// telemetry or a download from cloud storage, passes through: once and ungoverned. So
// do the drivers' feature flags.
// Requests whose body can be had neither from GetBody nor from a buffer of 1 MiB
// are sent once.
//
// [Retry] has the schedule. The caller's deadline ends it where the next sleep
// would pass it, its cancellation at once; [WithOwner] is for drivers that detach
// their polls from the caller.
//
// # What the caller gets
//
// The last answer as it is, unread and with a nil error; [Failure] says why it was
// the last. Where no answer came a [*RetryError], in which errors.Is and errors.As
// find the connection's own (syscall.ECONNRESET) or cloudpace's.
//
// Each failed connection is logged once: at INFO what networks do (reset, closed,
// timed out, refused, unreachable, GOAWAY), at WARN anything else. Statements,
// secrets and headers are in neither log nor error.
//
// # The governor
//
// Each attempt takes a token and a slot in the scope
// databricks/<host>/*/sql/<Command> (sqlexec for the Statement Execution API, the
// API's name for the rest of REST), retries are paid from the retry budget, and the
// circuit breaker counts requests with their retries. A repeatable request waits
// for an open circuit within the schedule's Duration. Where the governor is
// disabled the rules of repetition stay.
//
// # net/http's own resends
//
// net/http sends requests again by itself, over stale connections and after an
// HTTP/2 server's GOAWAY. This package bounds that to three times an attempt,
// counts it (RetryError.Resends and the log), and forbids it where it would be
// unsafe: a command that is not repeatable whose HTTP/2 stream failed.
package pacedatabricks
