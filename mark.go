package cloudpace

import (
	"time"

	"github.com/cloudpace/cloudpace/internal/bucket"
)

// forget tells the bucket of an attempt that is over that nothing is known of it, unless
// it has heard of it, or will when the call goes on.
func (c *Call) forget() {
	if c.mark != (bucket.Mark{}) && !c.owing {
		c.charge.leaf.bucket.Unknown(c.mark)
		c.mark = bucket.Mark{}
	}
}

// settle tells the bucket that a throttled attempt is repeated now, or never.
func (c *Call) settle(now time.Time) {
	if c.owing {
		c.charge.leaf.bucket.Settled(now, c.mark)
		c.owing, c.mark = false, bucket.Mark{}
	}
}
