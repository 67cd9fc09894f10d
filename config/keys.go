package config

import (
	"strings"
	"time"

	"github.com/cloudpace/cloudpace"
)

// key is one setting: what it is called, what it may be, where it goes.
type key struct {
	name    string
	allowed string // type and range in words; the range itself is cloudpace.Config.Validate's
	// set stores a value and tells whether it was of the right type. A zero is
	// refused here where the key's range leaves it out, since in a Config a zero may
	// mean something else.
	set func(*target, *value) bool
}

// target is what a key's value may be stored in: the whole, and the provider and
// service that are being read.
type target struct {
	config   *cloudpace.Config
	provider *cloudpace.Provider
	service  *cloudpace.Service
}

// The keys of each section, in the order of the documentation.
var (
	topSections = []string{"ratelimit", "aws", "databricks"}

	// ratelimit.enabled; all else under ratelimit is a provider.
	ratelimitKeys = []key{
		boolean("enabled", func(t *target) *bool { return &t.config.Enabled }),
	}

	providerKeys = []key{
		boolean("enabled", func(t *target) *bool { return &t.provider.Enabled }),
		rate("max_rps", func(t *target) *float64 { return &t.provider.MaxRPS }),
		rate("burst", func(t *target) *float64 { return &t.provider.Burst }),
		rate("account_max_rps", func(t *target) *float64 { return &t.provider.AccountMaxRPS }),
		rate("account_burst", func(t *target) *float64 { return &t.provider.AccountBurst }),
		rate("global_max_rps", func(t *target) *float64 { return &t.provider.GlobalMaxRPS }),
		rate("global_burst", func(t *target) *float64 { return &t.provider.GlobalBurst }),
		integer("max_concurrency", "1 to 1024", func(t *target) *int { return &t.provider.MaxConcurrency }),
		boolean("adaptive", func(t *target) *bool { return &t.provider.Adaptive }),
		word("controller", "aimd or learn", func(t *target) *cloudpace.Controller { return &t.provider.Controller }),
		word("ceiling", "hard or soft", func(t *target) *cloudpace.Ceiling { return &t.provider.Ceiling }),
		rate("min_rps", func(t *target) *float64 { return &t.provider.MinRPS }),
		seconds("max_pause_seconds", "1 to 3600", func(t *target) *time.Duration { return &t.provider.MaxPause }),
		integer("breaker_threshold", "1 to 1000", func(t *target) *int { return &t.provider.BreakerThreshold }),
		seconds("breaker_cooldown_seconds", "0 to 600", func(t *target) *time.Duration { return &t.provider.BreakerCooldown }),
		integer("max_retries", "0 to 50", func(t *target) *int { return &t.provider.MaxRetries }),
		seconds("max_backoff_seconds", "> 0", func(t *target) *time.Duration { return &t.provider.MaxBackoff }),
		seconds("deadline_seconds", "> 0", func(t *target) *time.Duration { return &t.provider.Deadline }),
		integer("retry_budget", "0 to 1000000", func(t *target) *int { return &t.provider.RetryBudget }),
	}

	// azureKeys are those that azure has besides.
	azureKeys = []key{
		integer("graph_max_retries", "0 to 50", func(t *target) *int { return &t.config.Azure.GraphMaxRetries }),
	}

	serviceKeys = []key{
		rate("max_rps", func(t *target) *float64 { return &t.service.MaxRPS }),
		rate("burst", func(t *target) *float64 { return &t.service.Burst }),
		boolean("per_operation", func(t *target) *bool { return &t.service.PerOperation }),
		word("controller", "aimd or learn", func(t *target) *cloudpace.Controller { return &t.service.Controller }),
		word("ceiling", "hard or soft", func(t *target) *cloudpace.Ceiling { return &t.service.Ceiling }),
	}

	awsKeys = []key{
		word("retry_mode", "standard or adaptive", func(t *target) *string { return &t.config.AWS.RetryMode }),
		integer("max_retries", "0 to 50", func(t *target) *int { return &t.config.AWS.MaxRetries }),
	}

	// Zero means the default under databricks.retry, so it leaves what is built in.
	databricksRetryKeys = []key{
		unlessZero(seconds("delay_min", "0.1 to 60", func(t *target) *time.Duration { return &t.config.Databricks.Retry.DelayMin })),
		unlessZero(seconds("delay_max", "5 to 3600", func(t *target) *time.Duration { return &t.config.Databricks.Retry.DelayMax })),
		unlessZero(integer("attempts", "1 to 60", func(t *target) *int { return &t.config.Databricks.Retry.Attempts })),
		unlessZero(seconds("duration", "1 to 86400", func(t *target) *time.Duration { return &t.config.Databricks.Retry.Duration })),
		unlessZero(seconds("delay_default", "1 to 60", func(t *target) *time.Duration { return &t.config.Databricks.Retry.DelayDefault })),
	}
)

func boolean(name string, at func(*target) *bool) key {
	return key{name, "true or false", func(t *target, v *value) bool {
		x, ok := v.boolean()
		if ok {
			*at(t) = x
		}
		return ok
	}}
}

func rate(name string, at func(*target) *float64) key {
	return key{name, "a number > 0", func(t *target, v *value) bool {
		x, ok := v.number()
		if ok = ok && x != 0; ok {
			*at(t) = x
		}
		return ok
	}}
}

func integer(name, allowed string, at func(*target) *int) key {
	zero := strings.HasPrefix(allowed, "0 ")
	return key{name, "a whole number, " + allowed, func(t *target, v *value) bool {
		x, ok := v.integer()
		if ok = ok && (x != 0 || zero); ok {
			*at(t) = x
		}
		return ok
	}}
}

func seconds(name, allowed string, at func(*target) *time.Duration) key {
	zero := strings.HasPrefix(allowed, "0 ")
	return key{name, "a number of seconds, " + allowed, func(t *target, v *value) bool {
		x, ok := v.duration()
		if ok = ok && (x != 0 || zero); ok {
			*at(t) = x
		}
		return ok
	}}
}

func word[T ~string](name, allowed string, at func(*target) *T) key {
	return key{name, allowed, func(t *target, v *value) bool {
		x, ok := v.word()
		if ok = ok && x != ""; ok {
			*at(t) = T(x)
		}
		return ok
	}}
}

func unlessZero(k key) key {
	set := k.set
	k.set = func(t *target, v *value) bool {
		if x, ok := v.number(); ok && x == 0 {
			return true
		}
		return set(t, v)
	}
	return k
}
