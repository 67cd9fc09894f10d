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

// The reasons that can be told so far; reasons.go has what leads to which.
const (
	Throttled          Reason = "throttled"
	AccessDenied       Reason = "access_denied"
	Unreachable        Reason = "unreachable"
	CredentialsExpired Reason = "credentials_expired"
	NotSupported       Reason = "not_supported"
	// Truncated: a listing ended before its end, by a token seen before or
	// because the run was interrupted.
	Truncated Reason = "truncated"
	// Protocol: something answered that is not what the API promises.
	Protocol Reason = "protocol"
)

// Record is what is known about one task in one account and region: an element
// of coverage in run.json. There is one for every task of a run.
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

	Status Status `json:"status"`
	Reason Reason `json:"reason,omitempty"`
	// Error words the first thing that went wrong, Errors counts them.
	Error  string `json:"error,omitempty"`
	Errors int    `json:"errors,omitempty"`
	// Ledger words the calls that were given up or refused under the task, also
	// those whose error nobody looked at.
	Ledger string `json:"ledger,omitempty"`

	Assets int `json:"assets"`
	Pages  int `json:"pages"`
	Calls  int `json:"calls"`
	// Details counts the reads of single assets, Incomplete the assets with a
	// detail missing, Vanished those that were listed and gone when asked about.
	Details    int `json:"details,omitempty"`
	Incomplete int `json:"incomplete,omitempty"`
	Vanished   int `json:"vanished,omitempty"`
	// Elsewhere counts what was left to another task of the run, which lists it
	// more fully.
	Elsewhere int `json:"elsewhere,omitempty"`

	// RetryAfterSeconds is when trying again makes sense, counted from Finished,
	// where the provider or an open circuit said so.
	RetryAfterSeconds float64   `json:"retry_after_seconds,omitempty"`
	Started           time.Time `json:"started,omitzero"` // UTC; missing when it never began
	Finished          time.Time `json:"finished"`
	Seconds           float64   `json:"seconds"`
}
