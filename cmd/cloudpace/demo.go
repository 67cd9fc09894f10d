package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/cloudpace/cloudpace"
	inventoryaws "github.com/cloudpace/cloudpace/cmd/cloudpace/inventory/aws"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	simaws "github.com/cloudpace/cloudpace/cmd/cloudpace/sim/aws"
)

// demoSpeed is how many times as fast as documented the demo's quotas refill, and
// with them cloudpace's limits: as much as lets it end in well under a minute.
// Tests, which are not watched, raise it.
var demoSpeed = 2.0

const (
	// What the demo's cloud has besides the things that it has so many of for a
	// reason.
	demoAssets = 9_000
	// Images in each account and region: each takes a call of its own, of which EC2
	// grants 100 at once and 20 a second, so that they are what is waited for.
	demoImages = 600
	// Functions likewise: three pages of them, so that a listing can end after two.
	demoFunctions = 120
	// The demo waits less for a service that is down: the SDK's pauses between
	// retries are not a quota, and do not get shorter with the quotas.
	demoRetries = 6
)

// What goes wrong in the demo, and where. A test holds the coverage against it.
const (
	demoBusyRegion   = "us-east-1"      // a neighbour uses half of EC2's quotas
	demoDeniedRegion = "ap-southeast-2" // a policy of the organization forbids it
	demoDownRegion   = "eu-central-1"   // SQS is down
	demoCutRegion    = "eu-west-1"      // the list of Lambda functions leads back to itself
	demoCutAccount   = "444455556666"   // in this account
)

// demoExcludes are the flags that say what is read. The demo says that itself.
var demoExcludes = []string{"profile", "role-arn", "external-id", "regions", "endpoint-url"}

// demoProfile is the simulated organization.
func demoProfile(speed float64) sim.Profile {
	p := sim.Default(simaws.New())
	p.Name, p.Seed, p.Speed = "demo", 7, speed
	p.Estate = sim.EstateConfig{
		Accounts: sim.ExampleAccounts(3),
		Regions:  []string{demoBusyRegion, demoCutRegion, demoDownRegion, demoDeniedRegion},
		Assets:   demoAssets,
		Types:    map[string]int{"AWS::EC2::Image": demoImages, "AWS::Lambda::Function": demoFunctions},
	}
	const half = 10 // of the 20 a second that EC2 grants to each Describe
	p.Neighbours = []sim.Neighbour{{Match: sim.Match{Region: sim.Patterns{demoBusyRegion}, Service: sim.Patterns{"ec2"}}, Rate: half}}
	p.Faults = []sim.Fault{
		// Nothing in the same process is as far away as a cloud is.
		{Kind: sim.Latency, Seconds: 0.01 * speed},
		{Kind: sim.DeniedByPolicy, Match: sim.Match{
			Region: sim.Patterns{demoDeniedRegion}, Service: regionalServices(),
		}},
		{Kind: sim.HTTP500, Match: sim.Match{Region: sim.Patterns{demoDownRegion}, Service: sim.Patterns{"sqs"}}},
		{Kind: sim.RepeatToken, Match: sim.Match{
			Account: sim.Patterns{demoCutAccount}, Region: sim.Patterns{demoCutRegion}, Operation: sim.Patterns{"ListFunctions"}, Page: 2,
		}},
	}
	return p
}

// regionalServices are those that are read region by region. A bucket's region is
// asked about it although S3 is read once.
func regionalServices() (list sim.Patterns) {
	for _, k := range inventoryaws.Kinds() {
		if !k.Global && !slices.Contains(list, k.Service) {
			list = append(list, k.Service)
		}
	}
	return list
}

// demo is a simulated organization in this process. Nothing leaves it: its network
// is in memory, and its credentials open nothing else.
type demo struct {
	profile   sim.Profile
	server    *sim.Server
	transport *http.Transport
	stop      context.CancelFunc
	ended     chan error
}

// startDemo lets it answer until it is closed.
func startDemo(ctx context.Context, p sim.Profile) (*demo, error) {
	d := &demo{profile: p, ended: make(chan error, 1)}
	var err error
	if d.server, err = sim.New(simaws.New(), d.profile); err != nil {
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

// accounts are those of the organization, each with what opens it. The user's own
// environment and files are not looked at.
func (d *demo) accounts(governor *cloudpace.Governor) (list []inventoryaws.Options) {
	for _, id := range d.profile.Estate.Accounts {
		list = append(list, inventoryaws.Options{Governor: governor, Config: &aws.Config{
			Region:       demoBusyRegion,
			Credentials:  credentials.NewStaticCredentialsProvider(simaws.AccessKey(id), "simulated", ""),
			BaseEndpoint: aws.String("http://simulated"),
			HTTPClient:   &http.Client{Transport: whole{d.transport}},
		}})
	}
	return list
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

// greet says what is to be seen.
func (d *demo) greet(w io.Writer) {
	e := d.profile.Estate
	fmt.Fprintf(w, "Demo: a simulated organization. Its quotas refill %g times as fast as AWS's, and cloudpace's limits are %[1]g times the usual.\n", d.profile.Speed)
	fmt.Fprintf(w, "It has %s in %s and %s. It is in this process: nothing is sent, and nothing of yours is read.\n",
		count(d.server.Estate().Total(), "asset"), count(len(e.Accounts), "account"), count(len(e.Regions), "region"))
}

// demoSettings scales the limits as the demo's quotas are: what is built in or
// configured for AWS, times the speed. Bursts stay, here as there.
func demoSettings(c cloudpace.Config, speed float64) cloudpace.Config {
	p := c.Provider(inventoryaws.Provider)
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
	providers := map[string]cloudpace.Provider{inventoryaws.Provider: p}
	for name, other := range c.Providers {
		if name != inventoryaws.Provider {
			providers[name] = other
		}
	}
	c.Providers = providers
	c.AWS.MaxRetries = min(c.AWS.MaxRetries, demoRetries)
	return c
}

// demoConflict finds a flag that says what the demo says itself.
func demoConflict(changed func(string) bool) error {
	if i := slices.IndexFunc(demoExcludes, changed); i >= 0 {
		return usage("--demo and --%s exclude each other: the demo reads nothing but what it simulates", demoExcludes[i])
	}
	return nil
}
