package verdict_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"time"

	"github.com/cloudpace/cloudpace/verdict"
)

func ExampleClassify() {
	for _, err := range []error{
		nil,
		&verdict.ResponseError{StatusCode: 429},
		fmt.Errorf("read: %w", syscall.ECONNRESET),
		&verdict.ResponseError{StatusCode: 404},
		context.Canceled,
	} {
		fmt.Println(verdict.Classify(err))
	}
	// Output:
	// ok
	// throttled
	// transient
	// fatal
	// canceled
}

// The same code and status mean different things to different providers.
func ExampleClassifyFor() {
	err := &verdict.ResponseError{StatusCode: 503, Code: "ServiceUnavailable"}
	fmt.Println(verdict.ClassifyFor("aws", err))
	fmt.Println(verdict.ClassifyFor("azure", err))
	// Output:
	// transient
	// throttled
}

func ExampleRetryAfter() {
	err := &verdict.ResponseError{StatusCode: 429, Header: http.Header{"Retry-After": {"1.5"}}}
	fmt.Println(verdict.RetryAfter(fmt.Errorf("list: %w", err)))
	fmt.Println(verdict.RetryAfter(errors.New("no hint")))
	// Output:
	// 1.5s true
	// 0s false
}

func ExampleDescribe() {
	err := &verdict.ResponseError{Provider: "aws", StatusCode: 400, Body: []byte(`{"__type":"com.amazonaws.ecs#ThrottlingException","message":"Rate exceeded"}`)}
	text := verdict.Describe(fmt.Errorf("list clusters: %w", err))
	fmt.Println(text)
	fmt.Println(verdict.Describe(errors.New(text))) // not labelled twice
	// Output:
	// throttled: list clusters: aws: status 400: ThrottlingException: Rate exceeded
	// throttled: list clusters: aws: status 400: ThrottlingException: Rate exceeded
}

func ExampleProviderAnswer() {
	fmt.Println(verdict.ProviderAnswer(&verdict.ResponseError{StatusCode: 403}))
	fmt.Println(verdict.ProviderAnswer(syscall.ECONNREFUSED))
	// Output:
	// true
	// false
}

func ExampleExamine() {
	r := verdict.Examine("gcp", &verdict.ResponseError{
		Code:   "RESOURCE_EXHAUSTED",
		Header: http.Header{"grpc-retry-pushback-ms": {"2000"}},
	})
	fmt.Println(r.Kind, r.Hint, r.Answered, r.Unprocessed)
	fmt.Println(r.Reason)
	// Output:
	// throttled 2s true true
	// code RESOURCE_EXHAUSTED
}

// A function of one's own can say what came back.
func ExampleResponseError() {
	call := func() error {
		return &verdict.ResponseError{Provider: "acme", StatusCode: 503, Header: http.Header{"Retry-After": {"30"}}}
	}
	err := call()
	wait, _ := verdict.RetryAfter(err)
	fmt.Println(verdict.Classify(err), wait)
	fmt.Println(err)
	// Output:
	// throttled 30s
	// acme: status 503
}

// sdkError has fields where others have methods.
type sdkError struct {
	Status int
	Reason string
}

func (e *sdkError) Error() string { return e.Reason }

func ExampleRegister() {
	// In a package's init function:
	verdict.Register(func(err error) (*verdict.ResponseError, bool) {
		e, ok := err.(*sdkError)
		if !ok {
			return nil, false
		}
		return &verdict.ResponseError{Provider: "acme", StatusCode: e.Status, Code: e.Reason, Err: e}, true
	})
	fmt.Println(verdict.Classify(fmt.Errorf("call: %w", &sdkError{Status: 429, Reason: "Busy"})))
	// Output: throttled
}

func ExampleLocal() {
	cause := errors.New("no connection stands")
	sent := &verdict.ResponseError{Provider: "gcp", Code: "UNAVAILABLE", Err: cause}
	local := &verdict.ResponseError{Provider: "gcp", Code: "UNAVAILABLE", Err: verdict.Local(cause)}
	fmt.Println(verdict.Classify(sent), verdict.Classify(local))
	// Output: throttled transient
}

// circuitOpen is an error of the governor's own making.
type circuitOpen struct{ after time.Duration }

func (e *circuitOpen) Error() string                      { return "circuit open" }
func (e *circuitOpen) VerdictKind() verdict.Kind          { return verdict.Throttled }
func (e *circuitOpen) VerdictHint() (time.Duration, bool) { return e.after, true }

func ExampleOwn() {
	r := verdict.Examine("aws", fmt.Errorf("list: %w", &circuitOpen{after: time.Minute}))
	fmt.Println(r.Kind, r.Own, r.Hint, r.Answered)
	// Output: throttled true 1m0s false
}
