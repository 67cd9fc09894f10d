//go:build unix

package redistest

import (
	"strconv"
	"syscall"
	"testing"
)

// Freeze stops the server as SIGSTOP does: it holds its connections and answers nothing.
// What is returned lets it go on.
func (s *Server) Freeze(t testing.TB) (thaw func()) {
	t.Helper()
	pid, err := strconv.Atoi(s.Info(t, "process_id"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	return func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
}
