package cloudpace_test

import (
	"testing"
	"time"

	"github.com/cloudpace/cloudpace"
)

// S4.2, S11.5: a pause that a success asks for holds the leaf for everybody, at
// most max_pause_seconds, and leaves the rate alone.
func TestS4PauseFromASuccess(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.MaxPause = 30 * time.Second })
		c := begin(t, g, scope)
		c.Pause(10 * time.Second)
		c.End(nil)
		other := scope
		other.Service = "sns"
		begin(t, g, other).End(nil)
		wantTime(t, "another service went", clock(), 0)
		begin(t, g, scope).End(nil)
		wantTime(t, "the paused service went", clock(), 10*time.Second)
		if b := bucketOf(t, g, "aws/111122223333/us-east-1/sqs"); b.RPS != 20 {
			t.Errorf("rate %v after a pause", b.RPS)
		}
		c = begin(t, g, scope)
		c.Pause(time.Hour)
		c.Pause(-1)
		c.End(nil)
		before := clock()
		c.Pause(time.Hour) // it has ended
		begin(t, g, scope).End(nil)
		wantTime(t, "max_pause_seconds", clock()-before, 30*time.Second)
	})
}

// S4.4, S11.5: the account's bucket can be paused, and where it is off the leaf is.
func TestS4PauseAccount(t *testing.T) {
	for _, tc := range []struct {
		accountRPS float64
		neighbour  time.Duration // when another service of the account goes
	}{{100, time.Second}, {0, 0}} {
		bubble(t, func(t *testing.T, clock func() time.Duration) {
			g := governor(t, func(p *cloudpace.Provider) { p.AccountMaxRPS = tc.accountRPS })
			c := begin(t, g, scope)
			c.PauseAccount(time.Second)
			c.End(nil)
			stranger, neighbour := scope, scope
			stranger.Account, neighbour.Service = "444455556666", "sns"
			begin(t, g, stranger).End(nil)
			wantTime(t, "another account went", clock(), 0)
			begin(t, g, neighbour).End(nil)
			wantTime(t, "another service went", clock(), tc.neighbour)
			begin(t, g, scope).End(nil)
			if clock() < time.Second {
				t.Errorf("account bucket %v rps: the paused service went after %v", tc.accountRPS, clock())
			}
		})
	}
}

func TestPauseOfADisabledProviderDoesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, clock func() time.Duration) {
		g := governor(t, func(p *cloudpace.Provider) { p.Enabled = false })
		c := begin(t, g, scope)
		c.Pause(time.Hour)
		c.PauseAccount(time.Hour)
		begin(t, g, scope).End(nil)
		wantTime(t, "went", clock(), 0)
	})
}
