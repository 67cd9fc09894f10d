package verdict

import (
	"fmt"
	"time"
)

// Result is everything that is read from one error, in one pass.
type Result struct {
	Kind Kind

	// Hint is the server's wish for the pause before the next try, from the first
	// usable source. HasHint tells a hint of zero from none. Never negative; a
	// number too large is the largest Duration.
	Hint    time.Duration
	HasHint bool

	// Answered: the provider answered, so the request got there.
	Answered bool
	// Own: an error made by cloudpace itself. Never repeated, slows nothing and
	// counts as nothing new.
	Own bool
	// Unprocessed: the outcome proves that the request was not run: throttled by
	// code, a 429, a 503 with a hint, a connection never made. Such a request may
	// be repeated even when it is not safe to run twice.
	Unprocessed bool
	// NoRepeat: the server asked that the call is not repeated (gRPC pushback that
	// is negative or unreadable), whatever the kind.
	NoRepeat bool

	// Network: the connection itself failed. Usual: it failed in one of the ways
	// that networks have (reset, refused, closed, timed out …), as opposed to
	// trouble of this machine such as running out of file descriptors.
	Network bool
	Usual   bool

	Status  int    // HTTP status, 0 without one
	Code    string // the code that decided, else the first one read
	Message string // the provider's message on one line, bounded and with secrets removed
	// Consumer is Google's ErrorInfo consumer ("projects/123"): the project whose
	// quota or disabled API it is.
	Consumer string
	// Daily: a quota per day is used up, so no request of its kind helps before the
	// day of the provider is over.
	Daily bool
	// Reason says for people, on one line, why it is this kind. It starts with
	// "protocol" when something other than the API answered.
	Reason string
}

// Classify gives the kind of err. The provider is taken from the errors in it;
// where none is named, the codes on which all providers agree are used.
// Classify(nil) is OK, context.Canceled is Canceled and
// context.DeadlineExceeded, on its own, Transient.
//
// All functions of this package are safe for concurrent use.
func Classify(err error) Kind { return Examine("", err).Kind }

// ClassifyFor is Classify with the codes of the named provider: "aws", "azure",
// "gcp" or "databricks". Any other name counts as unknown.
func ClassifyFor(provider string, err error) Kind { return Examine(provider, err).Kind }

// RetryAfter gives the server's hint: how long to wait before the next try.
// Zero with true is a hint of zero, false is no hint. The hint says nothing about
// whether to try again; that is the kind's business.
func RetryAfter(err error) (time.Duration, bool) {
	r := Examine("", err)
	return r.Hint, r.HasHint
}

// ProviderAnswer tells whether err is an answer of the provider, that is, whether
// the request got there. Connection failures, local errors, a proxy's page and
// cloudpace's own errors are none.
func ProviderAnswer(err error) bool { return Examine("", err).Answered }

// Examine reads everything from err at once. provider "" means unknown: then
// ResponseError.Provider is used, and without one the codes of all providers
// that do not contradict each other. Chains and joins are followed. In a chain
// the outermost answer counts; of joined errors a cancellation counts before a
// throttle, that before a transient error, that before a fatal one.
func Examine(provider string, err error) (result Result) {
	if err == nil {
		return Result{Kind: OK, Reason: "no error"}
	}
	// Error methods and readers of others run here, on values such as nil pointers
	// in a non-nil error. Reading an error must not be what breaks the program.
	defer func() {
		if p := recover(); p != nil {
			result = Result{Kind: Fatal, Reason: oneLine(fmt.Sprintf("the error cannot be read: %v", p))}
		}
	}()
	w := walker{provider: provider, left: maxNodes}
	return w.examine(err)
}
