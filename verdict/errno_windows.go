package verdict

import "syscall"

// errnos are the failures of a connection by errno. Sockets answer with Winsock's
// numbers; syscall.ECONNRESET and its like are numbers that package syscall
// invented. Both are known, since code that is not written for Windows makes and
// compares the invented ones.
// https://learn.microsoft.com/windows/win32/winsock/windows-sockets-error-codes-2
var errnos = map[syscall.Errno]cause{
	10047: usualErrno("address family not supported", true), // WSAEAFNOSUPPORT
	10050: usualErrno("network down", false),                // WSAENETDOWN
	10051: usualErrno("network unreachable", false),         // WSAENETUNREACH
	10052: usualErrno("connection reset", false),            // WSAENETRESET
	10053: usualErrno("connection aborted", false),          // WSAECONNABORTED
	10054: usualErrno("connection reset", false),            // WSAECONNRESET
	10057: usualErrno("connection closed early", false),     // WSAENOTCONN
	10058: usualErrno("connection shut down", false),        // WSAESHUTDOWN
	10060: usualErrno("connection timed out", false),        // WSAETIMEDOUT
	10061: usualErrno("connection refused", true),           // WSAECONNREFUSED
	10064: usualErrno("host down", false),                   // WSAEHOSTDOWN
	10065: usualErrno("host unreachable", false),            // WSAEHOSTUNREACH
	109:   usualErrno("connection closed early", false),     // ERROR_BROKEN_PIPE
	64:    usualErrno("connection closed early", false),     // ERROR_NETNAME_DELETED
	1225:  usualErrno("connection refused", true),           // ERROR_CONNECTION_REFUSED
	1236:  usualErrno("connection aborted", false),          // ERROR_CONNECTION_ABORTED

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
