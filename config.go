package cloudpace

import (
	"cmp"
	"maps"
	"math"
	"time"
)

// Config holds every setting of a [Governor]. Its fields are explicit values,
// zero is zero: start from [DefaultConfig] and change what you need, or read a
// file with the config package.
//
// A Config is plain data. [New] and [Governor.Configure] copy what they are
// given, so a Config may be changed and used again afterwards.
type Config struct {
	// Enabled false switches all governing off: nothing is paced, no slot,
	// breaker or budget applies, and Do calls once. The zero Config is thus a
	// governor that lets everything pass.
	Enabled bool

	// Providers has the limits of each provider by name. A provider that is not
	// in the map starts from [DefaultProvider].
	Providers map[string]Provider

	// AWS, Azure and Databricks are read by the wirings of those names.
	AWS        AWSConfig
	Azure      AzureConfig
	Databricks DatabricksConfig
}

// Provider holds the limits of one provider.
type Provider struct {
	Enabled bool // false: calls of this provider pass ungoverned

	// MaxRPS and Burst are those of a leaf bucket that has no entry in Services.
	// MaxRPS is in calls per second. A Burst of 0 means twice the rate, and no
	// burst is below 1.
	MaxRPS, Burst float64
	// AccountMaxRPS and AccountBurst are one more bucket over all leaves of an
	// account; a rate of 0 means there is none.
	AccountMaxRPS, AccountBurst float64
	// GlobalMaxRPS and GlobalBurst are one more bucket over the whole provider; a
	// rate of 0 means there is none.
	GlobalMaxRPS, GlobalBurst float64

	MaxConcurrency int // calls in flight per account, 1 to 1024

	Adaptive   bool       // leaves learn from throttles
	Controller Controller // how they learn; empty means ControllerAIMD
	Ceiling    Ceiling    // empty means CeilingHard
	MinRPS     float64    // the adaptive floor of a leaf, in calls per second
	MaxPause   time.Duration

	BreakerThreshold int // failed operations in a row that open a circuit
	BreakerCooldown  time.Duration

	MaxRetries  int           // of Do, after the first attempt
	MaxBackoff  time.Duration // the longest back-off of Do; a server's hint may be longer
	Deadline    time.Duration // for one Do with all its attempts and waits
	RetryBudget int           // tokens for retries beyond the free ones, shared by all calls

	// Services has the limits of leaves by service ("lambda") or by service and
	// operation ("cloudasset.ListAssets"); the longer name wins.
	Services map[string]Service

	// operations are the built-in limits of single operations of services that are
	// kept per operation. A Services entry for the operation goes before, and one
	// for the service bounds them.
	operations map[string]limits
}

// Service holds the limits of one service's leaves.
type Service struct {
	MaxRPS, Burst float64 // as in Provider
	// PerOperation gives each operation a bucket and a breaker of its own.
	PerOperation bool
	// WriteMaxRPS and WriteBurst, where not zero, are the limits of operations
	// that change things, which is told by the name: all but Describe…, Get…,
	// List… and Search…. They need PerOperation.
	WriteMaxRPS, WriteBurst float64
	Controller              Controller // empty: the provider's
	Ceiling                 Ceiling    // empty: the provider's
}

// Controller names how a leaf's rate follows what the provider answers.
type Controller string

const (
	// ControllerAIMD halves the rate on a throttle and raises it step by step
	// afterwards.
	ControllerAIMD Controller = "aimd"
	// ControllerLearn finds out the rate and the burst that the server has, and keeps
	// to them: a throttle is a measurement for it, and it probes from time to time,
	// more rarely the surer it is, whether there is more to be had. It goes beyond
	// MaxRPS and Burst where the Ceiling is soft. It has no part in buckets above the
	// leaves, nor where Adaptive is false or MaxRPS is +Inf.
	ControllerLearn Controller = "learn"
)

// Ceiling says whether MaxRPS is a promise or a first guess.
type Ceiling string

const (
	CeilingHard Ceiling = "hard" // never above MaxRPS
	CeilingSoft Ceiling = "soft" // a controller that learns may probe past MaxRPS
)

// AWSConfig holds what is particular to the AWS wiring.
type AWSConfig struct {
	RetryMode  string // the SDK's own retry mode: "standard" or "adaptive"
	MaxRetries int    // the SDK's own retries, counted after the first attempt
}

// AzureConfig holds what is particular to the Azure wiring.
type AzureConfig struct {
	GraphMaxRetries int // of a Resource Graph page whose client is not governed
}

// DatabricksConfig holds what is particular to the Databricks transport.
type DatabricksConfig struct {
	Retry DatabricksRetry
}

// DatabricksRetry is the retry schedule of the Databricks transport.
type DatabricksRetry struct {
	DelayMin, DelayMax, Duration, DelayDefault time.Duration
	Attempts                                   int
}

// Provider gives the settings of a provider: its entry, or [DefaultProvider]
// where there is none.
func (c Config) Provider(name string) Provider {
	if p, ok := c.Providers[name]; ok {
		return p
	}
	return DefaultProvider()
}

// clone copies what maps share.
func (c Config) clone() Config {
	c.Providers = maps.Clone(c.Providers)
	for name, p := range c.Providers {
		p.Services = maps.Clone(p.Services)
		c.Providers[name] = p
	}
	return c
}

// limits are a bucket's, with the documented defaults filled in.
type limits struct{ rate, burst float64 }

// learning tells whether the leaf of an operation of a service learns, and whether it may
// go beyond its limits then.
func (p *Provider) learning(service, operation string) (learn, soft bool) {
	controller, ceiling := p.Controller, p.Ceiling
	s, ok := p.Services[service+"."+operation]
	if !ok || operation == "" {
		s = p.Services[service]
	}
	controller, ceiling = cmp.Or(s.Controller, controller), cmp.Or(s.Ceiling, ceiling)
	return p.Adaptive && controller == ControllerLearn, ceiling == CeilingSoft
}

func newLimits(rate, burst float64) limits {
	if burst == 0 {
		burst = 2 * rate
	}
	return limits{rate: rate, burst: math.Max(1, burst)}
}

// leaf tells the limits of the leaf that an operation of a service is in, and
// whether that leaf is the operation's own (S3.2).
func (p *Provider) leaf(service, operation string) (l limits, own bool) {
	if operation != "" {
		if s, ok := p.Services[service+"."+operation]; ok {
			return newLimits(s.MaxRPS, s.Burst), true
		}
	}
	s, ok := p.Services[service]
	if !ok {
		return newLimits(p.MaxRPS, p.Burst), false
	}
	l = newLimits(s.MaxRPS, s.Burst)
	if !s.PerOperation || operation == "" {
		return l, false
	}
	if row, ok := p.operations[service+"."+operation]; ok {
		// What is configured for the service bounds each of its operations.
		return limits{math.Min(row.rate, l.rate), math.Min(row.burst, l.burst)}, true
	}
	if s.WriteMaxRPS > 0 && !readsOnly(operation) {
		l = newLimits(s.WriteMaxRPS, s.WriteBurst)
	}
	return l, true
}
