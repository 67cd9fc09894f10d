package verdict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// apiError has the methods of smithy's errors.
type apiError struct{ code, message string }

func (e *apiError) Error() string        { return "api error " + e.code + ": " + e.message }
func (e *apiError) ErrorCode() string    { return e.code }
func (e *apiError) ErrorMessage() string { return e.message }

// statusError has those of smithy's transport errors.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	return fmt.Sprintf("https response error StatusCode: %d", e.status)
}
func (e *statusError) HTTPStatusCode() int { return e.status }
func (e *statusError) Unwrap() error       { return e.err }

// ownError stands for the root package's errors.
type ownError struct {
	kind Kind
	err  error
}

func (e *ownError) Error() string     { return "circuit open" }
func (e *ownError) Unwrap() error     { return e.err }
func (e *ownError) VerdictKind() Kind { return e.kind }

type ownWithHint struct{ ownError }

func (e *ownWithHint) VerdictHint() (time.Duration, bool) { return 42 * time.Second, true }

// converted is an error that says itself what it is, through errors.As.
type converted struct{}

func (converted) Error() string { return "converted" }
func (converted) As(target any) bool {
	r, ok := target.(**ResponseError)
	if ok {
		*r = &ResponseError{StatusCode: 429}
	}
	return ok
}

// chewed is a type of an SDK whose fields only a registered reader knows.
type chewed struct {
	status int
	inner  error
}

func (e chewed) Error() string { return "chewed" }
func (e chewed) Unwrap() error { return e.inner }

func init() {
	Register(nil)
	Register(func(err error) (*ResponseError, bool) {
		if e, ok := err.(chewed); ok {
			return &ResponseError{Provider: "aws", StatusCode: e.status}, true
		}
		return nil, false
	})
	Register(func(error) (*ResponseError, bool) { return nil, true }) // sloppy
}

func TestS2_8_Chains(t *testing.T) {
	throttle := &ResponseError{StatusCode: 429, Header: http.Header{"Retry-After": {"3"}}}
	for _, c := range []struct {
		name string
		err  error
		want Kind
		code string
	}{
		{"wrapped twice", fmt.Errorf("a: %w", fmt.Errorf("b: %w", throttle)), Throttled, ""},
		{"code by method", &apiError{"ThrottlingException", "Rate exceeded"}, Throttled, "ThrottlingException"},
		{"status outside, code inside", &statusError{400, &apiError{"ThrottlingException", ""}}, Throttled, "ThrottlingException"},
		{"status by method", fmt.Errorf("x: %w", &statusError{503, nil}), Throttled, ""},
		{"status by method, fatal", &statusError{404, &apiError{"NoSuchEntity", "too many requests"}}, Fatal, "NoSuchEntity"},
		{"response outside, code inside", &ResponseError{StatusCode: 400, Err: &apiError{"SlowDown", ""}}, Throttled, "SlowDown"},
		{"no status: the connection", &statusError{0, io.EOF}, Transient, ""},
		{"through As", fmt.Errorf("x: %w", converted{}), Throttled, ""},
		{"through a reader", fmt.Errorf("x: %w", chewed{429, nil}), Throttled, ""},
		{"a reader's provider", chewed{503, &apiError{"ServiceUnavailable", ""}}, Transient, "ServiceUnavailable"},
		{"the outer answer counts", &ResponseError{StatusCode: 403, Err: &ResponseError{StatusCode: 429, Code: "SlowDown"}}, Fatal, ""},
		{"the outer answer counts, throttled", &ResponseError{StatusCode: 429, Err: &ResponseError{StatusCode: 403, Code: "AccessDenied"}}, Throttled, ""},
		{"the message of an error with a code only", &ResponseError{Code: "LimitExceeded", Err: errors.New("too many calls per second")}, Throttled, "LimitExceeded"},
	} {
		if r := Examine("", c.err); r.Kind != c.want || r.Code != c.code {
			t.Errorf("%s: %+v, want %v %q", c.name, r, c.want, c.code)
		}
	}
	if d, ok := RetryAfter(fmt.Errorf("a: %w", throttle)); !ok || d != 3*time.Second {
		t.Errorf("hint: %v, %v", d, ok)
	}
}

func TestS2_8_Joins(t *testing.T) {
	throttle := &ResponseError{StatusCode: 429}
	longer := &ResponseError{StatusCode: 429, Header: http.Header{"Retry-After": {"9"}}}
	denied := &ResponseError{StatusCode: 403}
	for _, c := range []struct {
		name string
		errs []error
		want Kind
	}{
		{"a sentinel", []error{errTest, throttle}, Throttled},
		{"a sentinel and a denial", []error{errTest, denied}, Fatal},
		{"throttled and denied", []error{denied, throttle}, Throttled},
		{"throttled and reset", []error{io.EOF, throttle}, Throttled},
		{"reset and denied", []error{denied, io.EOF}, Transient},
		{"canceled and throttled", []error{throttle, context.Canceled}, Canceled},
		{"own and throttled", []error{throttle, &ownError{kind: Fatal}}, Fatal},
		{"one", []error{throttle}, Throttled},
		{"none of content", []error{errTest, errTest}, Fatal},
	} {
		for range 2 {
			for name, err := range map[string]error{
				"join": errors.Join(c.errs...), "nested": fmt.Errorf("x: %w", errors.Join(errTest, errors.Join(c.errs...))),
			} {
				if r := Examine("", err); r.Kind != c.want {
					t.Errorf("%s, %s: %+v, want %v", c.name, name, r, c.want)
				}
			}
			for i, j := 0, len(c.errs)-1; i < j; i, j = i+1, j-1 { // the order says nothing
				c.errs[i], c.errs[j] = c.errs[j], c.errs[i]
			}
		}
	}
	if r := Examine("", errors.Join(throttle, longer)); r.Hint != 9*time.Second || !r.Unprocessed || !r.Answered {
		t.Errorf("two throttles: %+v", r)
	}
	if r := Examine("", errors.Join(throttle, io.EOF)); r.Unprocessed {
		t.Errorf("one of the two may have run: %+v", r)
	}
	if r := Examine("", fmt.Errorf("%w: %w", errTest, throttle)); !r.Unprocessed || r.Status != 429 {
		t.Errorf("a sentinel has no say in it: %+v", r)
	}
	if r := Examine("", &ResponseError{StatusCode: 503, Err: errors.Join(errTest, &apiError{"InternalError", ""})}); r.Kind != Transient || r.Status != 503 {
		t.Errorf("a join inside an answer: %+v", r)
	}
	if got := Classify(&ResponseError{StatusCode: 503, Err: errors.Join(context.Canceled, &apiError{"InternalError", ""})}); got != Canceled {
		t.Errorf("a cancellation beside the code: %v", got)
	}
	if got := Classify(errors.Join(throttle, &ResponseError{StatusCode: 400, Err: errors.Join(errTest, &apiError{"NoSuchBucket", ""})})); got != Throttled {
		t.Errorf("a neighbour of the answer with branches: %v", got)
	}
}

func TestS2_9_Own(t *testing.T) {
	answer := &ResponseError{StatusCode: 429, Code: "SlowDown", Header: http.Header{"Retry-After": {"5"}}}
	for _, c := range []struct {
		name string
		err  error
		want Kind
		own  bool
		hint time.Duration
	}{
		{"alone", &ownError{kind: Throttled}, Throttled, true, none},
		{"wrapped", fmt.Errorf("list: %w", &ownError{kind: Throttled}), Throttled, true, none},
		{"around an answer", &ownError{Transient, answer}, Transient, true, 5 * time.Second},
		{"around a cancellation", &ownError{Throttled, context.Canceled}, Throttled, true, none},
		{"with a time of its own", &ownWithHint{ownError{Throttled, answer}}, Throttled, true, 42 * time.Second},
		{"dressed for an SDK", &coded{apiError{"Throttling", ""}, &ownError{kind: Throttled}}, Throttled, true, none},
		{"under a status of 0", &statusError{0, &ownError{kind: Throttled}}, Throttled, true, none},
		{"inside an answer it is the answer's", &ResponseError{StatusCode: 403, Err: &ownError{kind: Throttled}}, Fatal, false, none},
	} {
		r := Examine("aws", c.err)
		if r.Kind != c.want || r.Own != c.own || r.HasHint != (c.hint != none) || c.hint != none && r.Hint != c.hint {
			t.Errorf("%s: %+v", c.name, r)
		}
		if c.own && (r.Answered || r.Unprocessed || r.NoRepeat || r.Network) {
			t.Errorf("%s: counts as something new: %+v", c.name, r)
		}
	}
	if r := Examine("aws", &ownError{Throttled, answer}); r.Status != 429 || r.Code != "SlowDown" {
		t.Errorf("the answer inside is not shown: %+v", r)
	}
}

type coded struct {
	apiError
	inner error
}

func (e *coded) Unwrap() error { return e.inner }

// ring is its own cause.
type ring struct{}

func (ring) Error() string        { return "ring" }
func (r ring) Unwrap() error      { return r }
func (ring) HTTPStatusCode() int  { return 429 }
func (ring) ErrorCode() string    { return "" }
func (ring) Timeout() bool        { return false }
func (ring) Is(target error) bool { return false }
func (ring) As(target any) bool   { return false }
func (ring) ErrorMessage() string { return "" }

// tree branches for ever.
type tree struct{}

func (tree) Error() string     { return "tree" }
func (t tree) Unwrap() []error { return []error{t, t} }

type bomb struct{}

func (*bomb) Error() string { panic("bomb") }

type fields struct{ list []int }

func (fields) Error() string { return "not comparable" }

// Reading an error is never what breaks the program.
func TestExamineSurvivesForeignErrors(t *testing.T) {
	var nilResponse *ResponseError
	var nilAPI *apiError
	var nilOwn *ownError
	for name, c := range map[string]struct {
		err  error
		want Kind
	}{
		"nil *ResponseError":    {nilResponse, Fatal},
		"nil pointer":           {nilAPI, Fatal},
		"nil own":               {nilOwn, Fatal},
		"panics":                {fmt.Errorf("%w", io.EOF), Transient},
		"ring":                  {ring{}, Throttled},
		"tree":                  {tree{}, Fatal},
		"not comparable":        {fields{[]int{1}}, Fatal},
		"not comparable, twice": {errors.Join(fields{}, fields{}), Fatal},
		"bomb":                  {&bomb{}, Fatal},
		"empty join":            {tree0{}, Fatal},
		"a join of nils":        {tree1{}, Fatal},
	} {
		if r := Examine("", c.err); r.Kind != c.want || r.Reason == "" {
			t.Errorf("%s: %+v", name, r)
		}
		_ = Describe(c.err)
	}
	deep := error(&ResponseError{StatusCode: 429})
	for range 400 {
		deep = fmt.Errorf("%w", deep)
	}
	if got := Classify(deep); got != Throttled {
		t.Errorf("deep chain: %v", got)
	}
}

type tree0 struct{}

func (tree0) Error() string   { return "tree0" }
func (tree0) Unwrap() []error { return nil }

type tree1 struct{}

func (tree1) Error() string   { return "tree1" }
func (tree1) Unwrap() []error { return []error{nil, nil} }

func TestRegisterIsSafeForConcurrentUse(t *testing.T) {
	old := readers.Load()
	defer readers.Store(old)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				Register(func(error) (*ResponseError, bool) { return nil, false })
				if got := Classify(chewed{429, nil}); got != Throttled {
					t.Errorf("%v", got)
				}
			}
		})
	}
	wg.Wait()
	if got, want := len(*readers.Load()), len(*old)+160; got != want {
		t.Errorf("%d readers, want %d", got, want)
	}
}

func TestReaderThatSearchesChainsDoesNotHideBranches(t *testing.T) {
	old := readers.Load()
	defer readers.Store(old)
	type chewedToo = chewed
	Register(func(err error) (*ResponseError, bool) {
		var e chewedToo
		if errors.As(err, &e) {
			return &ResponseError{StatusCode: e.status}, true
		}
		return nil, false
	})
	if got := Classify(errors.Join(chewed{403, nil}, chewed{429, nil})); got != Throttled {
		t.Errorf("%v", got)
	}
}

func TestLocalKeepsTextAndChain(t *testing.T) {
	err := Local(fmt.Errorf("x: %w", errTest))
	if err.Error() != "x: test" || !errors.Is(err, errTest) || Local(nil) != nil {
		t.Errorf("%v", err)
	}
	if strings.Contains(fmt.Sprintf("%T", err), "Response") {
		t.Error("Local makes no response")
	}
}
