package cloudpace

import (
	"strings"
	"time"
)

// DefaultConfig gives the built-in settings: for each limit the rate that the
// provider documents, with some headroom, or a cautious one where none is
// published. Each call gives a new value that the caller may change.
func DefaultConfig() Config {
	return Config{
		Enabled: true,
		Providers: map[string]Provider{
			"aws":        awsDefaults(),
			"azure":      azureDefaults(),
			"gcp":        gcpDefaults(),
			"databricks": databricksDefaults(),
		},
		AWS:   AWSConfig{RetryMode: "standard", MaxRetries: 10},
		Azure: AzureConfig{GraphMaxRetries: 5},
		Databricks: DatabricksConfig{Retry: DatabricksRetry{
			DelayMin:     time.Second,
			DelayMax:     60 * time.Second,
			Attempts:     30,
			Duration:     900 * time.Second,
			DelayDefault: 5 * time.Second,
		}},
	}
}

// DefaultProvider gives the settings of a provider that nothing is known about:
// 20 calls a second with a burst of 40 per leaf, 64 calls in flight per account.
func DefaultProvider() Provider {
	return Provider{
		Enabled:          true,
		MaxRPS:           20,
		Burst:            40,
		MaxConcurrency:   64,
		Adaptive:         true,
		Controller:       ControllerAIMD,
		Ceiling:          CeilingHard,
		MinRPS:           0.1,
		MaxPause:         300 * time.Second,
		BreakerThreshold: 5,
		BreakerCooldown:  60 * time.Second,
		MaxRetries:       8,
		MaxBackoff:       60 * time.Second,
		Deadline:         900 * time.Second,
		RetryBudget:      500,
	}
}

func awsDefaults() Provider {
	p := DefaultProvider()
	p.MaxConcurrency = 128
	p.MinRPS = 0.2
	p.Services = map[string]Service{
		// EC2 API throttling: a bucket per action, account and region; actions that
		// only read have 100 tokens and 20 a second, those that change things 50
		// tokens and 5 a second. Some have figures of their own: limits_ec2.go.
		"ec2": {MaxRPS: 20, Burst: 100, PerOperation: true, WriteMaxRPS: 5, WriteBurst: 50},
		// IAM and STS quotas: 600 requests a second per account and region.
		"sts": {MaxRPS: 50, Burst: 100},
		// Lambda quotas: 15 control-plane requests a second.
		"lambda": {MaxRPS: 15, Burst: 15},
		// Route 53: five requests a second per account.
		"route53": {MaxRPS: 5, Burst: 5},
		// None published; about 10 a second observed, half of it taken.
		"resourcegroupstaggingapi": {MaxRPS: 5, Burst: 10},
		// None published; these throttle early.
		"organizations":  {MaxRPS: 5, Burst: 10},
		"cloudformation": {MaxRPS: 5, Burst: 10},
		"cloudcontrol":   {MaxRPS: 5, Burst: 10},
		"controltower":   {MaxRPS: 2, Burst: 5},
		"iam":            {MaxRPS: 10, Burst: 40},
	}
	p.operations = ec2Limits
	return p
}

func azureDefaults() Provider {
	p := DefaultProvider()
	p.MaxRPS, p.Burst = 15, 100
	// ARM: 250 tokens and 25 a second for the reads of a subscription; 20 %
	// headroom.
	p.AccountMaxRPS, p.AccountBurst = 20, 200
	p.MaxConcurrency = 16
	p.Services = map[string]Service{
		// Microsoft.Network: 10,000 reads in 5 minutes.
		"network": {MaxRPS: 30, Burst: 200},
		// Storage resource provider: 100 lists in 5 minutes.
		"storage": {MaxRPS: 0.33, Burst: 20},
		// Resource Graph: 15 queries in 5 seconds per caller.
		"resourcegraph": {MaxRPS: 3, Burst: 15},
	}
	return p
}

func gcpDefaults() Provider {
	p := DefaultProvider()
	p.MaxRPS, p.Burst = 10, 20
	p.MaxConcurrency = 16
	p.MinRPS = 0.05
	p.Services = map[string]Service{
		// Cloud Asset API: 100 ListAssets a minute per consumer project.
		"cloudasset.ListAssets": {MaxRPS: 1.5, Burst: 10},
		// Cloud Asset API: 400 searches a minute per consumer project, for each of
		// the two.
		"cloudasset.SearchAllResources":   {MaxRPS: 6, Burst: 20},
		"cloudasset.SearchAllIamPolicies": {MaxRPS: 6, Burst: 20},
	}
	return p
}

func databricksDefaults() Provider {
	p := DefaultProvider()
	// None published for polling.
	p.MaxRPS, p.Burst = 10, 20
	p.MaxConcurrency = 16
	return p
}

// readsOnly tells by an operation's name that it changes nothing, as EC2's own
// documentation groups its actions.
func readsOnly(operation string) bool {
	for _, prefix := range []string{"Describe", "Get", "List", "Search"} {
		if strings.HasPrefix(operation, prefix) {
			return true
		}
	}
	return false
}
