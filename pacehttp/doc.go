// Package pacehttp governs any net/http client.
//
//	client := &http.Client{Transport: pacehttp.NewTransport(nil, func(req *http.Request) cloudpace.Scope {
//		return cloudpace.Scope{Provider: "github", Account: "my-app", Service: "rest"}
//	})}
//
// Every request then passes the governor: it fails at once where the circuit of
// its scope is open, waits for its token and its slot, and reports what came
// back. An answer that says "less" or "later" is repeated for the caller.
//
// # What is repeated
//
// GET, HEAD, OPTIONS, PUT and DELETE are repeated after a throttle, a transient
// answer or a failed connection. Any other method only where it is sure that the
// request was not run: throttled by code, a 429, a 503 with a hint, a
// connection that was never made. A request whose body cannot be rewound
// (Body without GetBody) is sent once.
//
// The sleep before the next attempt grows from 0.5 s, with jitter, up to the
// provider's max_backoff_seconds; a longer hint of the server is waited out in
// full. It ends at the first of max_retries, deadline_seconds or the deadline of
// the request's context, the retry budget, an open circuit; where a sleep or a
// wait would pass the deadline it ends before it.
//
// # What the caller gets
//
// The last answer, whatever its status, with a nil error and its body unread, so
// that code which handles a 429 goes on doing so. An error is returned where
// there is no answer: the transport's own; or cloudpace's, when nothing was sent
// at all or when it stopped repeating a request whose connection failed
// ([cloudpace.CircuitOpenError], [cloudpace.DeadlineExceededError],
// [cloudpace.RetryBudgetExhaustedError]; errors.As finds them in the *url.Error
// of http.Client). When the request's context ends, its error is returned.
//
// Answers below 400 are passed on as they come, and streaming them is not
// disturbed. Of others the first 64 KiB are read to learn the kind, and put back; a
// body that does not come within 10 s is given up, and reads as timed out.
// A slot is held until the headers of an answer are there (of an error, until its
// kind is known), so a long download keeps none.
package pacehttp
