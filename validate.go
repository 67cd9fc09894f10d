package cloudpace

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// ConfigError is one setting that cannot be used.
type ConfigError struct {
	// Path is the key as a configuration file writes it:
	// "ratelimit.aws.max_rps". It is the same for a Config made in code.
	Path string
	// Value is what was set; durations are given in seconds, as the keys are. nil
	// stands for a required value that is missing.
	Value any
	// Allowed says in words what would be accepted: "> 0", "1 to 1024".
	Allowed string
}

// Error gives path, value and what is allowed on one line.
func (e *ConfigError) Error() string {
	switch v := e.Value.(type) {
	case nil:
		return fmt.Sprintf("%s is missing (allowed: %s)", e.Path, e.Allowed)
	case string:
		return fmt.Sprintf("%s is %q (allowed: %s)", e.Path, v, e.Allowed)
	default:
		return fmt.Sprintf("%s is %v (allowed: %s)", e.Path, v, e.Allowed)
	}
}

// Validate checks every value against the range that the documentation of the
// configuration gives. It returns nil, or all faults at once, joined, each a
// [*ConfigError]: those outside the providers last, providers by name, and inside
// one always in the same order.
//
// What the zero value means is part of the check. A burst of 0 is twice the
// rate, an account or global rate of 0 is none, an empty Controller or Ceiling
// and a zero in DatabricksRetry are the default. A rate may be +Inf, which is no
// limit. An account or global burst without its rate is valid and limits nothing,
// so that setting the rate to 0 is enough to take a limit away. In a Config or Provider that is not enabled, a zero counts as not set, so
// that the zero Config is valid; what is set there must still be in range.
func (c Config) Validate() error {
	v := validation{lenient: !c.Enabled}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		v.provider("ratelimit."+name+".", c.Providers[name], !c.Enabled)
	}
	v.lenient = !c.Enabled
	v.integer("ratelimit.azure.graph_max_retries", c.Azure.GraphMaxRetries, 0, 50)
	v.word("aws.retry_mode", c.AWS.RetryMode, "standard", "adaptive")
	v.integer("aws.max_retries", c.AWS.MaxRetries, 0, 50)
	v.databricks(c.Databricks.Retry)
	return errors.Join(v.faults...)
}

// validation gathers faults. lenient says that a zero is a value not set.
type validation struct {
	lenient bool
	faults  []error
}

func (v *validation) provider(path string, p Provider, off bool) {
	v.lenient = off || !p.Enabled
	v.rate(path+"max_rps", p.MaxRPS, false)
	v.rate(path+"burst", p.Burst, true)
	v.rate(path+"account_max_rps", p.AccountMaxRPS, true)
	v.rate(path+"account_burst", p.AccountBurst, true)
	v.rate(path+"global_max_rps", p.GlobalMaxRPS, true)
	v.rate(path+"global_burst", p.GlobalBurst, true)
	v.integer(path+"max_concurrency", p.MaxConcurrency, 1, 1024)
	v.word(path+"controller", string(p.Controller), controllers...)
	v.word(path+"ceiling", string(p.Ceiling), ceilings...)
	if v.rate(path+"min_rps", p.MinRPS, false) && p.MaxRPS > 0 && p.MinRPS > p.MaxRPS {
		v.fault(path+"min_rps", p.MinRPS, fmt.Sprintf("> 0, at most max_rps, which is %v", p.MaxRPS))
	}
	v.seconds(path+"max_pause_seconds", p.MaxPause, 1, 3600)
	v.integer(path+"breaker_threshold", p.BreakerThreshold, 1, 1000)
	v.seconds(path+"breaker_cooldown_seconds", p.BreakerCooldown, 0, 600)
	v.integer(path+"max_retries", p.MaxRetries, 0, 50)
	v.positive(path+"max_backoff_seconds", p.MaxBackoff)
	v.positive(path+"deadline_seconds", p.Deadline)
	v.integer(path+"retry_budget", p.RetryBudget, 0, 1_000_000)
	for _, name := range slices.Sorted(maps.Keys(p.Services)) {
		v.service(path+"services."+name+".", p.Services[name])
	}
}

var (
	controllers = []string{string(ControllerAIMD), string(ControllerLearn)}
	ceilings    = []string{string(CeilingHard), string(CeilingSoft)}
)

func (v *validation) service(path string, s Service) {
	v.rate(path+"max_rps", s.MaxRPS, false)
	v.rate(path+"burst", s.Burst, true)
	v.rate(path+"write_max_rps", s.WriteMaxRPS, true)
	v.rate(path+"write_burst", s.WriteBurst, true)
	if s.WriteMaxRPS > 0 && !s.PerOperation {
		v.fault(path+"write_max_rps", s.WriteMaxRPS, "only together with per_operation")
	}
	v.word(path+"controller", string(s.Controller), controllers...)
	v.word(path+"ceiling", string(s.Ceiling), ceilings...)
}

// databricks checks the schedule; its zeros are defaults, which count when the two
// delays are compared.
func (v *validation) databricks(r DatabricksRetry) {
	const path = "databricks.retry."
	d := DefaultConfig().Databricks.Retry
	v.lenient = true
	lowest := v.seconds(path+"delay_min", r.DelayMin, 0.1, 60)
	highest := v.seconds(path+"delay_max", r.DelayMax, 5, 3600)
	v.integer(path+"attempts", r.Attempts, 1, 60)
	v.seconds(path+"duration", r.Duration, 1, 86400)
	v.seconds(path+"delay_default", r.DelayDefault, 1, 60)
	if r.DelayMin == 0 {
		r.DelayMin = d.DelayMin
	}
	if r.DelayMax == 0 {
		r.DelayMax = d.DelayMax
	}
	if lowest && highest && r.DelayMin > r.DelayMax {
		v.fault(path+"delay_min", r.DelayMin.Seconds(),
			fmt.Sprintf("0.1 to 60, at most delay_max, which is %v", r.DelayMax.Seconds()))
	}
}

func (v *validation) fault(path string, value any, allowed string) {
	v.faults = append(v.faults, &ConfigError{Path: path, Value: value, Allowed: allowed})
}

// rate checks a rate or a burst. zero says that 0 is a value with a meaning.
// Comparisons are written so that NaN fails them.
func (v *validation) rate(path string, x float64, zero bool) bool {
	if x > 0 || x == 0 && (zero || v.lenient) {
		return true
	}
	v.fault(path, x, "> 0")
	return false
}

func (v *validation) integer(path string, x, low, high int) {
	if low <= x && x <= high || x == 0 && v.lenient {
		return
	}
	v.fault(path, x, fmt.Sprintf("%d to %d", low, high))
}

func (v *validation) seconds(path string, d time.Duration, low, high float64) bool {
	// Durations are counted in whole nanoseconds, so 0.1 s must not be compared as a
	// fraction.
	if x := math.Round(d.Seconds()*1e9) / 1e9; low <= x && x <= high || d == 0 && v.lenient {
		return true
	}
	v.fault(path, d.Seconds(), fmt.Sprintf("%v to %v", low, high))
	return false
}

func (v *validation) positive(path string, d time.Duration) {
	if d > 0 || d == 0 && v.lenient {
		return
	}
	v.fault(path, d.Seconds(), "> 0")
}

// word checks a value that is one of a few; empty is the default.
func (v *validation) word(path, x string, allowed ...string) {
	if x == "" || slices.Contains(allowed, x) {
		return
	}
	text := allowed[0]
	for _, a := range allowed[1:] {
		text += " or " + a
	}
	v.fault(path, x, text)
}
