package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
)

// demoSpeed is how many times as fast as documented the demo's quotas refill, and
// with them cloudpace's limits: as much as lets it end in well under a minute.
// Tests, which are not watched, raise it.
var demoSpeed = 2.0

// demo is a simulated cloud in this process. Nothing leaves it: its network is in
// memory, and its credentials open nothing else.
type demo struct {
	profile   sim.Profile
	server    *sim.Server
	transport *http.Transport
	stop      context.CancelFunc
	ended     chan error
}

// startDemo lets it answer until it is closed.
func startDemo(ctx context.Context, front sim.Front, p sim.Profile) (*demo, error) {
	d := &demo{profile: p, ended: make(chan error, 1)}
	var err error
	if d.server, err = sim.New(front, d.profile); err != nil {
		return nil, err
	}
	network := sim.NewMemory()
	d.transport = &http.Transport{DialContext: network.Dial, MaxIdleConnsPerHost: 256}
	// It outlives an interruption: the calls under way are to end in their own way.
	ctx, d.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() { d.ended <- d.server.Serve(ctx, network) }()
	return d, nil
}

// close ends it, with all that still waits for it.
func (d *demo) close() error {
	d.stop()
	err := <-d.ended
	d.transport.CloseIdleConnections()
	return err
}

// demos are the clouds of a demo.
type demos map[*cloud]*demo

// startDemos starts one for each provider.
func startDemos(ctx context.Context, clouds []*cloud) (demos, error) {
	list := make(demos)
	for _, c := range clouds {
		d, err := startDemo(ctx, c.demo.front(), c.demo.profile(c.demo.speed()))
		if err != nil {
			return nil, errors.Join(err, list.close())
		}
		list[c] = d
	}
	return list, nil
}

func (list demos) close() (err error) {
	for _, d := range list {
		err = errors.Join(err, d.close())
	}
	return err
}

// greet says what is to be seen.
func (list demos) greet(w io.Writer, clouds []*cloud) {
	for _, c := range clouds {
		d := list[c]
		fmt.Fprintf(w, "Demo: a simulated %s. Its quotas refill %g times as fast as %s's, and cloudpace's limits are as many times the usual.\n", c.demo.what(d.server.Estate()), d.profile.Speed, c.title)
	}
	fmt.Fprintln(w, "All of it is in this process: nothing is sent, and nothing of yours is read.")
}

// whole sends a request's body in one piece. The SDK closes a body once the answer
// is there, and net/http may look into it until a moment after the last byte has
// left; then it takes the connection for broken. No cloud answers that quickly, but
// one in the same process does when the machine is busy.
type whole struct{ next http.RoundTripper }

// RoundTrip sends a copy of the request.
func (w whole) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return w.next.RoundTrip(r)
	}
	text, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(text))
	r.ContentLength = int64(len(text))
	return w.next.RoundTrip(r)
}

// demoSettings scales the limits as the demo's quotas are: what is built in or
// configured for each of its providers, times its speed. Bursts stay, here as there.
func demoSettings(c cloudpace.Config, clouds []*cloud) cloudpace.Config {
	providers := make(map[string]cloudpace.Provider, len(c.Providers))
	for name, p := range c.Providers {
		providers[name] = p
	}
	for _, cloud := range clouds {
		providers[cloud.provider] = scaled(c.Provider(cloud.provider), cloud.demo.speed())
	}
	c.Providers = providers
	for _, cloud := range clouds {
		cloud.demo.patience(&c)
	}
	return c
}

func scaled(p cloudpace.Provider, speed float64) cloudpace.Provider {
	scale := func(rate, burst *float64) {
		if *burst == 0 {
			*burst = 2 * *rate // what it means
		}
		*rate *= speed
	}
	scale(&p.MaxRPS, &p.Burst)
	scale(&p.AccountMaxRPS, &p.AccountBurst)
	scale(&p.GlobalMaxRPS, &p.GlobalBurst)
	p.MinRPS *= speed
	services := make(map[string]cloudpace.Service, len(p.Services))
	for name, s := range p.Services {
		scale(&s.MaxRPS, &s.Burst)
		scale(&s.WriteMaxRPS, &s.WriteBurst)
		services[name] = s
	}
	p.Services = services
	return p
}
