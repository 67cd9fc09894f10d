package gcp_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/api/option"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
	"github.com/cloudpace/cloudpace/pacegcp"
	"github.com/cloudpace/cloudpace/verdict"
)

// charged is a profile with the documented quotas.
func charged() sim.Profile {
	p := small(gcp.New())
	p.Quotas = gcp.New().Quotas()
	return p
}

var onePage = &assetpb.ListAssetsRequest{Parent: first, PageSize: 1}

// TestThrottle: a hundred in a minute, and then all that Google says about it.
func TestThrottle(t *testing.T) {
	o := start(t, charged())
	for protocol, c := range o.clients() {
		if protocol == "rest" {
			o.server.Reset()
		}
		for i := range 100 {
			if _, _, err := once(t.Context(), c, onePage); err != nil {
				t.Fatalf("%s, request %d: %v", protocol, i, err)
			}
		}
		_, _, err := once(t.Context(), c, onePage)
		var api *apierror.APIError
		if !errors.As(err, &api) {
			t.Fatalf("%s: %v", protocol, err)
		}
		consumer := gcp.Number(o.server.Estate(), "example-1")
		meta := api.Metadata()
		d := api.Details()
		if api.Reason() != "RATE_LIMIT_EXCEEDED" || api.Domain() != "googleapis.com" || meta["consumer"] != "projects/"+consumer ||
			meta["service"] != "cloudasset.googleapis.com" || meta["quota_limit_value"] != "100" || meta["quota_limit"] == "" || meta["quota_metric"] != "cloudasset.googleapis.com/list_assets_requests" {
			t.Errorf("%s: %s %v", protocol, api.Reason(), meta)
		}
		if d.QuotaFailure == nil || d.QuotaFailure.Violations[0].Subject != "project_number:"+consumer || d.Help == nil || d.RetryInfo == nil {
			t.Fatalf("%s: %+v", protocol, d)
		}
		if wait := d.RetryInfo.RetryDelay.AsDuration(); wait <= 0 || wait > time.Minute {
			t.Errorf("%s: wait %s", protocol, wait)
		}
		if protocol == "grpc" && status.Code(err) != codes.ResourceExhausted || protocol == "rest" && api.HTTPCode() != 429 {
			t.Errorf("%s: %v", protocol, err)
		}
		if r := verdict.Examine("gcp", err); r.Kind != verdict.Throttled || r.Hint != d.RetryInfo.RetryDelay.AsDuration() || r.Daily {
			t.Errorf("%s: %+v", protocol, r)
		}
	}
	code, body := o.get("/v1/" + first + "/assets")
	text := fmt.Sprint(body)
	if code != 429 || strings.Contains(text, "rateLimitExceeded") || !strings.Contains(text, "RESOURCE_EXHAUSTED") || !strings.Contains(text, "type.googleapis.com/google.rpc.RetryInfo") {
		t.Errorf("%d %s", code, text)
	}
	if r := o.server.Report(); r.Totals.Throttled != 2 || r.Totals.Served != 100 {
		t.Errorf("counted %+v", r.Totals)
	}
}

// TestQuotaProject: whoever is named pays, for whatever is asked; with nobody named
// the project that is asked, and a folder cannot pay.
func TestQuotaProject(t *testing.T) {
	o := start(t, charged())
	ask := func(quotaProject, parent string, n int) error {
		t.Helper()
		var opts []option.ClientOption
		if quotaProject != "" {
			opts = append(opts, paidBy(quotaProject))
		}
		c := o.client(opts...)
		for range n {
			if _, _, err := once(t.Context(), c, &assetpb.ListAssetsRequest{Parent: parent, PageSize: 1}); err != nil {
				return err
			}
		}
		return nil
	}
	for i, x := range []struct {
		payer, parent string
		n             int
		throttled     bool
	}{
		{"example-3", first, 50, false},
		{"example-3", second, 50, false},
		{"example-3", gcp.Organization, 1, true},
		{"elsewhere-1", gcp.Organization, 1, false},
		{"", "projects/example-3", 1, true},
		{gcp.Number(o.server.Estate(), "example-3"), first, 1, true},
		{"", "projects/" + gcp.Number(o.server.Estate(), "example-3"), 1, true},
		{"", first, 100, false},
		{"", second, 100, false},
		{"", first, 1, true},
		{"", gcp.Organization, 50, false},
		{"", gcp.Folders()[0], 50, false},
		{"", gcp.Folders()[1], 1, true},
		{"not a project", first, 1, true},
	} {
		err := ask(x.payer, x.parent, x.n)
		if (err != nil) != x.throttled {
			t.Errorf("%d: %+v: %v", i, x, err)
		}
	}
	if err := ask("Not_A_Project", first, 1); reason(err) != "USER_PROJECT_DENIED" {
		t.Errorf("%v", err)
	}
	paid := make(map[string]bool)
	for _, b := range o.server.Report().Buckets {
		if b.Operation == "ListAssets" {
			paid[b.Layer+":"+b.Account] = true
		}
	}
	for _, want := range []string{":projects/example-1", ":projects/example-3", ":projects/elsewhere-1", ":" + gcp.NoProject, "Organization:" + gcp.Organization, "Organization-Day:" + gcp.Organization} {
		if !paid[want] {
			t.Errorf("%s has no bucket in %v", want, paid)
		}
	}
	if len(paid) != 7 {
		t.Errorf("buckets of %v", paid)
	}
}

// TestOrganizationQuota: nine projects have a hundred each, and the organization
// eight hundred.
func TestOrganizationQuota(t *testing.T) {
	o := start(t, charged())
	served := 0
	for i := range 9 {
		c := o.client(paidBy(fmt.Sprintf("quota-project-%d", i)))
		for range 100 {
			_, _, err := once(t.Context(), c, onePage)
			if err == nil {
				served++
				continue
			}
			if v := detail[*errdetails.QuotaFailure](err).GetViolations(); len(v) != 1 || !strings.Contains(v[0].Description, "per minute per organization") || detail[*errdetails.ErrorInfo](err).Metadata["quota_limit_value"] != "800" {
				t.Fatal(err)
			}
		}
	}
	if served != 800 {
		t.Errorf("%d served", served)
	}
}

// TestDay: the organization's quota of a day is told by its details, and not when it
// is full again.
func TestDay(t *testing.T) {
	p := charged()
	p.Quotas = append([]sim.Quota{{Match: sim.Match{Operation: sim.Patterns{"ListAssets"}}, Layer: "Organization-Day", Name: "listAssetsQpdPerOrganization", Burst: 5, Window: 86400}}, p.Quotas...)
	o := start(t, p)
	forced := startWith(t, sim.Fault{Kind: sim.Error, Code: "DAILY"})
	for range 5 {
		if _, _, err := once(t.Context(), o.client(), onePage); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range []*organization{o, forced} {
		for protocol, c := range o.clients() {
			_, _, err := once(t.Context(), c, onePage)
			if r := verdict.Examine("gcp", err); r.Kind != verdict.Fatal || !r.Daily || r.Hint != 0 {
				t.Errorf("%s: %+v of %v", protocol, r, err)
			}
		}
	}
}

// TestNeighbour: one who shares the quota project is met by those whom it pays for,
// and by nobody else.
func TestNeighbour(t *testing.T) {
	p := charged()
	p.Neighbours = []sim.Neighbour{{Match: sim.Match{Account: sim.Patterns{"projects/example-3"}}, Layer: sim.Patterns{""}, Rate: 10_000}}
	o := start(t, p)
	shares, alone := o.client(paidBy("example-3")), o.client()
	time.Sleep(50 * time.Millisecond) // in which he asks more than there is
	if _, _, err := once(t.Context(), shares, onePage); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("with a neighbour: %v", err)
	}
	if _, _, err := once(t.Context(), alone, onePage); err != nil {
		t.Errorf("without: %v", err)
	}
	for _, b := range o.server.Report().Buckets {
		if (b.NeighbourAsked > 0) != (b.Account == "projects/example-3" && b.Layer == "") {
			t.Errorf("%+v", b)
		}
	}
}

// TestPaced: listings through one quota project, governed, meet no throttle, and use
// what there is. Time is virtual: nothing is late.
func TestPaced(t *testing.T) {
	inBubble(t, charged(), func(t *testing.T, o *organization) {
		g, err := cloudpace.New(cloudpace.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		through := []pacegcp.Option{pacegcp.WithGovernor(g), pacegcp.WithQuotaProject("example-3")}
		begun := time.Now()
		done := make(chan error)
		parents := append([]string{first, second, "projects/example-3"}, gcp.Folders()...)
		for _, parent := range parents {
			c := o.client(append(pacegcp.ClientOptions(through...), paidBy("example-3"))...)
			go func() {
				n := 0
				for _, err := range pacegcp.ListAssets(t.Context(), c, &assetpb.ListAssetsRequest{Parent: parent, PageSize: 10}, through...) {
					if err != nil {
						done <- err
						return
					}
					n++
				}
				for range gcp.Assets(o.server.Estate(), parent) {
					n--
				}
				if n != 0 {
					done <- fmt.Errorf("%s: %d too many", parent, n)
					return
				}
				done <- nil
			}()
		}
		for range parents {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		minutes := time.Since(begun).Minutes()
		if r := o.server.Report(); r.Totals.Throttled != 0 || r.Totals.Served < 300 || float64(r.Totals.Served) < 80*minutes {
			t.Errorf("%+v in %.1f minutes", r.Totals, minutes)
		}
	})
}
