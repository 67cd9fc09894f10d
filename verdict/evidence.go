package verdict

import (
	"context"
	"net/http"
	"slices"
)

// evidence is what one path through an error says, before it is judged.
type evidence struct {
	top      error  // where the path begins, for its text
	provider string // whose tables are asked

	found   bool // something of the shape of a response was there
	status  int
	codes   []string // candidates, best first
	message string
	header  http.Header
	body    []byte
	cause   error // what the response wraps, for its text
	silent  bool  // the code was made of the status line and says no more
	whole   bool  // a bare ResponseError: a status below 400 and nothing else is no error

	local    bool // made without an answer of the server
	canceled bool
	net      network

	hinted bool      // there is a usable hint
	doc    *document // the body, once read
	azure  azureError
	google googleError
}

func (ev evidence) clone() evidence {
	ev.codes = slices.Clip(ev.codes)
	return ev
}

// look takes what one error says. It returns false when the error is the answer
// of another exchange than the one already seen.
func (ev *evidence) look(err error, joined bool) bool {
	if r, ok := responseOf(err, joined); ok && !ev.merge(r) {
		return false
	}
	if _, ok := err.(*localError); ok {
		ev.local = true
	}
	switch is, _ := err.(interface{ Is(error) bool }); {
	case err == context.Canceled, is != nil && is.Is(context.Canceled):
		ev.canceled = true
	case err != context.DeadlineExceeded && is != nil && is.Is(context.DeadlineExceeded):
		ev.net.suppose(cause{kind: Transient, usual: true, why: "timed out"})
	}
	ev.net.look(err)
	return true
}

// responseOf reads one error as a response: its own type, a registered reader, or
// the methods it has. Readers are not asked about joins: one that searches chains
// would find the first branch and hide the others.
func responseOf(err error, joined bool) (*ResponseError, bool) {
	if r, ok := err.(*ResponseError); ok {
		return r, r != nil
	}
	if x, ok := err.(interface{ As(any) bool }); ok {
		var r *ResponseError
		if x.As(&r) && r != nil {
			return r, true
		}
	}
	if !joined {
		if r, ok := readBy(err); ok {
			if r.Err == nil {
				copied := *r
				copied.Err = err // an SDK's error is never a bare answer
				r = &copied
			}
			return r, true
		}
	}
	return byMethods(err)
}

// byMethods reads the plain methods that smithy's errors, and others after them,
// have.
func byMethods(err error) (*ResponseError, bool) {
	r := &ResponseError{Err: err}
	found := false
	if x, ok := err.(interface{ ErrorCode() string }); ok {
		r.Code, found = x.ErrorCode(), true
	}
	if x, ok := err.(interface{ ErrorMessage() string }); ok {
		r.Message = x.ErrorMessage()
	}
	if found && r.Message == "" {
		r.Message = err.Error()
	}
	if x, ok := err.(interface{ HTTPStatusCode() int }); ok {
		r.StatusCode, found = x.HTTPStatusCode(), true
	}
	return r, found
}

// merge adds a response to the evidence. In a chain the outer error often has the
// status and the inner one the code, so what is missing is taken over.
func (ev *evidence) merge(r *ResponseError) bool {
	if ev.status != 0 && r.StatusCode != 0 && ev.status != r.StatusCode {
		return false
	}
	if !ev.found {
		ev.whole = r.Err == nil
	}
	ev.found = true
	ev.google.said = ev.google.said || r.Provider == "gcp"
	if ev.provider == "" {
		ev.provider = r.Provider
	}
	if ev.status == 0 {
		ev.status = r.StatusCode
	}
	if c := cleanCode(r.Code); c != "" && len(ev.codes) == 0 {
		ev.codes = append(ev.codes, c)
	}
	if ev.message == "" {
		ev.message = r.Message
	}
	if len(ev.header) == 0 {
		ev.header = r.Header
	}
	if len(ev.body) == 0 {
		ev.body = r.Body
	}
	if ev.cause == nil {
		ev.cause = r.Err
	}
	ev.local = ev.local || markedLocal(r.Err)
	return true
}

// words is the text to search under a code that needs it: the message, or that of
// the error inside where a reader gave none.
func (ev *evidence) words() string {
	if ev.message == "" && ev.cause != nil {
		return ev.cause.Error()
	}
	return ev.message
}

// code is the candidate that is shown when none decided.
func (ev *evidence) code() string {
	if len(ev.codes) > 0 {
		return ev.codes[0]
	}
	return ""
}
