package verdict

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ResponseError is an answer of a provider as an error: what readers of SDK
// errors make of them (see Register), and what callers' own functions may
// return to say what came back. Every field is optional.
//
// A gRPC status is written as Provider "gcp", StatusCode 0, Code the status
// name ("RESOURCE_EXHAUSTED"), Header the trailers and Body the JSON form of
// google.rpc.Status with its details. A status that the client library made
// without an answer of the server has Err wrapped by Local.
//
// A ResponseError is not changed by this package; reading one from several
// goroutines is safe as long as nobody writes to it.
type ResponseError struct {
	Provider   string      // "aws", "azure", "gcp", "databricks" or another; "" when not known
	StatusCode int         // HTTP status; 0 when there was none
	Code       string      // the provider's code; "" to have it looked for in Header and Body
	Message    string      // the provider's message; "" to have it looked for likewise
	Header     http.Header // response headers or gRPC trailers; keys in any case
	Body       []byte      // the body as received, gzip allowed; only its first 64 KiB are read
	Err        error       // the cause: what the SDK returned, or a failure while the body was read
}

// Error gives provider, status, code and message on one line. The message is
// bounded, and the body is never quoted.
func (e *ResponseError) Error() string {
	if e == nil {
		return "<nil>"
	}
	ev := evidence{}
	ev.merge(e)
	ev.read()
	var parts []string
	if e.Provider != "" {
		parts = append(parts, e.Provider)
	}
	if e.StatusCode != 0 {
		parts = append(parts, "status "+strconv.Itoa(e.StatusCode))
	}
	if c := ev.code(); c != "" {
		parts = append(parts, c)
	}
	message := oneLine(ev.message)
	if message != "" {
		parts = append(parts, message)
	}
	if e.Err != nil {
		if text := e.Err.Error(); message == "" || !strings.Contains(text, message) {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return "empty response error"
	}
	return strings.Join(parts, ": ")
}

// Unwrap gives Err.
func (e *ResponseError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Local marks err as made without an answer of the server, such as gRPC's
// UNAVAILABLE while no connection stands. A reader puts the result into
// ResponseError.Err. The text is err's own; Local(nil) is nil.
func Local(err error) error {
	if err == nil {
		return nil
	}
	return &localError{err}
}

type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

// markedLocal looks for the marker in a chain, a few steps deep: readers put it
// on top.
func markedLocal(err error) bool {
	for range 8 {
		switch x := err.(type) {
		case nil:
			return false
		case *localError:
			return true
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		default:
			return false
		}
	}
	return false
}

// Own is implemented by the errors that cloudpace makes itself (an open
// circuit, an empty retry budget, a deadline that cannot be met). They are
// never repeated, slow nothing and count as nothing new.
//
// An Own error may also have a method VerdictHint() (time.Duration, bool): the
// time after which trying again makes sense. Without one, the hint of the
// provider's error inside it is reported.
type Own interface {
	error
	VerdictKind() Kind
}

type ownHint interface {
	VerdictHint() (time.Duration, bool)
}

// readers is replaced as a whole when one is added, so that reading it takes no
// lock.
var (
	readersMu sync.Mutex
	readers   atomic.Pointer[[]func(error) (*ResponseError, bool)]
)

// Register adds a reader of errors whose type this package cannot know, as
// image formats and SQL drivers do; packages call it from an init function. The
// reader gets each error of a chain in turn, outermost first, and should look at
// that error only (a type assertion, not errors.As): what is inside comes next.
// It returns false for errors that are not its own. What it leaves empty is
// taken from errors further down the chain. Register is safe for concurrent
// use, and a reader must be too. A nil reader is ignored.
func Register(reader func(error) (*ResponseError, bool)) {
	if reader == nil {
		return
	}
	readersMu.Lock()
	defer readersMu.Unlock()
	var next []func(error) (*ResponseError, bool)
	if old := readers.Load(); old != nil {
		next = append(next, *old...)
	}
	next = append(next, reader)
	readers.Store(&next)
}

// readBy asks the registered readers about one error, first registered first.
func readBy(err error) (*ResponseError, bool) {
	list := readers.Load()
	if list == nil {
		return nil, false
	}
	for _, reader := range *list {
		if r, ok := reader(err); ok && r != nil {
			return r, true
		}
	}
	return nil, false
}
