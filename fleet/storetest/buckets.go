package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudpace/cloudpace/fleet"
	"github.com/cloudpace/cloudpace/internal/sharing"
)

// testNeverMore: members that ask all at once, through two clients, and give some back,
// use no more than the burst and what the rate gives.
func testNeverMore(t *testing.T, h Harness) {
	t.Helper()
	neverMore(t, h, sharing.Limits{Rate: 150, Burst: 40}, 1e-3)
}

// testNeverMoreLearning: nor where the limits are a ceiling for what is learned. One paced
// call may go before the token that it takes is there.
func testNeverMoreLearning(t *testing.T, h Harness) {
	t.Helper()
	neverMore(t, h, sharing.Limits{Rate: 150, Burst: 40, Learn: true}, 1)
}

func neverMore(t *testing.T, h Harness, l sharing.Limits, slack float64) {
	t.Helper()
	const lasts = 1500 * ms
	start := h.now()
	var mu sync.Mutex
	var used []time.Time
	together(h, 8, func(i int, s fleet.Store) {
		r := script{rand.New(rand.NewPCG(uint64(i), 3))}
		var held []time.Time
		for {
			now := h.now()
			back, gives := 0, r.IntN(4) == 0 // all that is still to come, and some that was
			var o sharing.Outcomes
			mu.Lock()
			for k, at := range held {
				if gives && (at.After(now) || k%5 == 0) {
					back++
				} else {
					used = append(used, at)
					o.Served, o.Last, o.Trip = o.Served+1, max(0, now.Sub(at)), ms
				}
			}
			mu.Unlock()
			ask := sharing.Ask{Limits: l, Want: r.IntN(60), Back: back, Outcomes: o}
			over := now.Sub(start) > lasts
			if over {
				ask.Want = 0
			}
			g, err := s.Exchange(t.Context(), fmt.Sprint("member ", i), []fleet.BucketAsk{{Key: "shared", Ask: ask}})
			if err != nil || g[0].Err != nil {
				t.Errorf("Exchange: %v, %+v", err, g)
				return
			}
			if over {
				return
			}
			now, held = h.now(), nil
			for k := range g[0].Tokens {
				at := now.Add(g[0].After + time.Duration(k)*g[0].Every)
				if at.Before(now) {
					at = now
				}
				held = append(held, at)
			}
			h.sleep(time.Duration(1+r.IntN(80)) * ms)
		}
	})
	slices.SortFunc(used, time.Time.Compare)
	for i, at := range used {
		if n, may := float64(i+1), l.Burst+l.Rate*at.Sub(start).Seconds(); n > may+slack {
			t.Fatalf("%g tokens were used in %s, where %g may be", n, at.Sub(start), may)
		}
	}
	t.Logf("%d tokens were used", len(used))
	if len(used) < int(l.Burst)/2 {
		t.Errorf("only %d tokens were used", len(used))
	}
}

// testLostAnswers: an ask whose answer is lost grants once, or not at all.
func testLostAnswers(t *testing.T, h Harness) {
	l := sharing.Limits{Rate: 0.001, Burst: 1000} // the smallest batch is one token
	r := script{rand.New(rand.NewPCG(4, 4))}
	told, lost := 0, 0
	for i := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		switch i % 4 {
		case 0:
			cancel()
		case 1:
			go cancel()
		case 2:
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), r.time(300*time.Microsecond))
		}
		g, err := h.Store.Exchange(ctx, fmt.Sprint(i), []fleet.BucketAsk{{Key: "lost", Ask: sharing.Ask{Limits: l, Want: 1}}})
		cancel()
		switch {
		case err == nil && g[0].Err == nil:
			told += g[0].Tokens
		case err == nil:
			err = g[0].Err
			fallthrough
		default:
			lost++
			if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("an ended context gives %v", err)
			}
		}
	}
	granted := l.Burst - bucket(t, h.Store, "lost").Tokens
	if n := int(math.Round(granted)); n < told || n > told+lost {
		t.Errorf("%d tokens are gone; %d were told of, and %d asks had no answer", n, told, lost)
	}
	if told < 75 {
		t.Errorf("only %d of 300 asks were answered", told)
	}
}

// testLearned: what one member tells is known to the others.
func testLearned(t *testing.T, h Harness) {
	s, o, l := h.Store, h.other(), ec2()
	one(t, s, "a", "k", sharing.Ask{Limits: l, Throttled: true, Hint: 100 * sec})
	g := one(t, o, "b", "k", sharing.Ask{Limits: l, Want: 1, Throttled: true, Ago: ms})
	if g.Rate != 10 || g.Burst != 50 || g.Paused <= 60*sec || g.Paused > 100*sec || g.Tokens != 1 || g.After > 100*sec || g.After < g.Paused-ms {
		t.Errorf("after a throttle with a pause of 100 s another member sees %+v", g)
	}
	one(t, s, "a", "l", sharing.Ask{Limits: l, Pause: 900 * sec})
	if g := one(t, o, "b", "l", sharing.Ask{Limits: l}); g.Rate != 20 || g.Paused <= 250*sec || g.Paused > 300*sec {
		t.Errorf("after a pause of 900 s, of which 300 are allowed: %+v", g)
	}
	opened := sharing.Circuit{Left: 100 * sec, Cooldown: 200 * sec, Cause: "503 \"slow\ndown\" ü"}
	one(t, s, "a", "m", sharing.Ask{Limits: l, Opened: &opened})
	g = one(t, o, "b", "m", sharing.Ask{Limits: l})
	if g.Circuit == nil || g.Circuit.Left <= 60*sec || g.Circuit.Left > 100*sec || g.Circuit.Cooldown != 200*sec || g.Circuit.Cause != opened.Cause {
		t.Errorf("an open circuit is seen as %+v", g.Circuit)
	}
	one(t, o, "b", "m", sharing.Ask{Limits: l, Closed: true})
	if g := one(t, s, "a", "m", sharing.Ask{Limits: l}); g.Circuit != nil {
		t.Errorf("a circuit that was closed is seen as %+v", g.Circuit)
	}
	for i := range 3 {
		g = one(t, s, fmt.Sprint(i), "n", sharing.Ask{Limits: l, Want: 1})
	}
	if g.Active != 3 {
		t.Errorf("%d of three are active", g.Active)
	}
	if g := one(t, s, "2", "n", sharing.Ask{Limits: l}); g.Active != 2 {
		t.Errorf("%d are active, when one of three wants no more", g.Active)
	}
	one(t, s, "a", "o", sharing.Ask{Limits: l, Debt: 60})
	if got := bucket(t, o, "o").Tokens; got < 40 || got > 90 {
		t.Errorf("%g tokens after a debt of 60 of 100", got)
	}
	one(t, s, "a", "o", sharing.Ask{Limits: l, Drained: true})
	if got := bucket(t, o, "o").Tokens; got < -1 || got > 30 {
		t.Errorf("%g tokens where members say that none are left", got)
	}
}

func testIndependent(t *testing.T, h Harness) {
	l := ec2()
	slow := l
	slow.Rate = 5
	asks := []fleet.BucketAsk{
		{Key: "a", Ask: sharing.Ask{Limits: l, Throttled: true, Hint: 50 * sec, Opened: &sharing.Circuit{Left: sec}}},
		{Key: "ab", Ask: sharing.Ask{Limits: l, Want: 1}},
		{Key: "b", Ask: sharing.Ask{Limits: slow, Want: 1}},
	}
	g, err := h.Store.Exchange(t.Context(), "m", asks)
	if err != nil {
		t.Fatal(err)
	}
	if g[1].Rate != 20 || g[1].Paused != 0 || g[1].Circuit != nil || g[1].After > 0 || g[2].Rate != 5 {
		t.Errorf("a throttle of one bucket changed others: %+v", g)
	}
}

// names are what scopes and members may be called.
var names = []string{
	"aws/111122223333/us-east-1/ec2:DescribeInstances", "with a space", "{braces}", "}{", "{}", "%7Bs%7D", "%", ":", "",
	"ünï/코드/🙂", "\x00\x01\xff\xfe", "line\r\nbreak\n", `"quoted" \ 'so'`, "*?[a-z]", strings.Repeat("long/", 100), "s", "c", "m",
}

// testAnyName: any text names a bucket, a pool or a member, and comes back as it was.
func testAnyName(t *testing.T, h Harness) {
	l := ec2()
	for i, name := range names {
		l.Rate = float64(i + 1)
		if g := one(t, h.Store, name, name, sharing.Ask{Limits: l, Want: 1}); g.Tokens != 1 || g.Rate != l.Rate || g.Active != 1 {
			t.Errorf("bucket and member %q: %+v", name, g)
		}
		if g := slots(t, h.Store, name, name, sharing.SlotAsk{Max: i + 1, Want: 100, Lasts: 100 * sec}); g.Slots != i+1 {
			t.Errorf("pool and member %q: %+v", name, g)
		}
		n, err := h.Store.Present(t.Context(), fleet.Member{ID: name, Name: strings.ToValidUTF8(name, "?")}, 100*sec)
		if err != nil || n != i+1 {
			t.Errorf("member %q: %d present, %v", name, n, err)
		}
	}
	st := status(t, h.Store)
	sorted := slices.Sorted(slices.Values(names))
	var buckets, pools, members []string
	for _, b := range st.Buckets {
		buckets = append(buckets, b.Key)
		if !slices.Equal(b.Active, []string{b.Key}) {
			t.Errorf("bucket %q: %q are active", b.Key, b.Active)
		}
	}
	for _, p := range st.Slots {
		pools = append(pools, p.Key)
		if p.Slots[p.Key] != p.Max {
			t.Errorf("pool %q: %+v", p.Key, p)
		}
	}
	for _, m := range st.Members {
		members = append(members, m.ID)
		if m.Name != strings.ToValidUTF8(m.ID, "?") {
			t.Errorf("member %q is called %q", m.ID, m.Name)
		}
	}
	slices.Sort(members)
	for what, got := range map[string][]string{"buckets": buckets, "pools": pools, "members": members} {
		if !slices.Equal(got, sorted) {
			t.Errorf("%s\n got %q\nwant %q", what, got, sorted)
		}
	}
}

// testBadAsks: what has no meaning is refused, and neither what it is about nor what else
// is asked suffers.
func testBadAsks(t *testing.T, h Harness) {
	l := ec2()
	one(t, h.Store, "a", "k", sharing.Ask{Limits: l})
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -3, 1e300} {
		bad := l
		bad.Rate = x
		g, err := h.Store.Exchange(t.Context(), "a", []fleet.BucketAsk{{Key: "k", Ask: sharing.Ask{Limits: bad, Want: 1}}, {Key: "k", Ask: sharing.Ask{Limits: l, Want: 1}}})
		if err != nil {
			t.Fatalf("a rate of %v: %v", x, err)
		}
		if g[0].Err == nil || g[0].Tokens != 0 || g[1].Err != nil || g[1].Rate != 20 {
			t.Errorf("a rate of %v: %+v", x, g)
		}
	}
	hostile := sharing.Ask{
		Limits: l, Want: math.MinInt, Back: math.MaxInt, Debt: math.MinInt, Throttled: true,
		Ago: math.MinInt64, Hint: math.MinInt64, Pause: math.MinInt64,
		Opened: &sharing.Circuit{Left: math.MinInt64, Cooldown: math.MaxInt64, Cause: strings.Repeat("x", 100_000)},
	}
	if g := one(t, h.Store, "b", "k", hostile); g.Tokens != 0 || g.Paused != 0 || g.Circuit != nil || g.Rate != 10 {
		t.Errorf("after numbers without sense: %+v", g)
	}
	if g := one(t, h.Store, "c", "k", sharing.Ask{Limits: l, Want: math.MaxInt}); g.Tokens < 1 || g.After > sec {
		t.Errorf("and what others get then: %+v", g)
	}
	p, err := h.Store.Slots(t.Context(), "a", []fleet.SlotsAsk{{Key: "k", SlotAsk: sharing.SlotAsk{Max: 3, Want: 1}}, {Key: "k", SlotAsk: sharing.SlotAsk{Max: 3, Want: 1, Lasts: sec}}})
	if err != nil || p[0].Err == nil || p[1].Err != nil || p[1].Slots != 1 {
		t.Errorf("slots without a lease: %+v, %v", p, err)
	}
}

// testThousand: as many asks as anyone has in one call, answered in their order.
func testThousand(t *testing.T, h Harness) {
	var asks []fleet.BucketAsk
	for i := range 1000 {
		l := sharing.Limits{Rate: float64(i + 1), Burst: 10}
		asks = append(asks, fleet.BucketAsk{Key: fmt.Sprint("bucket ", i), Ask: sharing.Ask{Limits: l, Want: 1}})
	}
	g, err := h.Store.Exchange(t.Context(), "m", asks)
	if err != nil || len(g) != len(asks) {
		t.Fatalf("%d answers, %v", len(g), err)
	}
	for i := range g {
		if g[i].Err != nil || g[i].Rate != float64(i+1) || g[i].Tokens != 1 {
			t.Fatalf("answer %d: %+v", i, g[i])
		}
	}
	if g, err := h.Store.Exchange(t.Context(), "m", nil); err != nil || len(g) != 0 {
		t.Errorf("no asks: %v, %v", g, err)
	}
	if g, err := h.Store.Slots(t.Context(), "m", nil); err != nil || len(g) != 0 {
		t.Errorf("no asks for slots: %v, %v", g, err)
	}
}
