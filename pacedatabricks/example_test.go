package pacedatabricks_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"syscall"
	"time"

	"github.com/cloudpace/cloudpace/pacedatabricks"
)

// An http.Client whose polls survive a connection that is reset.
func ExampleNewTransport() {
	asked := 0
	workspace := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		fmt.Fprint(w, `{"status":{"state":"SUCCEEDED"}}`)
	}))
	defer workspace.Close()

	transport, err := pacedatabricks.NewTransport(&http.Transport{ResponseHeaderTimeout: time.Minute},
		pacedatabricks.WithRetry(pacedatabricks.Retry{DelayMin: 100 * time.Millisecond, DelayDefault: time.Second}))
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()

	resp, err := client.Get(workspace.URL + "/api/2.0/sql/statements/01ef9999-8888-7777-6666-555544443333")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status, "after", asked, "requests")
	// Output: 200 OK after 2 requests
}

// An answer that was the last one, and why.
func ExampleFailure() {
	workspace := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer workspace.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	transport, err := pacedatabricks.NewTransport(base, pacedatabricks.WithRetry(pacedatabricks.Retry{Duration: 30 * time.Second}))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := (&http.Client{Transport: transport}).Get(workspace.URL + "/api/2.1/jobs/list")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	if why := pacedatabricks.Failure(resp); why != nil {
		fmt.Println(why.Method, why.HTTPCode, why.Reason, why.Delay)
	}
	// Output: GET /api/2.1/jobs/list 429 out of time 1m0s
}

// What to do with the error of a statement that may have run.
func ExampleRetryError() {
	err := error(&pacedatabricks.RetryError{Method: "ExecuteStatement", Reason: "non-retryable error"})
	err = errors.Join(err, syscall.ECONNRESET) // as the driver returned it

	var failed *pacedatabricks.RetryError
	if errors.As(err, &failed) && errors.Is(err, syscall.ECONNRESET) {
		fmt.Println(failed.Method, "may have run: look before you run it again")
	}
	// Output: ExecuteStatement may have run: look before you run it again
}

// A driver detaches its polls from the caller's context. Its caller still ends the
// sleeps between them.
func ExampleWithOwner() {
	caller, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	detached := pacedatabricks.WithOwner(context.WithoutCancel(caller), caller)
	_, err := http.NewRequestWithContext(detached, http.MethodGet, "https://dbc-1.example.com/api/2.1/jobs/list", nil)
	fmt.Println(err)
	// Output: <nil>
}
