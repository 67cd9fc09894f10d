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
			inventory.AccessDenied, true, []string{"project quota-1", "roles/serviceusage.serviceUsageConsumer"}},
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

// TestD07DisabledForAll: the API of the project whose quota is used is disabled for all
// parents, so that the others need not be asked; that of a parent for it alone.
func TestD07DisabledForAll(t *testing.T) {
	for _, c := range []struct {
		consumer string
		asked    int
		failed   int
	}{
		{"projects/quota-1", 1, 3},
		{one, 3, 1},
	} {
		f := &fake{answer: func(q question) page {
			if q.parent == one {
				return fails(codes.PermissionDenied, "disabled", reason("SERVICE_DISABLED", "consumer", c.consumer, "service", "cloudasset.googleapis.com"))
			}
			return of("", instance)
		}}
		r := runWith(t.Context(), t, f.open(t, one, two, "folders/5"), inventory.Options{Workers: 1}, "resources")
		failed := 0
		for _, rec := range r.records {
			if rec.Status == inventory.Failed {
				failed++
				if rec.Reason != inventory.APIDisabled || !strings.Contains(rec.Error, "gcloud services enable") {
					t.Errorf("%+v", rec)
				}
			}
		}
		if n := len(f.questions("")); n != c.asked || failed != c.failed || len(r.records) != 3 {
			t.Errorf("%s: %d questions and %d failures, want %d and %d", c.consumer, n, failed, c.asked, c.failed)
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
