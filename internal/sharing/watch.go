package sharing

import (
	"github.com/cloudpace/cloudpace/internal/breaker"
	"github.com/cloudpace/cloudpace/internal/bucket"
	"github.com/cloudpace/cloudpace/internal/bulkhead"
)

// Watcher is told what a governor has that can be shared. Its methods are called with the
// governor's locks held: they are to be quick and not to call back.
type Watcher interface {
	// Met says that there is a bucket, and Left that it is gone.
	Met(Lane)
	Left(*bucket.Bucket)
	// Turned says that a lane's circuit has opened or closed.
	Turned(*bucket.Bucket)
	// MetPool says that there is a pool of slots, or that its size has changed, and
	// LeftPool that it is gone.
	MetPool(Pool)
	LeftPool(*bulkhead.Bulkhead)
}

// Lane is a bucket of a governor, with the circuit of a leaf.
type Lane struct {
	Key string // its scope and level
	Limits
	Bucket  *bucket.Bucket
	Breaker *breaker.Breaker // nil for levels above the leaves
}

// Pool is an account's slots.
type Pool struct {
	Key   string
	Max   int
	Slots *bulkhead.Bulkhead
}
