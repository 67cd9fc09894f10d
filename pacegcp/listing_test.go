package pacegcp_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/grpc/codes"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/pacegcp"
	"github.com/cloudpace/cloudpace/verdict"
)

// onePerSecond makes the pacing of page requests visible.
func onePerSecond(p *cloudpace.Provider) {
	p.Services = map[string]cloudpace.Service{"cloudasset.ListAssets": {MaxRPS: 1, Burst: 1}}
	p.Adaptive = false
}

// slots are those in use of one account.
func slots(g *cloudpace.Governor, account string) int {
	for _, b := range g.Snapshot().Bulkheads {
		if b.Account == account {
			return b.InUse
		}
	}
	return 0
}

func TestS13_1_ThreePagesAreThreeTokensThreeCallsAndOneSlot(t *testing.T) {
	for _, makes := range []string{"a governed client", "a client of another make"} {
		t.Run(makes, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := governor(t, onePerSecond)
				var held []int
				f := newFake(func(n int, _ arrival) reply {
					held = append(held, slots(g, parent))
					return []reply{page("a", "1", "2"), page("b", "3"), page("", "4")}[n-1]
				})
				e := inMemory(t, f)
				c := e.client(t)
				if makes == "a governed client" {
					c = e.governed(t, g)
				}
				got, err := list(t.Context(), c, g)
				if err != nil || !slices.Equal(got, []string{"1", "2", "3", "4"}) {
					t.Fatalf("%v, %v", got, err)
				}
				// One token a second: a page that took two, or none, would come at another time.
				if want := []time.Duration{0, time.Second, 2 * time.Second}; !slices.Equal(f.times(), want) {
					t.Errorf("requests at %v, want %v", f.times(), want)
				}
				if n := numbers(t, g, listScope); n.Calls != 3 || n.Retries != 0 {
					t.Errorf("%+v, want 3 calls", n.Totals)
				}
				if !slices.Equal(held, []int{1, 1, 1}) || slots(g, parent) != 0 {
					t.Errorf("slots while a page was under way: %v, and %d at the end", held, slots(g, parent))
				}
			})
		})
	}
}

// While a listing waits for its next page it keeps its slot (S5.2), so that no other
// comes between.
func TestS13_1_AListingKeepsItsSlotBetweenPages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		f := newFake(func(_ int, a arrival) reply {
			if a.token == "" {
				return page("2", a.parent)
			}
			return page("", a.parent)
		})
		c := inMemory(t, f).governed(t, g)
		second := make(chan error, 1)
		for _, err := range pacegcp.ListAssets(t.Context(), c, &assetpb.ListAssetsRequest{Parent: parent}, pacegcp.WithGovernor(g)) {
			if err != nil {
				t.Fatal(err)
			}
			if len(f.arrivals()) == 1 {
				go func() {
					_, err := list(t.Context(), c, g)
					second <- err
				}()
				time.Sleep(time.Minute) // the caller is slow
			}
		}
		if err := <-second; err != nil {
			t.Fatal(err)
		}
		var tokens []string
		for _, a := range f.arrivals() {
			tokens = append(tokens, a.token)
		}
		if want := []string{"", "2", "", "2"}; !slices.Equal(tokens, want) {
			t.Errorf("pages %q, want %q", tokens, want)
		}
	})
}

// The breaker is asked once: a listing that is under way goes on when others have
// opened the circuit, and a new one is refused.
func TestS13_1_TheBreakerIsNotAskedForLaterPages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.BreakerThreshold = 1 })
		f := script(page("a", "1"), page("b", "2"), page("", "3"))
		c := inMemory(t, f).governed(t, g)
		var got []string
		for a, err := range pacegcp.ListAssets(t.Context(), c, &assetpb.ListAssetsRequest{Parent: parent}, pacegcp.WithGovernor(g)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, a.GetName())
			if a.GetName() == "1" {
				other, err := g.Begin(t.Context(), cloudpace.Scope{Provider: "gcp", Account: parent, Service: "cloudasset", Operation: listAssets})
				if err != nil {
					t.Fatal(err)
				}
				other.End(&verdict.ResponseError{Provider: "gcp", Code: "UNAVAILABLE"})
			}
		}
		if !slices.Equal(got, []string{"1", "2", "3"}) {
			t.Errorf("got %q", got)
		}
		_, err := list(t.Context(), c, g)
		var open *cloudpace.CircuitOpenError
		if !errors.As(err, &open) || len(f.arrivals()) != 3 {
			t.Errorf("a new listing: %v, after %d requests", err, len(f.arrivals()))
		}
	})
}

func TestS13_2_PageTwoThrottledForEver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t)
		f := newFake(func(_ int, a arrival) reply {
			if a.token == "" {
				return page("2", "1")
			}
			return throttled()
		})
		c := inMemory(t, f).governed(t, g)
		ctx, ledger := cloudpace.WithLedger(t.Context())
		got, err := list(ctx, c, g)
		if !slices.Equal(got, []string{"1"}) {
			t.Errorf("the first page's assets: %q", got)
		}
		var (
			listing *pacegcp.ListingError
			budget  *cloudpace.RetryBudgetExhaustedError
			api     *apierror.APIError
		)
		if !errors.As(err, &listing) || listing.PageToken != "2" {
			t.Errorf("no token to go on from: %v", err)
		}
		if !errors.As(err, &budget) || !errors.As(err, &api) || api.GRPCStatus().Code() != codes.ResourceExhausted {
			t.Errorf("ours and the provider's: %v", err)
		}
		if n := len(f.arrivals()); n != 1+9 {
			t.Errorf("%d requests, want the first page and 1 + 8 retries", n)
		}
		n := numbers(t, g, listScope)
		if n.Calls != 10 || n.Retries != 8 || n.Throttled != 9 || n.GaveUp != 1 {
			t.Errorf("%+v", n.Totals)
		}
		if !ledger.Degraded() {
			t.Error("the ledger knows nothing of it")
		}
		if verdict.Classify(err) != verdict.Throttled {
			t.Errorf("it reads as %v", verdict.Classify(err))
		}
	})
}

// The back-off: 1 s, then twice as long, with a quarter of jitter, and the hint when
// that is longer.
func TestS13_2_BackoffDoublesFromOneSecond(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		f := script(fails(codes.Internal))
		c := inMemory(t, f).client(t)
		_, err := list(t.Context(), c, g)
		if verdict.ClassifyFor("gcp", err) == verdict.OK {
			t.Fatal(err)
		}
		at := f.times()
		if len(at) != 9 {
			t.Fatalf("%d requests, want 1 + 8 retries", len(at))
		}
		for i := 1; i < len(at); i++ {
			want := min(time.Second<<(i-1), time.Minute)
			if d := at[i] - at[i-1]; d < want || d > want+want/4 {
				t.Errorf("retry %d after %v, want %v and at most a quarter more", i, d, want)
			}
		}
	})
}

func TestS13_2_CodesThatAreRepeated(t *testing.T) {
	for code, repeated := range map[codes.Code]bool{
		codes.ResourceExhausted: true, codes.Unavailable: true, codes.DeadlineExceeded: true, codes.Internal: true,
		codes.InvalidArgument: false, codes.PermissionDenied: false, codes.NotFound: false, codes.Unauthenticated: false,
		codes.FailedPrecondition: false, codes.Unimplemented: false, codes.Aborted: false,
	} {
		bubble(t, func(t *testing.T) {
			g := governor(t, unpaced)
			f := script(fails(code), page("", "1"))
			got, err := list(t.Context(), inMemory(t, f).client(t), g)
			if ok := err == nil && len(got) == 1; ok != repeated {
				t.Errorf("%v: %v after %d requests", code, err, len(f.arrivals()))
			}
		})
	}
}

// Only a throttled retry takes a token.
func TestS13_2_TokensOfRetries(t *testing.T) {
	for _, c := range []struct {
		code codes.Code
		want time.Duration // when the page after the retry comes, at a token in 10 s
	}{{codes.ResourceExhausted, 20 * time.Second}, {codes.Internal, 10 * time.Second}} {
		bubble(t, func(t *testing.T) {
			g := governor(t, func(p *cloudpace.Provider) {
				p.Adaptive = false
				p.Services = map[string]cloudpace.Service{"cloudasset.ListAssets": {MaxRPS: 0.1, Burst: 1}}
			})
			f := script(fails(c.code), page("a", "1"), page("", "2"))
			if _, err := list(t.Context(), inMemory(t, f).client(t), g); err != nil {
				t.Fatal(err)
			}
			if at := f.times(); len(at) != 3 || at[2] != c.want {
				t.Errorf("%v: requests at %v, want the last at %v", c.code, at, c.want)
			}
		})
	}
}

// The first two retries of a page are free and the others paid; each page that arrives
// starts anew. An empty budget ends the listing and is no mark against the service.
func TestS13_2_RetriesArePaidAfterTwo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.RetryBudget, p.BreakerThreshold = 1, 1 })
		down := fails(codes.Internal)
		f := script(down, down, page("a", "1"), down, down, page("b", "2"), down, down, down, down)
		got, err := list(t.Context(), inMemory(t, f).client(t), g)
		var budget *cloudpace.RetryBudgetExhaustedError
		if !errors.As(err, &budget) || len(got) != 2 {
			t.Fatalf("%q, %v", got, err)
		}
		if n := len(f.arrivals()); n != 10 {
			t.Errorf("%d requests, want 10: two free retries for each page, and the one that the budget has", n)
		}
		if b := g.Summary(nil).Breakers; len(b) != 0 {
			t.Errorf("an empty budget opened the circuit: %+v", b)
		}
	})
}

// Eight failures in a row are a failure of the service.
func TestS13_2_EightInARowCountForTheBreaker(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.BreakerThreshold = 1 })
		f := script(fails(codes.Internal))
		_, err := list(t.Context(), inMemory(t, f).client(t), g)
		var budget *cloudpace.RetryBudgetExhaustedError
		if !errors.As(err, &budget) {
			t.Error(err)
		}
		if b := g.Summary(nil).Breakers; len(b) != 1 {
			t.Errorf("circuits: %+v", b)
		}
	})
}

// deadline_seconds is each page's own, and a wait that would pass it is not begun.
func TestS13_2_DeadlineOfAPage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.Deadline = 100 * time.Second })
		slow := throttled(retryIn(60 * time.Second))
		f := script(slow, page("a", "1"), slow, page("b", "2"), slow, slow)
		got, err := list(t.Context(), inMemory(t, f).client(t), g)
		var late *cloudpace.DeadlineExceededError
		if !errors.As(err, &late) || len(got) != 2 {
			t.Fatalf("%q, %v", got, err)
		}
		var api *apierror.APIError
		if !errors.As(err, &api) {
			t.Errorf("the provider's error is lost: %v", err)
		}
		if d := time.Since(f.start).Truncate(time.Millisecond); d != 180*time.Second {
			t.Errorf("it ended after %v, want 180 s, with no sleep in vain", d)
		}
	})
}

func TestS13_3_ATransientEndCountsForTheBreakerAndIsInTheLedger(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.BreakerThreshold, p.MaxRetries = 1, 0 })
		ctx, ledger := cloudpace.WithLedger(t.Context())
		_, err := list(ctx, inMemory(t, script(fails(codes.Internal))).client(t), g)
		if err == nil || !ledger.Degraded() || len(g.Summary(nil).Breakers) != 1 {
			t.Errorf("%v, ledger %q, circuits %+v", err, ledger, g.Summary(nil).Breakers)
		}
	})
}

// A listing goes on from the token of its error, in another process too.
func TestS13_3_GoesOnFromASavedToken(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		broken := true
		f := newFake(func(_ int, a arrival) reply {
			switch {
			case a.token == "":
				return page("t1", "1")
			case broken:
				return fails(codes.PermissionDenied)
			case a.token == "t1":
				return page("t2", "2")
			}
			return page("", "3")
		})
		c := inMemory(t, f).client(t)
		first, err := list(t.Context(), c, g)
		var listing *pacegcp.ListingError
		if !errors.As(err, &listing) {
			t.Fatal(err)
		}
		broken = false
		rest, err := collect(pacegcp.ListAssets(t.Context(), c,
			&assetpb.ListAssetsRequest{Parent: parent, PageToken: listing.PageToken, PageSize: 7}, pacegcp.WithGovernor(g)))
		if all := append(first, rest...); err != nil || !slices.Equal(all, []string{"1", "2", "3"}) {
			t.Errorf("%q, %v", all, err)
		}
		if a := f.arrivals(); a[len(a)-1].size != 7 || a[2].token != "t1" {
			t.Errorf("%+v", a)
		}
	})
}

func TestS13_5_FortyParentsShareTheQuotaProject(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t)
		f := script(page("", "1"))
		c := inMemory(t, f).client(t)
		done := make(chan error)
		for i := range 40 {
			go func() {
				_, err := collect(pacegcp.ListAssets(t.Context(), c, &assetpb.ListAssetsRequest{Parent: fmt.Sprintf("projects/p%d", i)},
					pacegcp.WithGovernor(g), pacegcp.WithQuotaProject(quota)))
				done <- err
			}()
		}
		for range 40 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		// 10 at once and 1.5 a second: the last of 40 after 20 s.
		if d := time.Since(f.start); d != 20*time.Second {
			t.Errorf("40 parents took %v, want 20 s", d)
		}
		if n := numbers(t, g, "gcp/projects/p7/*/cloudasset"); n.Calls != 1 {
			t.Errorf("the numbers are not the parent's own: %+v", n.Totals)
		}
	})
}

// A throttle slows the quota project for all parents, and RetryInfo pauses it.
func TestS13_5_AThrottleSlowsTheQuotaProject(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t)
		f := script(throttled(retryIn(30*time.Second)), page("", "1"))
		c := inMemory(t, f).client(t)
		go func() { _, _ = list(t.Context(), c, g, pacegcp.WithQuotaProject(quota)) }()
		time.Sleep(time.Second)
		if _, err := collect(pacegcp.ListAssets(t.Context(), c, &assetpb.ListAssetsRequest{Parent: "folders/2"},
			pacegcp.WithGovernor(g), pacegcp.WithQuotaProject("projects/"+quota))); err != nil {
			t.Fatal(err)
		}
		for _, at := range f.times()[1:] {
			if at < 30*time.Second {
				t.Errorf("a request at %v, before RetryInfo's 30 s", at)
			}
		}
		time.Sleep(time.Minute)
	})
}

func TestS13_5_TheQuotaProjectOfTheEnvironment(t *testing.T) {
	t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", quota)
	bubble(t, func(t *testing.T) {
		g := governor(t)
		if _, err := list(t.Context(), inMemory(t, script(page(""))).client(t), g); err != nil {
			t.Fatal(err)
		}
		for _, b := range g.Snapshot().Buckets {
			if strings.Contains(b.Scope, quota) && b.Tokens < b.Burst {
				return
			}
		}
		t.Errorf("the environment's quota project was not charged: %+v", g.Snapshot().Buckets)
	})
}

func TestS13_6_AHangingAttemptIsCutAndRepeated(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		f := script(reply{hang: true}, page("a", "1"), reply{hang: true}, page("", "2"))
		got, err := list(t.Context(), inMemory(t, f).governed(t, g), g)
		if err != nil || !reflect.DeepEqual(got, []string{"1", "2"}) {
			t.Fatalf("%v, %v", got, err)
		}
		if at := f.times(); at[1] < 61*time.Second || at[1] > 62*time.Second {
			t.Errorf("requests at %v, want the second after 60 s and a back-off", at)
		}
		if n := numbers(t, g, listScope); n.TransientErrors != 2 {
			t.Errorf("%+v", n.Totals)
		}
	})
}

// The end of the caller's context is no event of the service.
func TestS13_6_TheCallersOwnEndIsNotRepeated(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.BreakerThreshold = 1 })
		f := script(page("a", "1"), reply{hang: true})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		got, err := list(ctx, inMemory(t, f).governed(t, g), g)
		if len(got) != 1 || err == nil || len(f.arrivals()) != 2 {
			t.Fatalf("%v, %v, %d requests", got, err, len(f.arrivals()))
		}
		if n := numbers(t, g, listScope); n.TransientErrors != 0 || len(g.Summary(nil).Breakers) != 0 {
			t.Errorf("%+v, %+v", n.Totals, g.Summary(nil).Breakers)
		}
		if time.Since(f.start) != 10*time.Second {
			t.Errorf("it ended after %v", time.Since(f.start))
		}
	})
}
