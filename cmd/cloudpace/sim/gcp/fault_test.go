package gcp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"github.com/googleapis/gax-go/v2/apierror"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/sim/gcp"
	"github.com/cloudpace/cloudpace/pacegcp"
	"github.com/cloudpace/cloudpace/verdict"
)

// TestRefusals: every reason has its code, status and details over gRPC and REST,
// and cloudpace takes both for the same.
func TestRefusals(t *testing.T) {
	number := "projects/" + gcp.Number(start(t, small(gcp.New())).server.Estate(), "example-1")
	for _, x := range []struct {
		fault  sim.Fault
		code   codes.Code
		http   int
		reason string
		legacy string // what REST says in the form of older APIs
		kind   verdict.Kind
		says   string
	}{
		{sim.Fault{Kind: sim.HTTP500}, codes.Internal, 500, "", "backendError", verdict.Transient, "Internal"},
		{sim.Fault{Kind: sim.HTTP503}, codes.Unavailable, 503, "", "backendError", verdict.Throttled, "unavailable"},
		{sim.Fault{Kind: sim.Expired}, codes.Unauthenticated, 401, "ACCESS_TOKEN_EXPIRED", "authError", verdict.Fatal, "credentials"},
		{sim.Fault{Kind: sim.Denied}, codes.PermissionDenied, 403, "IAM_PERMISSION_DENIED", "forbidden", verdict.Fatal, "IAM"},
		{sim.Fault{Kind: sim.DeniedByPolicy}, codes.PermissionDenied, 403, "SECURITY_POLICY_VIOLATED", "forbidden", verdict.Fatal, "vpcServiceControlsUniqueIdentifier"},
		{sim.Fault{Kind: sim.RegionDisabled}, codes.PermissionDenied, 403, "LOCATION_ORG_POLICY_VIOLATED", "forbidden", verdict.Fatal, "policy"},
		{sim.Fault{Kind: sim.Error, Code: "SERVICE_DISABLED"}, codes.PermissionDenied, 403, "SERVICE_DISABLED", "accessNotConfigured", verdict.Fatal, "has not been used in project " + strings.TrimPrefix(number, "projects/")},
		{sim.Fault{Kind: sim.Error, Code: "accessNotConfigured"}, codes.PermissionDenied, 403, "SERVICE_DISABLED", "accessNotConfigured", verdict.Fatal, "disabled"},
		{sim.Fault{Kind: sim.Error, Code: "USER_PROJECT_DENIED"}, codes.PermissionDenied, 403, "USER_PROJECT_DENIED", "forbidden", verdict.Fatal, "serviceUsageConsumer"},
		{sim.Fault{Kind: sim.Error, Code: "RATE_LIMIT_EXCEEDED"}, codes.ResourceExhausted, 429, "RATE_LIMIT_EXCEEDED", "rateLimitExceeded", verdict.Throttled, "per minute"},
		{sim.Fault{Kind: sim.Error, Code: "DAILY"}, codes.ResourceExhausted, 429, "RATE_LIMIT_EXCEEDED", "rateLimitExceeded", verdict.Fatal, "per day"},
		{sim.Fault{Kind: sim.Error, Code: "EXPIRED_TOKEN"}, codes.InvalidArgument, 400, "", "", verdict.Fatal, "expired"},
		{sim.Fault{Kind: sim.Error, Code: "INTERNAL"}, codes.Internal, 500, "", "", verdict.Transient, ""},
		{sim.Fault{Kind: sim.Error, Code: "DEADLINE_EXCEEDED"}, codes.DeadlineExceeded, 504, "", "", verdict.Transient, ""},
		{sim.Fault{Kind: sim.Error, Code: "UNAVAILABLE", Message: "later"}, codes.Unavailable, 503, "", "", verdict.Throttled, "later"},
		{sim.Fault{Kind: sim.Error, Code: "NOT_FOUND"}, codes.NotFound, 404, "", "", verdict.Fatal, ""},
		{sim.Fault{Kind: sim.Error, Code: "SOMETHING_NEW", Status: 403, Message: "50% naïve\n"}, codes.PermissionDenied, 403, "SOMETHING_NEW", "", verdict.Fatal, "50% naïve\n"},
	} {
		o := startWith(t, x.fault)
		for protocol, c := range o.clients() {
			name := fmt.Sprintf("%s %s %s", protocol, x.fault.Kind, x.fault.Code)
			_, _, err := once(t.Context(), c, onePage)
			var api *apierror.APIError
			if !errors.As(err, &api) {
				t.Fatalf("%s: %v", name, err)
			}
			if protocol == "grpc" && status.Code(err) != x.code || protocol == "rest" && api.HTTPCode() != x.http {
				t.Errorf("%s: %v", name, err)
			}
			if api.Reason() != x.reason || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%s: %s in %v", name, api.Reason(), err)
			}
			if strings.Contains(err.Error(), "backendError") {
				t.Errorf("%s: Asset Inventory has no reasons of that form: %v", name, err)
			}
			if consumer := api.Metadata()["consumer"]; consumer != "" && consumer != number {
				t.Errorf("%s: consumer %s", name, consumer)
			}
			if r := verdict.Examine("gcp", err); r.Kind != x.kind {
				t.Errorf("%s: %v (%s), want %v", name, r.Kind, r.Reason, x.kind)
			}
		}
		_, body := o.get("/v3/projects:search")
		e := body["error"].(map[string]any)
		var legacy string
		if list, ok := e["errors"].([]any); ok {
			legacy, _ = list[0].(map[string]any)["reason"].(string)
		}
		if e["status"] == nil || legacy != x.legacy {
			t.Errorf("%s %s: %v", x.fault.Kind, x.fault.Code, body)
		}
		if got := o.server.Report().Totals.Faulted[string(x.fault.Kind)]; got != 3 {
			t.Errorf("%s: counted %d", x.fault.Kind, got)
		}
	}
}

// TestLongMessage: an error whose words do not fit into one frame arrives whole.
func TestLongMessage(t *testing.T) {
	long := strings.Repeat("no ", 20_000) + "end"
	o := startWith(t, sim.Fault{Kind: sim.Error, Code: "SERVICE_DISABLED", Message: long})
	_, _, err := once(t.Context(), o.client(), onePage)
	if status.Convert(err).Message() != long || reason(err) != "SERVICE_DISABLED" {
		t.Errorf("%.100v", err)
	}
}

// TestExpiredCredentials: a token that was good once, without any fault.
func TestExpiredCredentials(t *testing.T) {
	o := startWith(t)
	if code, body := o.get("/v1/"+first+"/assets", "Authorization", "Bearer "+gcp.ExpiredToken); code != 401 || body["error"] == nil {
		t.Errorf("%d %v", code, body)
	}
	if code, _ := o.get("/v1/"+first+"/assets", "Authorization", "Bearer anything"); code != 200 {
		t.Error(code)
	}
}

// TestBrokenAnswers: whatever breaks the connection or the answer is an error at the
// client, over both protocols, and never a page with less than it has.
func TestBrokenAnswers(t *testing.T) {
	at := func(n int) *int { return &n }
	for _, x := range []struct {
		fault sim.Fault
		grpc  codes.Code
	}{
		{sim.Fault{Kind: sim.Reset}, codes.Unavailable},
		{sim.Fault{Kind: sim.Close}, codes.Unavailable},
		{sim.Fault{Kind: sim.Hang}, codes.DeadlineExceeded},
		{sim.Fault{Kind: sim.Reset, At: at(200)}, codes.Unavailable},
		{sim.Fault{Kind: sim.Close, At: at(0)}, codes.Unavailable},
		{sim.Fault{Kind: sim.Close, At: at(3000)}, codes.Unavailable},
		{sim.Fault{Kind: sim.Hang, At: at(3000)}, codes.DeadlineExceeded},
		{sim.Fault{Kind: sim.HTML}, codes.Unknown},
		{sim.Fault{Kind: sim.HTML, Status: 503}, codes.Unavailable},
		{sim.Fault{Kind: sim.HTML, Status: 502}, codes.Unavailable},
		{sim.Fault{Kind: sim.HTML, Status: 500}, codes.Unknown},
		{sim.Fault{Kind: sim.Wrong}, codes.Internal},
		{sim.Fault{Kind: sim.Truncated}, codes.Internal},
		{sim.Fault{Kind: sim.Cut}, codes.Internal},
		{sim.Fault{Kind: sim.CloseMidBody}, codes.Internal},
	} {
		o := startWith(t, x.fault)
		for protocol, c := range o.clients() {
			wait := 10 * time.Second
			if x.fault.Kind == sim.Hang {
				wait = 300 * time.Millisecond
			}
			if x.fault.Kind == sim.Hang && protocol == "rest" {
				continue // whose listings drop the context
			}
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			list, _, err := once(ctx, c, &assetpb.ListAssetsRequest{Parent: first, PageSize: 100, ContentType: assetpb.ContentType_RESOURCE})
			cancel()
			if err == nil || len(list) > 0 {
				t.Errorf("%s %+v: %d, %v", protocol, x.fault, len(list), err)
			} else if got := status.Code(err); protocol == "grpc" && got != x.grpc {
				t.Errorf("%+v: %v, want %v", x.fault, err, x.grpc)
			}
		}
	}
	whole := startWith(t, sim.Fault{Kind: sim.Close, At: at(1 << 20)})
	if list, _, err := once(t.Context(), whole.client(), onePage); err != nil || len(list) != 1 {
		t.Errorf("the whole answer, and then the end: %d, %v", len(list), err)
	}
}

// TestLatency: it is late, and right.
func TestLatency(t *testing.T) {
	o := startWith(t, sim.Fault{Kind: sim.Latency, Seconds: 0.2})
	begun := time.Now()
	if list, _, err := once(t.Context(), o.client(), onePage); err != nil || len(list) != 1 || time.Since(begun) < 200*time.Millisecond {
		t.Errorf("%d after %s, %v", len(list), time.Since(begun), err)
	}
}

// TestPages: a token that leads back, and empty pages with a token, at whose end
// there is everything.
func TestPages(t *testing.T) {
	o := startWith(t, sim.Fault{Kind: sim.EmptyPage, Every: 2})
	want := 0
	for range gcp.Assets(o.server.Estate(), first) {
		want++
	}
	empty, token := 0, ""
	for n, c := 0, o.client(); ; {
		page, next, err := once(t.Context(), c, &assetpb.ListAssetsRequest{Parent: first, PageSize: 30, PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		n += len(page)
		if len(page) == 0 {
			empty++
		}
		if token = next; token == "" {
			if n != want || empty < 8 {
				t.Errorf("%d of %d, %d empty pages", n, want, empty)
			}
			break
		}
	}
	again := startWith(t, sim.Fault{Kind: sim.RepeatToken, Match: sim.Match{Page: 2}})
	c := again.client()
	_, two, err := once(t.Context(), c, &assetpb.ListAssetsRequest{Parent: first})
	if err != nil {
		t.Fatal(err)
	}
	page, same, err := once(t.Context(), c, &assetpb.ListAssetsRequest{Parent: first, PageToken: two})
	if err != nil || same != two || len(page) != 100 {
		t.Errorf("%s after %s, %v", same, two, err)
	}
	for _, projects := range []struct {
		kind sim.FaultKind
		want string
	}{{sim.EmptyPage, "nextPageToken:"}, {sim.RepeatToken, "example-1"}} {
		o := startWith(t, sim.Fault{Kind: projects.kind})
		if code, body := o.get("/v3/projects:search"); code != 200 || !strings.Contains(fmt.Sprint(body), projects.want) || body["nextPageToken"] == nil {
			t.Errorf("%s: %d %v", projects.kind, code, body)
		}
	}
}

// TestGoAway: a client goes on by itself, on another connection.
func TestGoAway(t *testing.T) {
	o := startWith(t, sim.Fault{Kind: sim.GoAway, First: 1})
	if list, _, err := once(t.Context(), o.client(), onePage); err != nil || len(list) != 1 {
		t.Errorf("%d, %v", len(list), err)
	}
	if r := o.server.Report(); r.Totals.Faulted["goaway"] != 1 || r.Totals.Served != 1 {
		t.Errorf("%+v", r.Totals)
	}
}

// TestIdle: the first request after a rest finds the connection gone, the next one
// goes through; those without a rest are not struck.
func TestIdle(t *testing.T) {
	p := small(gcp.New())
	p.Faults = []sim.Fault{{Kind: sim.Idle, Seconds: 30}}
	inBubble(t, p, func(t *testing.T, o *organization) {
		c := o.client()
		ask := func() error {
			_, _, err := once(t.Context(), c, onePage)
			return err
		}
		for range 5 {
			if err := ask(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(29 * time.Second)
		}
		time.Sleep(time.Second)
		err := ask()
		if r := verdict.Examine("gcp", err); status.Code(err) != codes.Unavailable || r.Kind != verdict.Transient {
			t.Errorf("after a rest: %v, %+v", err, r)
		}
		if err := ask(); err != nil {
			t.Errorf("and then: %v", err)
		}
		time.Sleep(time.Minute)
		g, err := cloudpace.New(cloudpace.DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range pacegcp.ListAssets(t.Context(), c, &assetpb.ListAssetsRequest{Parent: first, PageSize: 1000}, pacegcp.WithGovernor(g)) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if r := o.server.Report(); n == 0 || r.Totals.Faulted["idle"] != 2 {
			t.Errorf("%d assets, %+v", n, r.Totals)
		}
	})
}

// TestDeniedPermission: a denial names the permission that each content takes.
func TestDeniedPermission(t *testing.T) {
	o := startWith(t, sim.Fault{Kind: sim.Denied})
	for protocol, c := range o.clients() {
		for content, want := range map[assetpb.ContentType]string{
			assetpb.ContentType_CONTENT_TYPE_UNSPECIFIED: "cloudasset.assets.listResource",
			assetpb.ContentType_RESOURCE:                 "cloudasset.assets.listResource",
			assetpb.ContentType_IAM_POLICY:               "cloudasset.assets.listIamPolicy",
		} {
			_, _, err := once(t.Context(), c, &assetpb.ListAssetsRequest{Parent: onePage.Parent, ContentType: content})
			var api *apierror.APIError
			if !errors.As(err, &api) || api.Metadata()["permission"] != want {
				t.Errorf("%s: %v: %v", protocol, content, err)
			}
		}
	}
}
