package azure

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"github.com/cloudpace/cloudpace/cmd/cloudpace/inventory"
	"github.com/cloudpace/cloudpace/verdict"
)

// NoCredentialsError says that there is nothing to log in with. Its text names the
// sources that were tried and what to do next.
type NoCredentialsError struct{ Err error }

// Unwrap gives what the sources said.
func (e *NoCredentialsError) Unwrap() error { return e.Err }

// Error gives what the sources said, and what helps.
func (e *NoCredentialsError) Error() string {
	return "no Azure credentials. Tried:\n" + indented(e.Err) +
		"Next: run az login; or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET (or AZURE_CLIENT_CERTIFICATE_PATH); or run where there is a managed identity"
}

// CredentialsError says that a source of credentials was found and gave no token.
type CredentialsError struct{ Err error }

// Unwrap gives the source's error.
func (e *CredentialsError) Unwrap() error { return e.Err }

// Error tells the cause and what to do about it.
func (e *CredentialsError) Error() string {
	next := "log in again (az login), or renew the secret or certificate that AZURE_CLIENT_ID logs in with"
	switch inventory.ReasonOf(Provider, e.Err) {
	case inventory.Unreachable, inventory.ServiceNotInRegion:
		next = "see whether this machine reaches that host, and whether HTTPS_PROXY is right"
	case inventory.Throttled:
		next = "try again in a minute"
	}
	return fmt.Sprintf("the Azure credentials gave no token: %s\nNext: %s", verdict.DescribeFor(Provider, e.Err), next)
}

// indented puts the lines of an error into a list.
func indented(err error) string {
	var b strings.Builder
	for line := range strings.Lines(verdict.DescribeFor(Provider, err)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "DefaultAzureCredential:") && line != "Attempted credentials:" {
			fmt.Fprintf(&b, "  - %s\n", strings.TrimSuffix(line, "."))
		}
	}
	return b.String()
}

// connect makes the options of the clients and a credential that is known to give
// tokens. With an error, too, there are connections to close.
func connect(ctx context.Context, o Options) (*Tenant, error) {
	t := &Tenant{http: listClient(), governor: o.Governor}
	t.options = clientOptions(o, t.http)
	if o.Endpoint != "" {
		t.direct = clouds[o.Cloud].Services[cloud.ResourceManager].Endpoint
	}
	source := o.Credential
	if source == nil {
		chain, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: loginOptions(o, t)})
		if err != nil {
			return t, &NoCredentialsError{err}
		}
		source = chain
	}
	t.credential = newLogin(source)
	token, err := t.credential.GetToken(ctx, question(t.options))
	switch {
	case ctx.Err() != nil:
		return t, context.Cause(ctx)
	case err != nil && o.Credential == nil && none(err):
		return t, &NoCredentialsError{cmp.Or(errors.Unwrap(err), err)}
	case err != nil:
		return t, &CredentialsError{err}
	}
	t.ID, t.Caller = whose(token.Token)
	return t, nil
}

// loginOptions are those of the login: its own service, at its own host, whatever
// endpoint Resource Manager is asked at. Where a login leads on, it is followed, as
// the SDK does: no token goes along yet.
func loginOptions(o Options, t *Tenant) policy.ClientOptions {
	options := policy.ClientOptions{Cloud: t.options.Cloud}
	if o.ClientOptions == nil {
		options.Transport = &http.Client{Transport: t.http.Transport}
	}
	return options
}

// none tells that no source had anything to log in with, as opposed to one that was
// refused.
func none(err error) bool {
	var failed *azidentity.AuthenticationFailedError
	return !errors.As(err, &failed)
}

// whose reads in a token who it is for. It is shown and nothing else, so that the
// signature does not matter, and what cannot be read is left out.
func whose(token string) (tenant, caller string) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", ""
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", ""
	}
	var claims struct{ Tid, Upn, Appid, Oid string }
	if json.Unmarshal(text, &claims) != nil {
		return "", ""
	}
	for _, name := range []string{claims.Upn, claims.Appid, claims.Oid} {
		if name != "" {
			return claims.Tid, name
		}
	}
	return claims.Tid, ""
}
