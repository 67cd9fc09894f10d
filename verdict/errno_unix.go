//go:build unix

package verdict

import "syscall"

// errnos are the failures of a connection by errno. Their numbers differ between
// systems (ECONNRESET: Linux 104, macOS 54), so the platform's own constants stand
// here. ECONNREFUSED, EHOSTUNREACH and the like come from connecting, but on
// Linux also from a connection that stands, so only refusal proves that nothing was
// sent; for the others the "dial" around them does.
var errnos = map[syscall.Errno]cause{
	syscall.ECONNRESET:   usualErrno("connection reset", false),
	syscall.ECONNABORTED: usualErrno("connection aborted", false),
	syscall.ECONNREFUSED: usualErrno("connection refused", true),
	syscall.EPIPE:        usualErrno("connection closed early", false),
	syscall.ESHUTDOWN:    usualErrno("connection shut down", false),
	syscall.ENOTCONN:     usualErrno("connection closed early", false),
	syscall.ETIMEDOUT:    usualErrno("connection timed out", false),
	syscall.EHOSTUNREACH: usualErrno("host unreachable", false),
	syscall.ENETUNREACH:  usualErrno("network unreachable", false),
	syscall.EHOSTDOWN:    usualErrno("host down", false),
	syscall.ENETDOWN:     usualErrno("network down", false),
	syscall.ENETRESET:    usualErrno("connection reset", false),
	syscall.EAFNOSUPPORT: usualErrno("address family not supported", true),
}

func errnoCause(err error) (cause, bool) {
	if e, ok := err.(syscall.Errno); ok {
		c, ok := errnos[e]
		return c, ok
	}
	return cause{}, false
}
