package gcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/verdict"
)

// NoCredentialsError says that there is nothing to log in with. Its text names what was
// looked for and what to do next.
type NoCredentialsError struct{ Err error }

// Unwrap gives what the SDK said.
func (e *NoCredentialsError) Unwrap() error { return e.Err }

// Error gives what was looked for, and what helps.
func (e *NoCredentialsError) Error() string {
	return "no Google Cloud credentials. Looked for:\n" +
		"  - GOOGLE_APPLICATION_CREDENTIALS\n" +
		"  - the file that gcloud auth application-default login writes\n" +
		"  - a service account of the machine this runs on\n" +
		"Next: run gcloud auth application-default login; or set GOOGLE_APPLICATION_CREDENTIALS to a credentials file; or run where there is a service account"
}

// CredentialsError says that credentials were found and gave no token, or one that is
// not accepted.
type CredentialsError struct{ Err error }

// Unwrap gives the cause.
func (e *CredentialsError) Unwrap() error { return e.Err }

// Error tells the cause and what to do about it.
func (e *CredentialsError) Error() string {
	next := "log in again (gcloud auth application-default login), or see which file GOOGLE_APPLICATION_CREDENTIALS names"
	switch inventory.ReasonOf(Provider, e.Err) {
	case inventory.Unreachable, inventory.ServiceNotInRegion:
		next = "see whether this machine reaches that host, and whether HTTPS_PROXY is right"
	case inventory.Throttled:
		next = "try again in a minute"
	}
	return fmt.Sprintf("the Google Cloud credentials gave no token: %s\nNext: %s", verdict.DescribeFor(Provider, e.Err), next)
}

const (
	keyVariable   = "GOOGLE_APPLICATION_CREDENTIALS"
	cloudPlatform = "https://www.googleapis.com/auth/cloud-platform"
	loginTimeout  = 30 * time.Second
)

// login finds credentials that are known to give tokens.
func (e *Estate) login(ctx context.Context) (*auth.Credentials, error) {
	// With an error of the context's own end the question whether this is a machine of
	// Google's has not been answered.
	found, err := credentials.DetectDefault(&credentials.DetectOptions{
		Scopes: []string{cloudPlatform},
		Client: &http.Client{Transport: e.http, Timeout: loginTimeout},
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && os.Getenv(keyVariable) != "":
		return nil, &CredentialsError{fmt.Errorf("%s: %w", keyVariable, err)}
	case err != nil && haveFile():
		return nil, &CredentialsError{err}
	case err != nil:
		return nil, &NoCredentialsError{err}
	}
	if _, err := withWords(found).Token(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &CredentialsError{err}
	}
	return found, nil
}

// haveFile tells whether there is a file that gcloud has written.
func haveFile() bool {
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	_, err = os.Stat(CredentialsFile(os.Getenv, home))
	return err == nil
}

// CredentialsFile is where gcloud auth application-default login writes, and the SDK
// reads: that follows no CLOUDSDK_CONFIG.
func CredentialsFile(env func(string) string, home string) string {
	dir := filepath.Join(home, ".config")
	if runtime.GOOS == "windows" {
		dir = env("APPDATA")
	}
	return filepath.Join(dir, "gcloud", "application_default_credentials.json")
}

// withWords gives credentials whose errors say what they are.
func withWords(found *auth.Credentials) *auth.Credentials {
	return auth.NewCredentials(&auth.CredentialsOptions{
		TokenProvider: tokens{found}, JSON: found.JSON(), ProjectIDProvider: auth.CredentialsPropertyFunc(found.ProjectID),
		QuotaProjectIDProvider: auth.CredentialsPropertyFunc(found.QuotaProjectID), UniverseDomainProvider: auth.CredentialsPropertyFunc(found.UniverseDomain),
	})
}

type tokens struct{ *auth.Credentials }

// Token gives the token that there is, or asks for one.
func (t tokens) Token(ctx context.Context) (*auth.Token, error) {
	token, err := t.Credentials.Token(ctx)
	if err != nil {
		return nil, &loginError{inventory.LoginError{Err: err, Why: answered(err)}}
	}
	return token, nil
}

// answered reads what the source of tokens answered, in an error whose status nobody
// else can read: empty where there is no answer. The status stays out of the error, for
// it would be taken for the API's, which was not asked.
func answered(err error) inventory.Reason {
	var answer *auth.Error
	if !errors.As(err, &answer) || answer.Response == nil {
		return ""
	}
	return inventory.ReasonOf("", &inventory.LoginError{Err: &verdict.ResponseError{
		StatusCode: answer.Response.StatusCode, Header: answer.Response.Header, Err: err,
	}})
}

// loginError is a [inventory.LoginError] that gRPC does not take for a refusal where it
// was none.
type loginError struct{ inventory.LoginError }

// Unwrap gives the error whose reason it has.
func (e *loginError) Unwrap() error { return &e.LoginError }

// GRPCStatus says whether asking again may help.
func (e *loginError) GRPCStatus() *status.Status {
	code := codes.Unauthenticated
	switch inventory.ReasonOf(Provider, &e.LoginError) {
	case inventory.Unreachable, inventory.Throttled:
		code = codes.Unavailable
	}
	return status.New(code, e.Error())
}

// key is what a credentials file says of who and whose it is.
type key struct {
	Type, Account string
	ClientEmail   string `json:"client_email"`
	ProjectID     string `json:"project_id"`
	Impersonation string `json:"service_account_impersonation_url"`
}

// whose reads in credentials who reads, and whose quota is used: the project that is
// named in the environment or the file, and else, for a service account, its own, which
// Google charges where no other is named (cloud.google.com, "Set the quota project"). A
// machine says in which project it is, and its service account is of the same one unless
// somebody gave it another's. What they do not say is empty.
func whose(ctx context.Context, creds *auth.Credentials) (caller, quotaProject string) {
	var k key
	_ = json.Unmarshal(creds.JSON(), &k) // what is no JSON says nothing
	quotaProject, err := creds.QuotaProjectID(ctx)
	if err != nil {
		quotaProject = ""
	}
	switch {
	case quotaProject != "":
	case k.Type == "service_account":
		quotaProject = k.ProjectID
	case len(creds.JSON()) == 0: // no file, so it is the machine's
		quotaProject, _ = creds.ProjectID(ctx) // what cannot be asked is not known
	}
	caller = cmp.Or(k.ClientEmail, impersonated(k.Impersonation), k.Account)
	return caller, cmp.Or(quotaProject, homeOf(caller))
}

// homeOf is the project of a service account: name@PROJECT.iam.gserviceaccount.com.
func homeOf(account string) string {
	_, domain, _ := strings.Cut(account, "@")
	if id, ok := strings.CutSuffix(domain, ".iam.gserviceaccount.com"); ok && projectID.MatchString(id) {
		return id // a project of a domain's own is written otherwise here, and does not match
	}
	return ""
}

// impersonated is the service account in the address that its tokens come from:
// …/serviceAccounts/reader@example-1.iam.gserviceaccount.com:generateAccessToken.
func impersonated(address string) string {
	account, ok := strings.CutSuffix(lastPart(address), ":generateAccessToken")
	if !ok {
		return ""
	}
	return account
}
