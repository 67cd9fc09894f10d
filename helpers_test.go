package cloudpace_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/verdict"
)

// scope is a leaf of the default kind: 20 calls a second, burst 40.
var scope = cloudpace.Scope{Provider: "aws", Account: "111122223333", Region: "us-east-1", Service: "sqs", Operation: "ListQueues"}

// governor makes one with the built-in settings, AWS's changed.
func governor(tb testing.TB, change func(*cloudpace.Provider)) *cloudpace.Governor {
	tb.Helper()
	cfg := cloudpace.DefaultConfig()
	if change != nil {
		p := cfg.Providers["aws"]
		change(&p)
		cfg.Providers["aws"] = p
	}
	g, err := cloudpace.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// bubble runs f in virtual time, from time zero of its own.
func bubble(t *testing.T, f func(t *testing.T, clock func() time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f(t, func() time.Duration { return time.Since(start) })
	})
}

func begin(tb testing.TB, g *cloudpace.Governor, s cloudpace.Scope, opts ...cloudpace.BeginOption) *cloudpace.Call {
	tb.Helper()
	c, err := g.Begin(context.Background(), s, opts...)
	if err != nil {
		tb.Fatalf("Begin: %v", err)
	}
	return c
}

// drain takes the stored burst of a scope's leaf.
func drain(tb testing.TB, g *cloudpace.Governor, s cloudpace.Scope, n int) {
	tb.Helper()
	for range n {
		begin(tb, g, s).End(nil)
	}
}

func answer(status int, code string) *verdict.ResponseError {
	return &verdict.ResponseError{Provider: "aws", StatusCode: status, Code: code, Header: http.Header{}}
}

func throttle() *verdict.ResponseError { return answer(400, "ThrottlingException") }

// throttleFor is a throttle with a hint in seconds.
func throttleFor(seconds int) *verdict.ResponseError {
	e := throttle()
	e.Header.Set("Retry-After", strconv.Itoa(seconds))
	return e
}

func unavailable() *verdict.ResponseError { return answer(500, "InternalFailure") }
func denied() *verdict.ResponseError      { return answer(403, "AccessDenied") }

// fail runs one operation that ends with err.
func fail(tb testing.TB, g *cloudpace.Governor, s cloudpace.Scope, err error) {
	tb.Helper()
	begin(tb, g, s).End(err)
}

func bucketOf(tb testing.TB, g *cloudpace.Governor, scope string) cloudpace.BucketState {
	tb.Helper()
	for _, b := range g.Snapshot().Buckets {
		if b.Scope == scope {
			return b
		}
	}
	tb.Fatalf("no bucket %s in %+v", scope, g.Snapshot().Buckets)
	return cloudpace.BucketState{}
}

func slotsOf(tb testing.TB, g *cloudpace.Governor, account string) cloudpace.BulkheadState {
	tb.Helper()
	for _, b := range g.Snapshot().Bulkheads {
		if b.Account == account {
			return b
		}
	}
	tb.Fatalf("no bulkhead of %s", account)
	return cloudpace.BulkheadState{}
}

func breakerOf(tb testing.TB, g *cloudpace.Governor, scope string) cloudpace.BreakerState {
	tb.Helper()
	for _, b := range g.Snapshot().Breakers {
		if b.Scope == scope {
			return b
		}
	}
	tb.Fatalf("no breaker %s", scope)
	return cloudpace.BreakerState{}
}

func as[T error](tb testing.TB, err error) T {
	tb.Helper()
	var e T
	if !errors.As(err, &e) {
		tb.Fatalf("got %T (%v), want %T", err, err, e)
	}
	return e
}

func wantTime(tb testing.TB, what string, got, want time.Duration) {
	tb.Helper()
	if got != want {
		tb.Errorf("%s at %s, want %s", what, got, want)
	}
}

// list is a slice that goroutines append to.
type list[T any] struct {
	mu  sync.Mutex
	all []T
}

func (l *list[T]) add(v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, v)
}
