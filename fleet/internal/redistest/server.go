// Package redistest starts real Redis servers for tests: single ones, some that Sentinel
// watches, and a Cluster. They listen on loopback, keep their files in a directory of the
// test, and end with it, or with the test's process.
package redistest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is one redis-server.
type Server struct {
	Addr string // host:port
	Port int

	Dir     string // where it keeps its files
	args    []string
	options redis.Options // how the test itself talks to it
	command *exec.Cmd
	stdin   io.Closer
}

// patience is how long a test waits for something to come about that does.
const patience = 30 * time.Second

// Start starts a server with arguments as in its configuration file, each with "--".
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := prepare(t, args...)
	s.Run(t)
	return s
}

// WithPassword tells how the test itself gets in.
func (s *Server) WithPassword(password string) *Server {
	s.options.Password = password
	return s
}

func prepare(t testing.TB, args ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("redis-server is not installed, and these tests need a real one: apt-get install redis-server")
	}
	port := freePort(t)
	return &Server{
		Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Port: port, Dir: t.TempDir(),
		args: append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", ""}, args...),
	}
}

// freePort finds a port that is free, as is the one that a cluster takes besides.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 10000 + rand.IntN(20000)
		if free(port) && free(port+10000) {
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// Run starts a server that is prepared or was stopped, and waits until it answers.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(s.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	// The shell outlives a test that is killed, and takes the server with it.
	s.command = exec.Command("sh", append([]string{"-c", `redis-server "$@" & cat >/dev/null; kill -9 $!; wait`, "sh"}, s.args...)...) //nolint:gosec // a fixed program
	s.command.Dir, s.command.Stdout, s.command.Stderr = s.Dir, log, log
	if s.stdin, err = s.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	o := s.client()
	defer o.Close()
	Eventually(t, "the server answers", func() error {
		err := o.Ping(context.Background()).Err()
		if err != nil && strings.Contains(err.Error(), "NOAUTH") {
			return nil
		}
		if err != nil {
			text, _ := os.ReadFile(filepath.Join(s.Dir, "log"))
			return fmt.Errorf("%w\n%s", err, text)
		}
		return nil
	})
}

// Stop kills the server. It may be run again.
func (s *Server) Stop() {
	if s.command == nil {
		return
	}
	_ = s.stdin.Close()
	_ = s.command.Wait() // it was killed
	s.command = nil
}

// client talks to the server patiently.
func (s *Server) client() *redis.Client {
	o := s.options
	o.Addr, o.Protocol, o.DisableIdentity = s.Addr, 2, true
	o.ReadTimeout = patience
	return redis.NewClient(&o)
}

// Do runs a command, as an administrator.
func (s *Server) Do(t testing.TB, args ...any) any {
	t.Helper()
	c := s.client()
	defer c.Close()
	v, err := c.Do(context.Background(), args...).Result()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

// Info gives a field of INFO.
func (s *Server) Info(t testing.TB, field string) string {
	t.Helper()
	text, _ := s.Do(t, "info", "everything").(string)
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), field+":"); ok {
			return v
		}
	}
	return ""
}

// Eventually waits for something, however long a busy machine takes.
func Eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not in %s: %v", what, patience, err)
		}
	}
}
