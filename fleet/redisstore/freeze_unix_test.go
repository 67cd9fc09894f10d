//go:build unix

package redisstore_test

import (
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/fleet/internal/redistest"
	"github.com/cloudpace/cloudpace/fleet/redisstore"
)

// A server that stands still holds no caller longer than the timeout says, and what it
// does when it goes on counts.
func TestFrozen(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	const timeout = 200 * time.Millisecond
	s := openWith(t, "redis://"+server.Addr, redisstore.Options{Timeout: timeout})
	var count tally
	if err := count.ask(t.Context(), s, "a"); err != nil {
		t.Fatal(err)
	}
	thaw := server.Freeze(t)
	defer thaw()
	for range 8 {
		if count.ask(t.Context(), s, "a") == nil {
			t.Fatal("a server that stands still answers")
		}
	}
	if n := count.errs[redisstore.Timeout]; n != 8 {
		t.Errorf("errors: %v", count.errs)
	}
	thaw()
	redistest.Eventually(t, "the store is back", func() error { return count.ask(t.Context(), s, "a") })
	count.check(t, s)
}
