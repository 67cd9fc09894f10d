package cloudpace

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// with changes a built-in configuration.
func with(change func(*Config)) Config {
	c := DefaultConfig()
	change(&c)
	return c
}

// withAWS changes the settings of one provider.
func withAWS(change func(*Provider)) Config {
	return with(func(c *Config) {
		p := c.Providers["aws"]
		change(&p)
		c.Providers["aws"] = p
	})
}

func TestS9_4BuiltInSettingsAreValid(t *testing.T) {
	for name, c := range map[string]Config{
		"built in":          DefaultConfig(),
		"zero":              {},
		"a disabled zero":   with(func(c *Config) { c.Providers["aws"] = Provider{} }),
		"a custom provider": with(func(c *Config) { c.Providers["github"] = DefaultProvider() }),
		"zeros that mean something": withAWS(func(p *Provider) {
			p.Burst, p.AccountMaxRPS, p.GlobalMaxRPS, p.MaxRetries, p.BreakerCooldown, p.RetryBudget = 0, 0, 0, 0, 0, 0
			p.Controller, p.Ceiling = "", ""
			p.Services["x"] = Service{MaxRPS: 1}
		}),
		"a limit taken away, its burst left": with(func(c *Config) {
			p := c.Providers["azure"]
			p.AccountMaxRPS, p.GlobalBurst = 0, 5
			c.Providers["azure"] = p
		}),
		"no limit":     withAWS(func(p *Provider) { p.MaxRPS = math.Inf(1) }),
		"tiny rate":    withAWS(func(p *Provider) { p.MaxRPS, p.MinRPS = 1e-300, 1e-300 }),
		"outer bounds": withAWS(func(p *Provider) { p.MaxConcurrency, p.MaxPause, p.RetryBudget = 1024, time.Hour, 1_000_000 }),
		"inner bounds": withAWS(func(p *Provider) { p.MaxConcurrency, p.MaxPause, p.BreakerThreshold = 1, time.Second, 1 }),
		"zero delays":  with(func(c *Config) { c.Databricks.Retry = DatabricksRetry{} }),
		"a tenth": with(func(c *Config) {
			c.Databricks.Retry.DelayMin = 100 * time.Millisecond
		}),
	} {
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestS9_4EachValueOutOfRangeIsNamed(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tc := range []struct {
		path, allowed string
		config        Config
	}{
		{"ratelimit.aws.max_rps", "> 0", withAWS(func(p *Provider) { p.MaxRPS = 0 })},
		{"ratelimit.aws.max_rps", "> 0", withAWS(func(p *Provider) { p.MaxRPS = nan })},
		{"ratelimit.aws.max_rps", "> 0", withAWS(func(p *Provider) { p.MaxRPS = -inf })},
		{"ratelimit.aws.burst", "> 0", withAWS(func(p *Provider) { p.Burst = -1 })},
		{"ratelimit.aws.account_max_rps", "> 0", withAWS(func(p *Provider) { p.AccountMaxRPS = -1 })},
		{"ratelimit.aws.account_burst", "> 0", withAWS(func(p *Provider) { p.AccountBurst = nan })},
		{"ratelimit.aws.global_max_rps", "> 0", withAWS(func(p *Provider) { p.GlobalMaxRPS = -1 })},
		{"ratelimit.aws.global_burst", "> 0", withAWS(func(p *Provider) { p.GlobalBurst = -1 })},
		{"ratelimit.aws.max_concurrency", "1 to 1024", withAWS(func(p *Provider) { p.MaxConcurrency = 0 })},
		{"ratelimit.aws.max_concurrency", "1 to 1024", withAWS(func(p *Provider) { p.MaxConcurrency = 1025 })},
		{"ratelimit.aws.controller", "aimd or learn", withAWS(func(p *Provider) { p.Controller = "Learn" })},
		{"ratelimit.aws.ceiling", "hard or soft", withAWS(func(p *Provider) { p.Ceiling = "Hard" })},
		{"ratelimit.aws.min_rps", "> 0", withAWS(func(p *Provider) { p.MinRPS = 0 })},
		{"ratelimit.aws.min_rps", "> 0, at most max_rps, which is 20", withAWS(func(p *Provider) { p.MinRPS = 21 })},
		{"ratelimit.aws.max_pause_seconds", "1 to 3600", withAWS(func(p *Provider) { p.MaxPause = 0 })},
		{"ratelimit.aws.max_pause_seconds", "1 to 3600", withAWS(func(p *Provider) { p.MaxPause = time.Hour + 1 })},
		{"ratelimit.aws.breaker_threshold", "1 to 1000", withAWS(func(p *Provider) { p.BreakerThreshold = 0 })},
		{"ratelimit.aws.breaker_cooldown_seconds", "0 to 600", withAWS(func(p *Provider) { p.BreakerCooldown = -1 })},
		{"ratelimit.aws.max_retries", "0 to 50", withAWS(func(p *Provider) { p.MaxRetries = 51 })},
		{"ratelimit.aws.max_backoff_seconds", "> 0", withAWS(func(p *Provider) { p.MaxBackoff = 0 })},
		{"ratelimit.aws.deadline_seconds", "> 0", withAWS(func(p *Provider) { p.Deadline = -time.Second })},
		{"ratelimit.aws.retry_budget", "0 to 1000000", withAWS(func(p *Provider) { p.RetryBudget = 1_000_001 })},
		{"ratelimit.aws.services.x.max_rps", "> 0", withAWS(func(p *Provider) { p.Services["x"] = Service{} })},
		{"ratelimit.aws.services.x.burst", "> 0", withAWS(func(p *Provider) { p.Services["x"] = Service{MaxRPS: 1, Burst: nan} })},
		{"ratelimit.aws.services.x.controller", "aimd or learn", withAWS(func(p *Provider) { p.Services["x"] = Service{MaxRPS: 1, Controller: "x"} })},
		{"ratelimit.aws.services.x.ceiling", "hard or soft", withAWS(func(p *Provider) { p.Services["x"] = Service{MaxRPS: 1, Ceiling: "x"} })},
		{"ratelimit.aws.services.x.write_max_rps", "only together with per_operation", withAWS(func(p *Provider) { p.Services["x"] = Service{MaxRPS: 1, WriteMaxRPS: 1} })},
		{"ratelimit.azure.graph_max_retries", "0 to 50", with(func(c *Config) { c.Azure.GraphMaxRetries = -1 })},
		{"aws.retry_mode", "standard or adaptive", with(func(c *Config) { c.AWS.RetryMode = "legacy" })},
		{"aws.max_retries", "0 to 50", with(func(c *Config) { c.AWS.MaxRetries = 51 })},
		{"databricks.retry.delay_min", "0.1 to 60", with(func(c *Config) { c.Databricks.Retry.DelayMin = 99 * time.Millisecond })},
		{"databricks.retry.delay_min", "0.1 to 60, at most delay_max, which is 5", with(func(c *Config) {
			c.Databricks.Retry.DelayMin, c.Databricks.Retry.DelayMax = 6*time.Second, 5*time.Second
		})},
		{"databricks.retry.delay_max", "5 to 3600", with(func(c *Config) { c.Databricks.Retry.DelayMax = 4 * time.Second })},
		{"databricks.retry.attempts", "1 to 60", with(func(c *Config) { c.Databricks.Retry.Attempts = 61 })},
		{"databricks.retry.duration", "1 to 86400", with(func(c *Config) { c.Databricks.Retry.Duration = 25 * time.Hour })},
		{"databricks.retry.delay_default", "1 to 60", with(func(c *Config) { c.Databricks.Retry.DelayDefault = time.Millisecond })},
	} {
		err := tc.config.Validate()
		var fault *ConfigError
		if !errors.As(err, &fault) {
			t.Errorf("%s: no error", tc.path)
			continue
		}
		if fault.Path != tc.path || fault.Allowed != tc.allowed {
			t.Errorf("got %s (%s), want %s (%s)", fault.Path, fault.Allowed, tc.path, tc.allowed)
		}
		if !strings.Contains(err.Error(), tc.path) || !strings.Contains(err.Error(), tc.allowed) {
			t.Errorf("%v: does not name the path and what is allowed", err)
		}
		if joined, _ := err.(interface{ Unwrap() []error }); len(joined.Unwrap()) != 1 {
			t.Errorf("%v: want one fault", err)
		}
	}
}

// What is switched off may be left out, and is still no place for nonsense.
func TestS9_4DisabledSettingsMayBeZeroButNotWrong(t *testing.T) {
	for path, c := range map[string]Config{
		"ratelimit.aws.max_rps":         {Providers: map[string]Provider{"aws": {MaxRPS: -1}}},
		"ratelimit.aws.max_concurrency": with(func(c *Config) { c.Providers["aws"] = Provider{MaxConcurrency: 2000} }),
	} {
		var fault *ConfigError
		if err := c.Validate(); !errors.As(err, &fault) || fault.Path != path {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestS9_4AllFaultsComeAtOnceAndInOrder(t *testing.T) {
	c := with(func(c *Config) {
		for _, name := range []string{"gcp", "aws", "zzz"} {
			p := c.Providers[name]
			p.Enabled, p.MaxRPS, p.Burst = true, -1, -1
			c.Providers[name] = p
		}
		c.AWS.RetryMode = "x"
	})
	first := c.Validate().Error()
	if !strings.HasPrefix(first, "ratelimit.aws.max_rps is -1 (allowed: > 0)\nratelimit.aws.burst is -1") {
		t.Errorf("got\n%s", first)
	}
	if i, j := strings.Index(first, "ratelimit.gcp.max_rps"), strings.Index(first, "aws.retry_mode"); i < 0 || j < i {
		t.Errorf("got\n%s", first)
	}
	for range 20 {
		if again := c.Validate().Error(); again != first {
			t.Fatalf("another order:\n%s\nand\n%s", first, again)
		}
	}
}
