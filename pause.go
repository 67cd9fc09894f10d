package cloudpace

import (
	"time"

	"github.com/cloudpace/cloudpace/internal/bucket"
)

// Pause stops the scope that the call is charged to for d, for everybody, as the
// hint of a throttle does, but leaves its rate alone. It is for answers that say
// beforehand that a quota is used up: a success whose headers tell that nothing is
// left until then. A pause lasts at most the provider's max_pause_seconds, is never
// shortened by another, and afterwards callers leave at the rate of the bucket.
// Zero or less does nothing, and so does a call that has ended.
func (c *Call) Pause(d time.Duration) {
	c.pause(d, func(l *leaf) *bucket.Bucket { return l.bucket })
}

// PauseAccount is [Call.Pause] for all scopes of the account that the call is
// charged to. Where the provider has no bucket per account it pauses the call's
// scope alone.
func (c *Call) PauseAccount(d time.Duration) {
	c.pause(d, func(l *leaf) *bucket.Bucket {
		if l.account == nil {
			return l.bucket
		}
		return l.account
	})
}

// Left tells what the server said of the quota: so many calls were left in the scope that
// the call is charged to, after the attempt under way. It is to be told before the attempt
// is reported. A leaf whose controller learns believes it; others do not ask.
func (c *Call) Left(calls int) {
	if c.inert || calls < 0 {
		return
	}
	defer c.unlock()
	c.lock()
	if !c.done && c.charge.provider.enabled {
		c.charge.leaf.bucket.Left(time.Now(), c.mark, calls)
	}
}

func (c *Call) pause(d time.Duration, level func(*leaf) *bucket.Bucket) {
	if c.inert || d <= 0 {
		return
	}
	c.lock()
	defer c.unlock()
	if !c.done && c.charge.provider.enabled {
		level(c.charge.leaf).Pause(time.Now(), d)
	}
}
