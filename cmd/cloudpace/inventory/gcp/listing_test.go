package gcp

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/test/bufconn"

	"github.com/cloudpace/cloudpace"
	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// TestS13_3Truncated: what arrived is kept, whatever comes after it, the record says
// so, and no other way is gone (D16).
func TestS13_3Truncated(t *testing.T) {
	for _, c := range []struct {
		name   string
		second page
		reason inventory.Reason
	}{
		{"denied", fails(codes.PermissionDenied, "no"), inventory.AccessDenied},
		{"throttled", fails(codes.ResourceExhausted, "slow"), inventory.Throttled},
		{"broken", fails(codes.Internal, "oops"), inventory.Unreachable},
		{"the same token", of("2", instance), inventory.Truncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{answer: func(q question) page {
				if q.token == "" {
					return of("2", names("web", 3)...)
				}
				return c.second
			}}
			r := run(t, f.open(t, one))
			if want := []string{"gcp_list_assets PARTIAL " + string(c.reason), "gcp_iam_policies PARTIAL " + string(c.reason)}; !slices.Equal(r.tasks(), want) {
				t.Fatalf("%v, want %v", r.tasks(), want)
			}
			if len(r.assets) < 3 || len(r.edges) < 9 || len(f.questions("SearchAllResources")) != 0 {
				t.Errorf("%d assets, %d edges", len(r.assets), len(r.edges))
			}
			for _, rec := range r.records {
				if !strings.Contains(rec.Error, "listing truncated: ") {
					t.Errorf("%q", rec.Error)
				}
			}
		})
	}
}

// TestD11RefusedToken: a listing whose token is not taken any more begins anew as of the
// same moment, once, and has nothing twice.
func TestD11RefusedToken(t *testing.T) {
	for _, again := range []bool{true, false} {
		refused := 0
		f := &fake{answer: func(q question) page {
			switch {
			case q.token == "":
				return of("2", names("web", 3)...)
			case refused == 0, !again:
				refused++
				return fails(codes.InvalidArgument, "page_token is invalid")
			}
			return of("", names("db", 2)...)
		}}
		r := run(t, f.open(t, one), "resources")
		rec, asked := r.records[0], f.questions("")
		if again && (rec.Status != inventory.Success || rec.Assets != 5 || rec.Duplicates != 3 || rec.Pages != 3 || len(asked) != 4) {
			t.Errorf("%+v by %d questions", rec, len(asked))
		}
		if !again && (rec.Status != inventory.Partial || rec.Reason != inventory.Truncated || rec.Assets != 3 || len(asked) != 4) {
			t.Errorf("%+v by %d questions", rec, len(asked))
		}
		for _, q := range asked {
			if !q.asOf.Equal(asked[0].asOf) {
				t.Errorf("asked as of %v and %v", asked[0].asOf, q.asOf)
			}
		}
	}
}

// TestEmptyPages: an empty page with a token is no end (D13), and nothing at all is an
// empty file.
func TestEmptyPages(t *testing.T) {
	f := &fake{answer: func(q question) page {
		return map[string]page{"": of("0"), "0": of("b", instance), "b": of("")}[q.token]
	}}
	r := run(t, f.open(t, one), "resources")
	if rec := r.records[0]; rec.Status != inventory.Success || rec.Assets != 1 || rec.Pages != 3 {
		t.Errorf("%+v", rec)
	}
	f = &fake{answer: whole()}
	r = run(t, f.open(t, one))
	if r.doc.Summary.Outcome != inventory.Complete || r.doc.Summary.AssetsFile == "" || r.doc.Summary.EdgesFile != "" {
		t.Errorf("%+v", r.doc.Summary)
	}
}

// TestCapped: a limit ends the listing, for assets as for policies.
func TestCapped(t *testing.T) {
	f := &fake{answer: func(q question) page { return of("next", names(q.token, 4)...) }}
	r := runWith(t.Context(), t, f.open(t, one), inventory.Options{MaxAssets: 3})
	if want := []string{"gcp_list_assets PARTIAL capped", "gcp_iam_policies PARTIAL capped"}; !slices.Equal(r.tasks(), want) || len(r.assets) != 3 || len(r.edges) != 9 {
		t.Errorf("%v, %d assets, %d edges", r.tasks(), len(r.assets), len(r.edges))
	}
	if n := len(f.questions("")); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// TestInterrupted: what arrived is kept, and nothing goes on.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &fake{answer: func(q question) page {
		if q.token == "" {
			return of("2", names("web", 3)...)
		}
		cancel()
		return page{hang: true}
	}}
	r := runWith(ctx, t, f.open(t, one, two), inventory.Options{Workers: 1}, "resources")
	if want := []string{"gcp_list_assets PARTIAL truncated", "gcp_list_assets SKIPPED truncated"}; !slices.Equal(r.tasks(), want) || len(r.assets) != 3 || r.doc.Summary.Outcome != inventory.Interrupted {
		t.Errorf("%v, %d assets, %s", r.tasks(), len(r.assets), r.doc.Summary.Outcome)
	}
}

// TestUnreachable: nobody there is a failure of each task, and no other way is tried.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	e, err := Open(t.Context(), Options{Parents: []string{one}, Endpoint: "http://" + l.Addr().String(), Governor: governor(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if r := run(t, e); !slices.Equal(r.tasks(), []string{"gcp_list_assets FAILED unreachable", "gcp_iam_policies FAILED unreachable"}) {
		t.Errorf("%v", r.tasks())
	}
}

// TestD12FortyParentsOneQuota: forty projects read through one quota project share its
// hundred requests a minute, and use them.
func TestD12FortyParentsOneQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := bufconn.Listen(1 << 20)
		server := grpc.NewServer()
		f := &fake{answer: func(q question) page {
			if len(q.token) < 3 {
				return of(q.token+"x", names(q.parent+q.token, 2)...)
			}
			return of("")
		}}
		assetpb.RegisterAssetServiceServer(server, f)
		go func() { _ = server.Serve(l) }()
		defer server.Stop()
		var parents []string
		for i := range 40 {
			parents = append(parents, fmt.Sprintf("projects/example-%d", i))
		}
		g := must(cloudpace.New(cloudpace.DefaultConfig()))
		e, err := Open(t.Context(), Options{Parents: parents, Endpoint: "http://localhost", QuotaProject: "quota-1", Governor: g,
			Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.DialContext(ctx) }})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		begun := time.Now()
		records, err := inventory.Run(t.Context(), e.Tasks(func(k inventory.Kind) bool { return k.Family == "resources" }),
			inventory.Options{Sink: inventory.NewSink(t.TempDir()), Governor: g})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.Status != inventory.Success || r.Assets != 6 || r.Pages != 4 {
				t.Errorf("%+v", r)
			}
		}
		asked := f.questions("ListAssets")
		for i, q := range asked {
			n := 0
			for _, later := range asked[i:] {
				if later.at.Before(q.at.Add(time.Minute)) {
					n++
				}
			}
			if n > 100 {
				t.Fatalf("%d requests in the minute from %v", n, q.at.Sub(begun))
			}
		}
		// 160 requests, of which 10 may go at once and 1.5 a second.
		if took := time.Since(begun); len(asked) != 160 || took > 105*time.Second {
			t.Errorf("%d requests in %v", len(asked), took)
		}
	})
}
