package inventory

import "time"

// Edge is a relation between two things: a line of edges.jsonl. There is one for each
// member of a binding of an IAM policy.
type Edge struct {
	Provider string `json:"provider"`
	Account  string `json:"account"` // that was read, as of assets
	Kind     string `json:"kind"`    // [IAMBinding]
	// From has the role: "serviceAccount:reader@example-1.iam.gserviceaccount.com".
	From string `json:"from"`
	// To is the ID of the asset that it has the role on, and on what is below it.
	To     string `json:"to"`
	ToType string `json:"to_type,omitempty"`
	Role   string `json:"role"`
	// Condition is what has to be true for the binding to hold; missing where there is
	// none.
	Condition Condition `json:"condition,omitzero"`

	Task string    `json:"task"` // the task that found it
	Time time.Time `json:"time"` // when it was read, UTC
}

// IAMBinding is the kind of an edge that an IAM policy grants.
const IAMBinding = "iam_binding"

// Condition is that of a binding.
type Condition struct {
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Expression  string `json:"expression,omitempty"`
}
