package gcp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// TestReasons: what Google refuses has a clear record; another way is gone where it may
// be met with something else, and only there.
func TestReasons(t *testing.T) {
	const disabled = "Cloud Asset API has not been used in project 77 before or it is disabled."
	for _, c := range []struct {
		name   string
		page   page
		reason inventory.Reason
		other  bool
		says   []string
	}{
		{"denied", fails(codes.PermissionDenied, "The caller does not have permission", reason("IAM_PERMISSION_DENIED", "permission", "cloudasset.assets.listResource")),
			inventory.AccessDenied, true, []string{"does not have permission"}},
		{"denied without details", fails(codes.PermissionDenied, "no"), inventory.AccessDenied, true, nil},
		{"a service perimeter", fails(codes.PermissionDenied, "Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: abc", reason("SECURITY_POLICY_VIOLATED")),
			inventory.DeniedByPolicy, true, []string{"organization's policy"}},
		{"the API is disabled", fails(codes.PermissionDenied, disabled, reason("SERVICE_DISABLED", "consumer", "projects/77", "service", "cloudasset.googleapis.com")),
			inventory.APIDisabled, false, []string{"the project whose quota is used", "gcloud services enable cloudasset.googleapis.com --project 77"}},
		{"a quota project without rights", fails(codes.PermissionDenied, "Caller does not have required permission to use project quota-1.", reason("USER_PROJECT_DENIED", "consumer", "projects/quota-1")),
			inventory.AccessDenied, false, []string{"project quota-1", "roles/serviceusage.serviceUsageConsumer"}},
		{"a token for something else", fails(codes.PermissionDenied, "Request had insufficient authentication scopes.", reason("ACCESS_TOKEN_SCOPE_INSUFFICIENT", "service", "cloudasset.googleapis.com")),
			inventory.AccessDenied, false, []string{"insufficient authentication scopes"}},
		{"an unknown parent", fails(codes.NotFound, "Resource projects/example-1 was not found."), inventory.AccessDenied, true, []string{"was not found"}},
		{"a wrong parent", fails(codes.InvalidArgument, "Request contains an invalid argument."), inventory.NotSupported, true, []string{"is projects/example-1 the right parent"}},
		{"no such RPC", fails(codes.Unimplemented, "unknown method"), inventory.NotSupported, true, nil},
		{"throttled for ever", fails(codes.ResourceExhausted, "Quota exceeded", reason("RATE_LIMIT_EXCEEDED", "quota_limit", "ListAssetsPerMinutePerProject")),
			inventory.Throttled, true, []string{"throttled: "}},
		{"a quota of things", fails(codes.ResourceExhausted, "Quota exceeded for the day", reason("RATE_LIMIT_EXCEEDED", "quota_limit", "ListAssetsPerDayPerProject")),
			inventory.QuotaExhausted, true, []string{"renewed at"}},
		{"no login", fails(codes.Unauthenticated, "Request had invalid authentication credentials."), inventory.CredentialsExpired, false, nil},
		{"busy", fails(codes.Unavailable, "The service is currently unavailable."), inventory.Throttled, true, nil},
		{"broken", fails(codes.Internal, "Internal error encountered."), inventory.Unreachable, false, nil},
		{"a code that nobody knows", fails(codes.Code(99), "?"), inventory.Protocol, false, nil},
		{"details of nothing", fails(codes.PermissionDenied, strings.Repeat("x", 1<<16), reason("\x00", "consumer", "; rm -rf /", "service", strings.Repeat("y", 1<<16))), inventory.AccessDenied, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{answer: func(q question) page {
				if q.rpc == "ListAssets" {
					return c.page
				}
				return of("", instance)
			}}
			r := run(t, f.open(t, one))
			want := []string{fmt.Sprintf("gcp_list_assets FAILED %s", c.reason), fmt.Sprintf("gcp_iam_policies FAILED %s", c.reason)}
			if c.other {
				want = slices.Concat(want[:1], []string{"gcp_search_resources SUCCESS"}, want[1:], []string{"gcp_search_iam_policies SUCCESS"})
			}
			if !slices.Equal(r.tasks(), want) {
				t.Errorf("%v, want %v", r.tasks(), want)
			}
			if c.other && (len(r.assets) != 1 || len(r.edges) != 3 || r.records[1].InPlaceOf != "gcp_list_assets") {
				t.Errorf("%d assets, %d edges, %+v", len(r.assets), len(r.edges), r.records[1])
			}
			for _, words := range c.says {
				if !strings.Contains(r.records[0].Error, words) {
					t.Errorf("%q does not say %q", r.records[0].Error, words)
				}
			}
			if text := r.records[0].Error; strings.Contains(text, "\n") || len(text) > 8000 {
				t.Errorf("%d bytes: %q", len(text), text)
			}
		})
	}
}

// TestNothingLost: what cannot be read by either way is two failures and no success.
func TestNothingLost(t *testing.T) {
	f := &fake{answer: func(question) page { return fails(codes.PermissionDenied, "no") }}
	r := run(t, f.open(t, one), "resources")
	if want := []string{"gcp_list_assets FAILED access_denied", "gcp_search_resources FAILED access_denied"}; !slices.Equal(r.tasks(), want) {
		t.Errorf("%v", r.tasks())
	}
	if r.doc.Summary.Outcome != inventory.NothingRead || r.doc.Summary.AssetsFile != "" {
		t.Errorf("%+v", r.doc.Summary)
	}
}

// TestD07RefusedForAll: what is the matter with the project whose quota is used, or with
// the token, is the same for all parents, so that the others need not be asked; what is
// with one of them, or with nobody knows whose project, is not.
func TestD07RefusedForAll(t *testing.T) {
	for _, c := range []struct {
		reason, consumer, quota string
		all                     bool
	}{
		{"SERVICE_DISABLED", "projects/quota-1", "quota-1", true},
		{"SERVICE_DISABLED", "projects/77", "quota-1", true}, // its number
		{"SERVICE_DISABLED", one, "quota-1", false},
		{"SERVICE_DISABLED", "projects/77", "", false}, // the number of the parent, for all that is known
		{"USER_PROJECT_DENIED", "projects/quota-1", "quota-1", true},
		{"USER_PROJECT_DENIED", "projects/77", "", false},
		{"ACCESS_TOKEN_SCOPE_INSUFFICIENT", "", "", true},
	} {
		for _, late := range []bool{false, true} { // on the second page
			f := &fake{answer: func(q question) page {
				switch {
				case q.parent != one:
					return of("", instance)
				case late && q.token == "":
					return of("2", instance)
				}
				return fails(codes.PermissionDenied, "no", reason(c.reason, "consumer", c.consumer, "service", "cloudasset.googleapis.com"))
			}}
			e, err := Open(t.Context(), Options{Parents: []string{one, two, "folders/5"}, Endpoint: f.serve(t), QuotaProject: c.quota, Governor: governor(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(e.Close)
			r := runWith(t.Context(), t, e, inventory.Options{Workers: 1}, "resources")
			asked, want := len(f.questions("")), 3
			if c.all {
				want = 1
			}
			if late {
				want++
			}
			if asked != want || len(r.records) != 3 {
				t.Errorf("%+v: %d questions, want %d; %v", c, asked, want, r.tasks())
			}
			for i, rec := range r.records {
				switch {
				case i > 0 && !c.all && rec.Status != inventory.Success, i > 0 && c.all && rec.Status != inventory.Failed, i == 0 && rec.Status == inventory.Success:
					t.Errorf("%+v: %+v", c, rec)
				case i > 0 && strings.Contains(rec.Error, "truncated"):
					t.Errorf("%q is another's listing", rec.Error)
				}
			}
		}
	}
}

// TestManyWithoutQuota: forty parents meet one refusal of the quota's project with as
// many requests as run side by side at most.
func TestManyWithoutQuota(t *testing.T) {
	f := &fake{answer: func(question) page {
		return fails(codes.PermissionDenied, "Caller does not have required permission to use project quota-1.", reason("USER_PROJECT_DENIED", "consumer", "projects/quota-1"))
	}}
	var parents []string
	for i := range 40 {
		parents = append(parents, fmt.Sprintf("projects/example-%d", i+1))
	}
	const workers = 4
	r := runWith(t.Context(), t, f.open(t, parents...), inventory.Options{Workers: workers})
	if n := len(f.questions("")); n > workers || len(r.records) != 80 {
		t.Errorf("%d requests, %d records", n, len(r.records))
	}
	for _, rec := range r.records {
		if rec.Status != inventory.Failed || rec.Reason != inventory.AccessDenied || !strings.HasPrefix(rec.Error, "the caller may not use the quota of project quota-1") {
			t.Errorf("%+v", rec)
		}
	}
}

// TestDailyQuota: when it is used up nothing further is sent on it, for whatever parent,
// and the records say when it is renewed; searches have a quota of their own.
func TestDailyQuota(t *testing.T) {
	f := &fake{answer: func(q question) page {
		switch {
		case q.rpc != "ListAssets":
			return of("", instance)
		case q.token == "":
			return of("2", instance)
		}
		return fails(codes.ResourceExhausted, "Quota exceeded", reason("RATE_LIMIT_EXCEEDED", "quota_limit", "ListAssetsPerDayPerProject"))
	}}
	r := runWith(t.Context(), t, f.open(t, one, two), inventory.Options{Workers: 1}, "resources")
	if want := []string{"gcp_list_assets PARTIAL quota_exhausted", "gcp_list_assets FAILED quota_exhausted", "gcp_search_resources SUCCESS"}; !slices.Equal(r.tasks(), want) {
		t.Errorf("%v", r.tasks())
	}
	if n := len(f.questions("ListAssets")); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	for _, rec := range r.records[:2] {
		if rec.RetryAfterSeconds <= 0 || rec.RetryAfterSeconds > 25*60*60 {
			t.Errorf("it is renewed in %v s", rec.RetryAfterSeconds)
		}
	}
	if !strings.Contains(r.records[0].Error, "listing truncated: ") || strings.Contains(r.records[1].Error, "listing truncated: ") {
		t.Errorf("%q\n%q", r.records[0].Error, r.records[1].Error)
	}
}
