package paceazure_test

import (
	"net"
	"syscall"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/cloudpace/cloudpace"
)

// refused is a connection that was never made, lost one that broke afterwards.
var (
	refused = answer{err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}
	lost    = answer{err: &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}}
)

func TestS11_7WhatIsSentTwice(t *testing.T) {
	const vm = computePath + "/vm"
	for _, tc := range []struct {
		method, path string
		first        answer
		want         int
	}{
		{"GET", vm, code(500, "InternalServerError"), 2},
		{"PUT", vm, code(500, "InternalServerError"), 2},
		{"DELETE", vm, lost, 2},
		{"HEAD", vm, code(502, ""), 2},
		{"POST", vm + "/restart", code(500, "InternalServerError"), 1},
		{"POST", vm + "/restart", code(502, ""), 1},
		{"POST", vm + "/restart", code(503, "ServerBusy"), 1},
		{"POST", vm + "/restart", code(504, ""), 1},
		{"POST", vm + "/restart", lost, 1},
		{"PATCH", vm, code(500, "InternalServerError"), 1},
		// It was certainly not carried out.
		{"POST", vm + "/restart", code(429, "TooManyRequests"), 2},
		{"POST", vm + "/restart", code(503, "ServerBusy", "Retry-After", "1"), 2},
		{"POST", vm + "/restart", refused, 2},
		{"PATCH", vm, code(409, "ResourceCollectionRequestsThrottled"), 2},
		// Reads by POST.
		{"POST", graphPath, code(500, "InternalServerError"), 2},
		{"POST", graphPath, lost, 2},
		{"POST", vm + "/listKeys", code(504, ""), 2},
		{"POST", vm + "/LISTUSAGES/", code(504, ""), 2},
		{"POST", "/subscriptions/" + subscription + "/providers/Microsoft.CostManagement/query", lost, 2},
		{"POST", "/subscriptions/" + subscription + "/resourceGroups/g/resources", code(500, ""), 1},
		{"POST", vm + "/queryAndDelete", code(500, ""), 1},
		// C02: conflicts that pass, and those that do not.
		{"PUT", vm, code(409, "ConflictingConcurrentWriteNotAllowed"), 2},
		{"PUT", vm, code(409, "AnotherOperationInProgress"), 2},
		{"PUT", vm, code(409, "Conflict"), 1},
		{"PUT", vm, code(412, "PreconditionFailed"), 1},
		{"POST", vm + "/restart", code(409, "AnotherOperationInProgress"), 1},
	} {
		bubble(t, func(t *testing.T) {
			f := script(tc.first, ok())
			g := governor(t, nil)
			_, err := newClient(t, f.inProcess(), g).send(t.Context(), tc.method, tc.path, "")
			if n := len(f.at()); n != tc.want || (err == nil) != (tc.want == 2) {
				t.Errorf("%s %s after %d %v: sent %d times, %v", tc.method, tc.path, tc.first.status, tc.first.err, n, err)
			}
			clean(t, g)
		})
	}
}

// Every attempt has the whole body.
func TestBodiesAreSentWhole(t *testing.T) {
	f := script(code(500, "InternalServerError"), retryAfter(429, "0"), ok())
	if _, err := newClient(t, f.loopback(t), governor(t, nil)).send(t.Context(), "PUT", computePath+"/vm", `{"name":"vm"}`); err != nil {
		t.Fatal(err)
	}
	for i, a := range f.arrivals() {
		if a.body != `{"name":"vm"}` {
			t.Errorf("attempt %d had %q", i+1, a.body)
		}
	}
}

// Seen: azcore marks the broken body of an answer to a POST as not to be repeated.
func TestS11_7BrokenBodyOfAReadByPost(t *testing.T) {
	for path, want := range map[string]int32{graphPath: 2, computePath + "/vm/restart": 1} {
		options, sent := breaking(t, 200)
		g := governor(t, nil)
		_, err := newClient(t, options, g).send(t.Context(), "POST", path, "{}")
		if sent.Load() != want || (err == nil) != (want == 2) {
			t.Errorf("%s: %d requests, %v", path, sent.Load(), err)
		}
		clean(t, g)
	}
}

// S11.8: the breaker, the numbers and the ledger learn how operations end, not
// attempts.
func TestS11_8HowOperationsEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		answer   answer
		gaveUp   int
		failures int
		lost     bool
	}{
		"throttled": {code(429, "TooManyRequests"), 1, 2, true},
		"transient": {code(500, "InternalServerError"), 0, 2, true},
		"broken":    {lost, 0, 2, true},
		"denied":    {code(403, "AuthorizationFailed"), 0, 0, false},
		"success":   {ok(), 0, 0, false},
	} {
		bubble(t, func(t *testing.T) {
			f := script(code(500, "InternalServerError"), code(500, "InternalServerError"), code(500, "InternalServerError"), tc.answer)
			g := governor(t, func(p *cloudpace.Provider) { p.MaxRetries = 2 })
			c := newClient(t, f.inProcess(), g)
			_ = c.get(computePath)
			if b := g.Snapshot().Breakers[0]; b.Failures != 1 {
				t.Fatalf("three attempts of one operation: %+v", b)
			}
			ctx, ledger := cloudpace.WithLedger(t.Context())
			_, err := c.send(ctx, "GET", computePath, "")
			if tc.answer.status >= 400 && as[*azcore.ResponseError](t, err).StatusCode != tc.answer.status {
				t.Error(err)
			}
			if b := g.Snapshot().Breakers[0]; b.Failures != tc.failures {
				t.Errorf("%s: %d failures in a row", name, b.Failures)
			}
			if n := scopeStats(t, g, computeScope); n.GaveUp != tc.gaveUp {
				t.Errorf("%s: %+v", name, n)
			}
			if ledger.Degraded() != tc.lost {
				t.Errorf("%s: ledger %q", name, ledger)
			}
			clean(t, g)
		})
	}
}
