package inventory

import "time"

// Status says how far a task came.
type Status string

// The statuses of a record.
const (
	Success Status = "SUCCESS" // all that the task covers was read
	Partial Status = "PARTIAL" // what is there is right, but there is more
	Failed  Status = "FAILED"  // nothing is known
	Skipped Status = "SKIPPED" // not asked
)

// Reason says why a record is not SUCCESS.
type Reason string

// The reasons; reasons.go has what leads to which.
const (
	Throttled    Reason = "throttled"
	AccessDenied Reason = "access_denied"
	// DeniedByPolicy: not the caller's permissions but the organization's policy.
	DeniedByPolicy Reason = "denied_by_policy"
	// RegionDisabled: the account has not enabled the region.
	RegionDisabled Reason = "region_disabled"
	// APIDisabled: the account, or the project, has not enabled the API.
	APIDisabled Reason = "api_disabled"
	// QuotaExhausted: a quota that waiting a moment does not bring back.
	QuotaExhausted     Reason = "quota_exhausted"
	Unreachable        Reason = "unreachable"
	CredentialsExpired Reason = "credentials_expired"
	// ServiceNotInRegion: the service has no endpoint there, so nothing exists.
	ServiceNotInRegion Reason = "service_not_in_region"
	NotSupported       Reason = "not_supported"
	// Capped: a limit that the user set was reached.
	Capped Reason = "capped"
	// Truncated: a listing ended before its end, by a token seen before or
	// because the run was interrupted.
	Truncated Reason = "truncated"
	// Protocol: something answered that is not what the API promises.
	Protocol Reason = "protocol"
)

// Record is what is known about one task in one account and region: an element
// of coverage in run.json. There is one for every task of a run, and one more where
// another way was tried, see [Task].
type Record struct {
	Provider string `json:"provider"`
	Account  string `json:"account"`
	Region   string `json:"region"`
	Task     string `json:"task"`
	Family   string `json:"family"`
	// Scope is what the task's calls are paced and counted under.
	Scope string `json:"scope"`
	// Covers is set when the task asks for a part of what exists.
	Covers string `json:"covers,omitempty"`
	// InPlaceOf names the task that failed and whose place this one took.
	InPlaceOf string `json:"in_place_of,omitempty"`

	Status Status `json:"status"`
	Reason Reason `json:"reason,omitempty"`
	// Error words the first thing that went wrong, Errors counts them.
	Error  string `json:"error,omitempty"`
	Errors int    `json:"errors,omitempty"`
	// Ledger words the calls that were given up or refused under the task, also
	// those whose error nobody looked at.
	Ledger string `json:"ledger,omitempty"`

	// RequestID is the provider's id of the last answer.
	RequestID string `json:"request_id,omitempty"`

	// ReadTime is the moment whose state was asked for, where the provider answers for
	// one; missing where it is the time of each call.
	ReadTime time.Time `json:"read_time,omitzero"`

	Assets int `json:"assets"`
	Edges  int `json:"edges,omitempty"`
	Pages  int `json:"pages"`
	Calls  int `json:"calls"`
	// Details counts the reads of single assets, Incomplete the assets with a
	// detail missing, Vanished those that were listed and gone when asked about.
	Details    int `json:"details,omitempty"`
	Incomplete int `json:"incomplete,omitempty"`
	Vanished   int `json:"vanished,omitempty"`
	// Duplicates counts what was listed again, and left out then.
	Duplicates int `json:"duplicates,omitempty"`
	// Elsewhere counts what was left to another task of the run, which lists it
	// more fully.
	Elsewhere int `json:"elsewhere,omitempty"`

	// RetryAfterSeconds is when trying again makes sense, counted from Finished,
	// where the provider or an open circuit said so.
	RetryAfterSeconds float64   `json:"retry_after_seconds,omitempty"`
	Started           time.Time `json:"started,omitzero"` // UTC; missing when it never began
	Finished          time.Time `json:"finished"`
	Seconds           float64   `json:"seconds"`

	eitherWay bool // what it ended with is the same for another way
}

// Gap tells whether something that exists may not have been read. Where a service
// has no endpoint in a region nothing exists, though nobody could say so.
func (r Record) Gap() bool {
	return r.Status != Success && !(r.Status == Skipped && r.Reason == ServiceNotInRegion)
}
