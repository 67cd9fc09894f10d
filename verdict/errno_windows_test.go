package verdict

import (
	"syscall"
	"testing"
)

// S14.6: Winsock's numbers, and those that package syscall invented.
func TestS14_6_Numbers(t *testing.T) {
	for _, n := range []syscall.Errno{10054, 10060, 10058, 10047, 10053, 10061, syscall.ECONNRESET, syscall.ETIMEDOUT, syscall.EPIPE} {
		if r := Examine("", n); r.Kind != Transient || !r.Usual {
			t.Errorf("errno %d: %+v", int(n), r)
		}
	}
}
