package cloudpace_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
)

// Who comes after a bar is refused before the wait for a token that would be of no use.
func TestBarRefusesBeforeTheQueue(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxRPS, p.Burst, p.MinRPS = 0.01, 1, 0.01 })
		c := begin(t, g, scope)
		c.Bar(time.Now().Add(time.Hour), denied())
		c.End(nil)
		_, err := g.Begin(context.Background(), scope)
		_ = as[*cloudpace.CircuitOpenError](t, err)
		wantTime(t, "it was refused", clock(), 0)
	})
}
