package inventory

import (
	"errors"
	"net/http"
	"sync"

	"github.com/cloudpace/cloudpace/verdict"
)

// ErrNotNeeded is what a [Detail] answers that had nothing to ask, because the
// listing has said it already.
var ErrNotNeeded = errors.New("nothing had to be asked")

// enoughRefusals is after how many refusals, without one answer, an operation
// counts as one that the provider does not have.
const enoughRefusals = 16

// operation is what is known about a question that is asked for one item after
// another. An item's refusal says nothing about the next one's, unless it names
// the operation as unknown.
type operation struct {
	mu       sync.Mutex
	answered bool  // for one item at least, so the provider has it
	refusals int   // without an answer
	missing  error // why it is not asked any more
}

// refused gives the error that stands for all further questions, nil as long as
// asking makes sense.
func (o *operation) refused() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.missing
}

// heard takes in what came back for an item, nil for an answer, and tells whether
// that settled what is to be thought of the operation.
func (o *operation) heard(provider string, err error) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.answered || o.missing != nil {
		return false
	}
	r := lastAnswer(provider, err)
	switch {
	case err == nil, causeOf(err) == nil && r.Kind == verdict.Fatal && coded(r) && ReasonOf(provider, err) != NotSupported:
		o.answered = true // an error of the operation's own is an answer, too
		return true
	case ReasonOf(provider, err) != NotSupported:
		return false
	}
	o.refusals++
	if o.refusals < enoughRefusals && !unknownOperation(r) {
		return false
	}
	o.missing = err
	return true
}

// reason says why an item is without an answer. It is not settled while a page
// without a code may mean that this item failed, or that the provider does not
// have the operation; final says that no more is going to be known.
func (o *operation) reason(provider string, err error, final bool) (why Reason, settled bool) {
	why = ReasonOf(provider, err)
	r := lastAnswer(provider, err)
	if why != NotSupported || coded(r) || unknownOperation(r) {
		return why, true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.missing != nil:
		return NotSupported, true
	case !o.answered && !final:
		return "", false
	case r.Kind == verdict.Transient:
		return Unreachable, true
	}
	return Protocol, true
}

// none says that a listing was read to its end: what was never answered by then
// is not there.
func (o *operation) none(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.answered && o.missing == nil {
		o.missing = err
	}
}

// lastAnswer reads what the provider said; for a call that cloudpace refused,
// what it had said before.
func lastAnswer(provider string, err error) verdict.Result {
	if cause := causeOf(err); cause != nil {
		return lastAnswer(provider, cause)
	}
	return verdict.Examine(provider, err)
}

// coded tells whether an answer has a code of the provider's. UnknownError is
// what the SDK makes of none.
func coded(r verdict.Result) bool { return r.Code != "" && r.Code != "UnknownError" }

// unknownOperation tells whether an answer names the operation as one that the
// provider does not have, whatever it is asked about.
func unknownOperation(r verdict.Result) bool {
	switch r.Code {
	case "InvalidAction", "NotImplemented", "NotImplementedException", "UnknownOperation", "UnknownOperationException":
		return true
	}
	return r.Status == http.StatusNotImplemented
}
