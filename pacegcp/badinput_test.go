package pacegcp_test

import (
	"errors"
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

// What no wait mends ends a listing at once: one request for the page, the items before
// it kept, an error that says what is wrong and whose project is meant.
func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		fails reply
		says  []string
	}{
		"D16 denied": {fails(codes.PermissionDenied, info("IAM_PERMISSION_DENIED")), []string{"PermissionDenied"}},
		"D07 API disabled": {fails(codes.PermissionDenied, info("SERVICE_DISABLED", "consumer", "projects/77", "service", "cloudasset.googleapis.com")),
			[]string{"gcloud services enable cloudasset.googleapis.com --project 77"}},
		"API disabled, by somebody who writes shell": {fails(codes.PermissionDenied, info("SERVICE_DISABLED", "consumer", "projects/77;rm", "service", "x")), nil},
		"unknown parent": {fails(codes.NotFound), []string{"NotFound"}},
		"quota project without rights": {fails(codes.PermissionDenied, info("USER_PROJECT_DENIED", "consumer", "projects/quota-1")),
			[]string{"quota-1", "serviceusage.services.use"}},
		"D11 expired token": {fails(codes.InvalidArgument), []string{"InvalidArgument"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := governor(t, func(p *cloudpace.Provider) { p.BreakerThreshold = 1 })
				f := script(page("2", "1"), c.fails)
				got, err := list(t.Context(), inMemory(t, f).governed(t, g), g)
				var (
					listing *pacegcp.ListingError
					api     *apierror.APIError
				)
				if !errors.As(err, &listing) || !errors.As(err, &api) || listing.PageToken != "2" || !slices.Equal(got, []string{"1"}) {
					t.Fatalf("%v, %v", got, err)
				}
				for _, s := range c.says {
					if !strings.Contains(err.Error(), s) {
						t.Errorf("%q does not say %q", err, s)
					}
				}
				if strings.Contains(err.Error(), "--project 77;") {
					t.Errorf("a command that runs another: %q", err)
				}
				if len(f.arrivals()) != 2 || verdict.Classify(err) != verdict.Fatal || len(g.Summary(nil).Breakers) != 0 {
					t.Errorf("%d requests, %v, %+v", len(f.arrivals()), verdict.Classify(err), g.Summary(nil).Breakers)
				}
			})
		})
	}
}

// A daily quota that is gone: no further request before it is renewed, at midnight in
// California, for whatever parent is read through the same quota project.
func TestADailyQuotaThatIsGone(t *testing.T) {
	bubble(t, func(t *testing.T) { // it is midnight UTC on 1 January 2000, 16 h in California
		g := governor(t)
		gone := true
		f := newFake(func(_ int, a arrival) reply {
			switch {
			case a.token == "":
				return page("2", "1")
			case gone:
				return throttled(info("RATE_LIMIT_EXCEEDED", "quota_limit", "ListAssetsPerDayPerProject", "consumer", "projects/77"))
			}
			return page("", "2")
		})
		c := inMemory(t, f).governed(t, g)
		through := pacegcp.WithQuotaProject(quota)
		got, err := list(t.Context(), c, g, through)
		if r := verdict.Examine("gcp", err); len(got) != 1 || r.Kind != verdict.Fatal || !r.Daily || r.Consumer != "projects/77" {
			t.Fatalf("%v, %+v", got, r)
		}
		var early *pacegcp.ListingError
		if !errors.As(err, &early) || time.Until(early.RenewedAt) != 8*time.Hour {
			t.Errorf("%+v: it is renewed in 8 h", early)
		}
		other := func() ([]string, error) {
			return collect(pacegcp.ListAssets(t.Context(), c, &assetpb.ListAssetsRequest{Parent: "folders/2"}, pacegcp.WithGovernor(g), through))
		}
		got, err = other()
		var open *cloudpace.CircuitOpenError
		if !errors.As(err, &open) || len(got) != 0 || len(f.arrivals()) != 2 {
			t.Fatalf("%v, %v, %d requests", got, err, len(f.arrivals()))
		}
		if open.RetryAfter != 8*time.Hour {
			t.Errorf("it may be tried again after %v, want 8 h", open.RetryAfter)
		}
		// Searches have a quota of their own.
		if _, err := collect(pacegcp.SearchAllResources(t.Context(), c, &assetpb.SearchAllResourcesRequest{Scope: parent, PageToken: "2"}, pacegcp.WithGovernor(g), through)); errors.As(err, &open) {
			t.Errorf("a search: %v", err)
		}
		gone = false
		time.Sleep(8*time.Hour + time.Second)
		if got, err := other(); err != nil || len(got) != 2 {
			t.Errorf("the day after: %v, %v", got, err)
		}
	})
}

func TestD13_EmptyPagesWithATokenAreNoEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t)
		f := script(page("0"), page("b", "1", "2", "3"), page(""))
		got, err := list(t.Context(), inMemory(t, f).client(t), g)
		if err != nil || len(got) != 3 || f.arrivals()[1].token != "0" {
			t.Errorf("%v, %v", got, err)
		}
		// Each is a page request, that Next would send unpaced.
		if n := numbers(t, g, listScope); n.Calls != 3 {
			t.Errorf("%+v", n.Totals)
		}
	})
}

// S15.4: a service that goes in circles, or gives nothing but tokens, ends in an error.
func TestS15_4_EndlessListingsEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced)
		f := script(page("a", "1"), page("b", "2"), page("a", "3"))
		got, err := list(t.Context(), inMemory(t, f).client(t), g)
		var listing *pacegcp.ListingError
		if !errors.As(err, &listing) || listing.PageToken != "" || len(got) != 3 || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%v, %v", got, err)
		}
		f = newFake(func(n int, _ arrival) reply { return page(names("t", n+1)[n]) })
		_, err = list(t.Context(), inMemory(t, f).client(t), g)
		if !errors.As(err, &listing) || len(f.arrivals()) != 100 || listing.PageToken != "t100" {
			t.Errorf("%v after %d requests", err, len(f.arrivals()))
		}
	})
}

func TestNilAndEmptyInput(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t)
		if _, err := list(t.Context(), nil, g); err == nil || verdict.Classify(err) != verdict.Fatal {
			t.Errorf("no client: %v", err)
		}
		f := script(page("", "1"))
		c := inMemory(t, f).client(t)
		if got, err := collect(pacegcp.ListAssets(t.Context(), c, nil, nil, pacegcp.WithGovernor(g))); err != nil || len(got) != 1 {
			t.Errorf("no request: %v, %v", got, err)
		}
		pacegcp.ClientOptions(nil, pacegcp.WithGovernor(nil))
		pacegcp.NewTransport(nil, nil)
		if e := (&pacegcp.ListingError{}).Error(); e == "" {
			t.Error("an empty error says nothing")
		}
	})
}

// The caller stops, changes its request, or ranges again.
func TestAListingIsTheCallers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t, unpaced, func(p *cloudpace.Provider) { p.MaxConcurrency = 1 })
		f := newFake(func(_ int, a arrival) reply {
			if a.token == "" {
				return page("2", a.parent)
			}
			return page("", a.parent)
		})
		c := inMemory(t, f).client(t)
		req := &assetpb.ListAssetsRequest{Parent: parent}
		seq := pacegcp.ListAssets(t.Context(), c, req, pacegcp.WithGovernor(g))
		if len(f.arrivals()) != 0 {
			t.Error("something was sent before an asset was asked for")
		}
		for _, err := range seq {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if len(f.arrivals()) != 1 || slots(g, parent) != 0 {
			t.Errorf("%d requests and %d slots after a break", len(f.arrivals()), slots(g, parent))
		}
		req.Parent, req.PageToken = "projects/other", "x"
		if got, err := collect(seq); err != nil || !slices.Equal(got, []string{parent, parent}) {
			t.Errorf("%v, %v", got, err)
		}
		// S5.3: a panic of the caller's gives the slot back.
		func() {
			defer func() { _ = recover() }()
			for _, err := range seq {
				if err != nil {
					t.Fatal(err)
				}
				panic("no")
			}
		}()
		if slots(g, parent) != 0 {
			t.Error("a slot is lost in a panic")
		}
	})
}

func TestSearches(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := governor(t)
		f := script(throttled(), page("a", "1"), page("", "2"))
		c := inMemory(t, f).governed(t, g)
		got, err := collect(pacegcp.SearchAllResources(t.Context(), c, &assetpb.SearchAllResourcesRequest{Scope: parent}, pacegcp.WithGovernor(g)))
		if err != nil || !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("%v, %v", got, err)
		}
		var policies []string
		f = script(throttled(), page("a", "1"), page("", "2"))
		for p, err := range pacegcp.SearchAllIamPolicies(t.Context(), inMemory(t, f).governed(t, g), &assetpb.SearchAllIamPoliciesRequest{Scope: parent}, pacegcp.WithGovernor(g)) {
			if err != nil {
				t.Fatal(err)
			}
			policies = append(policies, p.GetResource())
		}
		if !slices.Equal(policies, []string{"1", "2"}) {
			t.Errorf("%v", policies)
		}
		if n := numbers(t, g, listScope); n.Calls != 6 || n.Throttled != 2 {
			t.Errorf("%+v", n.Totals)
		}
	})
}

// Over a real socket, with the options of the SDK beside ours: the client's own headers
// and the quota project are sent as before.
func TestS13_OverARealSocket(t *testing.T) {
	g := governor(t)
	f := script(page("a", names("x", 100)...), page("b"), page("", "last"))
	c := loopback(t, f).governed(t, g, pacegcp.WithQuotaProject(quota))
	got, err := list(t.Context(), c, g, pacegcp.WithQuotaProject(quota))
	if err != nil || len(got) != 101 {
		t.Fatalf("%d assets, %v", len(got), err)
	}
	if n := numbers(t, g, listScope); n.Calls != 3 {
		t.Errorf("%+v", n.Totals)
	}
	md := f.arrivals()[2].metadata
	if !slices.Equal(md["x-goog-request-params"], []string{"parent=projects%2Fexample-1"}) || len(md["x-goog-api-client"]) != 1 {
		t.Errorf("the client's headers: %v", md)
	}
}
