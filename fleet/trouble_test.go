package fleet_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/verdict"
)

// limited changes AWS's limits: EC2's bucket, and the account's slots.
func limited(rps, burst float64, slots int) func(*cloudpace.Config) {
	return func(c *cloudpace.Config) {
		p := c.Providers["aws"]
		p.Services = map[string]cloudpace.Service{"ec2": {MaxRPS: rps, Burst: burst}}
		p.MaxConcurrency = slots
		c.Providers["aws"] = p
	}
}

func refusal() error {
	return &verdict.ResponseError{Provider: "aws", StatusCode: 503, Code: "RequestLimitExceeded"}
}

// Tokens of callers who leave before they send go back, and nobody who comes later waits
// for one that nobody asks for.
func TestTokensThatComeBack(t *testing.T) {
	for _, throttled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := governed(t, limited(100, 20, 1))
			joined(t, newWatched(), g)
			c := admit(t, g, ec2)
			ctx, leave := context.WithCancel(t.Context())
			var work sync.WaitGroup
			for range 500 { // they have a token, and wait for the slot
				work.Go(func() { _, _ = g.Begin(ctx, ec2) })
			}
			time.Sleep(10 * time.Second)
			leave()
			work.Wait()
			if throttled {
				c.End(refusal())
			} else {
				c.End(nil)
			}
			time.Sleep(time.Minute)
			start, n := time.Now(), 0
			for ; time.Since(start) < 100*time.Millisecond; n++ {
				admit(t, g, ec2).End(nil)
			}
			if n < 15 || n > 31 {
				t.Errorf("throttled %v: %d calls in 0.1 s, of a burst of 20 and 100 a second", throttled, n)
			}
		})
	}
}

// A caller who has not long to wait is not sent away from a bucket that is full.
func TestS3_5_ShortDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := governed(t, limited(0.33, 100, 100))
		joined(t, newWatched(), g)
		call := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			c, err := g.Begin(ctx, ec2)
			if err == nil {
				c.End(nil)
			}
			return err
		}
		for range 99 {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		var late *cloudpace.DeadlineExceededError
		if err := call(); !errors.As(err, &late) || time.Since(start) > 2*time.Second {
			t.Errorf("of an empty one: %v after %s", err, time.Since(start))
		}
	})
}

// Who waits no longer than a while goes into debt, and no further than a burst.
func TestS3_6_DebtIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := governed(t, limited(10, 10, 1000))
		joined(t, newWatched(), g)
		var sent atomic.Int64
		var work sync.WaitGroup
		ctx := cloudpace.WithMaxWait(t.Context(), 100*time.Millisecond)
		for range 2000 { // 100 a second for 20 s
			work.Go(func() {
				if c, err := g.Begin(ctx, ec2); err == nil {
					sent.Add(1)
					c.End(nil)
				}
			})
			time.Sleep(10 * time.Millisecond)
		}
		work.Wait()
		if n := sent.Load(); n < 200 || n > 270 {
			t.Errorf("%d calls in 20 s at 10 a second, with a burst and as much debt", n)
		}
	})
}

// foreign is a store in which one key is somebody else's.
type foreign struct{ *watched }

func (f foreign) Exchange(ctx context.Context, member string, asks []fleet.BucketAsk) ([]fleet.BucketGrant, error) {
	grants, err := f.watched.Exchange(ctx, member, asks)
	for i := range grants {
		if strings.Contains(asks[i].Key, "/ec2") {
			grants[i] = fleet.BucketGrant{Err: errors.New("another type")}
		}
	}
	return grants, err
}

func (f foreign) Slots(ctx context.Context, member string, asks []fleet.SlotsAsk) ([]fleet.SlotsGrant, error) {
	grants, err := f.watched.Slots(ctx, member, asks)
	for i := range grants {
		if strings.Contains(asks[i].Key, "444455556666") {
			grants[i] = fleet.SlotsGrant{Err: errors.New("another type")}
		}
	}
	return grants, err
}

// logged counts events.
type logged struct {
	slog.Handler
	n *atomic.Int64
}

func (l logged) Enabled(context.Context, slog.Level) bool { return true }

func (l logged) Handle(context.Context, slog.Record) error {
	l.n.Add(1)
	return nil
}

// What the store fails for alone goes on alone, and says so once.
func TestOneThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		var events atomic.Int64
		g := governed(t)
		m := joined(t, foreign{store}, g, fleet.Options{Logger: slog.New(logged{slog.DiscardHandler, &events})})
		other, account := ec2, ec2
		other.Service, account.Service, account.Account = "sqs", "sqs", "444455556666"
		start := time.Now()
		for range 100 {
			admit(t, g, ec2).End(nil)
			admit(t, g, account).End(nil)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("100 calls in each took %s", took)
		}
		time.Sleep(time.Minute)
		admit(t, g, other).End(nil)
		if n, asked := events.Load(), store.asked(); n != 2 || asked > 250 || m.State().Alone {
			t.Errorf("%d events, %d questions, %+v", n, asked, m.State())
		}
	})
}

// What was found out before an outage is nothing new after it.
func TestOldNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		a, b := pair(t, store)
		c := admit(t, a, ec2)
		store.set(errors.New("gone"))
		c.Pause(200 * time.Second)
		c.End(refusal())
		time.Sleep(time.Hour)
		store.set(nil)
		time.Sleep(10 * time.Second)
		start := time.Now()
		for range 5 {
			admit(t, b, ec2).End(nil)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("an hour after a pause of 200 s 5 calls of the other took %s", took)
		}
	})
}

// Neither new settings nor a store that comes back let more in than the account has slots.
func TestSlotsThroughChanges(t *testing.T) {
	for name, change := range map[string]func(*watched, []*cloudpace.Governor){
		"the same settings again": func(_ *watched, gs []*cloudpace.Governor) {
			for _, g := range gs {
				_ = g.Configure(g.Config())
			}
		},
		"an outage": func(store *watched, _ []*cloudpace.Governor) {
			store.set(errors.New("gone"))
			time.Sleep(10300 * time.Millisecond)
			store.set(nil)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := newWatched()
			store.away = time.Millisecond
			var work sync.WaitGroup
			var now, most atomic.Int64
			var gs []*cloudpace.Governor
			s := ec2
			s.Service = "sqs"
			for range 4 {
				g := governed(t, func(c *cloudpace.Config) {
					p := c.Providers["aws"]
					p.MaxRPS, p.Burst, p.MaxConcurrency = 1e4, 1e4, 24
					c.Providers["aws"] = p
				})
				gs = append(gs, g)
				joined(t, store, g, fleet.Options{Lease: 3 * time.Second})
				for range 30 {
					work.Go(func() {
						for end := time.Now().Add(40 * time.Second); time.Now().Before(end); {
							c := admit(t, g, s)
							n := now.Add(1)
							for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
							}
							time.Sleep(700 * time.Millisecond)
							now.Add(-1)
							c.End(nil)
						}
					})
				}
			}
			time.Sleep(10 * time.Second)
			change(store, gs)
			work.Wait()
			if n := most.Load(); n != 24 {
				t.Errorf("%s: %d calls in flight, of 24", name, n)
			}
		})
	}
}

// Tokens that were on their way when a pause began leave at the rate after it.
func TestS4_2_TokensOnTheirWayIntoAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		g := governed(t, limited(40, 40, 1000))
		joined(t, store, g)
		c := admit(t, g, ec2)
		time.Sleep(5 * time.Second)
		store.move(100 * time.Millisecond)
		var work sync.WaitGroup
		start := time.Now()
		var early atomic.Int64
		for range 100 {
			work.Go(func() {
				c := admit(t, g, ec2)
				if d := time.Since(start); d >= 10*time.Second && d < 10500*time.Millisecond {
					early.Add(1)
				}
				c.End(nil)
			})
		}
		time.Sleep(250 * time.Millisecond)
		c.Pause(10 * time.Second)
		c.End(nil)
		work.Wait()
		if n := early.Load(); n > 12 {
			t.Errorf("%d calls in the first quarter of a second after a pause, at 40 a second", n)
		}
	})
}

// A share is nothing that was learned, and with the fleet it ends: the limits are as they
// were.
func TestAShareIsNotALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newWatched()
		g := governed(t, func(c *cloudpace.Config) {
			p := c.Providers["aws"]
			p.MinRPS = 5
			c.Providers["aws"] = p
		})
		m := joined(t, store, g)
		for range 7 {
			joined(t, store, governed(t))
		}
		time.Sleep(10 * time.Second) // it has seen the others
		admit(t, g, ec2).End(nil)
		store.set(errors.New("gone"))
		time.Sleep(10 * time.Second)
		admit(t, g, ec2).End(nil)
		if l := g.Learned(); len(l.Scopes) != 0 {
			t.Errorf("learned: %+v", l.Scopes)
		}
		if b := g.Snapshot().Buckets[0]; b.RPS != 2.5 || b.MaxRPS != 20 {
			t.Errorf("while alone: %+v", b)
		}
		m.Close()
		time.Sleep(time.Minute)
		for range 5 {
			admit(t, g, ec2).End(refusal())
			time.Sleep(2 * time.Second)
		}
		if b := g.Snapshot().Buckets[0]; b.RPS != 5 || b.MaxRPS != 20 {
			t.Errorf("after it has left, and throttles: %+v", b)
		}
	})
}

// The record of a run says how far a shared rate fell.
func TestS8_1_ASharedRateThatFell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := governed(t)
		joined(t, newWatched(), g)
		admit(t, g, ec2).End(refusal())
		time.Sleep(time.Second)
		if text := strings.Join(g.Summary(nil).Messages, "\n"); !strings.Contains(text, "throttled 1x, slowed to 10.0 rps") {
			t.Error(text)
		}
	})
}
