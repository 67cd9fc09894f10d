//go:build unix

package verdict

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

func TestS2_4_Errnos(t *testing.T) {
	for _, c := range []struct {
		errno       syscall.Errno
		reason      string
		unprocessed bool
	}{
		{syscall.ECONNRESET, "connection reset", false},
		{syscall.ECONNABORTED, "connection aborted", false},
		{syscall.ECONNREFUSED, "connection refused", true},
		{syscall.EPIPE, "connection closed early", false},
		{syscall.ESHUTDOWN, "connection shut down", false},
		{syscall.ETIMEDOUT, "connection timed out", false},
		{syscall.EHOSTUNREACH, "host unreachable", false},
		{syscall.ENETUNREACH, "network unreachable", false},
		{syscall.EAFNOSUPPORT, "address family not supported", true},
	} {
		bare := Examine("", c.errno)
		if bare.Kind != Transient || bare.Reason != c.reason || bare.Unprocessed != c.unprocessed || !bare.Usual || bare.Answered {
			t.Errorf("%v: %+v", c.errno, bare)
		}
		// While dialing, nothing was sent whatever the errno.
		dialed := Examine("", op("dial", os.NewSyscallError("connect", c.errno)))
		if dialed.Kind != Transient || dialed.Reason != c.reason || !dialed.Unprocessed {
			t.Errorf("dial %v: %+v", c.errno, dialed)
		}
	}
	// Trouble of this machine on a connection is no usual failure, and alone none of
	// the network's.
	if r := Examine("", op("dial", os.NewSyscallError("socket", syscall.EMFILE))); r.Kind != Transient || r.Usual || !r.Unprocessed {
		t.Errorf("EMFILE: %+v", r)
	}
	if r := Examine("", &os.PathError{Op: "open", Path: "x", Err: syscall.EACCES}); r.Kind != Fatal || r.Network {
		t.Errorf("EACCES on a file: %+v", r)
	}
}

// S14.6: by the platform's own numbers.
func TestS14_6_Numbers(t *testing.T) {
	var numbers []int
	switch runtime.GOOS {
	case "linux":
		numbers = []int{104, 110, 108, 97, 32, 111}
	case "darwin":
		numbers = []int{54, 60, 58, 47, 32, 61}
	default:
		t.Skip("numbers of", runtime.GOOS)
	}
	for _, n := range numbers {
		if r := Examine("", syscall.Errno(n)); r.Kind != Transient || !r.Usual {
			t.Errorf("errno %d: %+v", n, r)
		}
	}
}
