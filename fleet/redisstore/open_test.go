package redisstore_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/fleet/internal/redistest"
	"github.com/cloudpace/cloudpace/fleet/redisstore"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// secret is a password that must never be told.
const secret = "hunter/2#:@?"

var escaped = "hunter%2F2%23%3A%40%3F"

// fails opens a store that cannot be opened, and looks at why.
func fails(t *testing.T, url string, o redisstore.Options, reason redisstore.Reason) {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = patient
	}
	s, err := redisstore.Open(t.Context(), url, o)
	if err == nil {
		s.Close()
		t.Fatalf("%s opens", url)
	}
	var e *redisstore.Error
	if !errors.As(err, &e) || e.Reason != reason {
		t.Errorf("%s: %v\nwant %q", url, err, reason)
	}
	for _, part := range []string{secret, escaped, "hunter"} {
		if strings.Contains(err.Error(), part) {
			t.Errorf("the password is told: %v", err)
		}
	}
}

// works asks for something of each kind.
func works(t *testing.T, s fleet.Store) {
	t.Helper()
	l := sharing.Limits{Rate: 100, Burst: 100}
	for range 3 { // again, so that members go, too
		if g, err := s.Exchange(t.Context(), "a", []fleet.BucketAsk{{Key: "k", Ask: sharing.Ask{Limits: l, Want: 1}}}); err != nil || g[0].Err != nil {
			t.Errorf("Exchange: %+v, %v", g, err)
		}
		if g, err := s.Slots(t.Context(), "a", []fleet.SlotsAsk{{Key: "k", SlotAsk: sharing.SlotAsk{Max: 1, Want: 1, Lasts: time.Second}}}); err != nil || g[0].Err != nil {
			t.Errorf("Slots: %+v, %v", g, err)
		}
		if _, err := s.Present(t.Context(), fleet.Member{ID: "a"}, time.Second); err != nil {
			t.Errorf("Present: %v", err)
		}
		if st, err := s.Status(t.Context()); err != nil || len(st.Buckets) == 0 {
			t.Errorf("Status: %+v, %v", st, err)
		}
		if err := s.Leave(t.Context(), "a"); err != nil {
			t.Errorf("Leave: %v", err)
		}
	}
}

func TestOpenPassword(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", secret, "--unixsocket", "socket")
	fails(t, "redis://"+server.Addr, redisstore.Options{}, redisstore.Refused)
	fails(t, "redis://:wrong@"+server.Addr, redisstore.Options{}, redisstore.Refused)
	fails(t, "redis://nobody:"+escaped+"@"+server.Addr, redisstore.Options{}, redisstore.Refused)
	fails(t, "redis://:"+escaped+"@"+server.Addr+"/99", redisstore.Options{}, redisstore.NoDatabase)
	works(t, open(t, "redis://:"+escaped+"@"+server.Addr+"/3"))
	s := open(t, "redis://default:"+escaped+"@"+server.Addr+"/3")
	if st, err := s.Status(t.Context()); err != nil || st.Store != "redis://"+server.Addr+"/3" {
		t.Errorf("the store is called %q, %v", st.Store, err)
	}
	works(t, open(t, "unix://:"+escaped+"@"+filepath.Join(server.Dir, "socket")+"?db=4"))
	fails(t, "unix:///no/such/socket", redisstore.Options{}, redisstore.Unreachable)
}

func TestOpenTLS(t *testing.T) {
	t.Parallel()
	server, roots := redistest.StartTLS(t)
	fails(t, "rediss://"+server.Addr, redisstore.Options{}, redisstore.Untrusted)
	fails(t, "redis://"+server.Addr, redisstore.Options{}, redisstore.Unreachable)
	trusting := redisstore.Options{TLS: &tls.Config{RootCAs: roots}, Timeout: patient}
	works(t, openWith(t, "rediss://"+server.Addr, trusting))
	wrong := trusting
	wrong.TLS = &tls.Config{RootCAs: roots, ServerName: "other.example.com"}
	fails(t, "rediss://"+server.Addr, wrong, redisstore.Untrusted)
	plain := redistest.Start(t)
	fails(t, "rediss://"+plain.Addr, redisstore.Options{Timeout: 300 * time.Millisecond}, redisstore.Timeout)
}

// A user with the rights that the documentation lists can do everything, one without
// scripts is told so.
func TestOpenWithFewRights(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	server.Do(t, "acl", "setuser", "few", "on", ">"+secret, "~cloudpace:*", "+hello", "+eval", "+evalsha", "+time",
		"+hgetall", "+hset", "+hdel", "+del", "+pexpire", "+scan")
	works(t, openWith(t, "redis://few:"+escaped+"@"+server.Addr, redisstore.Options{Timeout: patient}))
	fails(t, "redis://few:"+escaped+"@"+server.Addr, redisstore.Options{Prefix: "other"}, redisstore.Forbidden)
	server.Do(t, "acl", "setuser", "none", "on", ">"+secret, "~*", "+@all", "-@scripting")
	fails(t, "redis://none:"+escaped+"@"+server.Addr, redisstore.Options{}, redisstore.Forbidden)
}

func TestOpenReplica(t *testing.T) {
	t.Parallel()
	master := redistest.Start(t)
	replica := redistest.Start(t, "--replicaof", fmt.Sprintf("127.0.0.1 %d", master.Port))
	fails(t, "redis://"+replica.Addr, redisstore.Options{}, redisstore.ReadOnly)
}

func TestOpenNowhere(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	server.Stop()
	fails(t, "redis://"+server.Addr, redisstore.Options{}, redisstore.Unreachable)
	fails(t, "redis+cluster://"+server.Addr, redisstore.Options{}, redisstore.Unreachable)
	fails(t, "redis+sentinel://"+server.Addr+"/main", redisstore.Options{Timeout: time.Second}, redisstore.Unreachable)
	mute, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	fails(t, "redis://"+mute.Addr().String(), redisstore.Options{Timeout: 50 * time.Millisecond}, redisstore.Timeout)
}

// What servers before 6.2 say to HELLO.
func TestOpenOldServers(t *testing.T) {
	t.Parallel()
	hello := func(version string) string {
		return fmt.Sprintf("*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$%d\r\n%s\r\n", len(version), version)
	}
	for answer, version := range map[string]string{
		hello("6.0.16"): "6.0.16",
		hello("6.1.9"):  "6.1.9",
		"-ERR unknown command `hello`, with args beginning with: `2`, \r\n": "",
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					for lines := bufio.NewScanner(c); lines.Scan(); {
						if strings.EqualFold(lines.Text(), "hello") {
							fmt.Fprint(c, answer)
						}
					}
				}()
			}
		}()
		_, err = redisstore.Open(t.Context(), "redis://"+l.Addr().String(), redisstore.Options{Timeout: patient})
		var e *redisstore.Error
		if !errors.As(err, &e) || e.Reason != redisstore.TooOld || !strings.Contains(err.Error(), version) {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func TestOpenBadURLs(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"", "localhost", "localhost:6379", "http://host", "redis://", "redis:///0", "redis://a,b", "redis://host/x", "redis://host/-1",
		"redis://host:port", "redis://host?db=3", "redis://host/0?pool=3", "redis+ring://host", "unix+cluster:///x", "unix://", "unix://relative/path",
		"unix:///s?db=x", "redis+sentinel://host", "redis+sentinel://host/main?db=-1", "redis+cluster://host/3", "redis+cluster://",
		"redis://:hunter/2#:@?@host", "redis://:hunter 2@host", "redis://user:hunter%zz@host", "redis://:hunter@ho st",
		"redis://a:1:2", "hunter2://x", "redis://[::1/0",
	} {
		fails(t, url, redisstore.Options{}, redisstore.BadURL)
	}
}
