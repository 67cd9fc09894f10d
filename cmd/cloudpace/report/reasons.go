package report

import "github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"

// advice says what a reason means, and what can be done.
type advice struct{ means, do string }

// advices has one for every reason of a record.
var advices = map[inventory.Reason]advice{
	inventory.Throttled: {
		"Calls were given up, or refused by an open circuit, because the provider wanted less.",
		"Run again when less is going on in the account, or with lower limits for these services in cloudpace.yaml.",
	},
	inventory.AccessDenied: {
		"The credentials may not ask this.",
		"Let the caller read these APIs.",
	},
	inventory.CredentialsExpired: {
		"The credentials were not accepted, or no longer.",
		"Renew them and run again.",
	},
	inventory.Unreachable: {
		"Nobody answered, or only with errors that pass.",
		"Look at the network, name resolution and proxies between here and the provider, then run again.",
	},
	inventory.NotSupported: {
		"The endpoint does not have this API.",
		"Nothing, if it is an emulator, or a region without this service. Otherwise look at --endpoint-url.",
	},
	inventory.Truncated: {
		"A listing ended before its end: the run was interrupted, a page token came twice, page after page was empty, or the disk was full.",
		"Run again, and let it finish. Where a token came twice, the provider's own tools will meet the same.",
	},
	inventory.Protocol: {
		"Something answered that is not what the API promises.",
		"Look at the error: often it is a proxy or a gateway that answered in the provider's place.",
	},
	inventory.DeniedByPolicy:     {"A policy of the organization forbids this.", "Ask those who keep the policy, or leave it out."},
	inventory.RegionDisabled:     {"The account does not have this region enabled.", "Nothing, if that is meant. Otherwise enable it in the account, or leave it out with --regions."},
	inventory.APIDisabled:        {"The account is not subscribed to this service, or has not enabled the API.", "Enable it where something may be behind it."},
	inventory.QuotaExhausted:     {"A quota is used up that waiting a moment does not bring back.", "Run again once it is renewed, or ask the provider for more."},
	inventory.Capped:             {"--max-items was reached, and there is more.", "Raise it, or leave it out."},
	inventory.ServiceNotInRegion: {"The provider does not offer this service in the region.", "Nothing: there can be nothing of it there."},
}

func adviceFor(r inventory.Reason) advice {
	if a, ok := advices[r]; ok {
		return a
	}
	return advice{"These parts are not, or not fully, known.", "Look at the errors."}
}
