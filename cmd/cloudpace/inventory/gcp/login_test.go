package gcp

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/auth"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
)

// keyFile writes a service account's key, whose tokens come from a URL.
func keyFile(t *testing.T, tokens string) {
	t.Helper()
	secret, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(secret))})
	file := filepath.Join(t.TempDir(), "key.json")
	body := must(json.Marshal(map[string]string{
		"type": "service_account", "project_id": "example-9", "private_key": string(text), "private_key_id": "1",
		"client_email": "reader@example-9.iam.gserviceaccount.com", "token_uri": tokens,
	}))
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(keyVariable, file)
}

func tokenServer(t *testing.T, status int, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestCredentials: what can be wrong with credentials is told apart before anything else
// is asked, and none of it is shown.
func TestCredentials(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, c := range []struct {
		name   string
		set    func(*testing.T)
		reason inventory.Reason
		says   string
	}{
		{"no such file", func(t *testing.T) { t.Setenv(keyVariable, "/no/such/file") }, "", keyVariable},
		{"no JSON", func(t *testing.T) {
			t.Setenv(keyVariable, filepath.Join(t.TempDir(), "f"))
			if err := os.WriteFile(os.Getenv(keyVariable), []byte("hunter2"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "", keyVariable},
		{"revoked", func(t *testing.T) {
			keyFile(t, tokenServer(t, 400, `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`))
		}, inventory.CredentialsExpired, "log in again"},
		{"busy", func(t *testing.T) { keyFile(t, tokenServer(t, 429, `{"error":"rate"}`)) }, inventory.Throttled, "try again in a minute"},
		{"nobody there", func(t *testing.T) { keyFile(t, "http://127.0.0.1:1/token") }, inventory.Unreachable, "reaches that host"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.set(t)
			_, err := Open(t.Context(), Options{Parents: []string{one}, Governor: governor(t)})
			var refused *CredentialsError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter2") {
				t.Fatalf("%v", err)
			}
			if got := inventory.ReasonOf(Provider, err); c.reason != "" && got != c.reason {
				t.Errorf("%s, want %s: %v", got, c.reason, err)
			}
		})
	}
}

// TestLoggedIn: a key says who reads, and whose quota is used where no other is named.
func TestLoggedIn(t *testing.T) {
	for _, c := range []struct{ named, environment, want string }{
		{"", "", "example-9"},
		{"", "example-8", "example-8"},
		{"projects/example-7", "example-8", "example-7"},
	} {
		keyFile(t, tokenServer(t, 200, `{"access_token":"t","token_type":"Bearer","expires_in":3600}`))
		t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", c.environment)
		e, err := Open(t.Context(), Options{Parents: []string{one}, QuotaProject: c.named, Governor: governor(t)})
		if err != nil {
			t.Fatal(err)
		}
		if e.QuotaProject != c.want || e.Caller != "reader@example-9.iam.gserviceaccount.com" || e.Accounts()[0].Caller != e.Caller {
			t.Errorf("%+v: %s reads on the quota of %q", c, e.Caller, e.QuotaProject)
		}
		e.Close()
	}
}

// TestWhose: what credentials files say of who reads.
func TestWhose(t *testing.T) {
	for _, c := range []struct{ json, caller, project string }{
		{`{"type":"service_account","client_email":"a@example-1.iam.gserviceaccount.com","project_id":"example-1"}`, "a@example-1.iam.gserviceaccount.com", "example-1"},
		{`{"type":"service_account","project_id":"example-1","quota_project_id":"example-2"}`, "", "example-2"},
		{`{"type":"authorized_user","account":"u@example.com","quota_project_id":"example-2"}`, "u@example.com", "example-2"},
		{`{"type":"authorized_user","project_id":"example-1"}`, "", ""},
		{`{"type":"impersonated_service_account","service_account_impersonation_url":"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/b@example-1.iam.gserviceaccount.com:generateAccessToken"}`, "b@example-1.iam.gserviceaccount.com", "example-1"},
		{`{"type":"external_account","service_account_impersonation_url":"https://example.com/"}`, "", ""},
		{`{"client_email":"c@example-1.example.com.iam.gserviceaccount.com"}`, "c@example-1.example.com.iam.gserviceaccount.com", ""},
		{`{"client_email":"1-compute@developer.gserviceaccount.com"}`, "1-compute@developer.gserviceaccount.com", ""},
		{`{"type":"external_account","audience":"//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/p"}`, "", ""},
		{``, "", "example-5"}, // no file: the machine's
		{`[`, "", ""},
	} {
		caller, project := whose(t.Context(), auth.NewCredentials(&auth.CredentialsOptions{
			JSON:              []byte(c.json),
			ProjectIDProvider: auth.CredentialsPropertyFunc(func(context.Context) (string, error) { return "example-5", nil }), // of the machine
		}))
		if caller != c.caller || project != c.project {
			t.Errorf("%s: %q reads on the quota of %q", c.json, caller, project)
		}
	}
	if _, project := whose(t.Context(), auth.NewCredentials(&auth.CredentialsOptions{
		ProjectIDProvider: auth.CredentialsPropertyFunc(func(context.Context) (string, error) { return "x", errTimeout{} }),
	})); project != "" {
		t.Errorf("a machine that does not say it is of %q", project)
	}
}

// TestLoginInTheRun: a token that is not to be had in the middle of a run is no refusal
// where the login could not be asked.
func TestLoginInTheRun(t *testing.T) {
	for _, c := range []struct {
		err  error
		code codes.Code
		why  inventory.Reason
	}{
		{&auth.Error{Response: &http.Response{StatusCode: 400}, Body: []byte(`{"error":"invalid_grant"}`)}, codes.Unauthenticated, inventory.CredentialsExpired},
		{&auth.Error{Response: &http.Response{StatusCode: 503}}, codes.Unavailable, inventory.Throttled}, // it asks for less
		{&auth.Error{Response: &http.Response{StatusCode: 429}}, codes.Unavailable, inventory.Throttled},
		{&os.SyscallError{Syscall: "connect", Err: errTimeout{}}, codes.Unavailable, inventory.Unreachable},
	} {
		_, err := withWords(auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: broken{c.err}})).Token(t.Context())
		if got := status.Code(err); got != c.code || inventory.ReasonOf(Provider, err) != c.why {
			t.Errorf("%v: %v, %s", c.err, got, inventory.ReasonOf(Provider, err))
		}
	}
}

type broken struct{ err error }

func (b broken) Token(context.Context) (*auth.Token, error) { return nil, b.err }

type errTimeout struct{}

func (errTimeout) Error() string { return "i/o timeout" }
func (errTimeout) Timeout() bool { return true }
