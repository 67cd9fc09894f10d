package pacedatabricks

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/internal/databricks"
)

// Option is an extra of [NewTransport].
type Option func(*transport)

// WithGovernor uses g instead of [cloudpace.Default]. A nil g changes nothing.
func WithGovernor(g *cloudpace.Governor) Option {
	return func(t *transport) {
		if g != nil {
			t.governor = g
		}
	}
}

// WithLogger says where failed connections are logged, and the warning about
// settings out of range. Without it, and with nil, that is [slog.Default].
func WithLogger(log *slog.Logger) Option { return func(t *transport) { t.log = log } }

// WithRetry changes the schedule of repetitions.
func WithRetry(r Retry) Option { return func(t *transport) { t.retry = r } }

// NewTransport gives a RoundTripper that repeats what is safe to repeat and paces
// everything by a governor, on top of base; a nil base is [http.DefaultTransport].
// The schedule is settled here: what is configured later changes it no more. The
// error is that of a schedule that contradicts itself.
//
// base should have a time-out for the headers of an answer
// (http.Transport.ResponseHeaderTimeout), since an attempt under way is never cut
// by this transport. It should neither repeat requests itself nor make others under
// a request's context (to get a token, say): those would be taken for its resends.
func NewTransport(base http.RoundTripper, opts ...Option) (http.RoundTripper, error) {
	t := &transport{base: base}
	if t.base == nil {
		t.base = http.DefaultTransport
	}
	for _, o := range opts {
		o(t)
	}
	if t.governor == nil {
		t.governor = cloudpace.Default()
	}
	t.retry.setDefaults(t.governor.Config().Databricks.Retry)
	warning := t.retry.clamp()
	if err := t.retry.check(); err != nil {
		return nil, err
	}
	if warning != "" {
		t.logger().Warn("databricks retry settings out of range", "settings", warning)
	}
	return t, nil
}

type transport struct {
	base     http.RoundTripper
	governor *cloudpace.Governor
	log      *slog.Logger
	retry    Retry

	http2 atomic.Bool // an answer has come over HTTP/2
}

func (t *transport) logger() *slog.Logger {
	if t.log != nil {
		return t.log
	}
	return slog.Default()
}

// CloseIdleConnections reaches base, for http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// RoundTrip sends one request, as often as it takes. What is neither Thrift nor
// the REST API passes through, once and ungoverned.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := &exchange{transport: t, req: req, start: time.Now()}
	known, err := x.read()
	if err != nil {
		return nil, err
	}
	if !known {
		return t.base.RoundTrip(x.req)
	}
	return x.run()
}

// scope is where a request is counted and paced.
func scope(req *http.Request, c *databricks.Command) cloudpace.Scope {
	return cloudpace.Scope{Provider: "databricks", Account: databricks.Workspace(req.URL), Service: c.Service, Operation: c.Name}
}

type ownerKey struct{}

// WithOwner says for whom requests under ctx are made, where a driver has detached
// ctx from its caller, as Go's SQL driver does for its polls. When owner ends, or
// where its deadline is too near, such a request is not repeated any more. An
// attempt under way is not cut, nor is the first attempt withheld: what closes an
// operation has to be sent for a caller who has left, too.
func WithOwner(ctx, owner context.Context) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

var _ http.RoundTripper = (*transport)(nil)
