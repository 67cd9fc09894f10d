package paceaws

import "strings"

// globalServices have one endpoint for a whole partition, so one quota for all
// regions of an account. Keyed on the client's region, that quota would be as
// many buckets as there are regions in use.
//
// Source: AWS service models, the endpoint rule sets: services whose endpoint is
// the same for two regions of a partition; and the models' endpoint table:
// services with a partition endpoint that are not regional (health). STS and S3
// have a partition endpoint too but serve regions from there, and stay regional.
var globalServices = map[string]bool{
	"account":                         true,
	"artifact":                        true,
	"bcm-dashboards":                  true,
	"bcm-data-exports":                true,
	"bcm-pricing-calculator":          true,
	"bcm-recommended-actions":         true,
	"billing":                         true,
	"billingconductor":                true,
	"budgets":                         true,
	"ce":                              true,
	"chime":                           true,
	"cloudfront":                      true,
	"codecatalyst":                    true,
	"freetier":                        true,
	"health":                          true,
	"iam":                             true,
	"importexport":                    true,
	"invoicing":                       true,
	"networkmanager":                  true,
	"notificationscontacts":           true,
	"organizations":                   true,
	"partnercentral-channel":          true,
	"route53":                         true,
	"route53-recovery-control-config": true,
	"savingsplans":                    true,
	"shield":                          true,
	"support":                         true,
	"taxsettings":                     true,
	"waf":                             true,
}

// partitions maps the beginning of a region's name to the pseudo-region of its
// partition. All else is the commercial partition.
//
// Source: AWS service models, partitions. The European sovereign partition
// ("eusc-") has no pseudo-region there; its name follows the others'.
var partitions = []struct{ prefix, global string }{
	{"cn-", "aws-cn-global"},
	{"us-gov-", "aws-us-gov-global"},
	{"us-iso-", "aws-iso-global"},
	{"us-isob-", "aws-iso-b-global"},
	{"us-isof-", "aws-iso-f-global"},
	{"eu-isoe-", "aws-iso-e-global"},
	{"eusc-", "aws-eusc-global"},
}

// pseudoRegion gives the partition's name for "no region in particular".
func pseudoRegion(region string) string {
	for _, p := range partitions {
		if strings.HasPrefix(region, p.prefix) {
			return p.global
		}
	}
	// A client may be made for the pseudo-region itself.
	if strings.HasPrefix(region, "aws-") && strings.HasSuffix(region, "-global") {
		return region
	}
	return "aws-global"
}
