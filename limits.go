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

// general is the source of what is no provider's own figure.
const general = "general default"

// row is one entry of the built-in table: a service's limits, and where they are from.
type row struct {
	name string // as in [Provider].Services
	Service
	source string
}

// services are the rows as [Provider] has them.
func services(rows []row) map[string]Service {
	m := make(map[string]Service, len(rows))
	for _, r := range rows {
		m[r.name] = r.Service
	}
	return m
}

var awsRows = []row{
	// Some actions have figures of their own: limits_ec2.go.
	{"ec2", Service{MaxRPS: 20, Burst: 100, PerOperation: true, WriteMaxRPS: 5, WriteBurst: 50}, "EC2 API throttling: " +
		"a bucket per action, account and region; 100 tokens and 20 a second for actions that only read, 50 tokens and 5 a second for those that change things"},
	{"sts", Service{MaxRPS: 50, Burst: 100}, "IAM and STS quotas: 600 requests a second per account and region"},
	{"lambda", Service{MaxRPS: 15, Burst: 15}, "Lambda quotas: 15 control-plane requests a second"},
	{"route53", Service{MaxRPS: 5, Burst: 5}, "Route 53 quotas: five requests a second per account"},
	{"resourcegroupstaggingapi", Service{MaxRPS: 5, Burst: 10}, "none published; about 10 a second observed, half of it taken"},
	{"organizations", Service{MaxRPS: 5, Burst: 10}, early},
	{"cloudformation", Service{MaxRPS: 5, Burst: 10}, early},
	{"cloudcontrol", Service{MaxRPS: 5, Burst: 10}, early},
	{"controltower", Service{MaxRPS: 2, Burst: 5}, early},
	{"iam", Service{MaxRPS: 10, Burst: 40}, early},
}

const early = "none published; it throttles early"

func awsDefaults() Provider {
	p := DefaultProvider()
	p.MaxConcurrency = 128
	p.MinRPS = 0.2
	p.Services = services(awsRows)
	p.operations = ec2Limits
	return p
}

var azureRows = []row{
	{"network", Service{MaxRPS: 30, Burst: 200}, "Microsoft.Network: 10,000 reads in 5 minutes"},
	{"storage", Service{MaxRPS: 0.33, Burst: 20}, "Storage resource provider: 100 lists in 5 minutes"},
	{"resourcegraph", Service{MaxRPS: 3, Burst: 15}, "Resource Graph: 15 queries in 5 seconds per caller"},
}

const azureAccountSource = "Azure Resource Manager: 250 tokens and 25 a second for the reads of a subscription; 20 % headroom"

func azureDefaults() Provider {
	p := DefaultProvider()
	p.MaxRPS, p.Burst = 15, 100
	p.AccountMaxRPS, p.AccountBurst = 20, 200 // azureAccountSource
	p.MaxConcurrency = 16
	p.Services = services(azureRows)
	return p
}

var gcpRows = []row{
	{"cloudasset.ListAssets", Service{MaxRPS: 1.5, Burst: 10}, "Cloud Asset API: 100 a minute per consumer project"},
	{"cloudasset.SearchAllResources", Service{MaxRPS: 6, Burst: 20}, assetSearches},
	{"cloudasset.SearchAllIamPolicies", Service{MaxRPS: 6, Burst: 20}, assetSearches},
}

const assetSearches = "Cloud Asset API: 400 a minute per consumer project, for each of the two searches"

func gcpDefaults() Provider {
	p := DefaultProvider()
	p.MaxRPS, p.Burst = 10, 20
	p.MaxConcurrency = 16
	p.MinRPS = 0.05
	p.Services = services(gcpRows)
	return p
}

const databricksSource = "none published for polling"

func databricksDefaults() Provider {
	p := DefaultProvider()
	p.MaxRPS, p.Burst = 10, 20 // databricksSource
	p.MaxConcurrency = 16
	return p
}

// DefaultSources says where the built-in limits are from, by the key that would change
// them, as [ConfigError] writes it: "ratelimit.aws.max_rps" for the leaves that have no
// entry of their own, "ratelimit.azure.account_max_rps" for the subscriptions,
// "ratelimit.aws.services.ec2" for an entry, and "ratelimit.aws.services.ec2.RunInstances"
// for an operation that has a figure of its own without one. Each call gives a new map.
func DefaultSources() map[string]string {
	m := map[string]string{
		"ratelimit.aws.max_rps":           general,
		"ratelimit.azure.max_rps":         general,
		"ratelimit.azure.account_max_rps": azureAccountSource,
		"ratelimit.gcp.max_rps":           general,
		"ratelimit.databricks.max_rps":    databricksSource,
	}
	for provider, rows := range map[string][]row{"aws": awsRows, "azure": azureRows, "gcp": gcpRows} {
		for _, r := range rows {
			m["ratelimit."+provider+".services."+r.name] = r.source
		}
	}
	for name := range ec2Limits {
		m["ratelimit.aws.services."+name] = ec2Source
	}
	return m
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
