package gcp

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/asset/apiv1/assetpb"
	"cloud.google.com/go/auth"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// secured opens what answers over TLS, with tokens of a source.
func secured(t *testing.T, tokens auth.TokenProvider, answer http.Handler) *Estate {
	t.Helper()
	server := httptest.NewUnstartedServer(answer)
	server.EnableHTTP2 = true
	server.StartTLS()
	o := Options{Endpoint: server.URL, Governor: governor(t)}
	e := &Estate{http: transport(o), governor: o.Governor, parents: []Parent{{Name: one}, {Name: two}}, ReadTime: time.Now().UTC()}
	t.Cleanup(server.Close)
	t.Cleanup(e.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	e.http.TLSClientConfig.RootCAs = roots
	with := func() []option.ClientOption {
		return []option.ClientOption{option.WithTelemetryDisabled(), option.WithAuthCredentials(withWords(auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: tokens})))}
	}
	rpc := append(with(), option.WithGRPCDialOption(grpc.WithTransportCredentials(credentials.NewClientTLSFromCert(roots, ""))))
	if err := e.dial(t.Context(), o, rpc, with()); err != nil {
		t.Fatal(err)
	}
	return e
}

type tokenFunc func() (*auth.Token, error)

func (f tokenFunc) Token(context.Context) (*auth.Token, error) { return f() }

func good() (*auth.Token, error) { return &auth.Token{Value: "hunter2", Type: "Bearer"}, nil }

// TestRedirection: nobody is asked but the endpoint, whatever that answers, for the token
// would go along.
func TestRedirection(t *testing.T) {
	var elsewhere, asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		elsewhere.Add(1)
		_, _ = w.Write([]byte(`{"projects":[{"projectId":"example-1","state":"ACTIVE"}]}`))
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		e := secured(t, tokenFunc(good), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer hunter2" {
				asked.Add(1)
			}
			http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/v3/projects:search", status)
		}))
		if list, err := e.projects(t.Context()); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%d: %v, %v", status, list, err)
		}
	}
	if elsewhere.Load() != 0 || asked.Load() != 5 {
		t.Errorf("another host was asked %d times, the endpoint %d times", elsewhere.Load(), asked.Load())
	}
}

// TestTokenInTheRun: that there is no token in the middle of a run is no throttle of the
// API, and met by no other way.
func TestTokenInTheRun(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		why  inventory.Reason
		kind string
	}{
		{"busy", &auth.Error{Response: &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {"7"}}}}, inventory.Throttled, "transient"},
		{"too many", &auth.Error{Response: &http.Response{StatusCode: 429}}, inventory.Throttled, "transient"},
		{"revoked", &auth.Error{Response: &http.Response{StatusCode: 400}, Body: []byte(`{"error":"invalid_grant"}`)}, inventory.CredentialsExpired, ""},
		{"nobody there", errTimeout{}, inventory.Unreachable, "transient"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lost atomic.Bool
			f := &fake{answer: func(q question) page {
				lost.Store(true)
				if q.token == "" {
					return of("2", instance)
				}
				return of("", names("db", 1)...)
			}}
			server := grpc.NewServer()
			assetpb.RegisterAssetServiceServer(server, f)
			e := secured(t, tokenFunc(func() (*auth.Token, error) {
				if lost.Load() {
					return nil, c.err
				}
				return good()
			}), server)
			r := runWith(t.Context(), t, e, inventory.Options{Workers: 1}, "resources")
			if want := []string{"gcp_list_assets PARTIAL " + string(c.why), "gcp_list_assets FAILED " + string(c.why)}; !slices.Equal(r.tasks(), want) {
				t.Errorf("%v, want %v", r.tasks(), want)
			}
			totals := e.governor.Summary(nil).Totals
			if totals.Throttled != 0 || (totals.TransientErrors > 0) != (c.kind == "transient") {
				t.Errorf("%d throttles, %d transient errors", totals.Throttled, totals.TransientErrors)
			}
			for _, rec := range r.records {
				if !strings.Contains(rec.Error, "login: ") || strings.Contains(rec.Error, "login: login: ") {
					t.Errorf("%q", rec.Error)
				}
			}
			var login *inventory.LoginError
			if err := asking(t.Context(), &inventory.LoginError{Err: c.err}); !errors.As(err, &login) {
				t.Errorf("%v", err)
			}
		})
	}
}
