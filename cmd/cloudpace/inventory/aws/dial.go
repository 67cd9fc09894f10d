package aws

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"sync"
	"time"

	"github.com/cloudpace/cloudpace/internal/breaker"
)

const (
	// Three hosts of a region, or three tries of one host, that take no connection are
	// enough to let it be for a while: each further one would cost the
	// connect timeout, times services, times attempts (F09).
	deadAfter = 3
	deadFor   = 60 * time.Second
)

// dialer connects, and spares hosts that take no connection: each by itself, and all
// of a region when several of its hosts are so, for then it is the network and not
// the host.
type dialer struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	lookup func(ctx context.Context, host string) ([]string, error)

	mu      sync.Mutex
	there   string // a host that has taken a connection
	hosts   map[string]*breaker.Breaker
	regions map[string]*deadRegion
}

// deadRegion is what is known of a region's hosts.
type deadRegion struct {
	breaker *breaker.Breaker
	dead    map[string]bool // hosts that took no connection since one of them did
}

func newDialer(dial func(context.Context, string, string) (net.Conn, error)) *dialer {
	return &dialer{dial: dial, lookup: net.DefaultResolver.LookupHost, hosts: make(map[string]*breaker.Breaker), regions: make(map[string]*deadRegion)}
}

// DialContext is for http.Transport.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	own, region, place := d.of(host)
	now := time.Now()
	ticket, ok, wait, cause := own.Enter(now, breaker.Ticket{})
	if !ok {
		return nil, &deadError{place: host, wait: wait, err: cause}
	}
	shared, ok, wait, cause := region.breaker.Enter(now, breaker.Ticket{})
	if !ok {
		own.Report(now, ticket, breaker.Neutral, nil)
		return nil, &deadError{place: place, wait: wait, err: cause}
	}
	conn, err := d.dial(ctx, network, address)
	outcome := breaker.Failure
	var dns *net.DNSError
	switch {
	case err == nil:
		outcome = breaker.Success
		d.mu.Lock()
		d.there = host
		d.mu.Unlock()
	case ctx.Err() != nil:
		outcome = breaker.Neutral // the caller left
	case errors.As(err, &dns) && dns.IsNotFound:
		if there, lost := d.lost(ctx, host); lost {
			// No name is found any more, which says nothing about this one.
			err = &net.DNSError{Err: dns.Err + ", though " + there + " was there before and is not found either", Name: dns.Name, Server: dns.Server, IsTemporary: true}
			break
		}
		outcome = breaker.Neutral // a name that is not there answers at once
	}
	own.Report(time.Now(), ticket, outcome, err)
	region.breaker.Report(time.Now(), shared, d.heard(region, host, outcome), err)
	return conn, err
}

// lost tells whether names are not found any more that were found before: then it is
// the machine that has lost its network or its resolver, and a service whose name is
// not found may well be there.
func (d *dialer) lost(ctx context.Context, host string) (there string, lost bool) {
	d.mu.Lock()
	there = d.there
	d.mu.Unlock()
	if there == "" || there == host {
		return there, there != ""
	}
	_, err := d.lookup(ctx, there)
	return there, err != nil
}

// heard says what an outcome means for the region: a host that fails again says
// nothing new about it.
func (d *dialer) heard(r *deadRegion, host string, outcome breaker.Outcome) breaker.Outcome {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case outcome == breaker.Success || len(r.dead) >= deadAfter:
		clear(r.dead) // also when it has been let be, so that a try after that counts
	case outcome == breaker.Failure && r.dead[host]:
		return breaker.Neutral
	}
	if outcome == breaker.Failure {
		r.dead[host] = true
	}
	return outcome
}

func (d *dialer) of(host string) (own *breaker.Breaker, region *deadRegion, place string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if own = d.hosts[host]; own == nil {
		own = breaker.New(deadAfter, deadFor)
		d.hosts[host] = own
	}
	place = placeOf(host)
	if region = d.regions[place]; region == nil {
		region = &deadRegion{breaker: breaker.New(deadAfter, deadFor), dead: make(map[string]bool)}
		d.regions[place] = region
	}
	return own, region, place
}

var regionLabel = regexp.MustCompile(`\.([a-z]{2,4}(?:-[a-z]+)+-[0-9]+)\.`)

// placeOf is the region in a host's name, or the host.
func placeOf(host string) string {
	if m := regionLabel.FindStringSubmatch(host); m != nil {
		return m[1]
	}
	return host
}

// deadError says that no connection was tried.
type deadError struct {
	place string
	wait  time.Duration
	err   error // of the last try
}

func (e *deadError) Error() string {
	return fmt.Sprintf("%s takes no connections, next try in %s: %s", e.place, e.wait.Round(time.Second), e.err)
}

func (e *deadError) Unwrap() error { return e.err }

// RetryableError keeps the SDK from trying again, which would take its back-off and
// end the same.
func (e *deadError) RetryableError() bool { return false }
