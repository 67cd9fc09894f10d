package fleet

import (
	"context"
	"time"

	"github.com/cloudpace/cloudpace/internal/sharing"
)

// Store keeps what the members of a fleet share: buckets, pools of slots, and who is
// there. Every store behaves as the suite in storetest says; [Memory] is the smallest.
//
// A store measures time by one clock of its own and never by a member's. What one call
// answers is right for each bucket by itself; buckets do not depend on one another. Its
// methods are safe for concurrent use, and end when their context does.
//
// Where an answer is lost, what it granted counts as granted. No method repeats by itself
// what may have been carried out.
type Store interface {
	// Exchange tells what a member wants and has found out, and brings the grants, in
	// the order of the asks. An error is about all of them; where one bucket alone
	// failed, its grant says so.
	Exchange(ctx context.Context, member string, asks []BucketAsk) ([]BucketGrant, error)
	// Slots does the same for pools of slots.
	Slots(ctx context.Context, member string, asks []SlotsAsk) ([]SlotsGrant, error)
	// Present says that a member is there, for as long as lasts says, and brings how many
	// are, this one included.
	Present(ctx context.Context, member Member, lasts time.Duration) (members int, err error)
	// Leave says that a member is gone. Its slots and its place are free at once; tokens
	// it gives back by a last Exchange before.
	Leave(ctx context.Context, member string) error
	// Status tells what there is, for people.
	Status(ctx context.Context) (Status, error)
	// Close lets go of what the store holds in this process. What is shared stays.
	Close() error
}

// BucketAsk is an ask for one bucket.
type BucketAsk struct {
	Key string // names the bucket to all members: its scope and level
	sharing.Ask
}

// BucketGrant is the answer to one ask.
type BucketGrant struct {
	sharing.Grant
	Err error // this bucket's alone
}

// SlotsAsk is an ask for one pool.
type SlotsAsk struct {
	Key string
	sharing.SlotAsk
}

// SlotsGrant is the answer to one ask.
type SlotsGrant struct {
	sharing.SlotGrant
	Err error
}

// Member is a process of the fleet, as others see it.
type Member struct {
	ID      string    `json:"id"`   // unique
	Name    string    `json:"name"` // for people: host and process
	Started time.Time `json:"started"`
}

// Status is what is shared, by name.
type Status struct {
	Store   string         `json:"store"` // what it is and where, without secrets
	Members []MemberStatus `json:"members"`
	Buckets []BucketStatus `json:"buckets"`
	Slots   []SlotsStatus  `json:"slots"`
}

// MemberStatus is one member.
type MemberStatus struct {
	Member
	Left float64 `json:"left_seconds"` // until it counts as gone
}

// BucketStatus is one bucket.
type BucketStatus struct {
	Key           string   `json:"key"`
	RPS           float64  `json:"rps"`            // in force
	MaxRPS        float64  `json:"max_rps"`        // the ceiling
	Burst         float64  `json:"burst"`          // in force
	Tokens        float64  `json:"tokens"`         // stored; negative is handed out in advance
	PausedSeconds float64  `json:"paused_seconds"` // left of a pause
	OpenSeconds   float64  `json:"open_seconds"`   // left of an open circuit
	Cause         string   `json:"cause,omitempty"`
	Active        []string `json:"active"` // members that want tokens, by id
}

// SlotsStatus is one pool.
type SlotsStatus struct {
	Key   string         `json:"key"`
	Max   int            `json:"max"`
	Slots map[string]int `json:"slots"` // by member
}
