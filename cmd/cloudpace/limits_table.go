package main

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/config"
)

// limitsDocument is what limits prints. Its fields are an interface to others.
type limitsDocument struct {
	Scope     string           `json:"scope,omitempty"` // that was asked about
	Enabled   figure           `json:"enabled"`
	Providers []providerLimits `json:"providers"`
	// Call is what a call has to pass, from the provider's bucket to the leaf's, where
	// the scope has a service.
	Call    []callBucket              `json:"call,omitempty"`
	File    string                    `json:"file"` // where what was learned is kept
	Learned []learnedScope            `json:"learned"`
	Budgets []cloudpace.LearnedBudget `json:"budgets"`
}

// figure is one value and where it is from.
type figure struct {
	Value  any    `json:"value"`            // a number, a text, or true or false; null is none
	From   string `json:"from"`             // "built in", a line of the file, or a variable
	Source string `json:"source,omitempty"` // what a built-in one goes by
}

// number makes a figure of a rate or a burst.
func number(x float64, from, source string) figure {
	if x == 0 || math.IsInf(x, 0) {
		return figure{nil, from, source}
	}
	return figure{x, from, source}
}

const builtIn = "built in"

// providerLimits are the limits of one provider.
type providerLimits struct {
	Provider string `json:"provider"`
	// BuiltIn false is one that begins with the general defaults.
	BuiltIn  bool          `json:"built_in"`
	Buckets  []bucketLimit `json:"buckets"`
	Settings []setting     `json:"settings"`
}

// The levels of buckets, as the library names them.
const (
	levelProvider = "provider"
	levelAccount  = "account"
	levelLeaf     = "leaf"
)

// bucketLimit is the limit of one kind of bucket.
type bucketLimit struct {
	Level string `json:"level"`
	// Name is the service's, or service.Operation; empty for leaves that have no entry.
	Name         string `json:"name,omitempty"`
	PerOperation bool   `json:"per_operation,omitempty"` // each operation has a leaf
	Writes       bool   `json:"writes,omitempty"`        // of operations that change things
	Own          bool   `json:"own,omitempty"`           // built in for this operation of a service
	RPS          figure `json:"rps"`
	Burst        figure `json:"burst"`
}

// setting is one that is no bucket's.
type setting struct {
	Key string `json:"key"` // in the configuration
	figure
}

// callBucket is one bucket that a call has to pass.
type callBucket struct {
	Level string `json:"level"`
	Scope string `json:"scope"`
	RPS   figure `json:"rps"`
	Burst figure `json:"burst"`
}

// tables makes the document's tables.
type tables struct {
	config  cloudpace.Config
	places  config.Places
	sources map[string]string
	// force and usual know the limits of a leaf, in force and as they are built in.
	force, usual *cloudpace.Governor
}

func newTables(c cloudpace.Config, places config.Places) (t tables, err error) {
	t = tables{config: c, places: places, sources: cloudpace.DefaultSources()}
	if t.force, err = cloudpace.New(switchedOn(c)); err != nil {
		return t, err
	}
	t.usual, err = cloudpace.New(cloudpace.DefaultConfig())
	return t, err
}

// inForce gives the limits in a part of the cloud.
func inForce(c cloudpace.Config, places config.Places, p part) (d *limitsDocument, err error) {
	t, err := newTables(c, places)
	if err != nil {
		return nil, err
	}
	d = &limitsDocument{
		Enabled: t.at("ratelimit.enabled", c.Enabled), Providers: []providerLimits{}, Learned: []learnedScope{}, Budgets: []cloudpace.LearnedBudget{},
	}
	names := slices.Sorted(maps.Keys(c.Providers))
	if p.Provider != "" {
		names, d.Scope = []string{p.Provider}, p.String()
	}
	for _, name := range names {
		d.Providers = append(d.Providers, t.provider(name))
	}
	if p.Service != "" {
		d.Call = t.call(p.Scope, d.Providers[0].Buckets)
	}
	return d, nil
}

// switchedOn has the limits also of what is disabled.
func switchedOn(c cloudpace.Config) cloudpace.Config {
	c.Enabled = true
	c.Providers = maps.Clone(c.Providers)
	for name, p := range c.Providers {
		p.Enabled = true
		c.Providers[name] = p
	}
	return c
}

// meant guesses which provider was meant by one that nobody knows.
func (d *limitsDocument) meant(p part) string {
	if p.Provider == "" || len(d.Providers) != 1 || d.Providers[0].BuiltIn {
		return ""
	}
	near, _ := inventory.Nearest(p.Provider, slices.Sorted(maps.Keys(cloudpace.DefaultConfig().Providers)))
	return near
}

// at is a value and where its key was set.
func (t *tables) at(key string, value any) figure {
	return figure{value, cmp.Or(t.places[key], builtIn), ""}
}

// limit is a rate or burst, and where its key was set. entry is what the built-in one's
// source is found by.
func (t *tables) limit(key, entry string, x float64) figure {
	if at := t.places[key]; at != "" {
		return number(x, at, "")
	}
	return number(x, builtIn, t.sources[entry])
}

func (t *tables) provider(name string) providerLimits {
	p := t.config.Provider(name)
	_, known := cloudpace.DefaultConfig().Providers[name]
	path := "ratelimit." + name + "."
	l := providerLimits{Provider: name, BuiltIn: known, Settings: t.settings(name, p)}
	add := func(b bucketLimit, prefix, rate, burst, entry string, rps, most float64) {
		b.RPS, b.Burst = t.limit(prefix+rate, entry, rps), t.limit(prefix+burst, entry, burstOf(rps, most))
		l.Buckets = append(l.Buckets, b)
	}
	add(bucketLimit{Level: levelProvider}, path, "global_max_rps", "global_burst", path+"global_max_rps", p.GlobalMaxRPS, p.GlobalBurst)
	add(bucketLimit{Level: levelAccount}, path, "account_max_rps", "account_burst", path+"account_max_rps", p.AccountMaxRPS, p.AccountBurst)
	for _, service := range slices.Sorted(maps.Keys(p.Services)) {
		s, entry := p.Services[service], path+"services."+service
		add(bucketLimit{Level: levelLeaf, Name: service, PerOperation: s.PerOperation}, entry+".", "max_rps", "burst", entry, s.MaxRPS, s.Burst)
		if s.WriteMaxRPS > 0 {
			add(bucketLimit{Level: levelLeaf, Name: service, PerOperation: true, Writes: true}, entry+".", "write_max_rps", "write_burst", entry, s.WriteMaxRPS, s.WriteBurst)
		}
		if s.PerOperation {
			l.Buckets = append(l.Buckets, t.operations(name, service, p.Services)...)
		}
	}
	entry := path + "max_rps"
	if !known {
		t.sources[entry] = "general default"
	}
	add(bucketLimit{Level: levelLeaf}, path, "max_rps", "burst", entry, p.MaxRPS, p.Burst)
	return l
}

// burstOf is the burst in force.
func burstOf(rate, burst float64) float64 {
	switch {
	case rate == 0:
		return 0 // there is no bucket
	case burst == 0:
		burst = 2 * rate
	}
	return math.Max(1, burst)
}

// operations are those of a service that have limits of their own in the built-in table
// and no entry in the configuration.
func (t *tables) operations(provider, service string, entries map[string]cloudpace.Service) (list []bucketLimit) {
	path := "ratelimit." + provider + ".services."
	for _, key := range slices.Sorted(maps.Keys(t.sources)) {
		operation, ok := strings.CutPrefix(key, path+service+".")
		if _, entered := entries[service+"."+operation]; !ok || entered {
			continue
		}
		scope := cloudpace.Scope{Provider: provider, Service: service, Operation: operation}
		is, was := leafOf(t.force, scope), leafOf(t.usual, scope)
		bounded := func(key string, x, y float64) figure {
			if x == y {
				return number(x, builtIn, t.sources[path+service+"."+operation])
			}
			return number(x, cmp.Or(t.places[path+service+"."+key], builtIn), "")
		}
		list = append(list, bucketLimit{
			Level: levelLeaf, Name: service + "." + operation, PerOperation: true, Own: true,
			RPS: bounded("max_rps", is.MaxRPS, was.MaxRPS), Burst: bounded("burst", is.Burst, was.Burst),
		})
	}
	return list
}

// leafOf reads the leaf of a scope that nothing was learned of.
func leafOf(g *cloudpace.Governor, s cloudpace.Scope) cloudpace.BucketState {
	b := g.Look(s).Buckets
	return b[len(b)-1]
}

// call gives what a call has to pass.
func (t *tables) call(s cloudpace.Scope, kinds []bucketLimit) (list []callBucket) {
	for _, b := range t.force.Look(s).Buckets {
		c := callBucket{Level: b.Level, Scope: shortened(b.Scope, b.Level)}
		if i := governing(s, b, kinds); i >= 0 {
			c.RPS, c.Burst = kinds[i].RPS, kinds[i].Burst
		}
		list = append(list, c)
	}
	return list
}

// governing finds the limit of a bucket: for a leaf the entry of the operation, or else
// that of the service, or else that of all others. Where a service has several the
// numbers tell.
func governing(s cloudpace.Scope, b cloudpace.BucketState, kinds []bucketLimit) int {
	names := []string{""}
	if b.Level == levelLeaf {
		names = []string{s.Service + "." + s.Operation, s.Service, ""}
	}
	same := func(f figure, x float64) bool { return f.Value == number(x, "", "").Value }
	for _, name := range names {
		if i := slices.IndexFunc(kinds, func(k bucketLimit) bool {
			return k.Level == b.Level && k.Name == name && same(k.RPS, b.MaxRPS) && same(k.Burst, b.Burst)
		}); i >= 0 {
			return i
		}
	}
	return -1
}

// shortened leaves out what a level does not have.
func shortened(scope, level string) string {
	switch level {
	case levelProvider:
		return strings.TrimSuffix(scope, "/*/*/*")
	case levelAccount:
		return strings.TrimSuffix(scope, "/*/*")
	}
	return scope
}

// settings are the keys of a provider that are no bucket's, in the order of the
// documentation.
func (t *tables) settings(name string, p cloudpace.Provider) (list []setting) {
	path := "ratelimit." + name + "."
	add := func(key string, value any) { list = append(list, setting{key, t.at(key, value)}) }
	add(path+"enabled", p.Enabled)
	add(path+"max_concurrency", p.MaxConcurrency)
	add(path+"adaptive", p.Adaptive)
	add(path+"controller", cmp.Or(p.Controller, cloudpace.ControllerAIMD))
	add(path+"ceiling", cmp.Or(p.Ceiling, cloudpace.CeilingHard))
	add(path+"min_rps", p.MinRPS)
	add(path+"max_pause_seconds", p.MaxPause.Seconds())
	add(path+"breaker_threshold", p.BreakerThreshold)
	add(path+"breaker_cooldown_seconds", p.BreakerCooldown.Seconds())
	add(path+"max_retries", p.MaxRetries)
	add(path+"max_backoff_seconds", p.MaxBackoff.Seconds())
	add(path+"deadline_seconds", p.Deadline.Seconds())
	add(path+"retry_budget", p.RetryBudget)
	for _, service := range slices.Sorted(maps.Keys(p.Services)) { // that have their own
		entry, own := path+"services."+service+".", p.Services[service]
		if own.Controller != "" {
			add(entry+"controller", own.Controller)
		}
		if own.Ceiling != "" {
			add(entry+"ceiling", own.Ceiling)
		}
	}
	switch name {
	case "aws":
		add("aws.retry_mode", t.config.AWS.RetryMode)
		add("aws.max_retries", t.config.AWS.MaxRetries)
	case "azure":
		add(path+"graph_max_retries", t.config.Azure.GraphMaxRetries)
	case "databricks":
		r := t.config.Databricks.Retry
		add("databricks.retry.delay_min", r.DelayMin.Seconds())
		add("databricks.retry.delay_max", r.DelayMax.Seconds())
		add("databricks.retry.attempts", r.Attempts)
		add("databricks.retry.duration", r.Duration.Seconds())
		add("databricks.retry.delay_default", r.DelayDefault.Seconds())
	}
	return list
}
