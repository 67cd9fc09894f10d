package redisstore

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/cloudpace/cloudpace/fleet"
)

// Options are what a URL does not say. The zero Options are the default.
type Options struct {
	// Prefix is how the names of all keys begin, "cloudpace" where it is empty. Members
	// share what has the same prefix.
	Prefix string
	// Timeout is how long connecting, sending and an answer may take, each; a call with
	// all of it takes at most twice as long. 0 is 250 ms. Nothing that is paced waits
	// for it: what waits is only that a member learns that Redis is gone.
	Timeout time.Duration
	// TLS is for rediss URLs, where the system's certificates are not the right ones. Only
	// [Open] uses it.
	TLS *tls.Config
}

const (
	defaultPrefix  = "cloudpace"
	defaultTimeout = 250 * time.Millisecond
)

// New makes a store on a client of the caller's, which stays the caller's to close. What
// Options say of connecting is the client's affair. Calls are never sent twice, whatever
// the client is set to: an answer that is lost counts as granted.
func New(client redis.UniversalClient, o Options) *Store {
	s := &Store{client: client, server: "redis", prefix: o.Prefix, timeout: o.Timeout, slots: map[string]map[string]bool{}}
	if s.prefix == "" {
		s.prefix = defaultPrefix
	}
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	return s
}

// quiet is where the client's log goes: what matters in it comes back as errors.
type quiet struct{}

// Printf drops a line.
func (quiet) Printf(context.Context, string, ...any) {}

var silence = sync.OnceFunc(func() { redis.SetLogger(quiet{}) })

// Open connects to the Redis or Valkey of a URL, which is one of
//
//	redis://[user:password@]host[:6379][/db]
//	unix://[user:password@]/path/to/socket[?db=0]
//	redis+sentinel://[user:password@]host[:26379][,host…]/master[?db=0&sentinel_username=…&sentinel_password=…]
//	redis+cluster://[user:password@]host[:6379][,host…]
//
// and with rediss in place of redis goes over TLS. It tries what members will do, so that
// a wrong password, database or certificate, a replica, a user without the rights, memory
// that is full and a version before 6.2 come to light here, as an [*Error].
//
// The client library writes to standard error of itself; Open ends that, for the whole
// process. A logger that is set by redis.SetLogger after the first Open stays.
func Open(ctx context.Context, rawURL string, o Options) (*Store, error) {
	silence()
	t, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	s := New(nil, o)
	s.owned, s.server = true, t.server
	s.client = t.connect(o.TLS, s.timeout)
	if err := s.try(ctx); err != nil {
		_ = s.client.Close()
		return nil, err
	}
	return s, nil
}

// target is what a URL names.
type target struct {
	server  string // the URL without secrets
	kind    string // "", "unix", "sentinel" or "cluster"
	tls     bool
	hosts   []string
	master  string
	db      int
	user    *url.Userinfo
	queries url.Values
}

// parse reads a URL. Its errors do not quote it, since a part of a password could be
// anywhere in a URL that is not one.
func parse(raw string) (t target, err error) {
	bad := func(format string, args ...any) (target, error) {
		return t, &Error{Reason: BadURL, Err: fmt.Errorf(format, args...)}
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return bad("it has no scheme (allowed: redis, rediss, unix, redis+sentinel, rediss+sentinel, redis+cluster, rediss+cluster)")
	}
	base, kind, _ := strings.Cut(strings.ToLower(scheme), "+")
	switch {
	case base == "unix" && kind == "":
		t.kind = "unix"
	case (base == "redis" || base == "rediss") && (kind == "" || kind == "sentinel" || kind == "cluster"):
		t.kind, t.tls = kind, base == "rediss"
	default:
		return bad("its scheme is unknown (allowed: redis, rediss, unix, redis+sentinel, rediss+sentinel, redis+cluster, rediss+cluster)")
	}
	// A URL has one host; a list of them is taken out before the rest is read.
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	user, hosts := "", rest[:end]
	if i := strings.LastIndexByte(hosts, '@'); i >= 0 {
		user, hosts = hosts[:i+1], hosts[i+1:]
	}
	u, err := url.Parse("redis://" + user + "host" + rest[end:])
	if err != nil {
		return bad("it cannot be read; what is special in a user name or password, like / or #, is to be written as %%2F or %%23")
	}
	t.user, t.queries = u.User, u.Query()
	port := "6379"
	if t.kind == "sentinel" {
		port = "26379"
	}
	for _, h := range strings.Split(hosts, ",") {
		if h, err = address(h, port); err != nil {
			return bad("a host in it cannot be read")
		}
		t.hosts = append(t.hosts, h)
	}
	if err := t.path(strings.Trim(u.Path, "/"), u.Path); err != nil {
		return bad("%w", err)
	}
	for key, values := range t.queries {
		switch {
		case key == "db" && (t.kind == "unix" || t.kind == "sentinel"):
			if t.db, err = strconv.Atoi(values[0]); err != nil || t.db < 0 {
				return bad("its database is not a number")
			}
		case (key == "sentinel_username" || key == "sentinel_password") && t.kind == "sentinel":
		default:
			// Its name may be the rest of a password with a question mark in it.
			return bad("it has a parameter that is unknown here (allowed: db for unix; db, sentinel_username, sentinel_password for Sentinel)")
		}
	}
	t.server = t.name(strings.ToLower(scheme))
	return t, nil
}

// address adds the port to a host that has none. An empty one stays empty.
func address(host, port string) (string, error) {
	if host == "" {
		return "", nil
	}
	u, err := url.Parse("redis://" + host)
	if err != nil {
		return "", err
	}
	if u.Hostname() == "" || u.Host != host || strings.Count(u.Hostname(), ":") == 1 {
		return "", fmt.Errorf("%q is no host", host)
	}
	if p := u.Port(); p != "" {
		port = p
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("%q is no port", port)
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// path takes what is behind the hosts.
func (t *target) path(trimmed, whole string) (err error) {
	single := len(t.hosts) == 1
	switch {
	case t.kind == "unix":
		if t.hosts[0] != "" || trimmed == "" {
			return fmt.Errorf("it has to name a socket by an absolute path: unix:///path/to/socket")
		}
		t.hosts = []string{whole}
		return nil
	case t.kind == "" && !single:
		return fmt.Errorf("it names several hosts; for Sentinel it begins with redis+sentinel, for Cluster with redis+cluster")
	case t.hosts[0] == "":
		return fmt.Errorf("it names no host")
	case t.kind == "sentinel" && trimmed == "":
		return fmt.Errorf("it does not name the master: redis+sentinel://host:26379/master")
	case t.kind == "sentinel":
		t.master = trimmed
	case t.kind == "cluster" && trimmed != "":
		return fmt.Errorf("a cluster has no databases")
	case trimmed != "":
		if t.db, err = strconv.Atoi(trimmed); err != nil || t.db < 0 {
			return fmt.Errorf("its database is not a number")
		}
	}
	return nil
}

// name is the URL without secrets.
func (t *target) name(scheme string) string {
	s := scheme + "://" + strings.Join(t.hosts, ",")
	switch {
	case t.master != "":
		s += "/" + t.master
		if t.db > 0 {
			s += "?db=" + strconv.Itoa(t.db)
		}
	case t.kind == "unix" && t.db > 0:
		s += "?db=" + strconv.Itoa(t.db)
	case t.db > 0:
		s += "/" + strconv.Itoa(t.db)
	}
	return s
}

// connect makes the client. It repeats nothing by itself: see once.
func (t *target) connect(secure *tls.Config, timeout time.Duration) redis.UniversalClient {
	password, _ := t.user.Password()
	o := &redis.UniversalOptions{
		Addrs: t.hosts, DB: t.db, MasterName: t.master, IsClusterMode: t.kind == "cluster",
		Username: t.user.Username(), Password: password,
		SentinelUsername: t.queries.Get("sentinel_username"), SentinelPassword: t.queries.Get("sentinel_password"),
		DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout, PoolTimeout: timeout,
		ContextTimeoutEnabled: true,
		MaxRetries:            -1, DialerRetries: 1, // another attempt is the next call's
		PipelinePoolSize: -1, // one kind of connection is enough
		// What older servers do not know, and nobody needs here.
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if t.tls {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		if secure != nil {
			o.TLSConfig = secure.Clone()
		}
	}
	return redis.NewUniversalClient(o)
}

// try does once what members do.
func (s *Store) try(ctx context.Context) error {
	if err := s.version(ctx); err != nil {
		return err
	}
	id := "trying-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if _, err := s.Present(ctx, fleet.Member{ID: id}, time.Millisecond); err != nil {
		return err
	}
	return s.Leave(ctx, id)
}

// version asks for the server's version.
func (s *Store) version(ctx context.Context) error {
	hello, err := s.client.Do(ctx, "hello", "2").Result()
	switch {
	case redis.HasErrorPrefix(err, "unknown command"):
		return &Error{Reason: TooOld, Server: s.server, Err: err}
	case err != nil:
		return s.fault(ctx, "", err)
	}
	list, _ := hello.([]any)
	for i := 0; i+1 < len(list); i += 2 {
		if v, ok := list[i+1].(string); ok && list[i] == "version" && old(v) {
			return &Error{Reason: TooOld, Server: s.server, Err: fmt.Errorf("it is %s", v)}
		}
	}
	return nil
}

// old tells a version before 6.2. One that cannot be read is taken for new.
func old(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major < 6 || major == 6 && minor < 2
}
