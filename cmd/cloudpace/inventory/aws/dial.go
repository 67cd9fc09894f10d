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
	// Three hosts of a region, or three tries of one host, that take no connection
	// are enough to let the region be for a while: each further one would cost the
	// connect timeout, times services, times attempts (F09).
	deadAfter = 3
	deadFor   = 60 * time.Second
)

// dialer connects, and spares hosts that take no connection. The hosts of a region
// share what is known: a network that cannot reach one of them reaches none.
type dialer struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu    sync.Mutex
	known map[string]*breaker.Breaker
}

func newDialer(dial func(context.Context, string, string) (net.Conn, error)) *dialer {
	return &dialer{dial: dial, known: make(map[string]*breaker.Breaker)}
}

// DialContext is for http.Transport.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	place := placeOf(host)
	b := d.of(place)
	ticket, ok, wait, cause := b.Enter(time.Now(), breaker.Ticket{})
	if !ok {
		return nil, &deadError{place: place, wait: wait, err: cause}
	}
	conn, err := d.dial(ctx, network, address)
	outcome := breaker.Failure
	var dns *net.DNSError
	switch {
	case err == nil:
		outcome = breaker.Success
	case ctx.Err() != nil, errors.As(err, &dns) && dns.IsNotFound:
		outcome = breaker.Neutral // the caller left; a name that is not there answers at once
	}
	b.Report(time.Now(), ticket, outcome, err)
	return conn, err
}

func (d *dialer) of(place string) *breaker.Breaker {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.known[place]
	if b == nil {
		b = breaker.New(deadAfter, deadFor)
		d.known[place] = b
	}
	return b
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
