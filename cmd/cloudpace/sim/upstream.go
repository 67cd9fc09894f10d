package sim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// upstream passes requests on to another server.
type upstream struct {
	server    *Server
	target    *url.URL
	transport *http.Transport
	proxy     *httputil.ReverseProxy
}

// passing is the key under which a request's context has its call.
type passing struct{}

type passed struct {
	call  *Call
	visit *visit
}

func newUpstream(s *Server, target *url.URL) *upstream {
	u := &upstream{server: s, target: target, transport: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     30 * time.Second,
		DisableCompression:  true, // bodies are passed on as they are
	}}
	u.proxy = &httputil.ReverseProxy{
		Transport: u.transport,
		Rewrite:   func(r *httputil.ProxyRequest) { u.redirect(r) },
		ModifyResponse: func(r *http.Response) error {
			if p, ok := r.Request.Context().Value(passing{}).(passed); ok {
				p.visit.served(r.StatusCode)
			}
			return nil
		},
		ErrorHandler: u.failed,
		ErrorLog:     slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // the error handler has said it
	}
	return u
}

const dialTimeout = 5 * time.Second

// redirect keeps the host that the client named: it is signed, and emulators put
// it into the addresses that they answer with.
func (u *upstream) redirect(r *httputil.ProxyRequest) {
	r.SetURL(u.target)
	r.Out.Host = r.In.Host
}

func (u *upstream) serve(w http.ResponseWriter, r *http.Request, c *Call, v *visit) {
	u.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), passing{}, passed{c, v})))
}

func (u *upstream) failed(w http.ResponseWriter, r *http.Request, err error) {
	p, ok := r.Context().Value(passing{}).(passed)
	if !ok || r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client has left
	}
	p.visit.faulted("upstream")
	u.server.log.Error("upstream does not answer", "url", u.target.Redacted(), "service", p.call.Service, "operation", p.call.Operation, "error", err)
	u.server.front.Refuse(p.call, Refusal{Why: WhyBadGateway}).write(w)
}

// fetch gets a whole answer, for faults that spoil it.
func (u *upstream) fetch(r *http.Request) (Answer, error) {
	const most = 8 << 20
	out := r.Clone(r.Context())
	u.redirect(&httputil.ProxyRequest{In: r, Out: out})
	out.RequestURI = ""
	response, err := u.transport.RoundTrip(out)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err != nil {
		return Answer{}, err
	}
	response.Header.Del("Transfer-Encoding")
	return Answer{Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

// ParseUpstream reads the address of another server.
func ParseUpstream(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("upstream %q is not a URL like http://127.0.0.1:5000", text)
	}
	return u, nil
}

// Reachable asks the upstream for anything at all. Whatever it answers, it is
// there.
func (s *Server) Reachable(ctx context.Context) error {
	if s.upstream == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*dialTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.upstream.target.String(), bytes.NewReader(nil))
	if err != nil {
		return err
	}
	response, err := s.upstream.transport.RoundTrip(r)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op
		}
		return fmt.Errorf("upstream %s does not answer: %w", s.upstream.target.Redacted(), err)
	}
	return response.Body.Close()
}
